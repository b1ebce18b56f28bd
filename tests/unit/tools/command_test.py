#!/usr/bin/env python3
"""The script ./causeway: one list of commands with the tool's, help that runs nothing, and a tool as new as the
sources.

    command_test.py [TOOL]      TOOL: the built causeway, to compare with
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOL = sys.argv.pop(1) if len(sys.argv) > 1 else None
SCRIPT_COMMANDS = ["demo", "test", "api", "--packages", "--prepare"]


def run(*words, **more):
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, **more
    )


class Checkout(unittest.TestCase):
    """A checkout in which nothing is built, and cmake is a script that notes how it was called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve() / "with a space"
        for name in ("causeway", "tools/progress.sh", "tests/run.sh", "tests/steps.sh"):
            self.write(name, (ROOT / name).read_text())
            (self.root / name).chmod(0o755)
        for name in ("src", "cmake", "tools"):
            (self.root / name).mkdir(exist_ok=True)
        self.write("CMakeLists.txt", "# The build.\n")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def causeway(self, *words):
        """Every program that could build or install is replaced by one that leaves a trace."""
        self.write("fake/cmake", f'#!/bin/sh\necho "cmake $*" >> "{self.root}/calls"\n. "{self.root}/fake/build"\n')
        for name in ("apt-get", "sudo", "ninja"):
            self.write(f"fake/{name}", f'#!/bin/sh\necho {name} >> "{self.root}/calls"\n')
        for name in ("cmake", "apt-get", "sudo", "ninja"):
            (self.root / "fake" / name).chmod(0o755)
        environment = {**os.environ, "PATH": f"{self.root}/fake:{os.environ['PATH']}"}
        return run("bash", self.root / "causeway", *words, env=environment, cwd=self.root)

    def calls(self):
        path = self.root / "calls"
        return path.read_text().splitlines() if path.exists() else []


