#!/usr/bin/env python3
"""nvcc's PTX of scenarios takes the time that their text does: `ptx time` beside `time`.

  ptx_times_test.py WARPTWIN LAUNCHES SCENARIO=FILE.ptx...

LAUNCHES is a program that writes the launch files to a folder. PTX knows what the text does not,
what a warp computes between two operations: it may take longer, by LONGER at most, and hardly
shorter.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

LONGER = 0.15
SHORTER = 0.05


def timed(warptwin, *command):
    """The report of a run in time."""
    result = subprocess.run([warptwin, "time", *command, "--no-check", "--json"],
                            capture_output=True, text=True, timeout=600, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ends with {result.returncode}:\n"
                 f"{result.stdout}{result.stderr}")
    return json.loads(result.stdout)


def problem_of(warptwin, launches, scenario, ptx):
    """What is wrong with the time of a scenario's PTX; empty where nothing is."""
    launch = launches / f"{scenario}.json"
    target = next(line.split()[1].strip(",") for line in
                  pathlib.Path(ptx).read_text(encoding="utf-8").splitlines()
                  if line.startswith(".target"))
    chip = "h200" if target == "sm_90a" else "b200"
    sizes = json.loads(launch.read_text(encoding="utf-8"))["set"]
    text = timed(warptwin, scenario, *[f"--set={name}={value}" for name, value in sizes.items()],
                 "--chip", chip)
    compiled = timed(warptwin, "--ptx", ptx, "--launch", str(launch), "--chip", chip)
    ratio = compiled["cycles"] / text["cycles"]
    print(f"{scenario}: text {text['cycles']:.0f} cycles, PTX {compiled['cycles']:.0f}, "
          f"{100 * (ratio - 1):+.1f} %")
    return "" if 1 - SHORTER <= ratio <= 1 + LONGER else f"{scenario}: PTX takes {ratio:.3f} times"


def main(warptwin, program, rows):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([program, place], check=True, timeout=60)
        problems = [problem_of(warptwin, pathlib.Path(place), *row.split("=", 1)) for row in rows]
    wrong = [problem for problem in problems if problem]
    print("\n".join([*wrong, f"{len(rows) - len(wrong)} of {len(rows)} as long as their text"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
