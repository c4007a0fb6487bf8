#!/usr/bin/env python3
"""Compiles every tests/**/negative_compile/*.cpp, with Clang's typestate analysis and with GCC.

Clang must refuse a file with an error that matches the regular expression of its first line,
`// expect: <regex>`. GCC, which has no such analysis, must refuse those files whose second line is
`// gcc: <regex>`: what a type alone refuses. A file named good*.cpp must be accepted by both.

usage: negative_compile.py ROOT
exit codes: 0 all as expected, 1 not, 77 skipped: there is no Clang 14 or later, or no GCC
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
CLANG_MINIMUM = 14
FLAGS = ["-std=c++20", "-Werror", "-fsyntax-only"]
CLANG_FLAGS = [*FLAGS, "-Wconsumed", "-fno-color-diagnostics"]
GCC_FLAGS = [*FLAGS, "-fdiagnostics-color=never"]
MARKS = {"expect": 0, "gcc": 1}  # of a compiler's regular expression: the line it stands on
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}  # messages in English, with plain quotation marks


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


def find_gcc():
    """GCC's path; None where g++ is none, or is Clang under another name."""
    path = shutil.which("g++")
    if path is None:
        return None
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return path if "Free Software Foundation" in text else None


def expectation(file, mark):
    """The regular expression that `file` expects in an error; None for none."""
    if file.name.startswith("good"):
        return None
    lines = file.read_text().split("\n")
    found = re.fullmatch(rf"// {mark}: (.+)", lines[MARKS[mark]])
    if not found and mark == "expect":
        raise SystemExit(f"{file}:1: the first line must be '// expect: <regex>'")
    return found.group(1) if found else None


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


def wrong_with(compiler, flags, mark, files, root):
    """How many of `files` a compiler does not refuse, or accept, as they say."""
    wrong = 0
    for file in files:
        command = [compiler, *flags, "-I", str(root), str(file)]
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, env=ENVIRONMENT
        )
        problem = verdict(expectation(file, mark), result.returncode != 0, result.stderr)
        if problem:
            print(f"{compiler}: {file.relative_to(root)}: {problem}")
            wrong += 1
    print(f"{compiler}: {len(files) - wrong} of {len(files)} files as expected")
    return wrong


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = sorted((root / "tests").glob("**/negative_compile/*.cpp"))
    good = [file for file in files if file.name.startswith("good")]
    of_gcc = [file for file in files if file in good or expectation(file, "gcc")]
    if not good or len(good) in (len(files), len(of_gcc)):
        print(
            "tests/**/negative_compile: needs a file that each is to refuse, and a good*.cpp"
        )
        return 1
    compilers = [
        (find_clang(), f"Clang {CLANG_MINIMUM} or later", CLANG_FLAGS, "expect", files),
        (find_gcc(), "GCC", GCC_FLAGS, "gcc", of_gcc),
    ]
    wrong = 0
    skipped = False
    for compiler, name, flags, mark, cases in compilers:
        if compiler is None:
            print(f"skipped: {name} is not installed")
            skipped = True
        else:
            wrong += wrong_with(compiler, flags, mark, cases, root)
    if wrong:
        return 1
    return SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
