# libcauseway.so: the CUDA machine. The driver is found at run time, so it builds and loads without a GPU.
set(CAUSEWAY_CUDA_ARCHITECTURES "80;90" CACHE STRING
    "GPU architectures with machine code; PTX of the last one is added")
set(CMAKE_CUDA_ARCHITECTURES ${CAUSEWAY_CUDA_ARCHITECTURES})
# C++17 there: nvcc's front end cannot evaluate fmt's C++20 checks of format strings; g++ does in the .cpp files.
set(CMAKE_CUDA_STANDARD 17)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

file(GLOB cuda_sources CONFIGURE_DEPENDS ${root}/*/cuda/*.cpp ${root}/*/cuda/*.cu)
causeway_machine_sources(cuda machine_units ${machine_sources})
add_library(causeway_cuda SHARED ${common_sources} ${cuda_sources} ${machine_units})
set_target_properties(causeway_cuda PROPERTIES OUTPUT_NAME causeway
                      CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Static)
add_dependencies(causeway_cuda causeway_generated)
target_compile_definitions(causeway_cuda PRIVATE CAUSEWAY_LIBRARY=1)
target_include_directories(causeway_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(causeway_cuda PRIVATE causeway_flags causeway_core ${CMAKE_DL_LIBS})
