// Everything one PE owns between init and finalize, and the only class that names concrete backends.
#pragma once
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/heap/heap.hpp>
#include <causeway/view/device_world.hpp>
#include <causeway/config/settings.hpp>
#include <causeway/view/unit.hpp>
#include <causeway/team/teams.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace causeway {

class World {
 public:
  /// Collective: joins the job. No device yet, because programs choose theirs after nvshmem_init.
  World(std::shared_ptr<Bootstrap>, Settings);
  /// Collective: completes all work and leaves.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int pe() const { return bootstrap_->pe(); }
  [[nodiscard]] int pes() const { return bootstrap_->pes(); }
  [[nodiscard]] Bootstrap& bootstrap() { return *bootstrap_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const Placement& placement() const { return placement_; }

  /// Collective at its first call: binds the current device, makes the heap and the predefined teams, fills the units.
  void bind();
  [[nodiscard]] bool bound() const { return heap_ != nullptr; }
  /// Throws Error(invalid_value) if nothing has bound the device yet.
  void require_bound(const char* call) const;

  [[nodiscard]] Heap& heap() { return *heap_; }
  [[nodiscard]] Teams& teams() { return *teams_; }
  [[nodiscard]] const DeviceWorld& device_world() const { return device_world_; }
  /// A unit that was loaded after init.
  void fill_unit(const UnitRegistration&);
  /// After the heap has grown: tells the device side.
  void heap_grew();
  /// Throws the first fault that device code has recorded, if there is one.
  void check_faults();
  /// The same of another record.
  void check_faults(FaultRecord*);

  void* allocate(size_t bytes, size_t alignment, const std::string& site, const std::string& problem = {});
  void free(void* block, const std::string& site);

  /// The program's own memory as the local side of operations (nvshmemx_buffer_register).
  void register_local(void* address, size_t bytes);
  void unregister_local(void* address);
  void unregister_all();

 private:
  void begin();
  void report_leaks() const;
  void print_start() const;
  void find_placement();
  void report_missing_atomics() const;
  void make_device_tables();
  void empty_units();
  void note_departure(int pe, bool lost);

  std::shared_ptr<Bootstrap> bootstrap_;
  Settings settings_;
  Placement placement_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<Teams> teams_;
  DeviceWorld device_world_;
  FaultRecord* faults_ = nullptr;
  std::map<char*, size_t> registered_;  // by beginning: bytes
};

[[nodiscard]] BootstrapOptions bootstrap_options(const Settings&);
/// The bootstrap that the environment asks for: the launcher's, or a job of one PE.
std::unique_ptr<Bootstrap> default_bootstrap(const Settings&);

}  // namespace causeway
