# The two libraries, from one tree.
file(GLOB common_sources CONFIGURE_DEPENDS
  base/*.cpp bootstrap/*.cpp heap/*.cpp team/*.cpp runtime/*.cpp api/*.cpp)
set(cpu_only runtime/pe_state_cpu.cpp runtime/pe_state_cuda.cpp runtime/machine_host_cpu.cpp
             runtime/run_threads_cpu.cpp api/exports_move_cpu.cpp api/exports_sync_cpu.cpp api/exports_coll_cpu.cpp
             api/exports_reduce_cpu.cpp moe/buffer_cpu.cpp)
list(TRANSFORM cpu_only PREPEND ${PROJECT_SOURCE_DIR}/)
list(REMOVE_ITEM common_sources ${cpu_only})

# What the tools use as well: no machine, no heap.
file(GLOB core_sources CONFIGURE_DEPENDS base/*.cpp bootstrap/*.cpp runtime/settings*.cpp runtime/topology.cpp
                                           runtime/peer_atomics.cpp)
list(REMOVE_ITEM common_sources ${core_sources})

causeway_find(pkg-config PkgConfig)
pkg_check_modules(HWLOC IMPORTED_TARGET hwloc)
if(NOT HWLOC_FOUND)
  causeway_missing(hwloc libhwloc-dev)
endif()

add_library(causeway_core STATIC ${core_sources})
target_link_libraries(causeway_core PRIVATE causeway_flags PUBLIC fmt::fmt PkgConfig::HWLOC)

if(CAUSEWAY_CPU_MACHINE)
  causeway_find(libboost-context-dev Boost 1.74 COMPONENTS context)
  file(GLOB cpu_sources CONFIGURE_DEPENDS machine/cpu/*.cpp backend/cpu/*.cpp emulator/runtime/*.cpp)
  list(FILTER cpu_only EXCLUDE REGEX cuda)
  if(CAUSEWAY_SANITIZE STREQUAL "thread")
    # The scheduler runs on the fibers it switches, which ThreadSanitizer takes for threads: it is not instrumented, and
    # says itself what it orders (switch.hpp).
    file(GLOB scheduler_sources machine/cpu/*.cpp)
    list(FILTER scheduler_sources EXCLUDE REGEX "(device|context|host_wait|pool)\\.cpp$")
    list(APPEND scheduler_sources ${PROJECT_SOURCE_DIR}/emulator/runtime/converged.cpp
                                  ${PROJECT_SOURCE_DIR}/emulator/runtime/device_side.cpp)
    set_source_files_properties(${scheduler_sources} PROPERTIES
      COMPILE_OPTIONS "-fno-sanitize=thread;-include;${PROJECT_SOURCE_DIR}/machine/cpu/uninstrumented.hpp"
      COMPILE_DEFINITIONS CAUSEWAY_TSAN=1
      OBJECT_DEPENDS ${PROJECT_SOURCE_DIR}/machine/cpu/uninstrumented.hpp)
  endif()
  add_library(causeway_cpu_parts OBJECT ${common_sources} ${cpu_only} ${cpu_sources})
  add_dependencies(causeway_cpu_parts causeway_generated)
  target_compile_definitions(causeway_cpu_parts PRIVATE CAUSEWAY_LIBRARY=1 CAUSEWAY_CPU=1)
  target_include_directories(causeway_cpu_parts SYSTEM PRIVATE emulator/include)
  target_link_libraries(causeway_cpu_parts PRIVATE causeway_flags fmt::fmt PkgConfig::HWLOC Boost::context)

  add_library(causeway_cpu SHARED $<TARGET_OBJECTS:causeway_cpu_parts>)
  target_link_libraries(causeway_cpu PRIVATE causeway_flags causeway_core Boost::context ${CMAKE_DL_LIBS})
endif()
