// All that one PE keeps outside of a World: the world itself while it is initialised, the first error, and the units.
// One a process; with PEs as threads of one process, one a PE.
#pragma once
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/runtime/note_error.hpp>
#include <causeway/view/unit.hpp>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace causeway {

class World;

struct PeState {
  std::unique_ptr<World> world;  // between init and finalize
  int inits = 0;                 // init is counted
  std::mutex start_mutex;        // of the next four, and held while `inits` changes
  std::condition_variable start_over;
  bool starting = false;                   // a thread makes the world, or destroys it
  int starting_pe = -1, starting_pes = 0;  // as which PE, where it says so
  std::shared_ptr<Bootstrap> starting_by;  // once it has one
  std::string start_refused;               // why it must give up
  std::string last_error;                  // of the last failed call
  int errors_printed = 0;
  // Reported by each thread that has. One entry for each of the ids, which the system uses again: a new thread may
  // begin with what an ended one has counted, so counts are only compared with earlier ones of the same thread.
  std::map<std::thread::id, uint64_t> errors;
  std::mutex error_mutex;    // of the three above
  std::string init_failure;  // why init failed, first cause; later calls repeat it
  bool init_failure_said = false;
  std::vector<const UnitRegistration*> units;
  std::mutex units_mutex;
  std::function<std::unique_ptr<Bootstrap>()> make_bootstrap;  // set where PEs are threads
};

/// The calling PE's. Found by any host thread of the PE.
PeState& pe_state();

/// The calling PE's world, or Error(invalid_value) "called before nvshmem_init".
World& world_of(const char* call);
World* world_or_null();

/// Is this process a forked child of one that has started a PE? It is none then, and holds nothing of it.
bool in_forked_child();
/// From now on forked children know.
void watch_forks();
/// Once after a failed init: says so for calls that have no status.
void say_failed_init();

}  // namespace causeway
