# causeway_machine_sources(cpu|cuda result sources...): sources of both machines, `.cu`, as one machine's library is
# built of them. nvcc takes them as they are; for g++ each becomes a unit of one line that includes it, since a source
# has one language in all targets.
function(causeway_machine_sources machine result)
  set(units ${ARGN})
  if(machine STREQUAL "cpu")
    set(units)
    foreach(source ${ARGN})
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE unit)
      cmake_path(REPLACE_EXTENSION unit .cpp)
      file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/units/${unit} CONTENT "#include \"${source}\"\n")
      list(APPEND units ${CMAKE_BINARY_DIR}/units/${unit})
    endforeach()
  endif()
  set(${result} ${units} PARENT_SCOPE)
endfunction()
