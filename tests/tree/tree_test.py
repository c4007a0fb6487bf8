#!/usr/bin/env python3
"""Holds the tree against its rules, and the rules against small trees that break them.

usage: tree_test.py ROOT
"""

import pathlib
import sys
import tempfile
import unittest

import tree

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()


class TreeTest(unittest.TestCase):
    """The tree itself."""

    maxDiff = None

    def test_keeps_every_rule(self):
        breaches = tree.check(ROOT)
        self.assertFalse(breaches, "\n" + "\n".join(breaches))


class RulesTest(unittest.TestCase):
    """Each rule, on a tree of one or two files."""

    def breaches_of(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return tree.check(folder)

    def assert_refused(self, files, expected):
        breaches = self.breaches_of(files)
        self.assertTrue(
            any(expected in breach for breach in breaches), f"'{expected}' is not among: {breaches}"
        )

    def header(self, *includes):
        return "#pragma once\n" + "".join(f"#include {name}\n" for name in includes)

    def test_a_function_is_no_longer_than_a_hundred_lines(self):
        body = "  f([] {\n    int a[]{1};\n  });\n"
        for head in ["void f()", "int A::g() const", "A::A(int b) : b_{b}", "TEST(A, B)"]:
            for count, refused in [(32, False), (33, True)]:
                text = "// {\n" + head + " {\n" + body * count + "}\n"
                with self.subTest(head=head, count=count):
                    breaches = self.breaches_of({"tests/a_test.cpp": text})
                    long = [breach for breach in breaches if ":2: a function of 101" in breach]
                    self.assertEqual(bool(long), refused, breaches)

    def test_a_table_and_a_class_may_be_longer(self):
        rows = "  {1, 2},\n" * 200
        members = "  int f() { return 1; }\n" * 200
        text = f"const Row kRows[] = {{\n{rows}}};\nclass A final : B {{\n{members}}};\n"
        breaches = self.breaches_of({"tests/a_test.cpp": text})
        self.assertFalse([breach for breach in breaches if "a function of" in breach])

    def test_a_python_function_is_no_longer_than_a_hundred_lines(self):
        text = "def f():\n" + "    pass\n" * 100
        self.assert_refused({"scripts/a.py": text}, "scripts/a.py:1: a function of 101 lines")

    def test_a_file_is_no_longer_than_eight_hundred_lines(self):
        self.assert_refused({"sim/model/a.hpp": "\n" * 801}, "a.hpp:1: 801 lines; at most 800")

    def test_a_tree_that_keeps_the_rules_is_clean(self):
        self.assertEqual(
            self.breaches_of(
                {
                    "common/CMakeLists.txt": "warptwin_add_library(\n"
                    "  common HEADERS machine/a.hpp sync/b.hpp)\n",
                    "common/machine/a.hpp": self.header("<cstdint>"),
                    "common/sync/b.hpp": self.header('"common/machine/a.hpp"'),
                    "scenarios/CMakeLists.txt": "warptwin_add_command(\n"
                    "  warptwin SCENARIOS scenarios/ring.hpp)\n",
                    "scenarios/ring.hpp": self.header('"common/sync/b.hpp"')
                    + "ScenarioInfo kInfo;\n",
                    "tests/CMakeLists.txt": "warptwin_add_test(scenarios/ring)\n",
                    "tests/scenarios/ring_test.cpp": '#include "scenarios/ring.hpp"\nRing ring;\n',
                }
            ),
            [],
        )

    def test_refuses_an_include_that_the_table_does_not_allow(self):
        for path, included in [
            ("common/machine/a.hpp", "sim/model/b.hpp"),
            ("scenarios/a.hpp", "sim/model/b.hpp"),
            ("hw/ptx/a.hpp", "sim/model/b.hpp"),
            ("sim/check/a.hpp", "sim/functional/b.hpp"),
            ("sim/prove/a.hpp", "sim/check/b.hpp"),
            ("sim/functional/a.hpp", "sim/check/b.hpp"),
            ("sim/functional/a.hpp", "sim/timed/b.hpp"),
            ("sim/timed/a.hpp", "sim/functional/b.hpp"),
            ("sim/run/a.hpp", "hw/ptx/b.hpp"),
            ("sim/run/a.hpp", "sim/cli/b.hpp"),
            ("sim/run/a.hpp", "sim/verdict/b.hpp"),
            ("sim/run/proof/a.hpp", "sim/run/time/b.hpp"),
            ("sim/run/time/a.hpp", "sim/run/proof/b.hpp"),
            ("sim/verdict/a.hpp", "sim/report/b.hpp"),
        ]:
            with self.subTest(path=path, included=included):
                self.assert_refused(
                    {path: self.header(f'"{included}"'), included: self.header()}, "may not include"
                )

    def test_refuses_a_step_up_in_the_order_of_common(self):
        for low, high in [
            ("machine", "sync"),
            ("sync", "trace"),
            ("trace", "report"),
            ("sync", "pipeline"),
            ("pipeline", "tile"),
            ("tile", "warp"),
            ("warp", "kernel"),
        ]:
            with self.subTest(low=low, high=high):
                up = f"common/{high}/b.hpp"
                self.assert_refused(
                    {f"common/{low}/a.hpp": self.header(f'"{up}"'), up: self.header()},
                    "does not stand below",
                )

    def test_refuses_a_library_outside_its_folder(self):
        for path, name in [
            ("sim/run/a.hpp", "boost/context/fiber.hpp"),
            ("sim/run/a.hpp", "boost/program_options.hpp"),
            ("sim/functional/a.hpp", "systemc"),
            ("sim/model/a.hpp", "cuda_runtime.h"),
        ]:
            with self.subTest(path=path, name=name):
                self.assert_refused({path: self.header(f"<{name}>")}, "alone")
        self.assert_refused(
            {"common/machine/a.hpp": self.header("<unistd.h>")}, "no header of the C++ standard"
        )

    def test_refuses_a_header_that_is_not_there(self):
        self.assert_refused({"sim/run/a.hpp": self.header('"b.hpp"')}, "is not in the tree")

    def test_refuses_a_folder_that_the_table_does_not_know(self):
        self.assert_refused(
            {"sim/extra/a.hpp": self.header('"sim/extra/b.hpp"'), "sim/extra/b.hpp": self.header()},
            "has no row",
        )

    def test_refuses_a_circle(self):
        self.assert_refused(
            {
                "sim/model/a.hpp": self.header('"sim/model/b.hpp"'),
                "sim/model/b.hpp": self.header('"sim/model/a.hpp"'),
            },
            "in a circle: sim/model/a.hpp -> sim/model/b.hpp -> sim/model/a.hpp",
        )

    def test_refuses_a_circle_of_folders(self):
        def files(one, other):
            return {
                f"{one}/a.hpp": self.header(f'"{other}/a.hpp"'),
                f"{one}/b.hpp": self.header(),
                f"{other}/a.hpp": self.header(),
                f"{other}/b.hpp": self.header(f'"{one}/b.hpp"'),
            }

        self.assert_refused(
            files("sim/timed", "sim/timed/chips"),
            "sim/timed/chips/b.hpp:2: folders include each other in a circle: "
            "sim/timed -> sim/timed/chips -> sim/timed",
        )
        # What is listed as parts of the folder above is one with it.
        parts = self.breaches_of(files("sim/timed", "sim/timed/modules"))
        self.assertFalse([breach for breach in parts if "circle" in breach], parts)
        self.assert_refused(
            files("sim/timed/modules", "sim/timed/chips"),
            "circle: sim/timed/chips -> sim/timed -> sim/timed/chips",
        )

    def test_refuses_an_order_of_hw_upside_down(self):
        for low, high in [("ptx", "record"), ("record", "cuda"), ("cuda", "launch")]:
            with self.subTest(low=low, high=high):
                up = f"hw/{high}/b.hpp"
                self.assert_refused(
                    {f"hw/{low}/a.hpp": self.header(f'"{up}"'), up: self.header()},
                    "may not include",
                )

    def test_refuses_text_out_of_shape(self):
        for text, expected in [
            ("#define A\n", "#pragma once"),
            (self.header() + "//" + "x" * 99 + "\n", "101 columns"),
            (self.header() + "int a; \n", "blanks at the end"),
            (self.header() + "\tint a;\n", "a tab"),
            (self.header() + "// TO" + "DO: later\n", "a reminder is left"),
            (self.header() + "// HA" + "CK\n", "a reminder is left"),
            (self.header() + "<" * 7 + " HEAD\n", "a merge left both sides"),
            (self.header() + ">" * 7 + "\n", "a merge left both sides"),
            (self.header() + "int a;", "no newline"),
        ]:
            with self.subTest(expected=expected):
                self.assert_refused({"sim/model/a.hpp": text}, expected)

    def test_accepts_a_line_of_exactly_100_columns(self):
        text = self.header() + "//" + "x" * 98 + "\n"
        self.assertFalse(
            [
                breach
                for breach in self.breaches_of({"sim/model/a.hpp": text})
                if "columns" in breach
            ]
        )

    def test_holds_scripts_to_the_columns_too(self):
        for path in [
            "scripts/setup",
            "scripts/cmake/Rules.cmake",
            "sim/CMakeLists.txt",
            "tests/tree/a.py",
        ]:
            with self.subTest(path=path):
                self.assert_refused({path: "#" + "x" * 100 + "\n"}, "101 columns")

    def test_refuses_a_scenario_without_list_entry_or_test(self):
        files = {"scenarios/broken/lost_stage.hpp": self.header() + "ScenarioInfo kInfo;\n"}
        self.assert_refused(files, "is not in the list")
        self.assert_refused(files, "names LostStage")

    def test_refuses_files_that_no_list_names(self):
        self.assert_refused({"sim/model/a.cpp": "int a;\n"}, "is in no CMakeLists.txt")
        self.assert_refused(
            {"tests/sim/model/a_test.cpp": "int a;\n"}, "no warptwin_add_test(sim/model/a)"
        )


if __name__ == "__main__":
    unittest.main()
