#!/usr/bin/env python3
"""Compiles every argument_layout/*.cu with nvcc. A file must be refused with an error that matches
the regular expression of its first line, `// expect: <regex>`; good.cu must be accepted.

  argument_layout_test.py NVCC ROOT
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-O3", "--expt-relaxed-constexpr", "-cubin"]
ARCHITECTURE = "--generate-code=arch=compute_90a,code=[sm_90a]"


def problem_of(nvcc, root, file, to):
    """What is wrong with what nvcc makes of `file`; empty where nothing is."""
    command = [nvcc, *FLAGS, ARCHITECTURE, "-I", str(root), "-o", to, str(file)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    said = result.stdout + result.stderr
    if file.name == "good.cu":
        return "" if result.returncode == 0 else f"must compile, and does not:\n{said}"
    expected = file.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("// expect: ")
    if result.returncode == 0:
        return "must be refused, and compiles"
    return "" if re.search(expected, said) else f"nothing matches '{expected}':\n{said}"


def main(nvcc, root):
    files = sorted((root / "tests/hw/argument_layout").glob("*.cu"))
    if len(files) < 2:
        sys.exit("tests/hw/argument_layout: needs files")
    with tempfile.TemporaryDirectory() as place:
        problems = {file: problem_of(nvcc, root, file, f"{place}/cubin") for file in files}
    for file, problem in problems.items():
        if problem:
            print(f"{file.relative_to(root)}: {problem}")
    print(f"{list(problems.values()).count('')} of {len(files)} files as expected")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]).resolve()))
