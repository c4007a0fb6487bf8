#!/usr/bin/env python3
"""Lists every constant of a chip that is assumed, and how much measured rows feel it.

usage: assumed_constants.py WARPTWIN CHIP ROWS.json... [--split NAME]

Each assumed constant is made a tenth larger, alone, and every row is predicted again. The table,
in Markdown, has by how many per cent predictions move in the mean and at most, the mean error that
they have then, and what it would take to measure the constant. One that is 0, or that the chip
refuses to have otherwise, is listed without being moved.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

FACTORS = (1.1, 1 / 1.1)  # the second one where the chip refuses the first
MEASURED = "`warptwin-measure-chip` on this chip"
HOW = {
    "clc_latency": "one CTA that asks again and again, by `clock64`, on sm_100a",
    "cluster_start": "`warptwin-measure-start` on this chip",
    "cta_start_us": "`warptwin-measure-start` on this chip; what cold code costs is fitted",
    "issue": "a chain of `mbarrier.arrive` of one warp beside idle sub-partitions",
    "launch_gap_us": "`warptwin-measure-start` on this chip",
    "mbarrier_port": "waits of one warp beside `wgmma` that keeps the read port busy",
    "mbarrier_reach": "the same, with the products begun so many cycles after the look",
    "mma_issue": "a chain of `tcgen05.mma` of the least shape, by `clock64`, on sm_100a",
    "tensor_map_fetch": "`warptwin-measure-start` on this chip",
    "tmem_busy_latency": "`tcgen05.ld` and wait beside MMAs, on sm_100a",
    "tmem_latency": "`tcgen05.ld` and wait of x1 to x32, on sm_100a",
    "tmem_rate": "`tcgen05.ld` of four warps without a wait, on sm_100a",
    "tmem_alloc": "`tcgen05.alloc` and dealloc in a loop, on sm_100a",
    "tcgen05_cp": "`tcgen05.cp` of 128x128b in a batch with one commit, on sm_100a",
    "wgmma_fence": "a loop of fence, product and wait, less the product",
}


def ask(command):
    """What the command says as JSON; None where it refuses what it is given."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode in (0, 5) else None


def predictions(arguments, chip):
    command = [arguments.warptwin, "validate", "--json", "--chip", str(chip)]
    for rows in arguments.rows:
        command += ["--data", rows]
    if arguments.split:
        command += ["--split", arguments.split]
    answer = ask(command)
    return answer and (answer["mean_error_percent"], [row["predicted"] for row in answer["rows"]])


def line_of(arguments, folder, before, key, constant):
    """The order of a line of the table, and the line."""
    how = HOW.get(key, MEASURED)
    text = f"| `{key}` | {constant['value']:g} {constant['unit']}"
    for factor in FACTORS:
        moved = {**constant, "value": constant["value"] * factor}
        file = pathlib.Path(folder) / "moved.json"
        chip = {"name": "moved", "summary": "one constant moved", "base": arguments.chip}
        file.write_text(json.dumps({**chip, "constants": {key: moved}}), encoding="utf-8")
        answer = predictions(arguments, file) if constant["value"] != 0 else None
        if answer:
            moves = [100 * abs(a / b - 1) for a, b in zip(answer[1], before, strict=True)]
            mean = sum(moves) / len(moves)
            return mean, f"{text} | {mean:.2f} % | {max(moves):.2f} % | {answer[0]:.2f} % | {how} |"
    return -1, f"{text} | | | | {how} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("warptwin")
    parser.add_argument("chip")
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--split")
    arguments = parser.parse_args()
    shown = ask([arguments.warptwin, "chip", "show", arguments.chip, "--json"])
    first = predictions(arguments, arguments.chip)
    if not shown or not first:
        sys.exit("the chip or the rows are refused; run 'warptwin validate' on them")
    assumed = {k: c for k, c in shown["constants"].items() if c["source"].startswith("assumed")}
    error, before = first
    print(f"{len(assumed)} of {len(shown['constants'])} constants of {arguments.chip} are assumed")
    print(f"{len(before)} rows, mean error {error:.2f} %.\n")
    print("| constant | value | rows move, mean | at most | mean error then | to measure it |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        lines = [line_of(arguments, folder, before, k, c) for k, c in assumed.items()]
    for _, line in sorted(lines, key=lambda entry: -entry[0]):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
