# The Python package: one extension a machine, from the same source, beside its library. Run by pip (scikit-build-core),
# or with -DCAUSEWAY_PYTHON=ON.
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
if(NOT Python_Interpreter_FOUND)
  causeway_missing("Python 3.9 or later" python3)
elseif(NOT Python_Development.Module_FOUND)
  causeway_missing("Python.h, the development files of ${Python_EXECUTABLE} (Python ${Python_VERSION})," python3-dev)
endif()
if(NOT nanobind_ROOT AND NOT SKBUILD)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_VARIABLE nanobind_ROOT
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_package(nanobind CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cpp)
add_custom_target(causeway_python)
# The package can be imported from the build folder, too: build/PRESET/python.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/python/causeway)
file(GLOB python_package RELATIVE ${PROJECT_SOURCE_DIR}/python/causeway CONFIGURE_DEPENDS python/causeway/*)
foreach(entry ${python_package})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/causeway/${entry} ${CMAKE_BINARY_DIR}/python/causeway/${entry} SYMBOLIC)
endforeach()

function(causeway_python_module machine library)
  string(TOUPPER ${machine} name)
  set(target causeway_python_${machine})
  # A domain of its own: both may be loaded in one process, and have classes of the same names.
  nanobind_add_module(${target} NB_STATIC NB_DOMAIN causeway_${machine} ${python_sources})
  add_dependencies(${target} causeway_generated)
  target_compile_definitions(${target} PRIVATE CAUSEWAY_HOST_ONLY=1 CAUSEWAY_PYTHON_${name}=1
                                               CAUSEWAY_MODULE=_${machine})
  target_link_libraries(${target} PRIVATE causeway_flags ${library} fmt::fmt)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME _${machine} CXX_STANDARD 20
                                             LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/causeway)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
  add_dependencies(causeway_python ${target})
  if(SKBUILD)
    install(TARGETS ${target} LIBRARY DESTINATION causeway COMPONENT python)
  endif()
endfunction()

if(CAUSEWAY_CPU_MACHINE)
  causeway_python_module(cpu causeway_cpu)
  target_include_directories(causeway_python_cpu SYSTEM PRIVATE ${root}/emulator/include)
endif()
if(CAUSEWAY_CUDA)
  causeway_python_module(cuda causeway_cuda)
  target_link_libraries(causeway_python_cuda PRIVATE CUDA::cudart_static)
endif()

if(SKBUILD)
  # The tool, beside the interpreter that the package is installed for, finds headers and libraries in the package.
  add_dependencies(causeway_python causeway)
  target_compile_definitions(causeway PRIVATE CAUSEWAY_PYTHON="python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}")
endif()
