#!/usr/bin/env python3
"""Holds every C++ and CUDA file against .clang-format.

usage: format_test.py ROOT
exit codes: 0 formatted, 1 not, 77 skipped: the clang-format that the tree follows is not installed
"""

import pathlib
import re
import shutil
import subprocess
import sys

import tree

SKIPPED = 77
# Other versions break some lines elsewhere.
CLANG_FORMAT_VERSION = 14


def find_clang_format():
    """The clang-format of the right version; None where there is none."""
    for name in [f"clang-format-{CLANG_FORMAT_VERSION}", "clang-format"]:
        path = shutil.which(name)
        if path is None:
            continue
        text = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False
        ).stdout
        if re.search(rf"version {CLANG_FORMAT_VERSION}\.", text):
            return path
    return None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    tool = find_clang_format()
    if tool is None:
        print(f"skipped: clang-format {CLANG_FORMAT_VERSION} is not installed")
        return SKIPPED
    files = [source.path for source in tree.read_tree(root) if source.is_cpp]
    if not files:
        print(f"no source files in {root}")
        return 1
    result = subprocess.run(
        [tool, "--dry-run", "--Werror", *files],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode == 0:
        print(f"{len(files)} files are formatted")
        return 0
    errors = [line for line in result.stderr.splitlines() if "error:" in line]
    wrong = sorted({line.split(":", 1)[0] for line in errors})
    print("\n".join(errors) or result.stderr)
    print(f"\nrun: {tool} -i {' '.join(wrong)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