class Help(Checkout):
    def test_help_runs_and_makes_nothing(self):
        for words in (
            [],
            ["help"],
            ["--help"],
            *([c, "--help"] for c in SCRIPT_COMMANDS),
            *(["help", c] for c in SCRIPT_COMMANDS),
        ):
            done = self.causeway(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertIn("Usage: ", done.stdout, words)
        self.assertEqual(self.calls(), [])
        self.assertFalse((self.root / "build").exists())

    def test_what_is_unknown_runs_nothing(self):
        for words, said in (
            (["dmeo"], "did you mean demo?"),
            (["rnu", "-n", "2", "prog"], "did you mean run?"),
            (["help", "tset"], "did you mean test?"),
            (["xyzzy"], "accepted are run, cc, info, version, help, " "demo, test, api\n"),
            (["demo", "now"], 'unexpected argument "now"'),
            (["api", "--all"], 'unexpected argument "--all"'),
            (["test", "--fast"], "accepted: --full"),
        ):
            done = self.causeway(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(said, done.stderr, words)
        self.assertEqual(self.calls(), [])
        self.assertFalse((self.root / "build").exists())

    def test_packages_are_those_that_cmake_names(self):
        known = self.causeway("--packages").stdout.split()
        texts = [p.read_text() for p in (ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake")))]
        named = [
            name
            for text in texts
            for name in re.findall(r"^ *causeway_find\(([\w-]+) |^ *causeway_missing\(.* ([\w-]+)\)$", text, re.M)
            for name in name
            if name
        ]
        self.assertGreaterEqual(len(named), 9)
        self.assertEqual([name for name in named if name not in known], [])

    @unittest.skipUnless(TOOL, "no tool is given")
    def test_script_and_tool_give_one_list(self):
        self.assertEqual(self.causeway("help").stdout, run(TOOL, "help").stdout)
        for command in SCRIPT_COMMANDS:
            there = run(TOOL, command)
            self.assertEqual((there.returncode, there.stdout), (2, ""))
            self.assertIn(f"./causeway {command}", there.stderr)

    @unittest.skipUnless(TOOL, "no tool is given")
    def test_script_and_tool_name_the_same_command_for_a_slip(self):
        for word in (
            "dmeo",
            "demoo",
            "RUN",
            "rnu",
            "ccc",
            "inof",
            "verison",
            "hlep",
            "tests",
            "apis",
            "x",
            "r",
            "tes",
            "quite else",
        ):
            self.assertEqual(self.causeway(word).stderr, run(TOOL, word).stderr, word)


class Stale(Checkout):
    """The tool here is a script; what is newer than what is set by hand."""

    def setUp(self):
        super().setUp()
        self.write("build/cpu/bin/causeway", "#!/bin/sh\necho old tool: $*\n")
        self.write("build/cpu/lib/libcauseway_cpu.so", "")
        (self.root / "build/cpu/bin/causeway").chmod(0o755)
        self.write("build/cpu/CMakeCache.txt", f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n")
        self.write("src/causeway/rma/put.hpp", "// Puts.\n")
        self.write("tests/unit/a.cpp", "// Not a part of the tool.\n")
        self.write("prog.cu", "// Somebody's own.\n")
        self.write("fake/build", 'printf "#!/bin/sh\\necho new tool: \\$*\\n" > build/cpu/bin/causeway\n')
        self.age(100, *self.root.rglob("*"))

    def age(self, seconds, *paths):
        moment = self.root.stat().st_ctime - seconds
        for path in paths:
            os.utime(self.root / path, (moment, moment))

    def expect(self, text, said):
        done = self.causeway("info", "-e")
        self.assertEqual((done.returncode, done.stdout), (0, f"{text}: info -e\n"), done.stderr)
        self.assertEqual(done.stderr != "", said != "")
        self.assertIn(said, done.stderr)

    def test_nothing_changed(self):
        self.age(50, "prog.cu", "tests/unit/a.cpp")
        self.expect("old tool", "")
        self.assertEqual(self.calls(), [])

    def test_a_newer_source_is_built_once(self):
        for source in ("src/causeway/rma/put.hpp", "CMakeLists.txt"):
            self.age(50, source)
            self.expect("new tool", f"{source} is newer than the tool: building it again (log: build/cpu.build.log)")
            self.assertEqual([call.split(" -j ")[0] for call in self.calls()], [f"cmake --build {self.root}/build/cpu"])
            self.expect("new tool", "")
            self.assertEqual(len(self.calls()), 1)
            (self.root / "calls").unlink()
            self.age(100, source, "build/cpu/.up_to_date")

    def test_a_build_that_leaves_the_files_is_not_repeated(self):
        self.write("fake/build", "true\n")
        self.age(50, "src/causeway/rma/put.hpp")
        self.expect("old tool", "src/causeway/rma/put.hpp is newer than the tool")
        self.expect("old tool", "")
        self.assertEqual(len(self.calls()), 1)

    def test_a_build_that_fails_is_told(self):
        self.write("fake/build", 'echo "src/causeway/rma/put.hpp:1:1: error: what is this"; exit 1\n')
        self.age(50, "src/causeway/rma/put.hpp")
        for _ in range(2):
            done = self.causeway("info")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("src/causeway/rma/put.hpp:1:1: error: what is this\n", done.stderr)
            self.assertIn("building cpu failed; the log: build/cpu.build.log", done.stderr)

    def test_a_folder_that_was_not_made_here_is_used_as_it_is(self):
        self.age(50, "src/causeway/rma/put.hpp")
        for cache in ("CMAKE_HOME_DIRECTORY:INTERNAL=/somewhere/else\n", None):
            if cache:
                self.write("build/cpu/CMakeCache.txt", cache)
            else:
                (self.root / "build/cpu/CMakeCache.txt").unlink()
            self.expect(
                "old tool", "src/causeway/rma/put.hpp is newer than build/cpu, which cannot be built again from here"
            )
        self.assertEqual(self.calls(), [])


class Table(Checkout):
    def test_api_says_that_it_needs_python(self):
        self.write("src/causeway/api/gen.py", (ROOT / "src/causeway/api/gen.py").read_text())
        tools = self.root / "few"
        tools.mkdir()
        for name in ("bash", "dirname", "readlink", "nproc", "mkdir", "id", "grep"):
            (tools / name).symlink_to(shutil.which(name))
        done = run(tools / "bash", self.root / "causeway", "api", env={"PATH": str(tools)})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("causeway api: needs python3", done.stderr)


if __name__ == "__main__":
    unittest.main()
