# tests/unit mirrors the tree: one test program a folder.
if(NOT CAUSEWAY_TEST_SAMPLE)
  file(GLOB translate_sources CONFIGURE_DEPENDS ${root}/emulator/translate/*.cpp)
  file(GLOB translate_tests CONFIGURE_DEPENDS tests/unit/emulator/translate_*_test.cpp)
  causeway_unit_test(translate SOURCES ${translate_tests} ${translate_sources} LIBRARIES fmt::fmt)

  file(GLOB base_tests CONFIGURE_DEPENDS tests/unit/base/*_test.cpp)
  causeway_unit_test(base SOURCES ${base_tests} LIBRARIES causeway_core)

  file(GLOB config_tests CONFIGURE_DEPENDS tests/unit/config/*_test.cpp)
  causeway_unit_test(config SOURCES ${config_tests} LIBRARIES causeway_core)

  # (Its own main: the launcher and its PEs are this program again.)
  file(GLOB run_sources CONFIGURE_DEPENDS tools/run*.cpp)
  file(GLOB run_tests CONFIGURE_DEPENDS tests/unit/tools/run_*.cpp tests/unit/tools/cc_*.cpp)
  causeway_unit_test(run SOURCES ${run_tests} ${run_sources} tools/cc_paths.cpp
                         LIBRARIES causeway_core CLI11::CLI11 ${CMAKE_DL_LIBS})

  add_test(NAME api.golden COMMAND ${Python3_EXECUTABLE} -B ${generator} --check)
  add_test(NAME tidy.rules COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/unit/tools/tidy_test.py)
  add_test(NAME script.progress
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/unit/tools/progress_test.py)
  add_test(NAME script.command
           COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/unit/tools/command_test.py
                    $<TARGET_FILE:causeway>)
  add_test(NAME script.install COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/unit/tools/install_test.py
                                       ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR})
  add_test(NAME script.parts COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/unit/tools/parts_test.py
                                     ${CMAKE_CTEST_COMMAND} ${CMAKE_BINARY_DIR})
  set_tests_properties(api.golden tidy.rules script.progress script.command script.parts script.install
                       PROPERTIES LABELS unit)
endif()

# (In the sample the address sanitizer leaves out what takes long to build; the acceptance run has it all.)
if(NOT CAUSEWAY_TEST_SAMPLE OR CAUSEWAY_TEST_FULL)
  file(GLOB emulator_tests CONFIGURE_DEPENDS tests/unit/emulator/runtime_*_test.cpp)
  causeway_unit_test(emulator SOURCES ${emulator_tests} LIBRARIES causeway_cpu_objects)
endif()
if(NOT CAUSEWAY_TEST_SAMPLE OR CAUSEWAY_TEST_FULL OR CAUSEWAY_SANITIZE STREQUAL "thread")
  file(GLOB bootstrap_tests CONFIGURE_DEPENDS tests/unit/bootstrap/*_test.cpp)
  causeway_unit_test(bootstrap SOURCES ${bootstrap_tests} LIBRARIES causeway_core SAMPLE)
endif()

file(GLOB library_tests CONFIGURE_DEPENDS
     tests/unit/heap/*_test.cpp tests/unit/team/*_test.cpp tests/unit/machine/*_test.cpp)
causeway_unit_test(library SOURCES ${library_tests} LIBRARIES causeway_cpu_objects SAMPLE)
