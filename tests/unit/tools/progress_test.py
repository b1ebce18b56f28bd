#!/usr/bin/env python3
"""tools/progress.sh and tests/steps.sh: what is printed while something runs, and what of a log says why it failed."""
import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]

NINJA = "[0/2] Re-checking globbed directories...\n[1/113] Building CXX object a.o\n[57/113] Building CXX object b.o\n"
CTEST = """Test project /a/build/cpu
      Start  1: unit.run
 1/80 Test  #1: unit.run .........................***Failed    0.10 sec
tests/unit/tools/run_job_test.cpp:41: Failure
Expected equality of these values:
  1
  2
[  FAILED  ] RunJobTest.Ends (3 ms)
      Start  2: conformance.rma.4
 2/80 Test  #2: conformance.rma.4 ................***Timeout  600.00 sec
PE 1: put, case 3 of seed 7: byte 9 is 0
FAIL put: 30 cases, 1 mistakes

98% tests passed, 2 tests failed out of 80

The following tests FAILED:
	  1 - unit.run (Failed)
	  2 - conformance.rma.4 (Timeout)
Errors while running CTest
"""


class Shell(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"

    def bash(self, script, **more):
        script = (
            f'set -euo pipefail\nroot={self.folder}\nlog={self.log}\ncd "$root"\n. {ROOT}/tools/progress.sh\n{script}'
        )
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, **more)


class Progress(Shell):
    def of(self, text):
        self.log.write_text(text)
        return self.bash('progress_of "$log"').stdout

    def test_how_far_a_log_is(self):
        self.assertEqual(self.of(NINJA), "57 of 113 files, \n")
        self.assertEqual(self.of(CTEST), "2 of 80 tests, \n")
        self.assertEqual(self.of(NINJA + CTEST), "2 of 80 tests, \n")
        self.assertEqual(self.of("-- Configuring done\n[a/b] c\n"), "")
        self.assertEqual(self.of(""), "")
        self.assertEqual(
            self.of("".join(f"[{i}/9000] " + "x" * 90 + "\n" for i in range(1, 9001))), "9000 of 9000 files, \n"
        )
        self.assertEqual(self.bash('progress_of "$log.none"').returncode, 0)

    # The command ends when the line that it waits for has come.
    RUN = 'progress_every_s={every} progress_look_s=0.05\nwith_progress "$log" bash -c ' \
          '"printf \'[57/113] x\\n\'; until grep -q \'57 of 113 files\' err; do sleep 0.05; done; exit {status}" {to}\n'

    def test_lines_in_a_pipe(self):
        done = self.bash(self.RUN.format(every=0, status=3, to='2> err || echo "status $?"'))
        self.assertEqual(done.stdout, "status 3\n")
        lines = (self.folder / "err").read_text().splitlines()
        self.assertRegex(lines[-1], r"^   57 of 113 files, \d+ s$")
        self.assertNotIn("\r", "".join(lines))
        self.assertEqual(self.log.read_text(), "[57/113] x\n")

    def test_no_line_before_its_time(self):
        done = self.bash('progress_look_s=0.02\nwith_progress "$log" bash -c "echo \'[1/2] x\'; sleep 0.2"')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def on_terminal(self, script, **environment):
        """What the script writes to standard error, which is a terminal."""
        ours, theirs = pty.openpty()
        script = (f'root={self.folder}\nlog={self.log}\ncd "$root"\n'
                  f'. {ROOT}/tools/progress.sh\nprogress_look_s=0.05\n{script}')
        child = subprocess.Popen(
            ["bash", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **environment},
        )
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
                (self.folder / "err").write_bytes(text)  # for a command that waits for it
        except OSError:  # the other side is closed
            pass
        self.assertEqual((child.communicate(timeout=60)[0], child.returncode), (b"", 0))
        os.close(ours)
        return text.decode()

    def test_in_place_on_a_terminal(self):
        shown = self.on_terminal(self.RUN.format(every=30, status=0, to=""))
        self.assertRegex(shown, r"\r\x1b\[K   57 of 113 files, \d+ s\r")
        self.assertNotIn("\n", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), "the line is taken away")

    def test_bold_on_a_terminal_alone(self):
        self.assertEqual(self.on_terminal('say "a b"'), "\x1b[1m== a b\x1b[0m\r\n")
        self.assertEqual(self.on_terminal('say "a b"', NO_COLOR="1"), "== a b\r\n")
        self.assertEqual(self.bash('say "a b"').stderr, "== a b\n")


