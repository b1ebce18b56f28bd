#include <causeway/base/numbers.hpp>
#include <causeway/machine/cpu/block.hpp>
#include <fmt/format.h>

#include <cstring>
#include <map>

namespace causeway::cpu {

Grid::~Grid() { sanitizer_acquire(&blocks_left); }  // of the workers that let go of it before

Block::Block(Grid& g, unsigned number, char* memory) : grid(g), shared(memory) {
  const Index3 extent = g.shape.grid, size = g.shape.block;
  index = {number % extent.x, number / extent.x % extent.y, number / (extent.x * extent.y)};
  threads = alive = size.x * size.y * size.z;
  shared_used = rounded_up(g.shape.shared_bytes, 128);
  fibers.resize(threads);
  warps = std::vector<Warp>(divided_up(threads, 32));
  barriers[0].waiting.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& fiber = fibers[i];
    fiber.thread = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
    fiber.block = index;
    fiber.block_dim = size;
    fiber.grid_dim = extent;
    fiber.linear = i;
    fiber.lane = i % 32;
    fiber.warp = i / 32;
    fiber.home = this;
    warps[fiber.warp].alive |= 1u << fiber.lane;
  }
}

Block::~Block() = default;

Fiber* Block::pop_choice(unsigned choice) {
  if (choice >= queued) return &fibers[started++];
  Fiber* before = nullptr;
  Fiber* fiber = queue_head;
  for (; choice > 0; --choice) {
    before = fiber;
    fiber = fiber->next;
  }
  (before ? before->next : queue_head) = fiber->next;
  if (queue_tail == fiber) queue_tail = before;
  --queued;
  return fiber;
}

void Block::release(Barrier& barrier) {
  barrier.vote_result = barrier.vote;
  barrier.arrived = 0;
  ++barrier.generation;
  yields = 0;
  for (Fiber* fiber : barrier.waiting) push(fiber);
  barrier.waiting.clear();
}

void Block::complete(Warp& warp, Warp::Meeting& meeting) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    Fiber* fiber = meeting.arrived >> lane & 1 ? meeting.waiting[lane] : nullptr;
    if (!fiber) continue;
    if (fiber->exchanged) std::memcpy(fiber->exchanged, meeting.values, sizeof meeting.values);
    fiber->took_part = meeting.arrived;
    push(fiber);
  }
  meeting.arrived = meeting.mask = 0;
  --warp.meeting_now;
  yields = 0;
}

void Block::leave(Fiber& fiber) {
  --alive;
  Warp& warp = warps[fiber.warp];
  warp.alive &= ~(1u << fiber.lane);
  for (int i = 0; warp.meeting_now > 0 && i < Warp::kMeetingsMax && warp.meetings[i]; ++i) {
    Warp::Meeting& meeting = *warp.meetings[i];
    if (!meeting.arrived) continue;
    meeting.mask &= warp.alive | meeting.arrived;
    if (meeting.arrived == meeting.mask) complete(warp, meeting);
  }
  if (barriers[0].arrived && barriers[0].arrived >= alive) release(barriers[0]);
  yields = 0;
}

std::string Block::describe_waiting() const {
  std::map<std::string, std::pair<unsigned, std::string>> sites;
  for (const Fiber& fiber : fibers) {
    if (fiber.state != FiberState::waiting) continue;
    auto& [count, names] = sites[fiber.meets_at];
    if (++count <= 4) names += fmt::format(" t{}", fiber.linear);
    if (count == 5) names += " ...";
  }
  std::string text;
  for (const auto& [site, who] : sites)
    text += fmt::format("{}{} of {} threads at {}:{}", text.empty() ? "" : "; ", who.first, threads, site, who.second);
  return text.empty() ? "no thread" : text;
}

}  // namespace causeway::cpu
