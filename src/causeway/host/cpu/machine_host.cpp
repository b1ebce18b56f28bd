// The host side of the CPU machine (see machine_host.hpp): host code runs device code directly.
#include <causeway/host/cpu/memory.hpp>
#include <causeway/coll/move.hpp>
#include <causeway/emulator/runtime/allocations.hpp>
#include <causeway/emulator/runtime/devices.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/host/host_poll.hpp>
#include <causeway/host/machine_host.hpp>

#include <csignal>
#include <cstring>
#include <new>
#include <thread>

namespace causeway::machine_host {

bool device_selected() { return true; }

void bind_device(int pe, int pes_on_node) {
  cpu::PeContext& context = cpu::pe_context();
  context.pe = pe;
  context.devices = pes_on_node;
}

DeviceId device_id() { return {}; }
bool has_atomics_on(const DeviceId&) { return true; }

std::unique_ptr<Memory> make_memory(int pes_on_host) {
  // With more PEs than cores a spinning host thread takes the time of the one it waits for.
  cpu::set_host_polls_per_yield(unsigned(pes_on_host) > std::thread::hardware_concurrency() ? 1 : 256);
  return make_cpu_memory(pes_on_host);
}

void copy(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void zero(void* address, size_t bytes) { std::memset(address, 0, bytes); }

void store_word(uint64_t* address, uint64_t value) { machine::store_release_sys(address, value); }
uint64_t load_word(const uint64_t* address) { return machine::load_acquire_sys(address); }
void wait_for(const DeviceWorld& world, const WaitInfo& info, const std::function<bool(uint64_t& seen)>& ready) {
  uint64_t last = 0;
  const auto look = [&](uint64_t& seen, bool) {
    const bool there = ready(seen);
    last = seen;
    return there;
  };
  if (!spin_until(
          world, [&] { return info; }, look))
    fail(Status::internal, "gave up waiting in {}", describe_wait(world, info, last));
}

void fill(const UnitRegistration& unit, const DeviceWorld& world) { unit.fill(&world, nullptr); }
void empty_in_forked_child(const UnitRegistration& unit) { fill(unit, DeviceWorld{}); }

void* make_shared(size_t bytes) { return std::memset(::operator new(bytes), 0, bytes); }
void free_shared(void* memory) { ::operator delete(memory); }

void* make_device(size_t bytes) {
  void* const memory = ::operator new (bytes, std::align_val_t{256}, std::nothrow);
  if (!memory) fail(Status::out_of_memory, "{} bytes of device memory cannot be had", bytes);
  emulator::note_device_memory(memory, bytes, emulator::selected_device());
  return memory;
}
void free_device(void* memory) {
  if (memory) emulator::forget_device_memory(memory);
  ::operator delete (memory, std::align_val_t{256});
}

void copy_on_stream(void* to, const void* from, size_t bytes, Stream stream) {
  cpu::device().enqueue(machine::cpu_stream(stream), [=] { std::memcpy(to, from, bytes); });
}
void copy_strided_on_stream(void* to, ptrdiff_t to_step, const void* from, ptrdiff_t from_step, size_t bytes,
                            size_t count, Stream stream) {
  cpu::device().enqueue(machine::cpu_stream(stream), [=] {
    for (ptrdiff_t i = 0; i < ptrdiff_t(count); ++i)
      std::memcpy(static_cast<char*>(to) + i * to_step, static_cast<const char*>(from) + i * from_step, bytes);
  });
}
bool device_reaches(const void*) { return true; }
void register_local(void* address, size_t bytes) {
  emulator::note_device_memory(address, bytes, emulator::selected_device());  // (nothing, if the runtime knows it)
}
void unregister_local(void* address) { emulator::forget_device_memory(address); }
void synchronize(Stream stream) { cpu::device().synchronize(machine::cpu_stream(stream)); }
void synchronize_device() { cpu::device().synchronize(); }

void listen_for_dumps() {
  struct sigaction now {};
  if (sigaction(SIGUSR1, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = [](int) { machine::ask_for_dump(); };
  now.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &now, nullptr);
}

void barrier(const DeviceWorld& world, const char* name, int team, bool completes) {
  if (completes) {
    causeway::barrier(world, name, Thread{}, world.teams[world.teams_max + team]);
  } else {
    causeway::sync(world, name, Thread{}, world.teams[world.teams_max + team]);
  }
}

void fcollect(const DeviceWorld& world, const char* name, int team, void* dest, const void* source, size_t bytes) {
  Fcollect{team, dest, source, bytes}.run(world, name, Thread{}, world.teams[world.teams_max + team], Arguments::good);
}

}  // namespace causeway::machine_host
