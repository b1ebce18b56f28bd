// nvshmem_init and what surrounds it: the C edge of World's life.
#include <causeway/base/export.hpp>
#include <causeway/api/edge.hpp>
#include <causeway/api/types.h>
#include <causeway/bootstrap/flush_output.hpp>
#include <causeway/bootstrap/unique_id.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/world.hpp>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

namespace causeway {
namespace {

/// Which PE the caller of an init says it is; pes 0: whichever the environment says.
struct Claim {
  int pe = -1, pes = 0;
};

using MakeBootstrap = std::unique_ptr<Bootstrap> (*)(const Settings&, const void*);

constexpr const char* kOneAProcess = "one PE a process; use causeway run --threads for PEs as threads";

/// Two threads that start a PE each would wait for each other: both learn that a process is one PE.
[[noreturn]] void refuse_second_start(PeState& state, Claim claim) {
  if (state.start_refused.empty())
    state.start_refused = fmt::format("another thread of this process starts PE {} of {} meanwhile: {}", claim.pe,
                                      claim.pes, kOneAProcess);
  if (state.starting_by) state.starting_by->break_off(state.start_refused);
  fail(Status::invalid_value,
       "this process is PE {} of {} already (another thread starts it), and cannot be PE {} of {}: {}",
       state.starting_pe, state.starting_pes, claim.pe, claim.pes, kOneAProcess);
}

/// True if this start was counted only. Else the caller is the one that makes the world.
bool count_start(PeState& state, Claim claim) {
  if (in_forked_child()) (void)world_of("nvshmem_init");  // (before the lock, which the parent may have held)
  std::unique_lock lock(state.start_mutex);
  while (state.starting) {
    if (claim.pes > 0 && state.starting_pes > 0 && (claim.pe != state.starting_pe || claim.pes != state.starting_pes))
      refuse_second_start(state, claim);
    state.start_over.wait(lock);
  }
  if (state.inits > 0) {
    if (claim.pes > 0 && (claim.pe != state.world->pe() || claim.pes != state.world->pes()))
      fail(Status::invalid_value, "this process is PE {} of {} already, and cannot be PE {} of {}: finalize first",
           state.world->pe(), state.world->pes(), claim.pe, claim.pes);
    ++state.inits;
    return true;
  }
  state.starting = true;
  state.starting_pe = claim.pe, state.starting_pes = claim.pes;
  return false;
}

/// True if the world is to be destroyed now. Who starts one meanwhile waits until end_start().
bool count_end(PeState& state) {
  const std::lock_guard lock(state.start_mutex);
  if (state.inits == 0) {
    if (!state.starting) (void)world_of("nvshmem_finalize");
    fail(Status::invalid_value, "called while another thread starts or ends the job");
  }
  if (--state.inits > 0) return false;
  state.starting = true;
  state.starting_pe = -1, state.starting_pes = 0;
  return true;
}

void end_start(PeState& state, int inits) {
  const std::lock_guard lock(state.start_mutex);
  state.inits = inits;
  state.starting = false;
  state.starting_by.reset();
  state.start_refused.clear();
  state.start_over.notify_all();
}

/// Init is counted; only the first builds a world.
void start(MakeBootstrap make, const void* argument, Claim claim = {}) {
  PeState& state = pe_state();
  if (count_start(state, claim)) return;
  try {
    watch_forks();
    Settings settings = read_settings(process_environment());
    std::shared_ptr<Bootstrap> bootstrap = make(settings, argument);
    {
      const std::lock_guard lock(state.start_mutex);
      if (!state.start_refused.empty()) bootstrap->break_off(state.start_refused);
      state.starting_by = bootstrap;
    }
    state.world = std::make_unique<World>(std::move(bootstrap), std::move(settings));
  } catch (const std::exception& error) {
    if (state.init_failure.empty()) state.init_failure = error.what();
    end_start(state, 0);
    tell_launcher_of_start(error.what());
    throw;
  }
  if (!state.init_failure.empty()) tell_launcher_of_start({});
  state.init_failure.clear();
  state.init_failure_said = false;
  machine_host::listen_for_dumps();
  end_start(state, 1);
}

std::unique_ptr<Bootstrap> by_environment(const Settings& settings, const void*) { return default_bootstrap(settings); }

std::unique_ptr<Bootstrap> by_unique_id(const Settings& settings, const void* argument) {
  const auto& args = *static_cast<const nvshmemx_uniqueid_args_t*>(argument);
  if (!args.id)
    fail(Status::invalid_value, "attributes hold no unique id: fill them with nvshmemx_set_attr_uniqueid_args");
  if (args.nranks < 1 || args.myrank < 0 || args.myrank >= args.nranks)
    fail(Status::invalid_value, "rank {} of {}: must be 0 to the number of ranks less 1", args.myrank, args.nranks);
  UniqueId id{};
  static_assert(sizeof id == sizeof args.id->internal);
  std::memcpy(&id, args.id->internal, sizeof id);
  return make_bootstrap_unique_id(id, args.myrank, args.nranks, bootstrap_options(settings));
}

UniqueIdOptions unique_id_options(const Settings& settings) {
  UniqueIdOptions options;
  options.interface_names = settings.uid_interfaces;
  options.family = settings.uid_family;
  return options;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_EXPORT int nvshmem_init_thread(int requested, int* provided) {
  return guard("nvshmem_init_thread", [&] {
    if (requested < NVSHMEM_THREAD_SINGLE || requested > NVSHMEM_THREAD_MULTIPLE)
      fail(Status::invalid_value, "requested is {}: must be NVSHMEM_THREAD_SINGLE (0) to NVSHMEM_THREAD_MULTIPLE (3)",
           requested);
    if (!provided) fail(Status::invalid_value, "provided must not be null");
    start(by_environment, nullptr);
    *provided = NVSHMEM_THREAD_SERIALIZED;
  });
}

CAUSEWAY_EXPORT void nvshmem_init() {
  guard("nvshmem_init", [] { start(by_environment, nullptr); });
}

CAUSEWAY_EXPORT int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes) {
  return guard("nvshmemx_init_attr", [&] {
    if (flags & NVSHMEMX_INIT_WITH_UNIQUEID) {
      if (!attributes) fail(Status::invalid_value, "attributes must not be null with NVSHMEMX_INIT_WITH_UNIQUEID");
      const auto& args = attributes->args.uid_args;
      return start(by_unique_id, &args, args.id ? Claim{args.myrank, args.nranks} : Claim{});
    }
    if (flags != 0)
      fail(Status::not_supported,
           "flags are {:#x}: accepted are 0 (the launcher's job) and NVSHMEMX_INIT_WITH_UNIQUEID ({:#x})", flags,
           unsigned(NVSHMEMX_INIT_WITH_UNIQUEID));
    start(by_environment, nullptr);
  });
}

CAUSEWAY_EXPORT int nvshmemx_hostlib_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes) {
  return nvshmemx_init_attr(flags, attributes);
}

CAUSEWAY_EXPORT int nvshmemx_get_uniqueid(nvshmemx_uniqueid_t* uniqueid) {
  return guard("nvshmemx_get_uniqueid", [&] {
    if (!uniqueid) fail(Status::invalid_value, "uniqueid must not be null");
    const UniqueId id = create_unique_id(unique_id_options(read_settings(process_environment())));
    *uniqueid = NVSHMEMX_UNIQUEID_INITIALIZER;
    std::memcpy(uniqueid->internal, &id, sizeof id);
  });
}

CAUSEWAY_EXPORT int nvshmemx_set_attr_uniqueid_args(const int myrank, const int nranks,
                                                    const nvshmemx_uniqueid_t* uniqueid, nvshmemx_init_attr_t* attr) {
  return guard("nvshmemx_set_attr_uniqueid_args", [&] {
    if (!uniqueid || !attr) fail(Status::invalid_value, "uniqueid and attr must not be null");
    if (nranks < 1 || myrank < 0 || myrank >= nranks)
      fail(Status::invalid_value, "myrank {} of nranks {}: must be 0 to nranks less 1", myrank, nranks);
    // A pointer, as in the reference: the id must live until nvshmemx_init_attr.
    *attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
    attr->args.uid_args.id = const_cast<nvshmemx_uniqueid_t*>(uniqueid);
    attr->args.uid_args.myrank = myrank;
    attr->args.uid_args.nranks = nranks;
  });
}

CAUSEWAY_EXPORT void nvshmem_finalize() {
  guard("nvshmem_finalize", [] {
    PeState& state = pe_state();
    if (in_forked_child()) (void)world_of("nvshmem_finalize");
    if (!count_end(state)) return;
    state.world.reset();
    end_start(state, 0);
  });
}

CAUSEWAY_EXPORT void nvshmemx_hostlib_finalize() { nvshmem_finalize(); }

CAUSEWAY_EXPORT void nvshmem_global_exit(int status) {
  if (World* world = world_or_null()) world->bootstrap().global_exit(status);
  flush_output();
  _exit(status);
}

CAUSEWAY_EXPORT void nvshmem_query_thread(int* provided) {
  guard("nvshmem_query_thread", [&] {
    if (!provided) fail(Status::invalid_value, "provided must not be null");
    *provided = NVSHMEM_THREAD_SERIALIZED;
  });
}

CAUSEWAY_EXPORT int nvshmemx_init_status() {
  const World* world = world_or_null();
  if (!world) return NVSHMEM_STATUS_NOT_INITIALIZED;
  return world->bound() ? NVSHMEM_STATUS_IS_INITIALIZED : NVSHMEM_STATUS_IS_BOOTSTRAPPED;
}

CAUSEWAY_EXPORT const char* causeway_last_error() {
  thread_local std::string text;  // the caller's own: another thread may meet the next error meanwhile
  PeState& state = pe_state();
  std::lock_guard lock(state.error_mutex);
  text = state.last_error;
  return text.c_str();
}

CAUSEWAY_EXPORT uint64_t causeway_error_count() {
  PeState& state = pe_state();
  std::lock_guard lock(state.error_mutex);
  const auto found = state.errors.find(std::this_thread::get_id());
  return found == state.errors.end() ? 0 : found->second;
}

CAUSEWAY_EXPORT int causeway_prepare_launch(const char* call) {
  return guard(call, [&] { world_of(call).bind(); });
}

CAUSEWAY_EXPORT int causeway_launch_failed(const char* call, const char* problem, int status) {
  note_error(fmt::format("{}: {}", call, problem));
  return status;
}

CAUSEWAY_EXPORT void causeway_register_unit(const UnitRegistration* unit) {
  guard("loading a program", [&] {
    if (unit->abi != kDeviceAbi)
      fail(Status::internal, "{} was compiled with headers of another build (ABI {:#x}) than this library ({:#x})",
           unit->file, unit->abi, kDeviceAbi);
    PeState& state = pe_state();
    std::lock_guard lock(state.units_mutex);
    state.units.push_back(unit);
    if (state.world) state.world->fill_unit(*unit);
  });
}

CAUSEWAY_EXPORT void causeway_unregister_unit(const UnitRegistration* unit) {
  PeState& state = pe_state();
  std::lock_guard lock(state.units_mutex);
  std::erase(state.units, unit);
}
