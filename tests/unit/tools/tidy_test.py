#!/usr/bin/env python3
"""Every rule of tools/tidy.py finds what is planted for it, and leaves alone what only looks so."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TIDY = pathlib.Path(__file__).resolve().parents[3] / "tools" / "tidy.py"
sys.path.insert(0, str(TIDY.parent))
import tidy
import tidy_floors

CLEAN = {
    "rma/put.hpp": "// Puts.\n#pragma once\nint put(int pe);\n",
    "base/text.py": '"""Texts."""\n',
    "CMakeLists.txt": "# The build.\n",
}
CPP = "// A file.\n"
UNFINISHED = "TO" + "DO"


class Tree(unittest.TestCase):
    def found(self, files):
        """{rule: findings} of a tree with these files and clean ones."""
        return self.checked(files)[0]

    def checked(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**CLEAN, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return tidy.check(root)

    def expect(self, rule, path, text, line):
        """The rule, and no other, finds exactly this line."""
        found = {name: [(f.path, f.line) for f in findings]
                 for name, findings in self.found({path: text}).items() if findings}
        self.assertEqual(found, {rule: [(path, line)]}, text)

    def expect_clean(self, path, text):
        found = {name: list(map(str, findings)) for name, findings in self.found({path: text}).items() if findings}
        self.assertEqual(found, {}, text)


class Rules(Tree):
    def test_clean_tree(self):
        self.expect_clean("rma/get.cpp", CPP + "int get() { return 1; }\n")

    def test_machine_words(self):
        for word in ('asm("nop;")', "int i = threadIdx.x", "__shfl_sync(1, 2, 3)", "bool on = __CUDA_ARCH__ > 0"):
            self.expect("machine words", "rma/put.cpp", CPP + f"void f() {{ {word}; }}\n", 2)
            for folder in ("machine", "emulator", "tests", "examples", "bench"):
                self.expect_clean(f"{folder}/put.cpp", CPP + f"void f() {{ {word}; }}\n")
        self.expect_clean("rma/put.cpp", CPP + '// asm and threadIdx\nauto s = "asm threadIdx";\n')
        self.expect_clean("rma/put.cpp", CPP + "auto c = '\"'; /* asm */\n")

    def test_hand_written_spins(self):
        for loop in ("while (flag.load() == 0) {}", "while (!flag.load());",
                     "while (load_acquire_sys(p) < e) pause();",
                     "while (__atomic_load_n(p, __ATOMIC_ACQUIRE) == 0) { std::this_thread::yield(); }",
                     "while (*flag == 0);", "do { pause(); } while (flag.load(std::memory_order_acquire) < 3);",
                     "for (; flag.load() == 0;) sched_yield();",
                     "for (;;) { if (load_relaxed(p) == 1) break; pause(); }",
                     "while (true) { if (flag.load()) return 0; }", "while (locked.exchange(true)) {}",
                     "while (*reinterpret_cast<volatile int*>(p) == 0) {}"):
            self.expect("spins", "team/wait.cpp", CPP + f"int f() {{\n  {loop}\n  return 0;\n}}\n", 3)
            for path in ("machine/cpu/wait.cpp", "bootstrap/wait.cpp", "tests/wait.cpp", "view/spin.hpp"):
                self.expect_clean(path, CPP + f"#pragma once\nint f() {{\n  {loop}\n  return 0;\n}}\n")

    def test_loops_that_work_are_no_spins(self):
        for loop in ("while (queue.load() != 0) { take(); }", "while (!word.compare_exchange_weak(a, a + 1)) {}",
                     "while (*text++ == ' ');", "do { take(); } while (more());",
                     "for (int i = 0; i < 9; ++i) flags[i].load();",
                     "while (reader.next(word)) words.push_back(word);", "do {\n take();\n} while (flag.load());",
                     "for (;;) { if (done.load()) break; take(); }"):
            self.expect_clean("team/wait.cpp", CPP + f"int f() {{\n  {loop}\n  return 0;\n}}\n")

    def test_second_translation(self):
        for line in ("auto q = p + (pe - own) * world.heap_stride;", "auto q = world.heap_base + 8;",
                     "q = heap_stride * pe;",
                     "auto q = reinterpret_cast<char*>(base + pe * stride_);"):
            self.expect("translation", "rma/put.cpp", CPP + line + "\n", 2)
            self.expect_clean("heap/heap.cpp", CPP + line + "\n")
        self.expect_clean("team/set.hpp", CPP + "#pragma once\n"
                          "inline int pe(int i) { return first + i * stride; }\n"
                          "int* stride();\n")

    def test_file_length(self):
        self.expect("file length", "rma/put.cpp", CPP + "\n" * 400, 401)
        self.expect_clean("rma/put.cpp", CPP + "\n" * 399)

    def test_function_length(self):
        def function(name, lines):
            return f"int {name}() {{\n" + "  step();\n" * (lines - 2) + "}\n"
        few = "".join(f"int g{i}(int a) {{ return a; }}\n" for i in range(9))
        found, warnings, summary = self.checked({"rma/put.cpp": CPP + function("f", 71) + few})
        self.assertEqual(len(found["function length"]), 1)
        self.assertEqual([(w.path, w.line) for w in warnings], [("rma/put.cpp", 2)])
        self.assertIn("10 functions, 1 above 70 lines (10.0%)", summary)
        self.assertEqual(self.checked({"rma/put.cpp": CPP + function("f", 70) + few})[1], [])
        many = "".join(f"int g{i}(int a) {{ return a; }}\n" for i in range(49))
        found, warnings, _ = self.checked({"rma/put.cpp": CPP + function("f", 71) + many})
        self.assertEqual((found["function length"], len(warnings)), ([], 1), "2 % may be long")

    def test_functions_are_found(self):
        text = CPP + ("namespace a {\nclass B : public C {\n  B() : x_{1} {}\n"
                      "  int f() const noexcept override {\n    if (x_) { g(); }\n"
                      "    auto h = [&](int i) { return i; };\n    return 1;\n  }\n  int x_ = {3};\n};\n"
                      "template <class T>\nauto k(T t) -> int {\n  return 1;\n}\nint table[] = {f(1), 2};\n}\n")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.cpp"
            path.write_text(text)
            source = tidy.Source(pathlib.Path(folder), path)
        self.assertEqual([(name, lines) for _, lines, name in tidy.functions(source)], [("B", 1), ("f", 5), ("k", 4)])

    def test_doc_comments(self):
        spec = ('"""The API."""\nfrom typing import NamedTuple\n\n\n'
                'class Op(NamedTuple):\n    name: str\n    doc: str\n\n\n'
                'OPS = [Op("put", "Puts."),\n       Op("get", "{}")]\nFUNCTIONS = []\n')
        self.expect("doc comments", "src/causeway/api/spec.py", spec.format(""), 11)
        self.expect_clean("src/causeway/api/spec.py", spec.format("Gets."))

    def test_declarations_without_comment_are_warnings(self):
        header = ("// Heaps.\n#pragma once\nnamespace causeway {\n\n{}class Heap {\n public:\n  int size();\n};\n\n"
                  "{}int make_heap(int pe);\n\nclass Forward;\ninline int one() { return 1; }\n\n"
                  "namespace detail {\nint hidden(int a);\n}\n}\n")
        warned = lambda path, doc: [w.line for w in self.checked({path: header.replace("{}", doc)})[1]]
        self.assertEqual(warned("heap/make.hpp", ""), [5, 10])
        self.assertEqual(warned("heap/make.hpp", "/// Says what.\n"), [])
        self.assertEqual(warned("heap/make.hpp", "/// Says what.\ntemplate <class T>\n"), [])
        self.assertEqual(warned("tools/make.hpp", ""), [], "no library header")

    def test_words(self):
        for word in (UNFINISHED, "FIX" + "ME", "X" + "XX", "not " + "implemented", "Not " + "Implemented", "st" + "ub",
                     "St" + "ubs"):
            self.expect("words", "rma/put.cpp", CPP + f"// {word}: later\n", 2)
            self.expect("words", "rma/put.cpp", CPP + f'auto s = "{word}";\n', 2)
        self.expect_clean("rma/put.cpp", CPP + 'auto s = "/tmp/a-' + "X" * 6 + '";  // ' + "st" + "ub" + "born\n")

    def test_first_line(self):
        self.expect("first line", "rma/get.cpp", "#include <a>\n", 1)
        self.expect("first line", "rma/get.cpp", "//\nint a;\n", 1)
        self.expect("first line", "tools/a.py", "#!/usr/bin/env python3\nimport os\n", 1)
        self.expect("first line", "cmake/a.cmake", "set(a 1)\n", 1)
        self.expect("first line", "rma/CMakeLists.txt", "project(a)\n", 1)
        for name in ("rma/put.cpp", "rma/put.hpp"):  # (beside put.hpp or not)
            for line in ("// See put.hpp.", "// See put.hpp", "/* see rma/put.hpp. */"):
                self.expect("first line", name, line + "\n#pragma once\nint a;\n", 1)
            self.expect_clean(name, "// See put.hpp. Short ones go first.\n#pragma once\nint a;\n")
        self.expect_clean("tools/a.py", '#!/usr/bin/env python3\n"""What it does."""\n')
        self.expect_clean("tools/a.sh", "#!/bin/sh\n# What it does.\n")

    def test_a_file_beside_its_header_needs_no_first_line(self):
        header = {"rma/get.hpp": CPP + "#pragma once\n"}
        first_lines = lambda files: [f.path for f in self.found(files)["first line"]]
        self.assertEqual(first_lines({**header, "rma/get.cpp": '#include "get.hpp"\n'}), [])
        self.assertEqual(first_lines({**header, "rma/get.cu": '#include "get.hpp"\n'}), ["rma/get.cu"])
        self.assertEqual(first_lines({**header, "rma/gets.cpp": '#include "get.hpp"\n'}), ["rma/gets.cpp"])
        self.assertEqual(first_lines({**header, "amo/get.cpp": '#include "get.hpp"\n'}), ["amo/get.cpp"])
        self.assertEqual(first_lines({"rma/get.hpp": "#pragma once\n"}), ["rma/get.hpp"], "the header itself")

    def test_floors(self):
        def found(path, include):
            text = CPP + f"#pragma once\n#{include}\n"
            return [str(f) for name, findings in self.found({path: text}).items() for f in findings]
        put, copy = "src/causeway/rma/put.hpp", "src/causeway/rma/copy.hpp"
        self.assertEqual(found(copy, "include <causeway/runtime/world.hpp>"),
                         [f"{copy}:3: includes runtime/world.hpp: rma is below runtime"])
        self.assertEqual(found(copy, ' include "../runtime/cpu/world.hpp"  // needed'),
                         [f"{copy}:3: includes ../runtime/cpu/world.hpp: rma is below runtime"])
        self.assertEqual(
            found(copy, "include <causeway/amo/add.hpp>"), [f"{copy}:3: includes amo/add.hpp: rma is beside amo"]
        )
        self.assertEqual(
            found(copy, "include <tools/run.hpp>"), [f"{copy}:3: includes tools/run.hpp: rma is below tools"]
        )
        deep = "src/causeway/heap/deep/er.cpp"
        self.assertEqual(
            found(deep, 'include "causeway/rma/put.hpp"'), [f"{deep}:3: includes rma/put.hpp: heap is below rma"]
        )
        for include in (
            "include <causeway/base/error.hpp>",
            "include <causeway/rma/put.hpp>",
            'include "put.hpp"',
            'include "../heap/heap.hpp"',
            "include <vector>",
            "include <runtime/a.hpp>",
            "include <causeway/moe.hpp>",
            "include <causeway/generated/api.h>",
            "define A <causeway/runtime/world.hpp>",
        ):
            self.assertEqual(found(put, include), [], include)
        self.assertEqual(found("tools/run.cpp", "include <causeway/runtime/world.hpp>"), [], "no part of the library")
        self.assertEqual(found("rma/copy.hpp", "include <causeway/runtime/world.hpp>"), [], "another root")

    def test_every_folder_of_the_library_stands_on_a_floor(self):
        name = "src/causeway/nowhere/{}.cpp"
        self.expect("floors", name.format("a"), CPP + "#include <causeway/runtime/world.hpp>\n", 1)
        found = self.found({name.format(letter): CPP for letter in "ba"})["floors"]
        self.assertEqual(
            list(map(str, found)),
            ["src/causeway/nowhere/a.cpp:1: nowhere stands on no floor: add it to FLOORS of tools/tidy_floors.py"],
        )
        self.expect_clean("src/causeway/version.hpp", CPP + "#pragma once\n")
        folders = [folder for floor in tidy_floors.FLOORS for folder in floor]
        self.assertEqual(sorted(set(folders)), sorted(folders), "a folder stands on one floor")

    def test_rules_of_a_folder_hold_below_the_library_s_root(self):
        self.expect("machine words", "src/causeway/rma/put.cpp", CPP + "int i = threadIdx.x;\n", 2)
        self.expect_clean("src/causeway/machine/put.cpp", CPP + "int i = threadIdx.x;\n")
        self.expect_clean("src/causeway/machine/cpu/put.cpp", CPP + "void f() {\n  while (flag.load() == 0) {}\n}\n")

    def test_pragma_once(self):
        for name in ("put.hpp", "put.h", "put.cuh"):
            self.expect("pragma once", f"rma/{name}", CPP + "int a();\n", 1)
        self.expect_clean("rma/put.cpp", CPP)

    def test_columns(self):
        self.expect("columns", "rma/put.cpp", CPP + "// " + "a" * 118 + "\n", 2)
        self.expect_clean("rma/put.cpp", CPP + "// " + "ä" * 117 + "\n")

    def test_white_space(self):
        self.expect("white space", "rma/put.cpp", CPP + "int a; \n", 2)
        self.expect("white space", "cmake/a.cmake", "# A.\n\t\n", 2)

    def test_exits(self):
        for call in ("exit(1)", "std::abort()", "::_exit(2)", "_Exit (3)", "quick_exit(1)", "std::terminate()"):
            self.expect("exits", "base/error.cpp", CPP + f"void f() {{ {call}; }}\n", 2)
            self.expect_clean("tools/error.cpp", CPP + f"void f() {{ {call}; }}\n")
            self.expect_clean("api/life.cpp", CPP + f"void nvshmem_global_exit(int status) {{\n  {call};\n}}\n")
        self.expect_clean("base/error.cpp", CPP + "void f() { job.exit(1); on_exit(2); global_exit(3); }\n")

    def test_settings_that_nothing_reads(self):
        table = (
            "// Settings.\n#pragma once\n/// All.\nstruct Settings {\n  Settings();\n"
            "  int teams_max = 0;  ///< how many\n"
            "  std::chrono::nanoseconds wait{};\n  std::string file;\n  const int& value(int name) const;\n};\n"
        )
        files = {
            "runtime/settings.hpp": table,
            "runtime/settings.cpp": CPP + "int f(S settings) { return settings.file; }\n",
            "tests/unit/settings_test.cpp": CPP + "int g() { return settings.file; }\n",
            "runtime/world.cpp": CPP + "int h() { return settings_.teams_max + read_settings(of(), 1).wait; }\n",
        }
        found = {rule: [(f.path, f.line) for f in findings] for rule, findings in self.found(files).items() if findings}
        self.assertEqual(found, {"settings": [("runtime/settings.hpp", 8)]})
        files["api/start.cpp"] = CPP + "int i() { return world().settings().file; }\n"
        self.assertEqual([f for findings in self.found(files).values() for f in findings], [])


class Program(Tree):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return subprocess.run([sys.executable, str(TIDY), folder], capture_output=True, text=True)

    def test_output_and_status(self):
        rules = len(tidy.FILE_RULES) + 3
        good = self.run_on(CLEAN)
        self.assertEqual((good.returncode, good.stdout.splitlines()[-1]), (0, f"{rules} passed, 0 failed"))
        bad = self.run_on({**CLEAN, "rma/put.cpp": CPP + "int a; \n", "rma/get.cpp": CPP + "int b; \n"})
        self.assertEqual((bad.returncode, bad.stdout.splitlines()[-1]), (1, f"{rules - 1} passed, 1 failed"))
        self.assertIn("rma/put.cpp:2: ", bad.stdout)

    def test_builds_and_hidden_folders_are_no_part(self):
        files = {**CLEAN, "build/a.cpp": "int a; \n", ".git/b.cpp": "int a; \n", "rma/__pycache__/c.py": "x \n"}
        self.assertEqual(self.run_on(files).returncode, 0)

    def test_what_somebody_keeps_in_the_checkout_is_his_own(self):
        own = {
            "prog.cu": "int a; \n",
            "mine/deep/race.cu": "int a; \n",
            "work.py": "import os\n",
            "mine/CMakeLists.txt": "a()\n",
            "rma/experiment.cu": "int a; \n",
        }
        with tempfile.TemporaryDirectory() as folder:
            def write(files):
                for name, text in files.items():
                    path = pathlib.Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text)
            def status():
                return subprocess.run([sys.executable, str(TIDY), folder], capture_output=True, text=True)
            def git(*words):
                subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                               capture_output=True)
            write({**CLEAN, **own})
            (pathlib.Path(folder) / "rma/experiment.cu").unlink()
            self.assertEqual(status().returncode, 0, "an unpacked archive: " + status().stdout)
            write(own)
            self.assertEqual(status().returncode, 1, "an archive's own folder is looked at")
            if not shutil.which("git"):
                return  # the rest is about checkouts
            git("init")
            git("add", *CLEAN)
            self.assertEqual(status().returncode, 0, "git does not know it: " + status().stdout)
            (pathlib.Path(folder) / "base/text.py").unlink()
            self.assertEqual(status().returncode, 0, "a file that was deleted: " + status().stderr)
            git("add", "rma/experiment.cu")
            self.assertIn("rma/experiment.cu:1: ", status().stdout, "known before it is committed")

    def test_every_folder_of_the_tree_is_looked_at_without_git(self):
        root = TIDY.parent.parent
        known = tidy.tracked(root)
        if known is None:
            self.skipTest("no git tree here")
        here = set(map(str, tidy.walked(root)))
        sources = [p for p in known if p.suffix in tidy.CPP | tidy.OTHER or p.name == "CMakeLists.txt"]
        self.assertEqual([str(p) for p in sources if p.is_file() and str(p) not in here], [])

    def test_no_such_root(self):
        run = subprocess.run([sys.executable, str(TIDY), "/no/such/folder"], capture_output=True, text=True)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("no such directory", run.stderr)


class Allowances(unittest.TestCase):
    def test_every_one_is_of_a_rule_and_has_a_reason(self):
        for (rule, path), reason in tidy.ALLOWED.items():
            self.assertIn(rule, tidy.FILE_RULES)
            self.assertTrue(reason.strip())
            self.assertTrue(
                (TIDY.parent.parent / tidy_floors.ROOT / path).exists(), f"{path} is gone: drop its allowance"
            )


if __name__ == "__main__":
    unittest.main()
