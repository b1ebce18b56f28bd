# Tests. Labels: unit, conformance, sim; `sample` marks those that also run under the sanitizers.
option(CAUSEWAY_TEST_FULL "The acceptance run's numbers: long sweeps, many cases" OFF)
if(NOT CAUSEWAY_CPU_MACHINE)
  return()
endif()
causeway_find(libgtest-dev GTest)

# The library's own classes are hidden in the shared library: unit tests link its objects.
add_library(causeway_cpu_objects STATIC $<TARGET_OBJECTS:causeway_cpu_parts>)
target_link_libraries(causeway_cpu_objects PUBLIC causeway_core Boost::context ${CMAKE_DL_LIBS})

# causeway_unit_test(name sources...): one program a folder of tests/unit.
function(causeway_unit_test name)
  cmake_parse_arguments(TEST "SAMPLE" "TIMEOUT" "LIBRARIES;DEFINITIONS;SOURCES" ${ARGN})
  add_executable(${name}_test ${TEST_SOURCES})
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_compile_definitions(${name}_test PRIVATE CAUSEWAY_CPU=1 CAUSEWAY_LIBRARY=1
                                                     CAUSEWAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  ${TEST_DEFINITIONS})
  target_compile_options(${name}_test PRIVATE -O1 -g1)
  target_include_directories(${name}_test PRIVATE tests/unit ${PROJECT_SOURCE_DIR})
  target_include_directories(${name}_test SYSTEM PRIVATE ${root}/emulator/include)
  target_link_libraries(${name}_test PRIVATE causeway_flags ${TEST_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_dependencies(${name}_test causeway_generated)
  set(filter)
  if(CAUSEWAY_SANITIZE STREQUAL "thread" AND NOT CAUSEWAY_TEST_FULL)
    set(filter --gtest_filter=-*_16)  # jobs of 16 PEs take a minute
  endif()
  add_test(NAME unit.${name} COMMAND ${name}_test ${filter})
  set(labels unit)
  if(TEST_SAMPLE)
    list(APPEND labels sample)
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  set_tests_properties(unit.${name} PROPERTIES LABELS "${labels}" TIMEOUT ${TEST_TIMEOUT})
endfunction()

# causeway_test_program(name source [FLAGS ...] [DEPENDS ...]): in tests/ of the build folder. They are large, and run
# for seconds.
function(causeway_test_program name source)
  cmake_parse_arguments(PROGRAM "" "" "FLAGS;DEPENDS" ${ARGN})
  causeway_add_program(${name} ${source} DIRECTORY tests FLAGS -O1 -g1 ${PROGRAM_FLAGS} DEPENDS ${PROGRAM_DEPENDS})
endfunction()

# causeway_job_test(name program pes [ARGS ...] [RUN ...] [LABELS ...]): a program as a job of so many PEs.
function(causeway_job_test name program pes)
  cmake_parse_arguments(JOB "" "TIMEOUT" "ARGS;RUN;LABELS" ${ARGN})
  if(NOT JOB_TIMEOUT)
    set(JOB_TIMEOUT 180)
  endif()
  add_test(NAME ${name} COMMAND causeway run -n ${pes} --timeout ${JOB_TIMEOUT} ${JOB_RUN}
                                 ${CMAKE_BINARY_DIR}/${program} ${JOB_ARGS})
  math(EXPR hard_limit "${JOB_TIMEOUT} + 20")
  set_tests_properties(${name} PROPERTIES LABELS "${JOB_LABELS}" TIMEOUT ${hard_limit})
endfunction()

include(cmake/tests_unit.cmake)
include(cmake/tests_conformance.cmake)
if(NOT CAUSEWAY_TEST_SAMPLE)
  include(cmake/tests_programs.cmake)
endif()
