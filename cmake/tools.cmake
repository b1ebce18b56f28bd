# The `causeway` program: run, cc, info.
causeway_find(libcli11-dev CLI11)
causeway_find(nlohmann-json3-dev nlohmann_json)
file(GLOB tool_sources CONFIGURE_DEPENDS tools/*.cpp ${root}/emulator/translate/*.cpp)
add_executable(causeway ${tool_sources})
add_dependencies(causeway causeway_generated)
target_compile_definitions(causeway PRIVATE CAUSEWAY_CPU=1 CAUSEWAY_LIBRARY=1)
target_include_directories(causeway PRIVATE ${PROJECT_SOURCE_DIR})  # <tools/...>
target_compile_options(causeway PRIVATE -O1 -g1)  # headers that take long to compile, code that runs once
target_link_libraries(causeway PRIVATE causeway_flags causeway_core CLI11::CLI11 nlohmann_json::nlohmann_json
                                       ${CMAKE_DL_LIBS})
