#!/usr/bin/env python3
"""Writes docs/diagnostics.md: every diagnostic that can be reported, and what shows it.

diagnostics_table.py WARPTWIN > docs/diagnostics.md
diagnostics_table.py --check WARPTWIN docs/diagnostics.md    exit 1 if the page is out of date

--check runs one scenario of eight, chosen by its name, and takes the page's word for what others
are found with; everything else it makes anew. The whole page against what it would be:
  diagnostics_table.py WARPTWIN | diff docs/diagnostics.md -
"""

import json
import re
import subprocess
import sys
import zlib


# Found between the launches of a CUDA program: no program in sim/micro has any.
OF_CUDA_PROGRAMS = {"STREAM_RACE"}

SUPPRESSING = """
## Suppressing a finding

`check`, `prove`, `explore`, `run` and `replay` take `--suppress FILE`, a file of findings that are
known:

```
# scenario  object or line            ID                          reason
gemm        "input.full[?] of cta 0"  MBAR_PHASE_UNOBSERVED       the ring is drained at the end
gemm        scenarios/gemm.hpp:*      BULK_STORE_PENDING_AT_EXIT  nothing runs after it
```

The second field has to match the whole `object` or the whole `line` of the report: `*` is any
text, `?` any letter, brackets are brackets, and quotes hold blanks. A reason is required. A line
that is wrong is refused (exit code 2), as is an unknown scenario or id. What `explore` finds wrong
in a protocol has the id `PROTOCOL_WRONG`, and what goes wrong in the place of an object.

What is suppressed is not printed, fails nothing, and is counted: `suppressed: 2 (reason)`, in
JSON `suppressed`. A report that says *repeated* is one finding: it is suppressed where each object
it was found at is. The verdict then is not *proved*, unless only warnings were suppressed;
schedules are tried in its place. A fault that stops the machine stops it also when it is
suppressed: nothing is said of what would come after it.

A line for a scenario that `check` has run, and that matches nothing there, is a warning. It fails
the check (exit code 1) with `--strict`, as warnings do, and with `--all`. Nothing is said of such
lines where the check stopped at a defect.
"""


# What the strict profile says of the clean scenarios, and why it is left so.
STRICT_REASONS = {
    "MBAR_NOT_INVALIDATED": "kernels end without mbarrier.inval: nothing follows in their memory",
    "MBAR_TX_NEGATIVE": "a copy of another CTA may come before this CTA has announced its bytes; "
    "the arrival that announces them holds the phase open",
    "MBAR_WAIT_NO_ACQUIRE_SCOPE": "what another CTA does is an arrival that frees a stage, or a "
    "copy: no data of its warps is read",
    "MBAR_SCOPE_TOO_NARROW": "the arrival frees a stage for copies: it publishes no data",
    "PROXY_FENCE_USELESS": "a fence that stands for accesses another configuration makes",
    "PDL_NO_TRIGGER": "nothing is launched behind it",
    "SMEM_RAW_NO_WAIT": "`commit_copies`: the epilogue reads factors whose copy the MMA warp "
    "waited for before it committed; in a pair all bytes are counted in the leader, and the commit "
    "is all that the peer can wait for",
}


def ask(command, *arguments):
    result = subprocess.run(
        [command, *arguments, "--json"], check=True, capture_output=True, text=True
    )
    return json.loads(result.stdout)


def word_of(page):
    """What a page says: two dictionaries, of the broken and of the clean scenarios, {name: ids}."""
    said = {}, {}
    for row in page.splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        one = re.fullmatch(r"`([A-Z_0-9]+)`", cells[1]) if len(cells) in (5, 9) else None
        if one:
            of_strict = len(cells) == 5
            for name in re.findall(r"`([a-z_0-9]+)`", cells[2 if of_strict else 5]):
                said[of_strict].setdefault(name, set()).add(one.group(1))
    return said


def is_run(scenario, word):
    """Whether a scenario is run: all are where there is no page to take the word of."""
    return word is None or zlib.crc32(scenario["name"].encode()) % 8 == 0


def found_in(command, scenario):
    """Every id that a check of a broken scenario comes upon."""
    result = subprocess.run(
        [command, "check", scenario, "--json"], capture_output=True, text=True, check=False
    )
    report = json.loads(result.stdout)
    ids = {finding["id"] for finding in report["findings"]}
    for condition in report["conditions"]:
        if condition["confirmed"]:
            ids.add(condition["id"])
        ids.update(finding["id"] for finding in condition["shown"])
    return ids


