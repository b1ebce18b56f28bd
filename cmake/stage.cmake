# One include directory for library, tests and users: build/PRESET/include holds the public headers, links to the source
# folders under causeway/, and what api/gen.py generates.
set(CAUSEWAY_INCLUDE ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${CAUSEWAY_INCLUDE}/causeway/generated)
foreach(entry nvshmem.h nvshmemx.h nvshmem_host.h host non_abi)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/${entry} ${CAUSEWAY_INCLUDE}/${entry} SYMBOLIC)
endforeach()
foreach(folder amo api backend base bootstrap coll emulator heap machine moe order rma runtime signal team tools)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${CAUSEWAY_INCLUDE}/causeway/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/moe/moe.hpp ${CAUSEWAY_INCLUDE}/causeway/moe.hpp SYMBOLIC)

set(generated ${CAUSEWAY_INCLUDE}/causeway/generated)
add_custom_command(
  OUTPUT ${generated}/nvshmem_api.h ${generated}/nvshmemx_api.h ${generated}/stamp
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/api/gen.py ${generated}
  COMMAND ${CMAKE_COMMAND} -E touch ${generated}/stamp
  DEPENDS ${PROJECT_SOURCE_DIR}/api/gen.py ${PROJECT_SOURCE_DIR}/api/spec.py
  COMMENT "Generating the typed API"
  VERBATIM)
add_custom_target(causeway_generated DEPENDS ${generated}/stamp)