class Turns(Shell):
    def test_builds_wait_for_each_other(self):
        # The second begins while the first holds the lock, which ends when the second has said that it waits.
        done = self.bash(
            'one_at_a_time . bash -c "echo first; touch begun; until grep -q waiting err; do sleep 0.05; '
            'done; echo end" &\n'
            'until [ -e begun ]; do sleep 0.05; done\none_at_a_time "$root" echo second 2> err\nwait'
        )
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["first", "end", "second"]))
        self.assertIn("== waiting for another build in", (self.folder / "err").read_text())

    def test_the_status_is_the_command_s(self):
        done = self.bash(
            "f() { [ -e .lock ] && exit 3; }\none_at_a_time . f || echo $?\none_at_a_time . sleep 0 && echo fine"
        )
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["3", "fine"]))


class Failures(Shell):
    def of(self, text):
        self.log.write_text(text)
        done = self.bash('failures_of "$log"')
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_names_of_tests_and_first_lines(self):
        self.assertEqual(
            self.of(CTEST),
            [
                "unit.run (Failed)",
                "conformance.rma.4 (Timeout)",
                "tests/unit/tools/run_job_test.cpp:41: Failure",
                "[  FAILED  ] RunJobTest.Ends (3 ms)",
                "PE 1: put, case 3 of seed 7: byte 9 is 0",
                "FAIL put: 30 cases, 1 mistakes",
            ],
        )

    def test_each_tool_s_own_words(self):
        noise = (
            "[3/9] Building CXX object errors.cpp.o\n-- Looking for error: no\nok   put\n"
            "causeway: PE 0: a line that a test expects\n"
        )
        for line in (
            "FAILED: rma/a.o",
            "rma/a.cpp:3:5: error: expected ';'",
            "CMake Error at cmake/tests.cmake:6 (find_package):",
            "ld: a.o: undefined reference to `f'",
            "ModuleNotFoundError: No module named 'x'",
            "AssertionError",
            "rma/put.cu:1: begins without a comment that says what the file is for [first line]",
            "FAIL p_1: two stores",
            "FAIL: test_words (__main__.Rules)",
            "never called: nvshmem_quiet",
            "==12==ERROR: AddressSanitizer: x",
        ):
            self.assertEqual(
                self.of(noise.replace("error: no", "it") + line + "\n" + noise.replace("error: no", "it")), [line]
            )

    def test_else_the_end(self):
        self.assertEqual(self.of("one\ntwo\n"), ["one", "two"])
        self.assertEqual(self.of("one\ncauseway: building cpu failed\n"), ["causeway: building cpu failed"])
        self.assertEqual(self.of("a.cpp:1:1: error: x\n" * 90), ["a.cpp:1:1: error: x"] * 12)


class Steps(Shell):
    def test_what_failed_is_told_again_at_the_end(self):
        (self.folder / "build").mkdir()
        (self.folder / "tools").symlink_to(ROOT / "tools")
        self.log.write_text("a.cpp:1:1: error: x\n" + "noise\n" * 100)
        done = self.bash(
            f". {ROOT}/tests/steps.sh\nfails() {{ cat log; return 1; }}\n"
            "step good true\nstep build fails\nstep late echo fine\nstep tests bash -c 'echo no; exit 2'\nreport"
        )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines(), [f"== {name} ... (log: build/test.{name}.log)"
                                                    for name in ("good", "build", "late", "tests")])
        end = done.stdout.splitlines()[-6:]
        self.assertEqual(end, ["== FAILED: build (log: build/test.build.log)", "   > a.cpp:1:1: error: x",
                               "== FAILED: tests (log: build/test.tests.log)", "   > no", "failed: build tests",
                               "2 passed, 2 failed"])
        self.assertRegex(done.stdout, r"\n   build: FAILED \(\d+ s\); the end of its log:\n   \| noise\n")

    def test_nothing_failed(self):
        (self.folder / "build").mkdir()
        (self.folder / "tools").symlink_to(ROOT / "tools")
        done = self.bash(f". {ROOT}/tests/steps.sh\nstep good true\nreport")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^   good: ok \(\d+ s\)\n1 passed, 0 failed\n$")


if __name__ == "__main__":
    unittest.main()
