#!/usr/bin/env python3
"""Which instructions of the tensor cores, the copies and the barriers a scenario is made of.

  instruction_census.py --write|--check TABLE --ptxas PTXAS [--cuobjdump CUOBJDUMP] FILE.ptx...
  instruction_census.py --self-test

Counts each form in the kernel entries of the PTX files, one for each architecture, and assembles
them: a warning, a stack or a spill is a fault. --write makes TABLE. --check holds it against what
is built, of the architectures that are; where it is of another nvcc only the faults are looked
for, and the rest is skipped (77).
With --cuobjdump the forms of the machine code are in the table too, and are held where they are;
a use of local memory or a call in it is a fault, but for calls of the traps that ptxas adds itself.

In this project: cmake --build --preset cuda --target hw.census writes every table.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

FAMILIES = (
    "tcgen05. cp.async. cp.reduce.async mbarrier. fence. bar. barrier. elect. setmaxnreg. "
    "griddepcontrol. clusterlaunchcontrol. wgmma. mma. ldmatrix. stmatrix. red. atom. ld.acquire "
    "st.release mapa. tensormap. prefetch multimem. trap"
).split()
MACHINE_FAMILIES = re.compile(
    r"UTMA|SYNCS|UTC|UTCBAR|LDTM|STTM|UCGABAR|BAR\b|BAR\.|ELECT|USETMAXREG|ACQBULK|UBLKCP|UBLKRED|"
    r"HGMMA|QGMMA|HMMA|FENCE|UVIRTCOUNT|ERRBAR|CCTL|MEMBAR"
)
ENTRY = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)*\.entry\s+(\w+)")
STATEMENT = re.compile(r"(?:\{\s*)?(?:@!?%?\w+\s+)?([a-z][\w.:]*)")
SASS = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)")
INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+([^;/]*);")
USE = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def forms(ptx):
    """{form: how often}, in the kernel entries."""
    counts = collections.Counter()
    depth, inside = 0, False
    for line in ptx.splitlines():
        line = line.split("//")[0].strip()
        inside = inside or bool(ENTRY.match(line))
        if inside and depth > 0:
            for statement in line.split(";"):
                match = STATEMENT.match(statement.strip())
                if match and match.group(1).startswith(tuple(FAMILIES)):
                    counts[match.group(1)] += 1
        depth += line.count("{") - line.count("}")
        inside = inside and not (depth == 0 and "}" in line)
    return counts


def machine_forms(dump):
    counts = collections.Counter()
    for line in dump.splitlines():
        match = SASS.search(line)
        if match and MACHINE_FAMILIES.match(match.group(1)):
            counts[match.group(1)] += 1
    return counts


def machine_faults(dump):
    """Calls of a trap are ptxas' own: it guards tcgen05.alloc and dealloc with them."""
    faults = []
    functions = dump.split("Function :")[1:]
    for function in functions:
        code = {int(at, 16): what.strip() for at, what in INSTRUCTION.findall(function)}
        for what in code.values():
            call = re.search(r"\bCALL\S*\s+(?:0x([0-9a-f]+))?", what)
            target = call and call.group(1) and code.get(int(call.group(1), 16), "")
            if target and target.startswith("BPT.TRAP"):
                continue
            if call or re.search(r"\b(?:LDL|STL)\b", what):
                faults.append(f"machine code: {what}")
    return faults if functions else ["no machine code"]


def architecture(ptx):
    return re.search(r"^\.target\s+(\w+)", ptx, re.MULTILINE).group(1)


def compiler(ptx):
    return re.search(r"Cuda compilation tools, release [\d.]+, V([\d.]+)", ptx).group(1)


def use_of(said):
    """(registers, stack, spill stores, spill loads) by what ptxas says, and its warnings."""
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", said)]
    uses = [tuple(map(int, use)) for use in USE.findall(said)]
    most = [max(column) for column in zip(*uses)]
    warnings = [line for line in said.splitlines() if re.search(r"warning|error", line)]
    return [max(registers), *most] if registers and most else None, warnings


def assemble(ptxas, path, arch, binary):
    command = [ptxas, "-v", "-warn-spills", "-warn-lmem-usage", "-arch", arch, path, "-o", binary]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    use, warnings = use_of(result.stdout + result.stderr)
    # What emulates the tensor core on sm_90a may take registers that a role does not have there.
    emulated = arch == "sm_90a"
    spills = re.compile("spilled|Local memory")
    faults = [f"{path}: {line}" for line in warnings if not (emulated and spills.search(line))]
    if result.returncode != 0 or use is None:
        faults.append(f"{path}: ptxas did not assemble it\n{result.stderr}")
    elif any(use[1:]) and not emulated:
        faults.append(f"{path}: stack {use[1]}, spill stores {use[2]}, spill loads {use[3]} bytes")
    return use, faults


def rows_of(columns):
    """Lines of a table: a form, and how often it is in each column."""
    names = sorted(set().union(*columns))
    return [f"| `{name}` | {' | '.join(str(one[name]) for one in columns)} |" for name in names]


def table(name, version, archs, counts, uses, machine):
    def head(what):
        return [f"| {what} | {' | '.join(archs)} |", "| --- |" + " ---: |" * len(archs)]

    lines = [f"# {name}", ""]
    lines += [f"nvcc {version}, the scenario's constant extents, nothing observed.", ""]
    lines += [*head("PTX"), *rows_of(counts), ""]
    lines += head("ptxas")
    for row, what in enumerate(["registers", "stack, bytes", "spill stores", "spill loads"]):
        lines.append(f"| {what} | " + " | ".join(str(use[row]) for use in uses) + " |")
    if machine:
        lines += ["", *head("machine code"), *rows_of(machine)]
    return "\n".join(lines) + "\n"


