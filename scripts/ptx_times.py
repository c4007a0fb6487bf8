#!/usr/bin/env python3
"""Predicted times of PTX kernels beside measured ones.

usage: ptx_times.py WARPTWIN FOLDER ROWS.json [--chip CHIP] [--only NAME] [--out PREDICTED.json]
FOLDER is what tests/sim/ptx/foreign/timed_kernels.py has written. ROWS.json has the measured rows
(hw/bench/measure_ptx.py). A prediction is `warptwin ptx time` at the clock that was measured, and
the gap between two launches, which the measured means have too.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time


def report_of(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ends with {result.returncode}:\n"
                 f"{result.stdout}{result.stderr}")
    return json.loads(result.stdout)


def gap_of(warptwin, chip):
    shown = report_of([warptwin, "chip", "show", chip, "--json"])
    return shown["constants"]["launch_gap_us"]["value"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("warptwin")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--chip", default="h100")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path)
    given = parser.parse_args()
    gap = gap_of(given.warptwin, given.chip)
    rows = json.loads(given.rows.read_text(encoding="utf-8"))["rows"]
    print(f"{'kernel':26} {'measured us':>12} {'predicted':>10} {'error':>8}  bound by")
    for row in rows:
        if given.only not in row["name"]:
            continue
        begun = time.time()
        report = report_of([
            given.warptwin, "ptx", "time", given.folder / f"{row['kernel']}.ptx", "--launch",
            given.folder / f"{row['name']}.json", "--chip", given.chip, "--clock",
            str(row["clock_ghz"]), "--registers", str(row["registers"]), "--no-check", "--json"])
        row["predicted_cycles"] = round(report["cycles"])
        row["predicted_us"] = round(report["cycles"] / row["clock_ghz"] / 1000 + gap, 2)
        error = row["predicted_us"] / row["us"] - 1
        print(f"{row['name']:26} {row['us']:12.2f} {row['predicted_us']:10.2f} {100 * error:+7.1f}%"
              f"  {report['bound_by']} ({time.time() - begun:.0f} s)", flush=True)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
