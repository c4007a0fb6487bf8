#!/usr/bin/env python3
"""The reports in README.md and docs/reading-reports.md are what the command says, and the README's
kernel is the one that `new` writes.

readme_test.py WARPTWIN ROOT
"""

import pathlib
import re
import subprocess
import sys

# Of each page: each fenced report, by how its first line starts, and the command that prints it.
REPORTS = {
    "README.md": {
        "defect: MBAR_SURPLUS_ARRIVAL": ["check", "consumer_releases_twice"],
        "gemm (...): proved": ["prove", "gemm", "--for-all", "k"],
    },
    "docs/reading-reports.md": {
        "defect: DEADLOCK": ["check", "gemm_missing_accum_release"],
        "defect: MBAR_WAIT_WRONG_PARITY": ["check", "producer_starts_parity_zero"],
        "defect: MBAR_WAIT_PHASE_ALIASED": ["check", "drain_parity_zero"],
        "defect: WGMMA_SMEM_RELEASE_EARLY": ["check", "gemm_wgmma_release_at_issue"],
    },
}
KERNEL = "sim/cli/templates/first_ring.hpp.in"
KERNEL_LINES_MAX = 25


def blocks_of(page):
    """The fenced texts of a page."""
    # Fences come in pairs: every second piece is fenced text, its first line the language.
    fenced = re.split(r"^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1::2]
    return [text.partition("\n")[2] for text in fenced]


def wrong_reports(command, root):
    for page, reports in REPORTS.items():
        blocks = blocks_of(root / page)
        for start, arguments in reports.items():
            block = next((b for b in blocks if b.startswith(start)), None)
            if block is None:
                yield f"{page}: no report starts with '{start}'"
                continue
            said = subprocess.run(
                [command, *arguments], capture_output=True, text=True, check=False
            ).stdout
            for line in block.splitlines():
                pattern = re.escape(line).replace(re.escape("(...)"), r"\(.*\)")
                if not re.search(f"^{pattern}$", said, re.MULTILINE):
                    yield f"{page}: 'warptwin {' '.join(arguments)}' does not say\n  {line}"


def wrong_kernel(root):
    kernel = (root / KERNEL).read_text(encoding="utf-8")
    if kernel not in blocks_of(root / "README.md"):
        yield f"README.md: no block of it is the kernel of {KERNEL}"
    if len(kernel.splitlines()) > KERNEL_LINES_MAX:
        yield f"{KERNEL}: has more than {KERNEL_LINES_MAX} lines"


def main():
    command, root = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong = [*wrong_reports(command, root), *wrong_kernel(root)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
