#!/usr/bin/env python3
"""The registers that scenarios say, against what ptxas gave their kernels.

  registers_test.py WARPTWIN CENSUS_DIRECTORY

Hardware allocates registers of a thread in units of eight: a scenario says how many are allocated.
Of the two architectures that which has the scenario's products: sm_90a for wgmma, else sm_100a.
"""

import json
import pathlib
import re
import subprocess
import sys


def registers_of(table):
    """What ptxas gave, of (sm_100a, sm_90a)."""
    row = re.search(r"^\| registers \| (\d+) \| (\d+) \|$", table, re.MULTILINE)
    by_warpgroups = re.search(r"^\| `wgmma\.mma_async", table, re.MULTILINE)
    return int(row.group(2 if by_warpgroups else 1))


def main():
    warptwin, census = sys.argv[1], pathlib.Path(sys.argv[2])

    def said(*arguments):
        return json.loads(subprocess.run([warptwin, *arguments, "--json"], check=True,
                                         capture_output=True, text=True).stdout)

    faults = []
    names = [entry["name"] for entry in said("list") if entry["kind"] == "clean"]
    for name in names:
        budget = said("show", name)
        given = registers_of((census / f"{name}.md").read_text(encoding="utf-8"))
        allocated = (given + 7) // 8 * 8
        says = budget["registers"] // budget["threads"] if budget["registers_known"] else None
        if says != allocated:
            faults.append(f"{name}: says {says}, ptxas gave {given}: {allocated} are allocated")
    print("\n".join(faults) if faults else f"{len(names)} scenarios say their registers")
    return 1 if faults or not names else 0


if __name__ == "__main__":
    sys.exit(main())
