# The public headers compile alone, and twice in one unit, with every compiler that users have.
import pathlib
import tempfile

from toolchain import SOURCES, CompileError

# name -> (suffix of the unit, command). {include}, {cuda} and {nvcc} are filled in; sm_75 is the oldest GPU of CUDA 13.
COMPILERS = {
    "g++ C++17 (host only)": (".cpp", "g++ -std=c++17 -Wall -Werror -fsyntax-only {include} -isystem {cuda}"),
    "nvcc C++17 sm_75": (".cu", "{nvcc} -std=c++17 -arch=sm_75 {include} -c -o {out}"),
    "g++ C++20 (CPU machine)": (".cpp", "g++ -std=c++20 -Wall -Werror -fsyntax-only -DCAUSEWAY_CPU {include} "
                                        "-isystem {emulator}"),
}


def public_headers():
    """Names of the headers that users include, relative to the include directory."""
    include = SOURCES
    staged = [p.relative_to(include) for folder in (include, include / "host", include / "non_abi")
              for p in sorted(folder.glob("*.h"))]
    return [str(p) for p in staged]


def check(toolchain, includes=None, names=None):
    """Yields (what was compiled, problem or None), for the toolchain's headers or those of other directories."""
    includes = includes or toolchain.includes
    for header in names or public_headers():
        for name, (suffix, command) in COMPILERS.items():
            with tempfile.TemporaryDirectory() as folder:
                unit = pathlib.Path(folder) / ("unit" + suffix)
                unit.write_text(f"#include <{header}>\n#include <{header}>\nint main() {{ return 0; }}\n")
                words = [
                    w.format(
                        include="\n".join(f"-I{i}" for i in includes),
                        emulator=includes[0] / "causeway/emulator/include",
                        cuda=toolchain.cuda_include,
                        nvcc=toolchain.nvcc,
                        out=unit.with_suffix(".o"),
                    )
                    for w in command.split()
                ]
                words = [word for w in words for word in w.split("\n")]
                try:
                    toolchain.run(words + [unit])
                    yield f"{header}: {name}", None
                except CompileError as error:
                    yield f"{header}: {name}", str(error)
