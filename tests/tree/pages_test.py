#!/usr/bin/env python3
"""Holds the pages against the tree and the command, and the rules against pages that break them.

usage: pages_test.py ROOT [WARPTWIN]

Without WARPTWIN the pages' commands and options are not looked at.
"""

import pathlib
import sys
import tempfile
import unittest

import pages

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
WARPTWIN = sys.argv.pop(1) if len(sys.argv) > 1 else None

# A command that knows little: `check`, two scenarios.
COMMAND = """#!/bin/sh
case "$*" in
  --help) echo "  check SCENARIO  proves it"; echo "  list  the scenarios" ;;
  "list --json") echo '[{"name": "ring"}, {"name": "gemm"}]' ;;
  "check --help") echo "  --set arg  name=value"; echo "  --max-steps arg (=5)" ;;
esac
"""
TREE = {
    "sim/model/gpu.hpp": "",
    "sim/cli/hw_command.cpp": """po::options_description all_options() {
  all.add_options()("help,h", "this text")(
      "runs", text("1"), "how often")("compare", "with what");
  return all;
}
const char* word = ("run", "right");
""",
    "scripts/table.py": 'parser.add_argument("--jobs")',
    "tests/CMakeLists.txt": "add_executable(prove_fuzz a.cpp)\nwarptwin_add_benchmark(engine)",
    "scenarios/CMakeLists.txt": "warptwin_add_command(\n  warptwin SCENARIOS ring.hpp gemm.hpp)",
    "tests/sim/run/claims_test.cpp": "",
    "docs/other.md": "# Another page\n\n## What `it` says, of [that](other.md)\n",
}


class PagesTest(unittest.TestCase):
    """The pages of the tree."""

    maxDiff = None

    def test_point_to_what_is_there(self):
        breaches = pages.check(ROOT, WARPTWIN)
        self.assertFalse(breaches, "\n" + "\n".join(breaches))

    def test_are_found(self):
        found = [page.path for page in pages.read_pages(ROOT)]
        self.assertIn("README.md", found)
        self.assertIn("docs/timing.md", found)


