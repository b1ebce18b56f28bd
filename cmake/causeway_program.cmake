# causeway_add_program(name sources...): a program from `.cu` files, built by `causeway cc` for the CPU machine, in
# build/PRESET/DIRECTORY. Options: DIRECTORY (default programs), FLAGS (passed on), LIBRARIES (e.g. -lgtest).
function(causeway_add_program name)
  cmake_parse_arguments(PROGRAM "" "DIRECTORY" "FLAGS;LIBRARIES;DEPENDS" ${ARGN})
  if(NOT PROGRAM_DIRECTORY)
    set(PROGRAM_DIRECTORY programs)
  endif()
  set(directory ${CMAKE_BINARY_DIR}/${PROGRAM_DIRECTORY})
  file(MAKE_DIRECTORY ${directory})
  set(sources)
  foreach(source ${PROGRAM_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND sources ${source})
  endforeach()
  set(level -O2 -g)
  if(CAUSEWAY_SANITIZE)
    set(level -O1 -g1 -fsanitize=${CAUSEWAY_SANITIZE} -fno-omit-frame-pointer)
  endif()
  add_custom_command(
    OUTPUT ${directory}/${name}
    COMMAND $<TARGET_FILE:causeway> cc --machine cpu ${level} ${PROGRAM_FLAGS} ${sources} -o ${directory}/${name}
            -MD -MF ${directory}/${name}.d ${PROGRAM_LIBRARIES}
    DEPENDS ${sources} ${PROGRAM_DEPENDS} causeway causeway_cpu causeway_generated
    DEPFILE ${directory}/${name}.d
    COMMENT "Translating and building ${name}"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${directory}/${name})
endfunction()
