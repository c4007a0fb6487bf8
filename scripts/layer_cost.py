#!/usr/bin/env python3
"""What the protocol layer costs: time and instructions of its loops, beside CUDA by hand.

Usage: scripts/layer_cost.py BIN [--check]

BIN holds warptwin-layer-cost; cuobjdump and nvdisasm are on the PATH. Without a GPU the
instructions alone. A loop is counted as the machine code has it, its waits' slow paths too. With
--check the exit code is 1 where the layer is above its limits. Exit codes: 0, 1, 2 usage.
"""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys

INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
# The loops, by an instruction that nothing else has: the role, the name in the table.
LOOPS = {
    "copy": [("UTMALDG", "producer"), ("UTMASTG", "consumer")],
    "gemm": [("UTMALDG", "load"), ("HGMMA", "mma")],
}
INSTRUCTIONS_MOST = {"layer": 1.05}
TIME_MOST = {"layer": 1.02, "deadlines": 1.05}


def functions(text):
    """(name, [(address, instruction)]) of each function that cuobjdump -sass lists."""
    found = []
    for line in text.splitlines():
        function = re.search(r"Function : (\S+)", line)
        instruction = INSTRUCTION.match(line)
        if function:
            found.append((function.group(1), []))
        elif instruction:
            found[-1][1].append((int(instruction.group(1), 16), instruction.group(2)))
    return found


def successors(body):
    """The places in `body` that may follow each place."""
    places = {address: place for place, (address, _) in enumerate(body)}
    result = []
    for place, (_, text) in enumerate(body):
        predicated = text.startswith("@")
        words = text.split()
        operation = words[1] if predicated else words[0]
        following = []
        if operation.startswith("BRA"):
            following.append(places[int(re.search(r"0x([0-9a-f]+)", text).group(1), 16)])
            predicated = predicated or re.search(r"BRA\S*\s+!?U?P\d", text) is not None
        falls_through = not operation.startswith(("BRA", "EXIT", "RET")) or predicated
        if falls_through and place + 1 < len(body):
            following.append(place + 1)
        result.append(following)
    return result


def natural_loops(body):
    """The places of each loop: what can reach a branch back without passing its target."""
    before = collections.defaultdict(list)
    backward = []
    for place, following in enumerate(successors(body)):
        for target in following:
            before[target].append(place)
            if target <= place:
                backward.append((target, place))
    loops = collections.defaultdict(set)
    for head, end in backward:
        seen = {head}
        left = [end]
        while left:
            place = left.pop()
            if place not in seen:
                seen.add(place)
                left += before[place]
        loops[head] |= seen
    return loops.values()


def loop_length(body, marker):
    """Instructions of the smallest loop with `marker`, spins aside."""
    lengths = [
        len(loop) for loop in natural_loops(body) if any(marker in body[place][1] for place in loop)
    ]
    return min(lengths) if lengths else None


def variant_of(name):
    """("copy" or "gemm", variant) of a kernel's mangled name."""
    what = "copy" if "raw_copy" in name or "ProducerConsumer" in name else "gemm"
    if "raw_copy" in name or "raw_gemm" in name:
        return what, "raw"
    return (what, "deadlines") if "observed_entry" in name else (what, "layer")


def count_loops(binary):
    """{(what, variant, role): instructions}."""
    text = subprocess.run(
        ["cuobjdump", "-sass", binary], check=True, capture_output=True, text=True
    ).stdout
    counts = {}
    for name, body in functions(text):
        if "entry" in name or "raw_" in name:
            what, variant = variant_of(name)
            for marker, role in LOOPS[what]:
                counts[what, variant, role] = loop_length(body, marker)
    return counts


def measure(binary):
    """{(what, variant): (median, lower, upper)} in microseconds; empty without a GPU."""
    run = subprocess.run([binary], capture_output=True, text=True)
    times = {}
    for line in run.stdout.splitlines():
        match = re.match(r"(\w+) (\w+) ([\d.]+) us, ([\d.]+) to ([\d.]+)$", line)
        if match:
            times[match.group(1), match.group(2)] = tuple(map(float, match.groups()[2:]))
    if run.returncode not in (0, 4):
        sys.exit(f"layer_cost.py: {binary} failed: {run.stdout}{run.stderr}")
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    binary = str(arguments.bin.resolve() / "warptwin-layer-cost")
    for tool in ("cuobjdump", "nvdisasm"):
        if shutil.which(tool) is None:
            parser.error(f"{tool} is not on the PATH; it is in the CUDA Toolkit's bin")
    if not pathlib.Path(binary).exists():
        parser.error(f"there is no {binary}; build the target warptwin-layer-cost")
    counts = count_loops(binary)
    times = measure(binary)
    above = []
    print("| loop | variant | us | quartiles | time | instructions of the loops |")
    print("|---|---|---|---|---|---|")
    for what, roles in LOOPS.items():
        for variant in ("raw", "layer", "deadlines"):
            cells = ["", "", ""]
            if (what, variant) in times:
                median, lower, upper = times[what, variant]
                ratio = median / times[what, "raw"][0]
                cells = [f"{median:.1f}", f"{lower:.1f} to {upper:.1f}", f"{ratio:.3f}"]
                if ratio > TIME_MOST.get(variant, ratio):
                    above.append(f"{what} {variant}: time {ratio:.3f}")
            lengths = []
            for _, role in roles:
                length = counts[what, variant, role]
                ratio = length / counts[what, "raw", role]
                lengths.append(f"{role} {length} ({ratio:.2f})")
                if ratio > INSTRUCTIONS_MOST.get(variant, ratio):
                    above.append(f"{what} {variant} {role}: instructions {ratio:.3f}")
            print(f"| {what} | {variant} | {' | '.join(cells)} | {', '.join(lengths)} |")
    for line in above:
        print(f"above its limit: {line}")
    return 1 if arguments.check and above else 0


if __name__ == "__main__":
    sys.exit(main())
