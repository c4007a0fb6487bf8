#!/usr/bin/env python3
"""No parametrised test prints its parameter as bytes: each has a PrintTo.

  test_names_test.py FOLDER

FOLDER has the test programs: FOLDER_tests, of all tests of a folder, and FILE_test, of one alone.
Without one, where one cannot list its tests, and where none has a parameter, it fails.
"""

import pathlib
import re
import subprocess
import sys


def parameters_of(program):
    """(suite, how its parameter is printed) of each parametrised test of `program`."""
    listed = subprocess.run(
        [program, "--gtest_list_tests"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    suite = ""
    for line in listed.splitlines():
        found = re.search(r"# GetParam\(\) = (.*)", line)
        if not line.startswith(" "):
            suite = line.split()[0]
        elif found:
            yield suite, found.group(1)


def main(folder):
    programs = sorted(path for path in folder.glob("*_test*") if path.is_file())
    parameters = [
        (program.name, suite, text)
        for program in programs
        for suite, text in parameters_of(program)
    ]
    nameless = {
        (program, suite) for program, suite, text in parameters if re.search(r"\d-byte obj", text)
    }
    for program, suite in sorted(nameless):
        print(f"{program}: {suite} prints its parameters as bytes; give their type a PrintTo")
    print(f"{len(programs)} test programs, {len(parameters)} parameters")
    return 1 if nameless or not parameters else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
