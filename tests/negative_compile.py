#!/usr/bin/env python3
"""Compiles every tests/**/negative_compile/*.cpp with Clang's typestate analysis.

A file must be refused with an error that matches the regular expression of its first line,
`// expect: <regex>`. A file named good*.cpp must be accepted.

usage: negative_compile.py ROOT
exit codes: 0 all as expected, 1 not, 77 skipped: there is no Clang 14 or later
"""

import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
CLANG_MINIMUM = 14
FLAGS = ["-std=c++20", "-Wconsumed", "-Werror", "-fsyntax-only", "-fno-color-diagnostics"]


def find_clang():
    """The first Clang that is recent enough; None where there is none."""
    for name in [
        "clang++",
        *(f"clang++-{version}" for version in range(22, CLANG_MINIMUM - 1, -1)),
    ]:
        path = shutil.which(name)
        if path is None:
            continue
        text = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False
        ).stdout
        found = re.search(r"clang version (\d+)", text)
        if found and int(found.group(1)) >= CLANG_MINIMUM:
            return path
    return None


def expectation(file):
    """The regular expression `file` expects in an error; None for a file to be accepted."""
    if file.name.startswith("good"):
        return None
    first = file.read_text().split("\n", 1)[0]
    found = re.fullmatch(r"// expect: (.+)", first)
    if not found:
        raise SystemExit(f"{file}:1: the first line must be '// expect: <regex>'")
    return found.group(1)


def verdict(expected, refused, messages):
    """What is wrong with the outcome; None when it is as expected."""
    if expected is None:
        return f"must compile, and does not:\n{messages}" if refused else None
    if not refused:
        return "must be refused, and compiles"
    errors = [line for line in messages.splitlines() if "error:" in line]
    if not any(re.search(expected, line) for line in errors):
        return f"is refused, but no error matches '{expected}':\n{messages}"
    return None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    clang = find_clang()
    if clang is None:
        print(f"skipped: needs Clang {CLANG_MINIMUM} or later, for -Wconsumed; none is installed")
        return SKIPPED
    files = sorted((root / "tests").glob("**/negative_compile/*.cpp"))
    wrong = 0
    for file in files:
        command = [clang, *FLAGS, "-I", str(root), str(file)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        problem = verdict(expectation(file), result.returncode != 0, result.stderr)
        if problem:
            print(f"{file.relative_to(root)}: {problem}")
            wrong += 1
    print(f"{len(files) - wrong} of {len(files)} files as expected")
    accepted = [file for file in files if expectation(file) is None]
    if not accepted or len(accepted) == len(files):
        print(
            "tests/**/negative_compile: needs a file to be refused, and a good*.cpp to be accepted"
        )
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
