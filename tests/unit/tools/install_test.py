#!/usr/bin/env python3
"""What `cmake --install` makes is whole: its tool compiles and runs a program, with headers and libraries of the
installation.

    install_test.py CMAKE BUILD
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CMAKE, BUILD = sys.argv.pop(1), sys.argv.pop(1)


def run(*words, **more):
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=200, **more
    )


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name).resolve() / "prefix"
        cls.done = run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def cc(self, *words):
        done = run(self.prefix / "bin/causeway", "cc", "--machine", "cpu", *words, cwd=self.folder.name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_a_program(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        self.cc("-O0", ROOT / "examples/shift.cu", "-o", "shift")
        for options in ([], ["--threads"]):
            done = run(self.prefix / "bin/causeway", "run", "-n", "2", *options, "./shift", cwd=self.folder.name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("ok"), 2, done.stdout)

    def test_headers_are_its_own(self):
        links = [p for p in self.prefix.rglob("*") if p.is_symlink()]
        self.assertEqual(links, [])
        for example in ("moe_primitives", "ring_allreduce"):
            used = self.cc("-M", ROOT / f"examples/{example}.cu").replace("\\\n", " ").split()[1:]
            ours = [p for p in used if p.startswith(str(self.prefix))]
            self.assertGreater(len(ours), 20)
            outside = [p for p in used if p.startswith(str(ROOT)) or p.startswith(str(BUILD))]
            self.assertEqual(outside, [str(ROOT / f"examples/{example}.cu")])

    def test_info(self):
        done = run(self.prefix / "bin/causeway", "info")
        self.assertIn("\n  cpu: available\n", done.stdout)
        self.assertRegex(done.stdout, r"\n  reduce +cuda +kernel of 1 x 512 +kernel of 1 x 512\n")


if __name__ == "__main__":
    unittest.main()
