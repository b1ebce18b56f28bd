# `cmake --install`: bin/causeway, lib/libcauseway*.so and include/, which is what `causeway cc`, `causeway run` and
# nvcc need. A Python wheel has the same inside the package, under causeway/, but for the tool, which goes beside the
# interpreter.
if(SKBUILD)
  set(inside causeway/)
else()
  set(inside "")
endif()
install(DIRECTORY ${source_root}/ DESTINATION ${inside}include COMPONENT causeway
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "emulator/include/cuda/std/*" PATTERN __pycache__ EXCLUDE
        PATTERN emulator/translate EXCLUDE)
install(DIRECTORY ${generated} DESTINATION ${inside}include/causeway COMPONENT causeway FILES_MATCHING PATTERN "*.h")

set(installed_libraries)
if(CAUSEWAY_CPU_MACHINE)
  list(APPEND installed_libraries causeway_cpu)
endif()
if(CAUSEWAY_CUDA)
  list(APPEND installed_libraries causeway_cuda)
endif()
install(TARGETS ${installed_libraries} LIBRARY DESTINATION ${inside}lib COMPONENT causeway)
if(SKBUILD)
  install(TARGETS causeway RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT causeway)
else()
  install(TARGETS causeway RUNTIME DESTINATION bin COMPONENT causeway)
endif()
