#include <causeway/base/version.h>
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/other_launcher.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/config/peer_atomics.hpp>
#include <causeway/config/topology.hpp>
#include <causeway/runtime/world.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

namespace causeway {

BootstrapOptions bootstrap_options(const Settings& settings) {
  BootstrapOptions options;
  options.connect_timeout = std::chrono::duration_cast<std::chrono::milliseconds>(settings.bootstrap_timeout);
  options.report_after = settings.wait_report.count() > 0
                             ? std::chrono::duration_cast<std::chrono::milliseconds>(settings.wait_report)
                             : BootstrapOptions::never;
  return options;
}

namespace {
/// Its processes would be jobs of one PE each, without a word.
void warn_of_another_launcher() {
  static bool warned = false;
  const std::string signs = signs_of_another_launcher([](const char* name) { return std::getenv(name); });
  if (signs.empty() || std::exchange(warned, true)) return;
  fmt::print(
      stderr,
      "causeway: warning: another launcher has started this process as one of several ({}), but it cannot tell the "
      "PEs of each other: this process is PE 0 of a job of 1. Start the program by `causeway run`, or join by a "
      "unique id (nvshmemx_init_attr)\n",
      signs);
}
}  // namespace

std::unique_ptr<Bootstrap> default_bootstrap(const Settings& settings) {
  if (pe_state().make_bootstrap) return pe_state().make_bootstrap();
  if (const auto launched = read_launcher_environment())
    return make_bootstrap_launcher(*launched, bootstrap_options(settings));
  warn_of_another_launcher();
  return make_bootstrap_alone();
}

World::World(std::shared_ptr<Bootstrap> bootstrap, Settings settings)
    : bootstrap_(std::move(bootstrap)), settings_(std::move(settings)) {
  try {
    begin();
  } catch (const std::exception& error) {
    bootstrap_->on_departure({});
    bootstrap_->start_failed(error.what());
    throw;
  }
}

void World::begin() {
  if (pe() == 0) print_start();  // all PEs read the same environment
  find_placement();
  device_world_.pe = pe();
  device_world_.pes = pes();
  // If every PE has a device already, take it now: kernels may then ask for their PE before anything is allocated.
  const char mine = machine_host::device_selected();
  const auto chosen = allgather(*bootstrap_, mine, "asking who has chosen a device");
  if (std::find(chosen.begin(), chosen.end(), 0) == chosen.end()) bind();
}

World::~World() {
  // Each of these, also where an earlier one has failed, as the meeting does when a PE has died.
  const auto attempt = [](const auto& body) {
    try {
      body();
    } catch (const std::exception& error) {
      note_error(fmt::format("nvshmem_finalize: {}", error.what()));
    }
  };
  if (bound()) {
    attempt([&] {
      machine_host::synchronize_device();
      bootstrap_->barrier("nvshmem_finalize");
      bootstrap_->on_departure({});                             // the others may leave now
      if (pe() == 0 && settings_.report_leaks) report_leaks();  // all PEs have the same blocks
    });
    attempt([&] { unregister_all(); });
    attempt([&] { empty_units(); });
    attempt([&] { check_faults(); });  // device code may have left one that no call has met
  }
  bootstrap_->on_departure({});
  teams_.reset();
  heap_.reset();
  if (faults_) machine_host::free_shared(faults_);
}

void World::print_start() const {
  print_messages(settings_);
  if (settings_.print_version || settings_.print_info || settings_.debug >= DebugLevel::version)
    std::printf("%s\n", NVSHMEM_VENDOR_STRING);
  if (settings_.print_info) std::printf("%s", settings_table(settings_, TableFormat::plain).c_str());
}

void World::find_placement() {
  placement_.host = allgather(*bootstrap_, read_host_id(), "exchange of host names");
  std::map<uint64_t, int> hosts;
  for (int pe = 0; pe < pes(); ++pe) {
    const uint64_t other = placement_.host[size_t(pe)];
    const int given = bootstrap_->node_of(pe);
    placement_.node.push_back(given >= 0 ? given : hosts.emplace(other, int(hosts.size())).first->second);
    if (other != placement_.host[0])
      fail(
          Status::not_supported,
          "PE {} runs on another host than PE 0: the PEs of a job must share one host's memory, as no network is there",
          pe);
  }
}

void World::bind() {
  if (bound()) return;
  int pes_on_node = 0;
  for (const int node : placement_.node) pes_on_node += node == placement_.node[size_t(pe())];
  machine_host::bind_device(pe(), settings_.cpu_devices > 0 ? settings_.cpu_devices : pes_on_node);
  memory_ = machine_host::make_memory(pes());
  HeapOptions options;
  options.first_segment_bytes = settings_.symmetric_bytes;
  options.first_may_be_less = settings_.value("NVSHMEM_SYMMETRIC_SIZE").source == SettingSource::standard;
  options.stride = settings_.heap_stride_bytes;
  options.exchange.waits = bootstrap_options(settings_);
  heap_ = std::make_unique<Heap>(*memory_, *bootstrap_, options);
  try {
    report_missing_atomics();
    make_device_tables();
  } catch (...) {
    bootstrap_->on_departure({});
    try {
      empty_units();
    } catch (const std::exception&) {
      // the first error is the one to tell
    }
    teams_.reset();
    heap_.reset();
    if (faults_) machine_host::free_shared(std::exchange(faults_, nullptr));  // (no kernel knows of it yet)
    device_world_.faults = nullptr;
    throw;
  }
}

void World::report_missing_atomics() const {
  std::vector<bool> has_atomics;
  for (const auto& other : allgather(*bootstrap_, machine_host::device_id(), "exchange of device names"))
    has_atomics.push_back(machine_host::has_atomics_on(other));
  const std::string missing = describe_missing_atomics(pe(), has_atomics);
  if (!missing.empty()) std::fprintf(stderr, "causeway: %s\n", missing.c_str());
}

void World::make_device_tables() {
  faults_ =
      static_cast<FaultRecord*>(machine_host::make_shared(sizeof(FaultRecord) + size_t(pes()) * sizeof(uint32_t)));
  bootstrap_->on_departure([this](int pe, bool lost) { note_departure(pe, lost); });
  // The first allocation: how much is mapped, where kernels can see it.
  auto* mapped = static_cast<uint64_t*>(heap_->allocate(2 * sizeof(uint64_t), 512, "the heap's size word"));
  machine_host::zero(mapped, 2 * sizeof(uint64_t));
  device_world_.heap_base = heap_->base();
  device_world_.heap_stride = heap_->stride();
  device_world_.heap_bytes = mapped;
  device_world_.faults = faults_;
  faults_->claims = reinterpret_cast<uint32_t*>(mapped + 1);
  device_world_.wait_report_ns = uint64_t(settings_.wait_report.count());
  device_world_.wait_timeout_ns = uint64_t(settings_.wait_timeout.count());
  heap_grew();
  teams_ = std::make_unique<Teams>(device_world_, placement_, *bootstrap_, *heap_, settings_.teams_max);
  device_world_.teams = teams_->device_table();
  device_world_.teams_max = teams_->teams_max();
  heap_grew();
  heap_->forget_blocks();
  PeState& state = pe_state();
  std::lock_guard lock(state.units_mutex);
  for (const UnitRegistration* unit : state.units) machine_host::fill(*unit, device_world_);
  bootstrap_->barrier("binding the device");
}

void World::empty_units() {
  PeState& state = pe_state();
  std::lock_guard lock(state.units_mutex);
  for (const UnitRegistration* unit : state.units) machine_host::fill(*unit, DeviceWorld{});
}

/// On any thread. The PE's word first: who sees a loss looks for whose it is.
void World::note_departure(int pe, bool lost) {
  auto* const words = reinterpret_cast<uint32_t*>(faults_ + 1);
  if (pe >= 0 && pe < pes()) __atomic_store_n(words + pe, lost ? kPeLost : kPeLeft, __ATOMIC_RELEASE);
  if (lost) __atomic_fetch_add(&faults_->losses, 1u, __ATOMIC_RELEASE);
}

void World::require_bound(const char* call) const {
  if (!bound())
    fail(Status::gpu_not_selected, "{}: nothing has bound a device yet; call nvshmem_malloc (on all PEs) first", call);
}

void World::fill_unit(const UnitRegistration& unit) {
  if (bound()) machine_host::fill(unit, device_world_);
}

void World::heap_grew() {
  const uint64_t bytes = heap_->bytes();
  machine_host::copy(const_cast<uint64_t*>(device_world_.heap_bytes), &bytes, sizeof bytes);
}

void World::check_faults(FaultRecord* record) {
  // (One that is being written while the host looks is there the next time.)
  if (!record || __atomic_load_n(&record->written, __ATOMIC_ACQUIRE) == record->read) return;
  const FaultRecord first = *record;
  __atomic_store_n(&record->read, first.written, __ATOMIC_RELEASE);      // the next may be written
  if (first.peer < 0 && first.heap_offset >= device_world_.heap_stride)  // a misuse: about no address
    fail(Status::internal, "a kernel reported: {}: {}", first.operation, first.problem);
  std::string location;
  if (first.heap_offset < device_world_.heap_stride) location = fmt::format("heap offset {:#x}, ", first.heap_offset);
  const std::string loss = bootstrap_->loss();
  fail(Status::internal, "a kernel reported: {}: {} (PE {}, {}peer {}, expected {}, seen {}){}{}", first.operation,
       first.problem, first.pe, location, first.peer, first.expected, first.seen, loss.empty() ? "" : "; ", loss);
}

void World::check_faults() { check_faults(faults_); }

void* World::allocate(size_t bytes, size_t alignment, const std::string& site, const std::string& problem) {
  bind();
  void* block = heap_->allocate(bytes, alignment, site, problem);
  heap_grew();
  return block;
}

void World::free(void* block, const std::string& site) {
  require_bound("nvshmem_free");
  heap_->free(block, site);
}

void World::register_local(void* address, size_t bytes) {
  require_bound("nvshmemx_buffer_register");
  char* begin = static_cast<char*>(address);
  if (!address || bytes == 0)
    fail(Status::invalid_value, "addr is {} and length {}: must be memory of the caller, of at least a byte", address,
         bytes);
  for (const auto& [other, size] : registered_)
    if (begin < other + size && other < begin + bytes)
      fail(Status::invalid_value, "addr is {} and length {}: overlaps what is registered at {}, {} bytes", address,
           bytes, static_cast<void*>(other), size);
  machine_host::register_local(address, bytes);
  registered_.emplace(begin, bytes);
}

void World::unregister_local(void* address) {
  require_bound("nvshmemx_buffer_unregister");
  if (registered_.erase(static_cast<char*>(address)) == 0)
    fail(Status::invalid_value, "addr is {}: must be the beginning of a range given to nvshmemx_buffer_register",
         address);
  machine_host::unregister_local(address);
}

void World::unregister_all() {
  while (!registered_.empty()) unregister_local(registered_.begin()->first);
}

void World::report_leaks() const {
  std::map<std::string, std::pair<size_t, size_t>> by_site;  // blocks, bytes
  for (const auto& [offset, block] : heap_->blocks()) {
    ++by_site[block.site].first;
    by_site[block.site].second += block.bytes;
  }
  for (const auto& [site, sums] : by_site)
    std::fprintf(stderr, "causeway: never freed: %zu block%s of symmetric memory, %zu bytes, allocated at %s\n",
                 sums.first, sums.first == 1 ? "" : "s", sums.second, site.c_str());
}

}  // namespace causeway