class RulesTest(unittest.TestCase):
    """Each rule, on one page in a small tree."""

    def breaches_of(self, text, with_command=True):
        with tempfile.TemporaryDirectory() as folder:
            for path, content in {**TREE, "docs/page.md": text}.items():
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content, encoding="utf-8")
            command = pathlib.Path(folder, "warptwin")
            command.write_text(COMMAND, encoding="utf-8")
            command.chmod(0o755)
            return pages.check(folder, command if with_command else None)

    def assert_refused(self, text, *expected):
        self.assertEqual(self.breaches_of(text), list(expected))

    def assert_taken(self, *texts):
        for text in texts:
            with self.subTest(text=text):
                self.assertEqual(self.breaches_of(text), [])

    def test_takes_a_page_that_is_right(self):
        self.assert_taken(
            "# Page\n\n[here](#page), [there](other.md#what-it-says-of-that), [web](https://x.y)\n",
            "`sim/model/gpu.hpp`, `sim/model/gpu`, `sim/model`, `sim/run/claims_test`, `a/b`\n",
            "`sim/model/NAME.hpp`, `tests/PATH_test.cpp`, `build/release/bin/prove_fuzz`\n",
            "`warptwin check ring --set a=1`, `warptwin check SCENARIO`, `warptwin --help`\n",
            "```\nbuild/release/bin/warptwin check gemm \\\n  --max-steps 5   # --a comment\n```\n",
            "`--set a=1`, `--runs N`, `--jobs`, `warptwin-hw ring --compare`\n",
            "```\nscripts/table.py --jobs 1\nbuild/release/bin/engine_benchmark\n```\n",
        )

    def test_refuses_a_link_to_nowhere(self):
        self.assert_refused(
            "one\n\n[two](lost.md)\n", "docs/page.md:3: the link's target 'lost.md' is not there"
        )

    def test_refuses_an_anchor_that_no_heading_has(self):
        self.assert_refused("[a](#b)\n", "docs/page.md:1: docs/page.md has no heading '#b'")
        self.assert_refused(
            "[a](other.md#another)\n", "docs/page.md:1: docs/other.md has no heading '#another'"
        )

    def test_refuses_a_heading_that_leaves_out_a_level(self):
        self.assert_refused(
            "# a\n\n### b\n", "docs/page.md:3: a heading of level 3 below one of 1"
        )
        self.assert_taken("# a\n\n## b\n\n### c\n\n## d\n")

    def test_refuses_an_item_within_a_paragraph(self):
        refusal = "docs/page.md:2: a line of a paragraph begins like an item of a list"
        for line in ["1. All that", "- 1 of them", "256. None"]:
            with self.subTest(line=line):
                self.assert_refused(f"the phase behind *n* +\n{line}\n", refusal)
        self.assert_taken(
            "text\n\n1. one\n   goes on\n2. two\n\ntext\n",
            "## heading\n- one\n  - one of its own\n- two\n",
            "text\n```\n- code\n```\n",
        )

    def test_holds_the_readme_to_its_length(self):
        def breaches(count):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "README.md").write_text("a line\n" * count)
                return pages.check(folder)

        self.assertEqual(breaches(150), [])
        self.assertEqual(
            breaches(151),
            ["README.md:151: 151 lines; at most 150: put details into a page of docs"],
        )

    def test_takes_no_heading_from_fenced_text(self):
        self.assert_refused(
            "[a](#b)\n\n```\n# b\n```\n", "docs/page.md:1: docs/page.md has no heading '#b'"
        )

    def test_refuses_a_path_that_is_not_there(self):
        for path in [
            "sim/model/lost.hpp",
            "sim/lost",
            "model/gpu.hpp",
            "sim/model/gp",
            "sim/NAME.json",
        ]:
            with self.subTest(path=path):
                self.assert_refused(
                    f"text\n`{path}`\n", f"docs/page.md:2: '{path}' is not in the tree"
                )

    def test_refuses_a_path_in_fenced_text(self):
        self.assert_refused(
            "```\nwarptwin check ring\nscripts/lost.py x\n```\n",
            "docs/page.md:3: 'scripts/lost.py' is not in the tree",
        )

    def test_refuses_a_program_that_nothing_builds(self):
        self.assert_refused(
            "`build/release/bin/fuzz`\n", "docs/page.md:1: no CMakeLists.txt builds 'fuzz'"
        )

    def test_refuses_commands_that_are_unknown(self):
        for text, expected in [
            ("warptwin chekc ring", "warptwin has no command 'chekc'"),
            ("warptwin --hepl", "warptwin has no option '--hepl'"),
            ("warptwin check ring --sets a=1", "'warptwin check' has no option '--sets'"),
            ("warptwin check rang", "'warptwin check rang': there is no such scenario"),
            ("warptwin-hw ring --run 3", "'warptwin-hw' has no option '--run'"),
            ("warptwin-hw rang", "'warptwin-hw rang': there is no such scenario"),
            ("scripts/table.py --job 1", "'scripts/table.py' has no option '--job'"),
        ]:
            with self.subTest(text=text):
                self.assert_refused(f"`{text}`\n", f"docs/page.md:1: {expected}")
                self.assert_refused(f"```\n$ {text}\n```\n", f"docs/page.md:2: {expected}")

    def test_joins_lines_of_a_command(self):
        expected = "'warptwin check' has no option '--lost'"
        self.assert_refused(
            "```\nwarptwin check ring \\\n  --lost\n```\n", f"docs/page.md:2: {expected}"
        )
        self.assert_refused("a `warptwin\ncheck ring --lost`\n", f"docs/page.md:1: {expected}")

    def test_refuses_an_option_that_nothing_knows(self):
        self.assert_refused("`--lost`\n", "docs/page.md:1: nothing knows the option '--lost'")

    def test_holds_the_manual_to_the_pages(self):
        def breaches(order):
            with tempfile.TemporaryDirectory() as folder:
                manual = pathlib.Path(folder, "docs/manual/index.md")
                manual.parent.mkdir(parents=True)
                manual.write_text(f"# manual\n\n```{{toctree}}\n:maxdepth: 1\n\n{order}\n```\n")
                pathlib.Path(folder, "README.md").write_text("# one\n")
                pathlib.Path(folder, "docs/page.md").write_text("# two\n")
                return [one.partition(": ")[2] for one in pages.check(folder)]

        self.assertEqual(breaches("readme\npage"), [])
        self.assertEqual(breaches("What it is <readme>\npage"), [])
        self.assertEqual(breaches("page"), ["the page 'readme' is named 0 times, not once"])
        self.assertEqual(
            breaches("readme\npage\nlost\npage"),
            ["there is no page 'lost'", "the page 'page' is named 2 times, not once"],
        )

    def test_looks_at_no_command_without_the_program(self):
        self.assertEqual(self.breaches_of("`warptwin lost`\n", with_command=False), [])


if __name__ == "__main__":
    unittest.main()
