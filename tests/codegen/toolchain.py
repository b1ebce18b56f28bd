# The compilers as the checks use them: a call compiles one file and answers with text or the compiler's complaint.
import pathlib
import shutil
import subprocess
import tempfile


SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"


class CompileError(Exception):
    """A compiler said no; the text is the first errors that it named."""


class Toolchain:
    def __init__(self, nvcc, include):
        self.nvcc = shutil.which(nvcc)
        if not self.nvcc:
            raise SystemExit(f"--nvcc {nvcc}: no such program; give the path of nvcc")
        generated = pathlib.Path(include).resolve()
        if not (generated / "causeway" / "generated" / "nvshmem_api.h").exists():
            raise SystemExit(f"--include {include}: no generated headers there; give the include directory of a build")
        self.includes = [SOURCES, generated]
        home = pathlib.Path(self.nvcc).resolve().parent.parent
        self.cuda_include = home / "include"
        self.ptxas = home / "bin" / "ptxas"

    def run(self, command, want=None):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            said = (done.stderr + done.stdout).strip().splitlines()
            raise CompileError("; ".join(([line for line in said if "error" in line] or said)[:3]))
        return want.read_text() if want else ""

    def ptx(self, source, arch, rdc=False, includes=None):
        """The PTX of a .cu file, which the assembler has also accepted: it checks what inline PTX says."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "unit.ptx"
            text = self.run([self.nvcc, "-std=c++17", "-ptx", f"-arch={arch}", f"-rdc={'true' if rdc else 'false'}",
                             *(f"-I{include}" for include in includes or self.includes), source, "-o", out], want=out)
            if self.ptxas.exists():
                self.run([self.ptxas, f"-arch={arch}", *(["-c"] if rdc else []), out, "-o", out.with_suffix(".cubin")])
            return text
