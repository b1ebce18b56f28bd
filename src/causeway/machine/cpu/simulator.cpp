#include <causeway/base/error.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/operation.hpp>
#include <causeway/machine/cpu/simulator.hpp>
#include <causeway/machine/cpu/store_buffer.hpp>
#include <causeway/machine/cpu/worker.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <random>

namespace causeway::cpu {

bool simulated = false;

namespace {

constexpr size_t kHostStackBytes = 4 << 20;

/// The main thread of a PE.
struct HostFiber : Coroutine {
  PeContext* context = nullptr;
  char* stack = nullptr;
  bool done = false;
  int status = -1;
  StoreBuffer stores;
};

struct Simulator {
  const SimulationOptions& options;
  const std::function<int(int)>& pe_main;
  std::mt19937_64 random;
  Worker worker;
  StackPool host_stacks{kHostStackBytes};
  std::vector<std::unique_ptr<PeContext>> contexts;
  std::vector<HostFiber> hosts;
  HostFiber* running_host = nullptr;
  uint64_t steps = 0, stall_ends = 0;
  int stalled_pe = -1;
  std::string failure;

  Simulator(const SimulationOptions& o, const std::function<int(int)>& m) : options(o), pe_main(m), random(o.seed) {}

  size_t below(size_t bound) { return random() % bound; }
  void start_hosts();
  void resume_host(HostFiber&);
  void resume_block(size_t number);
  bool step();
  void run_tasks();
  void drain_by_chance();
  void run();
  [[nodiscard]] std::string who_waits() const;
};

Simulator* simulator = nullptr;

void host_main(boost::context::detail::transfer_t from) {
  first_arrival(from, simulator->worker.main());
  HostFiber& host = *simulator->running_host;
  try {
    host.status = simulator->pe_main(host.context->pe);
  } catch (const std::exception& error) {
    simulator->failure = fmt::format("PE {}: {}", host.context->pe, error.what());
  }
  host.stores.drain();
  host.done = true;
  switch_to(host, simulator->worker.main(), true);
  __builtin_unreachable();
}

void Simulator::start_hosts() {
  hosts.resize(size_t(options.pes));
  for (int pe = 0; pe < options.pes; ++pe) {
    contexts.push_back(std::make_unique<PeContext>());
    HostFiber& host = hosts[size_t(pe)];
    host.context = contexts.back().get();
    host.context->pe = pe;
    host.context->devices = options.pes;
    host.stack = host_stacks.take();
    host.stack_bottom = host.stack;
    host.stack_bytes = kHostStackBytes;
    host.resume_at = boost::context::detail::make_fcontext(host.stack + kHostStackBytes, kHostStackBytes, host_main);
#if CAUSEWAY_TSAN
    host.tsan = __tsan_create_fiber(0);
#endif
  }
}

void Simulator::resume_host(HostFiber& host) {
  running_host = &host;
  *pe_slot() = host.context;
  switch_to(worker.main(), host);
  *pe_slot() = nullptr;
  running_host = nullptr;
}

void Simulator::resume_block(size_t number) {
  Block& block = *worker.blocks()[number];
  if (!block.grid.failed && block.runnable())
    worker.resume(block, block.pop_choice(unsigned(below(block.runnable_count()))));
  worker.retire(number);
}

/// Runs one randomly chosen thread of a randomly chosen host or block until it gives way. False if there was none.
bool Simulator::step() {
  if (below(4) == 0) worker.admit_block();
  if (steps >= stall_ends) {
    stalled_pe = int(below(size_t(options.pes) + 1)) - 1;  // now and then nobody
    stall_ends = steps + below(2048);
  }
  const size_t runnable = hosts.size() + worker.blocks().size();
  for (int attempt = 0; attempt < 64; ++attempt) {
    const size_t choice = below(runnable);
    const bool patient = attempt < 48;  // the stalled PE runs if nobody else can
    if (choice < hosts.size()) {
      HostFiber& host = hosts[choice];
      if (host.done || (patient && host.context->pe == stalled_pe)) continue;
      resume_host(host);
    } else {
      const size_t number = choice - hosts.size();
      if (patient && worker.blocks()[number]->grid.pe->pe == stalled_pe) continue;
      resume_block(number);
    }
    return true;
  }
  return worker.admit_block();
}

void Simulator::run_tasks() {
  while (OperationPtr task = Pool::instance().take_task()) {
    *pe_slot() = task->pe;
    if (task->task) task->task();
    *pe_slot() = nullptr;
    Operation::finish(task);
  }
}

void Simulator::drain_by_chance() {
  const size_t runnable = hosts.size() + worker.blocks().size();
  const size_t choice = below(runnable);
  if (choice < hosts.size()) {
    StoreBuffer& buffer = hosts[choice].stores;
    if (!buffer.stores.empty()) buffer.drain_one(below(buffer.stores.size()));
    return;
  }
  Block& block = *worker.blocks()[choice - hosts.size()];
  Fiber& fiber = block.fibers[below(block.threads)];
  // What was published further is older, so a thread's own stores go only past what does not touch the same address.
  StoreBuffer* warp = block.warps[fiber.warp].stores;
  for (StoreBuffer* buffer : {block.stores, warp, fiber.stores}) {
    if (buffer->stores.empty()) continue;
    const size_t number = below(buffer->stores.size());
    const PendingStore store = buffer->stores[number];
    const bool older = (buffer != block.stores && block.stores->overlaps(store.to, store.bytes)) ||
                       (buffer == fiber.stores && warp->overlaps(store.to, store.bytes));
    if (!older) buffer->drain_one(number);
    return;
  }
}

std::string Simulator::who_waits() const {
  std::string text;
  for (const auto& host : hosts)
    text += fmt::format(" PE {}{}", host.context->pe, host.done ? " done;" : " in host code;");
  for (const auto& block : worker.blocks())
    text += fmt::format(" PE {} block {}: {} alive, {};", block->grid.pe->pe, block->index.x, block->alive,
                        block->describe_waiting());
  return text;
}

void Simulator::run() {
  start_hosts();
  for (size_t live = hosts.size(); live > 0 && failure.empty();) {
    run_tasks();
    step();
    if (below(8) == 0) drain_by_chance();
    if (++steps > options.steps_max) failure = fmt::format("no end after {} steps:{}", steps, who_waits());
    live = 0;
    for (const auto& host : hosts) live += !host.done;
  }
}

StoreBuffer& own_stores() { return current ? *self().stores : simulator->running_host->stores; }

}  // namespace

SimulationResult simulate(const SimulationOptions& options, const std::function<int(int)>& pe_main) {
  simulated = true;
  SimulationResult result;
  {
    Simulator run(options, pe_main);
    simulator = &run;
    run.run();
    result.failure = run.failure;
    result.steps = run.steps;
    for (const auto& host : run.hosts) result.statuses.push_back(host.status);
    Pool::instance().forget_all();
    for (auto& context : run.contexts) context->device.release();  // its streams may hold work that never ends
    simulator = nullptr;
  }
  simulated = false;
  return result;
}

// ---------------------------------------------------------------- stores

void buffered_store(void* to, const void* from, size_t bytes) {
  for (size_t done = 0; done < bytes; done += 16)
    own_stores().add(static_cast<char*>(to) + done, static_cast<const char*>(from) + done,
                     bytes - done < 16 ? bytes - done : 16);
}

void buffered_release() {
  if (current) {
    Fiber& fiber = self();
    fiber.home->stores->drain();
    fiber.home->warps[fiber.warp].stores->drain();
    fiber.stores->drain();
  } else {
    simulator->running_host->stores.drain();
  }
}

void buffered_read(const void* from, size_t bytes) {
  if (own_stores().overlaps(static_cast<const char*>(from), bytes)) buffered_release();
}

uint64_t simulator_steps() { return simulator->steps; }

// ---------------------------------------------------------------- the scheduler's questions

int simulator_ticks() { return int(simulator->below(64)); }

void simulator_yield_host() { switch_to(*simulator->running_host, simulator->worker.main()); }

void simulator_publish_to_block(Fiber& fiber) {
  // Older stores first: what the warp has observed precedes what this thread did since.
  fiber.home->warps[fiber.warp].stores->move_to(*fiber.home->stores);
  fiber.stores->move_to(*fiber.home->stores);
}

void simulator_publish_to_warp(Fiber& fiber, unsigned) { fiber.stores->move_to(*fiber.home->warps[fiber.warp].stores); }

void simulator_thread_ends(Fiber& fiber) { simulator_publish_to_block(fiber); }

void simulator_block_starts(Block& block) {
  block.stores = new StoreBuffer;
  for (auto& warp : block.warps) warp.stores = new StoreBuffer;
  for (auto& fiber : block.fibers) fiber.stores = new StoreBuffer;
}

void simulator_block_ends(Block& block) {
  // The end of a kernel makes everything visible.
  block.stores->drain();
  for (auto& warp : block.warps) {
    warp.stores->drain();
    delete warp.stores;
  }
  for (auto& fiber : block.fibers) {
    fiber.stores->drain();
    delete fiber.stores;
  }
  delete block.stores;
}

}  // namespace causeway::cpu
