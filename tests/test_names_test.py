#!/usr/bin/env python3
"""No parametrised test prints its parameter as bytes: each has a PrintTo.

  test_names_test.py FOLDER

FOLDER has the test programs. Without one, or where one cannot list its tests, it fails.
"""

import pathlib
import re
import subprocess
import sys


def nameless(program):
    """The suites of `program` with a parameter that is printed as bytes."""
    listed = subprocess.run(
        [program, "--gtest_list_tests"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    suite = ""
    found = set()
    for line in listed.splitlines():
        if not line.startswith(" "):
            suite = line.split()[0]
        elif re.search(r"\d-byte object <", line):
            found.add(suite)
    return found


def main(folder):
    programs = sorted(folder.glob("*_test"))
    suites = [(program.name, suite) for program in programs for suite in sorted(nameless(program))]
    for program, suite in suites:
        print(f"{program}: {suite} prints its parameters as bytes; give their type a PrintTo")
    print(f"{len(programs)} test programs")
    return 1 if suites or not programs else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
