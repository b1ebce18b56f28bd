# causeway_add_program(name sources...): a program from `.cu` files, built by `causeway cc` for the preset's machine, in
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
  if(CAUSEWAY_CPU_MACHINE)
    set(machine cpu ${level})
    set(library causeway_cpu)
    set(all ALL)
  else()
    set(machine cuda -O3)
    foreach(architecture ${CAUSEWAY_CUDA_ARCHITECTURES})
      list(APPEND machine -gencode arch=compute_${architecture},code=sm_${architecture})
      set(newest ${architecture})
    endforeach()
    list(APPEND machine -gencode arch=compute_${newest},code=compute_${newest})
    set(library causeway_cuda)
    set(all)  # when asked for: nvcc takes long
  endif()
  add_custom_command(
    OUTPUT ${directory}/${name}
    COMMAND $<TARGET_FILE:causeway> cc --machine ${machine} ${PROGRAM_FLAGS} ${sources} -o ${directory}/${name}
            -MD -MF ${directory}/${name}.d ${PROGRAM_LIBRARIES}
    DEPENDS ${sources} ${PROGRAM_DEPENDS} causeway ${library} causeway_generated
    DEPFILE ${directory}/${name}.d
    COMMENT "Translating and building ${name}"
    VERBATIM)
  add_custom_target(${name} ${all} DEPENDS ${directory}/${name})
endfunction()
