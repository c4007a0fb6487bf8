#!/usr/bin/env python3
"""The completion of bash and the page of the manual, as bash and man(1) take them.

  shell_test.py WARPTWIN

Where there is no groff or no shellcheck, what needs them is left out.
"""

import functools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WARPTWIN = sys.argv[1]


@functools.cache
def said(*arguments):
    result = subprocess.run([WARPTWIN, *arguments], capture_output=True, text=True, check=True)
    return result.stdout


def commands():
    return set(re.findall(r"^  ([a-z][a-z-]*) ", said("--help"), re.MULTILINE))


def options_of(command):
    lines = re.findall(r"^  (?:-\w \[ )?(--[a-z][a-z0-9-]*)", said(command, "--help"), re.MULTILINE)
    return set(lines)


class CompletionTest(unittest.TestCase):
    def complete(self, *words, name="warptwin"):
        """What bash would offer for the last word."""
        quoted = " ".join(f"'{word}'" for word in [WARPTWIN, *words])
        function = "_" + re.sub(r"\W", "_", name)
        script = said("completion", name) + (
            f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; {function}; "
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        result = subprocess.run(
            ["bash", "-euc", script], capture_output=True, text=True, check=True
        )
        self.assertEqual(result.stderr, "")
        return set(result.stdout.split())

    def test_completes_commands(self):
        self.assertEqual(self.complete(""), commands() | {"--help"})
        self.assertEqual(self.complete("exp"), {"explain", "explore"})

    def test_completes_the_options_of_each_command(self):
        for command in commands():
            with self.subTest(command=command):
                self.assertEqual(self.complete(command, "--"), options_of(command))
        self.assertEqual(self.complete("check", "--sar"), {"--sarif"})

    def test_completes_scenarios_and_diagnostics(self):
        self.assertIn("gemm_2sm", self.complete("check", "gemm"))
        self.assertIn("gemm_2sm", self.complete("prove", "--strict", "gemm"))
        self.assertEqual(self.complete("explain", "MBAR_UN"), {"MBAR_UNINIT", "MBAR_UNDERARRIVE"})
        self.assertEqual(self.complete("doctor", ""), set())

    def test_leaves_values_to_the_user(self):
        self.assertEqual(self.complete("check", "--suppress", ""), set())
        # A value of validate, a flag of check.
        self.assertEqual(self.complete("validate", "--data", ""), set())
        self.assertIn("gemm_2sm", self.complete("check", "--data", "gemm_2"))

    def test_takes_the_name_of_another_command(self):
        self.assertIn("check", self.complete("", name="my-kernels.v2"))
        script = said("completion", "my-kernels")
        self.assertIn("complete -o default -F _my_kernels my-kernels", script)
        for name in ["a b", "$(x)", "", "-x"]:
            result = subprocess.run(
                [WARPTWIN, "completion", "--", name], capture_output=True, check=False
            )
            self.assertEqual(result.returncode, 2, name)

    @unittest.skipIf(shutil.which("shellcheck") is None, "there is no shellcheck")
    def test_is_right_to_shellcheck(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "completion"
            script.write_text(said("completion"), encoding="utf-8")
            result = subprocess.run(
                ["shellcheck", str(script)], capture_output=True, text=True, check=False
            )
            self.assertEqual(result.stdout, "")


class ManTest(unittest.TestCase):
    def test_names_every_command_and_option(self):
        page = said("man").replace("\\-", "-")
        tags = re.findall(r"^\.TP\n\\fB(.*?)\\fR$", page, re.MULTILINE)
        for command in commands():
            self.assertTrue(any(tag.split()[0] == command for tag in tags), command)
            for option in options_of(command):
                self.assertTrue(any(option in tag for tag in tags), option)
        self.assertEqual(sum("--data" in tag for tag in tags), 2)

    def test_holds_only_macros_that_it_means(self):
        page = said("man")
        self.assertTrue(page.isascii())
        macros = {line.split()[0] for line in page.split("\n") if line.startswith((".", "'"))}
        self.assertLessEqual(macros, {".TH", ".SH", ".TP", ".B", ".br"})

    @unittest.skipIf(shutil.which("groff") is None, "there is no groff")
    def test_groff_warns_of_nothing(self):
        result = subprocess.run(
            ["groff", "-man", "-Tascii", "-wall"],
            input=said("man"),
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(result.stderr, "")
        self.assertIn("EXIT STATUS", re.sub(r"\x1b\[[0-9;]*m|.\x08", "", result.stdout))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
