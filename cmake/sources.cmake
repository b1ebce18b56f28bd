# What a unit of ours is compiled with: `src`, whose folders are named as they are included (causeway/heap/heap.hpp),
# and what api/gen.py generates, in the build directory under the same names (causeway/generated).
set(source_root ${PROJECT_SOURCE_DIR}/src)
set(generated_root ${CMAKE_BINARY_DIR}/include)
set(generated ${generated_root}/causeway/generated)
file(MAKE_DIRECTORY ${generated})
# `causeway cc` of a build directory finds the headers by this.
file(WRITE ${CMAKE_BINARY_DIR}/source_root "${source_root}\n")

set(generator ${source_root}/causeway/api/gen.py)
add_custom_command(
  OUTPUT ${generated}/nvshmem_api.h ${generated}/nvshmemx_api.h ${generated}/stamp
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${generator} ${generated}
  COMMAND ${CMAKE_COMMAND} -E touch ${generated}/stamp
  DEPENDS ${generator} ${source_root}/causeway/api/spec.py
  COMMENT "Generating the typed API"
  VERBATIM)
add_custom_target(causeway_generated DEPENDS ${generated}/stamp)
