# causeway_find(package name ...): find_package(name ...), which must succeed; `package` is what Debian and Ubuntu call
# it.
macro(causeway_find package name)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    causeway_missing("${name}" ${package})
  endif()
endmacro()

function(causeway_missing what package)
  message(FATAL_ERROR "${what} is not found. Debian and Ubuntu have it in the package ${package}; "
            "`./causeway --packages` prints all that "
                      "is needed, `./causeway --prepare` installs it.")
endfunction()