def parts(text):
    """The tables of a file, without and with the machine code."""
    at = text.find("\n| machine code |")  # after the line that the table above ends
    return (text, "") if at < 0 else (text[:at], text[at:])


def of_archs(text, archs):
    """The tables with the columns of some architectures alone."""
    lines, kept = [], []
    for line in text.splitlines():
        cells = line.split(" | ")
        if len(cells) > 1 and cells[1].startswith("sm_"):
            ends = [cell.rstrip(" |") for cell in cells]
            kept = [ends.index(arch) for arch in archs if arch in ends]
        if len(cells) > 1:
            chosen = [cells[i].rstrip(" |") for i in kept]
            if line.startswith("| `") and all(one == "0" for one in chosen):
                continue
            line = " | ".join([cells[0], *chosen]) + " |"
        lines.append(line)
    return "\n".join(lines) + "\n"


SAMPLE = """// Cuda compilation tools, release 13.0, V13.0.88
.target sm_100a
.func helper()
{
\tmbarrier.init.shared.b64 [x], 1;
}
.visible .entry kernel(
\t.param .u64 p
)
{
\t@%p1 bar.sync 0;
\t{
\t@%p1 bar.sync 1, 64; // bar.arrive
\tadd.s32 %r1, %r2, %r3;
\t{ tcgen05.mma.cta_group::1.kind::f16 [t], a, b, i, p; }
\t}
}
"""


def self_test():
    def expect(actual, expected):
        if actual != expected:
            sys.exit(f"self-test: {actual!r} instead of {expected!r}")

    expect(dict(forms(SAMPLE)), {"bar.sync": 2, "tcgen05.mma.cta_group::1.kind::f16": 1})
    expect((architecture(SAMPLE), compiler(SAMPLE)), ("sm_100a", "13.0.88"))
    said = "0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\nUsed 76 registers"
    expect(use_of(said), ([76, 0, 8, 4], []))
    expect(use_of("ptxas warning : spills")[1], ["ptxas warning : spills"])
    dump = " /*0000*/ @P0 UTMALDG.2D [UR8] ;\n /*0010*/ IADD3 R1 ;\n /*0020*/ SYNCS.ARRIVE [R1] ;"
    expect(dict(machine_forms(dump)), {"UTMALDG.2D": 1, "SYNCS.ARRIVE": 1})
    stored = "Function : f\n /*0000*/ STL [R1], R2 ;"
    expect(machine_faults(stored), ["machine code: STL [R1], R2"])
    expect(machine_faults("Function : f\n /*0000*/ EXIT ;"), [])
    called = "Function : f\n /*0000*/ CALL.REL 0x10 ;\n /*0010*/ "
    expect(machine_faults(called + "BPT.TRAP 0x1 ;"), [])
    expect(machine_faults(called + "EXIT ;"), ["machine code: CALL.REL 0x10"])
    expect(machine_faults(""), ["no machine code"])
    counts = [collections.Counter(a=1), collections.Counter(b=2)]
    expect(rows_of(counts), ["| `a` | 1 | 0 |", "| `b` | 0 | 2 |"])
    archs, uses = ["p", "q"], [[1, 0, 0, 0]] * 2
    whole = table("x", "1", archs, counts, uses, counts)
    both = table("x", "1", ["sm_1", "sm_2"], counts, uses, counts)
    second = table("x", "1", ["sm_2"], counts[1:], uses[1:], counts[1:])
    expect(of_archs(both, ["sm_2"]), second)
    expect(of_archs(both, ["sm_1", "sm_2"]), both)
    expect(parts(whole)[0], table("x", "1", archs, counts, uses, []))


def differences(old, new):
    before, after = old.splitlines(), new.splitlines()
    lost = [f"  - {line}" for line in before if line not in after]
    return lost + [f"  + {line}" for line in after if line not in before]


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--write", type=pathlib.Path)
    how.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--cuobjdump")
    parser.add_argument("ptx", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    texts = [path.read_text(encoding="utf-8") for path in options.ptx]
    archs = [architecture(text) for text in texts]
    uses, machine, faults = [], [], []
    for path, arch in zip(options.ptx, archs):
        with tempfile.NamedTemporaryFile(suffix=".cubin") as binary:
            use, found = assemble(options.ptxas, path, arch, binary.name)
            if options.cuobjdump and use:
                command = [options.cuobjdump, "-sass", binary.name]
                dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                machine.append(machine_forms(dump))
                found += [f"{path}: {fault}" for fault in machine_faults(dump)]
        uses.append(use or [0, 0, 0, 0])
        faults += found
    path = options.write or options.check
    version = compiler(texts[0])
    counts = [forms(text) for text in texts]
    new = table(path.stem, version, archs, counts, uses, machine)
    if options.write:
        keeps = path.exists() and not machine
        kept = parts(path.read_text(encoding="utf-8")) if keeps else ("", "")
        path.write_text(new + (kept[1] if kept[0] == new else ""), encoding="utf-8")
    elif not path.exists():
        faults.append(f"{path} is not there: cmake --build --preset cuda --target hw.census")
    else:
        old = of_archs(path.read_text(encoding="utf-8"), archs)
        if f"nvcc {version}," not in old and not faults:
            print(f"skipped: {path} is not of nvcc {version}")
            return 77
        for was, now in zip(parts(old), parts(new)):
            if was != now and (was and now):
                faults += [f"{path} is not what is built; target hw.census writes it anew"]
                faults += differences(was, now)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
