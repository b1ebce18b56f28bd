# Programs built the way users build theirs: the examples, by `causeway cc`.
if(NOT CAUSEWAY_TEST_SAMPLE)
  set(examples shift ring_allreduce jacobi token_shuffle latency moe_primitives)
  foreach(example ${examples})
    causeway_add_program(${example} examples/${example}.cu DIRECTORY examples)
  endforeach()
  add_custom_target(examples DEPENDS ${examples})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/examples/field_to_png.py ${CMAKE_BINARY_DIR}/examples/field_to_png.py SYMBOLIC)
endif()
