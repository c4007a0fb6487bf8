#!/usr/bin/env python3
"""Builds every program that README.md or a page in docs/ names, as build/PRESET/FOLDER/NAME, as
warptwin-NAME or as NAME_benchmark.

  docs_programs_test.py ROOT BUILD [--no-cuda]

A name that is no target of the build is a breach. What the default build has is built already then.
Fuzzers in build/fuzz need Clang, and are left out.
warptwin-hw, which takes half an hour, is left to the test of the package, which builds one of one
scenario; so is warptwin-combinations-hw, which takes longer. warptwin-combinations takes minutes:
the tests have its slice. Where there is NAME.one_tile, that is built: NAME with fewer kernels.
--no-cuda: there is no CUDA compiler; programs of the CUDA side are left out, and said.
"""

import argparse
import pathlib
import re
import subprocess
import sys

PROGRAM = re.compile(
    r"build/(?!fuzz/)\w+/(?:bin|tests)/([\w.-]*\w)"
    r"|\b(warptwin-[a-z]+(?:-[a-z]+\d*)*|\w+_benchmark)\b"
)
CUDA = re.compile(r"warptwin-|hw\.")
ELSEWHERE = {"warptwin-hw", "warptwin-combinations", "warptwin-combinations-hw"}


def named(pages):
    """{program: the first page that names it}."""
    found = {}
    for page in pages:
        for match in PROGRAM.finditer(page.read_text(encoding="utf-8")):
            found.setdefault(match.group(1) or match.group(2), page)
    return found


def cmake_targets(build):
    text = subprocess.run(
        ["cmake", "--build", str(build), "--target", "help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(re.findall(r"^(?:\.\.\. )?([\w.-]+)(?:: phony)?(?: .*)?$", text, re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--no-cuda", action="store_true")
    options = parser.parse_args()
    pages = [options.root / "README.md", *sorted((options.root / "docs").glob("*.md"))]
    programs = {name: page for name, page in named(pages).items() if name not in ELSEWHERE}
    if options.no_cuda:
        left_out = sorted(name for name in programs if CUDA.match(name))
        print("no CUDA compiler: left out: " + ", ".join(left_out))
        programs = {name: page for name, page in programs.items() if name not in left_out}
    known = cmake_targets(options.build)
    missing = {name: page for name, page in programs.items() if name not in known}
    for name, page in missing.items():
        print(f"{page.relative_to(options.root)}: names {name}, which is no target of the build")
    wanted = sorted(f"{name}.one_tile" if f"{name}.one_tile" in known else name
                    for name in set(programs) - set(missing))
    command = ["cmake", "--build", str(options.build), "--parallel", "2", "--target", *wanted]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(result.stdout + result.stderr)
    else:
        print(f"{len(wanted)} programs are built: " + ", ".join(wanted))
    return 1 if missing or not wanted or result.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
