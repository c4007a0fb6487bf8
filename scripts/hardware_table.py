#!/usr/bin/env python3
"""What the simulator predicts of every scenario, and what a GPU does with it: one table.

  hardware_table.py BIN [--runs N] [--sanitizer FILE] [--jobs N] [--only NAME,...] [--check]

BIN is the folder with warptwin and warptwin-hw. Every scenario of both runs N times (20), recorded,
and is held against the simulator; a broken one stops at the first run that is not right.
--sanitizer runs compute-sanitizer's memcheck, racecheck and synccheck on each too, and counts what
they report. What the simulator says, and the sanitizers, run N at once (--jobs, all cores);
recorded runs one by one.
--check fails when a clean scenario is not right or its protocol differs, or a hang takes longer
than its deadline and two seconds, or is headed by another barrier than is predicted. The table is
Markdown, on standard output. Skipped (77) where there is no GPU. A device that fails at one
scenario is a row like others, and refused by --check.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

DEADLINE_CYCLES = 1_000_000_000
# For what hangs although no deadlock is predicted: an emulated kernel can be as slow.
LONG_DEADLINE_CYCLES = 10 * DEADLINE_CYCLES
CYCLES_A_SECOND = 1.98e9
# The report, and starting a process on the device.
BEHIND_DEADLINE_SECONDS = 2.1
# Under a sanitizer kernels are slow.
SANITIZED_CYCLES = 6_000_000_000
TIMEOUT_SECONDS = 120
USAGE = 2  # the exit code of what the parameters do not allow


def call(command):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )


def predicted(warptwin, name):
    """(the ids that `check` finds, how a run ends, the objects that are found wrong)."""
    found = json.loads(call([warptwin, "check", name, "--json"]).stdout)
    ids = sorted({finding["id"] for finding in [*found["findings"], *found["conditions"]]})
    run = json.loads(call([warptwin, "run", name, "--timing-only", "--json"]).stdout)
    findings = [*found["findings"], *found["conditions"], *run["findings"]]
    return ids, run["end"], {finding["object"] for finding in findings}


def seen(binary, name, runs, ids):
    """(what warptwin-hw says, its exit code); `ids` are predicted."""
    outcome, code = seen_within(binary, name, runs, DEADLINE_CYCLES)
    if outcome["outcome"] == "hang" and "DEADLOCK" not in ids:
        return seen_within(binary, name, runs, LONG_DEADLINE_CYCLES)
    return outcome, code


def seen_within(binary, name, runs, deadline):
    command = [binary, name, "--json", "--compare", "--runs", str(runs)]
    command += ["--deadline", str(deadline)]
    try:
        result = call(command)
    except subprocess.TimeoutExpired:
        result = subprocess.CompletedProcess(command, 1, "", f"no end in {TIMEOUT_SECONDS} s")
    try:
        outcome = json.loads(result.stdout)
    except json.JSONDecodeError:
        outcome = {"outcome": "nothing was reported", "object": "", "runs": 0, "protocol": ""}
        outcome.update({"milliseconds": 0, "detail": result.stdout + result.stderr})
        if result.returncode == USAGE:
            outcome["outcome"] = "refused"
    outcome["deadline"] = deadline
    return outcome, result.returncode


def sanitized(sanitizer, binary, name, tool):
    command = [sanitizer, "--target-processes", "all", "--tool", tool, binary, name]
    try:
        limits = ["--deadline", str(SANITIZED_CYCLES), "--timeout", "20000"]
        output = call([*command, *limits]).stdout
    except subprocess.TimeoutExpired:
        return "no end"
    summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)", output)
    return summary[-1] if summary else "-"


def words_of(outcome, runs):
    what = outcome["outcome"]
    if what == "right":
        return f"nothing in {runs} runs"
    where = f": {outcome['object']}" if outcome["object"] else ""
    if what in ("not emulated", "no device", "device error", "refused"):
        return what + where
    return f"{what}{where}, run {outcome['runs']}"


def without_stage(name):
    return re.sub(r"\[\d+\]", "", name)


def same_barrier(outcome, predicted_objects):
    """Whether a hang's report is headed by what is predicted. Which stage of a ring a fault comes
    to first, and in which CTA, is up to the schedule."""
    if outcome["outcome"] != "hang":
        return ""
    if outcome["object"] in predicted_objects:
        return "the same"
    if predicted_objects and all(" warp " in name for name in predicted_objects):
        return "none is predicted"  # the fault is a warp's own
    barrier = without_stage(outcome["object"]).split(" of cta")[0]
    if barrier in {without_stage(name).split(" of cta")[0] for name in predicted_objects}:
        return "the same, another stage"
    return "another"


def faults_of(scenario, outcome, code, barrier):
    """What --check refuses."""
    name, kind = scenario["name"], scenario["kind"]
    if outcome["outcome"] == "not emulated":
        return
    if kind == "clean" and (code != 0 or outcome["protocol"] != "agrees"):
        yield f"{name}: {outcome['outcome']}, protocol {outcome['protocol']}\n{outcome['detail']}"
    if outcome["outcome"] == "hang":
        limit = outcome["deadline"] / CYCLES_A_SECOND + BEHIND_DEADLINE_SECONDS
        if outcome["milliseconds"] > 1000 * limit:
            yield f"{name}: the hang took {outcome['milliseconds']:.0f} ms"
        if barrier == "another":
            yield f"{name}: the hang's report is headed by {outcome['object']}"
        if not outcome["object"]:
            yield f"{name}: the hang's report names nothing"
    if outcome["outcome"] in ("crash", "nothing was reported", "no device", "device error"):
        yield f"{name}: {outcome['outcome']}\n{outcome['detail']}"


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--sanitizer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    warptwin, binary = options.bin / "warptwin", options.bin / "warptwin-hw"
    if not binary.exists():
        print(f"skipped: {binary} is not built", file=sys.stderr)
        return 77
    tools = ["memcheck", "racecheck", "synccheck"] if options.sanitizer else []
    columns = ["scenario", "predicted", "a run ends", "seen", "barrier", "protocol", "ms", *tools]
    faults = []
    only = options.only.split(",") if options.only else []
    listed = json.loads(call([warptwin, "list", "--json"]).stdout)
    compiled = call([binary, "list"]).stdout.split()
    scenarios = [
        scenario
        for scenario in listed
        if scenario["name"] in compiled and (not only or scenario["name"] in only)
    ]
    if not scenarios:
        print(f"none of these scenarios is in {binary}: see '{binary} list'", file=sys.stderr)
        return 2
    print_row(columns)
    print_row(["---"] * len(columns))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        names = [scenario["name"] for scenario in scenarios]
        predictions = list(pool.map(lambda name: predicted(warptwin, name), names))
        outcomes = []
        for name, (ids, _, _) in zip(names, predictions):
            outcomes.append(seen(binary, name, options.runs, ids))
            # Before anything ran: behind a row it is a device that was lost.
            if len(outcomes) == 1 and outcomes[0][0]["outcome"] == "no device":
                print("skipped: " + outcomes[0][0]["detail"].strip(), file=sys.stderr)
                return 77
        reports = {
            name: [pool.submit(sanitized, options.sanitizer, binary, name, tool) for tool in tools]
            for name, (outcome, _) in zip(names, outcomes)
            if outcome["outcome"] not in ("not emulated", "no device", "refused")
        }
        for scenario, (ids, end, objects), (outcome, code) in zip(scenarios, predictions, outcomes):
            name = scenario["name"]
            barrier = same_barrier(outcome, objects)
            faults += faults_of(scenario, outcome, code, barrier)
            row = [name, ", ".join(ids) or "clean", end, words_of(outcome, options.runs)]
            row += [barrier, outcome["protocol"]]
            row.append(f"{outcome['milliseconds']:.1f}")
            row += (
                [report.result() for report in reports[name]]
                if name in reports
                else [""] * len(tools)
            )
            print_row(row)
    for fault in faults if options.check else []:
        print(fault, file=sys.stderr)
    return 1 if options.check and faults else 0


if __name__ == "__main__":
    sys.exit(main())
