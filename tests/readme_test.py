#!/usr/bin/env python3
"""The README's reports are what the command says, and its kernel is the one that `new` writes.

readme_test.py WARPTWIN README.md
"""

import pathlib
import re
import subprocess
import sys

# Each fenced report in the README, by how its first line starts, and the command that prints it.
REPORTS = {
    "defect: MBAR_SURPLUS_ARRIVAL": ["check", "consumer_releases_twice"],
    "gemm (...): proved": ["prove", "gemm", "--for-all", "k"],
}

KERNEL_LINES_MAX = 25


def main():
    command, page = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        # Fences come in pairs: every second piece is fenced text, its first line the language.
        fenced = re.split(r"^```", file.read(), flags=re.MULTILINE)[1::2]
        blocks = [text.partition("\n")[2] for text in fenced]
    wrong = 0
    root = pathlib.Path(page).resolve().parent
    kernel = (root / "sim/cli/templates/first_ring.hpp.in").read_text(encoding="utf-8")
    if kernel not in blocks:
        print(f"{page}: no block of it is the kernel of sim/cli/templates/first_ring.hpp.in")
        wrong += 1
    if len(kernel.splitlines()) > KERNEL_LINES_MAX:
        print(f"the first kernel has more than {KERNEL_LINES_MAX} lines")
        wrong += 1
    for start, arguments in REPORTS.items():
        block = next((b for b in blocks if b.startswith(start)), None)
        if block is None:
            print(f"{page}: no report starts with '{start}'")
            wrong += 1
            continue
        said = subprocess.run(
            [command, *arguments], capture_output=True, text=True, check=False
        ).stdout
        for line in block.splitlines():
            pattern = re.escape(line).replace(re.escape("(...)"), r"\(.*\)")
            if not re.search(f"^{pattern}$", said, re.MULTILINE):
                print(f"{page}: 'warptwin {' '.join(arguments)}' does not say\n  {line}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
