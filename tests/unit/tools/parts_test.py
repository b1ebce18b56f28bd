#!/usr/bin/env python3
"""tests/parts.sh: a run in parts goes on where it was cut off, on the same tree alone; and every test is in one part.

    parts_test.py [CTEST BUILD]     also compares the parts with the tests of this build folder
"""
import fcntl
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CTEST, BUILD = sys.argv[1:3] if len(sys.argv) > 2 else (None, None)
del sys.argv[1:]

# Parts that note that they run, and do what a file of the build folder says. They run in the script's own shell.
RUN = """set -euo pipefail
root=$PWD
. tests/steps.sh
. tests/parts.sh
prepare() { mkdir -p build; }
work() { echo "$1" >> build/ran; if [ -e "build/$1.does" ]; then . "build/$1.does"; fi; }
all_steps() { for name in a b c; do step $name work $name; done; }
run_parts "$@"
"""


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name in ("tools/progress.sh", "tests/steps.sh", "tests/parts.sh"):
            self.write(name, (ROOT / name).read_text())
        self.write("tests/run.sh", RUN)
        self.write(".gitignore", "/build/\n")
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def git(self, *words):
        return subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "a", "--allow-empty")
        self.head = self.git("rev-parse", "HEAD")

    def run_parts(self, *words):
        """(status, what ran, the process)"""
        ran = self.root / "build/ran"
        ran.unlink(missing_ok=True)
        with (
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
        ):  # (pipes would wait for what it leaves behind)
            done = subprocess.run(
                ["bash", "tests/run.sh", *(words or ("",))],
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                timeout=60,
            )
            out.seek(0), err.seek(0)
            done.stdout, done.stderr = out.read(), err.read()
        return done.returncode, "".join(ran.read_text().split()) if ran.exists() else "", done

    def expect(self, status, ran, *words):
        done = self.run_parts(*words)
        self.assertEqual(done[:2], (status, ran), done[2].stdout + done[2].stderr)
        return done[2]

    def states(self):
        lines = self.expect(0, "", "list").stdout.splitlines()
        return {line.split()[0]: line[20:33].strip() for line in lines}

    def does(self, part, what):
        self.write(f"build/{part}.does", what)

    def test_what_has_passed_is_not_run_again(self):
        self.assertEqual(self.states(), dict.fromkeys("abc", "to do"))
        self.assertFalse((self.root / "build").exists(), "listing makes nothing")
        self.expect(0, "abc")
        self.assertEqual(self.states(), dict.fromkeys("abc", "ok"))
        self.assertRegex(self.expect(0, "").stdout, r"^   a: ok before \(\d+ s\)\n")
        kept = (self.root / "build/test-full" / self.head / "b").read_text()
        for line in (
            "part: b",
            "result: ok",
            r"seconds: \d+",
            f"commit: {self.head}",
            r"date: \d{4}-.*Z",
            "machine: Linux .*",
            "command: work b",
            "the end of its log:",
        ):
            self.assertRegex(kept, f"(?m)^{line}$")
        summary = (self.root / "build/test-full" / self.head / "summary").read_text()
        self.assertRegex(
            summary,
            rf"^commit: {self.head}\ndate: .*\nmachine: .*\n(?:[abc] +ok +\d+\n){{3}}3 passed, 0 failed, 0 to do\n$",
        )

    def test_what_failed_is_run_again(self):
        self.does("b", "echo 'a.cpp:1:1: error: x'; return 1")
        done = self.expect(1, "abc")
        self.assertIn("== FAILED: b (log: build/test.b.log)\n   > a.cpp:1:1: error: x\n", done.stdout)
        self.assertIn("\n2 passed, 1 failed, 0 to do\n", done.stdout)
        self.assertEqual(self.states(), {"a": "ok", "b": "failed", "c": "ok"})
        self.assertIn("  a.cpp:1:1: error: x\n", (self.root / "build/test-full" / self.head / "b").read_text())
        self.expect(1, "b")
        self.does("b", "")
        self.expect(0, "b")

    def test_what_was_cut_off_is_run_again(self):
        self.does("b", "kill -KILL $$")
        self.expect(-9, "ab")
        self.assertEqual(self.states(), {"a": "ok", "b": "interrupted", "c": "to do"})
        self.does("b", "")
        self.expect(0, "bc")

    def test_parts_by_name(self):
        self.assertIn("\n1 passed, 0 failed, 2 to do\n", self.expect(0, "b", "", "b").stdout)
        self.assertEqual(self.states(), {"a": "to do", "b": "ok", "c": "to do"})
        self.expect(0, "bc", "", "c", "b")  # in their order, and also what has passed
        self.does("a", "false")
        self.expect(1, "a", "", "a")
        self.expect(0, "b", "", "b")  # whatever else has failed
        done = self.expect(2, "", "", "b", "d")
        self.assertIn("there is no part d; --parts lists them", done.stderr)

    def test_another_commit_is_another_run(self):
        first = self.head
        self.expect(0, "abc")
        self.write("rma/put.hpp", "// Puts.\n")
        self.commit()
        self.assertEqual(self.states(), dict.fromkeys("abc", "to do"))
        self.expect(0, "abc")
        self.git("checkout", "-q", first)
        self.expect(0, "")

    def test_of_a_changed_tree_nothing_is_kept(self):
        self.expect(0, "abc")
        for name in (".gitignore", "tests/new.cu"):
            before = (self.root / name).read_text() if (self.root / name).exists() else None
            self.write(name, "/build/\n# More.\n")
            for _ in range(2):
                self.assertIn("the tree is no clean commit", self.expect(0, "abc").stderr)
            self.assertIn(f"\ncommit: {self.head}-changed\n", "\n" + self.expect(0, "abc").stdout)
            self.write(name, before) if before else (self.root / name).unlink()
            self.expect(0, "")
        self.write("prog.cu", "int main() {}\n")
        self.write("mine/deep/prog.cu", "int main() {}\n")
        self.expect(0, "")  # somebody's own

    def test_a_tree_that_changes_meanwhile(self):
        self.does("b", "echo >> .gitignore")
        done = self.expect(1, "ab")
        self.assertIn("the tree has changed while b ran: its result does not count", done.stderr)
        self.git("checkout", "-q", ".gitignore")
        self.assertEqual(self.states(), {"a": "ok", "b": "to do", "c": "to do"})

    def test_without_git_all_parts_are_run(self):
        (self.root / ".git").rename(self.root / "git")
        for _ in range(2):
            self.assertIn("commit: unknown\n", self.expect(0, "abc").stdout)

    def test_one_run_at_a_time(self):
        self.expect(0, "abc")
        with open(self.root / "build/test-full/.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("another acceptance run goes on", self.expect(2, "", "", "a").stderr)

    def test_what_a_part_leaves_behind_holds_up_no_run(self):
        self.does("a", "sleep 50 > /dev/null 2>&1 & echo $! > build/left")
        self.expect(0, "abc")
        try:
            self.expect(0, "b", "", "b")
        finally:
            subprocess.run(["kill", (self.root / "build/left").read_text().strip()], check=True)


@unittest.skipUnless(CTEST, "no build folder is given")
class Tests(unittest.TestCase):
    def names(self, *words):
        out = subprocess.run(
            [CTEST, "--test-dir", BUILD, "-N", *words], capture_output=True, text=True, check=True
        ).stdout
        return re.findall(r"^ *Test +#\d+: (\S+)$", out, re.M)

    def test_each_is_in_exactly_one_part(self):
        listed = subprocess.run(
            ["bash", "-c", f"root={ROOT}; . {ROOT}/tests/parts.sh; test_parts"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        parts = {name: self.names(*words) for name, *words in map(str.split, listed.splitlines())}
        self.assertEqual([name for name, tests in parts.items() if not tests], [], "parts without a test")
        self.assertEqual(sorted(test for tests in parts.values() for test in tests), sorted(self.names()))
        sizes = [len(tests) for name, tests in parts.items() if name.startswith("conformance.")]
        self.assertLessEqual(max(sizes) - min(sizes), 1)


if __name__ == "__main__":
    unittest.main()