def rules(command):
    lines = [
        "## Rules",
        "",
        "What the manual leaves open, or production code takes for granted, is a rule: "
        "`--profile` sets",
        "all of them, `--rule NAME=VALUE` one. `--without NAME` leaves a detector out.",
        "",
        "| rule | values | practical | strict | |",
        "|---|---|---|---|---|",
    ]
    for rule in ask(command, "list", "--rules"):
        values = ", ".join(rule["values"].split())
        lines.append(
            f"| `{rule['name']}` | {values} | {rule['practical']} | {rule['strict']} "
            f"| {rule['means']} |"
        )
    return lines


def found_by_strict(command, name):
    """The ids that `--profile strict` finds in a scenario."""
    result = subprocess.run(
        [command, "check", name, "--profile", "strict", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {finding["id"] for finding in json.loads(result.stdout)["findings"]}


def strict(command, scenarios, word):
    """What `--profile strict` says of the clean scenarios, which are silent without."""
    found = {}
    for scenario in scenarios:
        name = scenario["name"]
        if scenario["kind"] != "clean":
            continue
        run = is_run(scenario, word)
        for one in found_by_strict(command, name) if run else word[True].get(name, ()):
            found.setdefault(one, []).append(name)
    unexplained = sorted(set(found) - set(STRICT_REASONS))
    if unexplained:
        sys.exit("no reason in this script for what strict says: " + ", ".join(unexplained))
    lines = [
        "## What strict says of the clean scenarios",
        "",
        "| id | of | why it is left so |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{one}` | {', '.join(f'`{name}`' for name in found[one])} | {STRICT_REASONS[one]} |"
        for one in sorted(found)
    ]
    return lines


def table(command, word=None):
    """The page. `word`: what `word_of` a page that is believed of scenarios that are not run."""
    everything = ask(command, "list", "--diagnostics")
    diagnostics = [d for d in everything if "means" in d]
    absent = [d for d in everything if "cannot_occur" in d]
    scenarios = ask(command, "list")
    missing = []
    shown = {}
    also = {}
    for scenario in scenarios:
        if scenario["kind"] == "broken":
            shown.setdefault(scenario["expected"], []).append(scenario)
            name = scenario["name"]
            run = is_run(scenario, word)
            for found in found_in(command, name) if run else word[False].get(name, ()):
                also.setdefault(found, []).append(scenario)
    lines = [
        "# Diagnostics",
        "",
        "Generated by `scripts/diagnostics_table.py`. *Shown by* is a broken scenario that",
        "`warptwin check` finds with this id, *clean twin* the same kernel without the fault, "
        "on which",
        "it is silent. *Smallest programs* are a wrong and a right one in `sim/micro`, a few",
        "operations each, that a test holds to it: `warptwin explain ID` prints them, with the "
        "trigger,",
        "what hardware does, and the section of NVIDIA's manual. What a severity says, and what it",
        "does to the exit code, is in [verdicts](verdicts.md).",
        "",
        "| id | practical | strict | means | shown by | clean twin | smallest programs |",
        "|---|---|---|---|---|---|---|",
    ]
    for d in diagnostics:
        broken = shown.get(d["id"]) or also.get(d["id"], [])[:2]
        micro = "wrong, right" if d["micro_program"] else ""
        if not micro and d["id"] not in OF_CUDA_PROGRAMS:
            missing.append(d["id"])
        names = ", ".join(f"`{s['name']}`" for s in broken)
        twins = ", ".join(sorted({f"`{s['twin']}`" for s in broken}))
        lines.append(
            f"| `{d['id']}` | {d['practical']} | {d['strict']} | {d['means']} "
            f"| {names} | {twins} | {micro} |"
        )
    if missing:
        sys.exit("no micro-program shows " + ", ".join(missing))
    covered = sum(1 for d in diagnostics if d["id"] in shown or d["id"] in also)
    lines += [
        "",
        f"{len(diagnostics)} diagnostics; {covered} of them have a broken scenario and a "
        "clean twin.",
        "",
        "Not found, because no kernel can cause it here:",
        "",
        "| id | why |",
        "|---|---|",
    ]
    lines += [f"| `{d['id']}` | {d['cannot_occur']} |" for d in absent]
    lines += ["", *rules(command), "", *strict(command, scenarios, word)]
    lines.append(SUPPRESSING)
    return "\n".join(lines)


def main():
    arguments = sys.argv[1:]
    if arguments and arguments[0] == "--check":
        with open(arguments[2], encoding="utf-8") as page:
            text = page.read()
            if text != table(arguments[1], word_of(text)):
                print(
                    f"{arguments[2]} is out of date; write it anew:\n"
                    f"  scripts/diagnostics_table.py {arguments[1]} > docs/diagnostics.md"
                )
                return 1
        return 0
    if len(arguments) != 1:
        print(__doc__)
        return 2
    sys.stdout.write(table(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
