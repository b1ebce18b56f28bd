# The two libraries, from one tree. Where a source lies says whose it is: in src/causeway/FOLDER everybody's, in
# FOLDER/cpu and FOLDER/cuda one machine's. A `.cu` in FOLDER has kernels: it is compiled for each machine. (The
# emulated CUDA runtime belongs to the CPU machine, too.)
set(root ${source_root}/causeway)
file(GLOB machine_sources CONFIGURE_DEPENDS ${root}/*/*.cu)

# What the tools use as well: no machine, no heap.
file(GLOB core_sources CONFIGURE_DEPENDS ${root}/base/*.cpp ${root}/bootstrap/*.cpp ${root}/config/*.cpp)
file(GLOB common_sources CONFIGURE_DEPENDS
     ${root}/heap/*.cpp ${root}/team/*.cpp ${root}/runtime/*.cpp ${root}/api/*.cpp)

causeway_find(pkg-config PkgConfig)
pkg_check_modules(HWLOC IMPORTED_TARGET hwloc)
if(NOT HWLOC_FOUND)
  causeway_missing(hwloc libhwloc-dev)
endif()

add_library(causeway_core STATIC ${core_sources})
target_link_libraries(causeway_core PRIVATE causeway_flags PUBLIC fmt::fmt PkgConfig::HWLOC)

if(CAUSEWAY_CPU_MACHINE)
  causeway_find(libboost-context-dev Boost 1.74 COMPONENTS context)
  file(GLOB cpu_sources CONFIGURE_DEPENDS ${root}/*/cpu/*.cpp ${root}/emulator/runtime/*.cpp)
  if(CAUSEWAY_SANITIZE STREQUAL "thread")
    # The scheduler runs on the fibers it switches, which ThreadSanitizer takes for threads: it is not instrumented, and
    # says itself what it orders (switch.hpp).
    file(GLOB scheduler_sources ${root}/machine/cpu/*.cpp)
    list(FILTER scheduler_sources EXCLUDE REGEX "(device|context|host_wait|pool)\\.cpp$")
    list(APPEND scheduler_sources ${root}/emulator/runtime/converged.cpp ${root}/emulator/runtime/device_side.cpp)
    set_source_files_properties(${scheduler_sources} PROPERTIES
      COMPILE_OPTIONS "-fno-sanitize=thread;-include;${root}/machine/cpu/uninstrumented.hpp"
      COMPILE_DEFINITIONS CAUSEWAY_TSAN=1
      OBJECT_DEPENDS ${root}/machine/cpu/uninstrumented.hpp)
  endif()
  causeway_machine_sources(cpu machine_units ${machine_sources})
  add_library(causeway_cpu_parts OBJECT ${common_sources} ${cpu_sources} ${machine_units})
  add_dependencies(causeway_cpu_parts causeway_generated)
  target_compile_definitions(causeway_cpu_parts PRIVATE CAUSEWAY_LIBRARY=1 CAUSEWAY_CPU=1)
  target_include_directories(causeway_cpu_parts SYSTEM PRIVATE ${root}/emulator/include)
  target_link_libraries(causeway_cpu_parts PRIVATE causeway_flags fmt::fmt PkgConfig::HWLOC Boost::context)

  add_library(causeway_cpu SHARED $<TARGET_OBJECTS:causeway_cpu_parts>)
  target_link_libraries(causeway_cpu PRIVATE causeway_flags causeway_core Boost::context ${CMAKE_DL_LIBS})
endif()
