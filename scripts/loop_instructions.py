#!/usr/bin/env python3
"""Instructions of each kernel's loops, beside those of the simplest member of its family.

  loop_instructions.py PTX_FOLDER|FILE.ptx... > docs/loop-instructions.md
  loop_instructions.py --check PAGE [--part N/M] FILE.ptx...
  loop_instructions.py --names PAGE NAME...
  loop_instructions.py --self-test

PTX_FOLDER has NAME.ptx of the clean scenarios, as nvcc makes them with their constant extents, of
one type each (another type is the same text) and of the architecture each is for: in the build
folder they are in folders ptx_NAME_ARCH.dir under scenarios/warptwin_scenarios/ptx, and the target
hw.loops makes the page of them. ptxas assembles each, and cuobjdump (with nvdisasm; --cuobjdump
FILE, --ptxas FILE) prints its machine code. A stack, or a use of local memory, is a fault. --check
holds rows of the page against what the files are now, the N-th of every M, and is skipped (77)
without cuobjdump or where another nvcc has made the files. --names holds the names of its rows
against these.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
WAIT = re.compile(r"SYNCS\.PHASECHK")
LOADS = re.compile(r"UTMALDG|UBLKCP")
MULTIPLIES = re.compile(r"UTC[HQOI]MMA|HGMMA|QGMMA|IGMMA")
STORES = re.compile(r"UTMASTG|UTMAREDG")
ARMS = re.compile(r"SYNCS\.ARRIVE")
COMMITS = re.compile(r"UTCBAR")
ENDS = ("EXIT", "RET", "BPT")
# A family and its simplest member, whose loops the others' stand beside: the first that fits. That
# member itself stands beside gemm.
SIMPLEST = [
    ("wgmma", "gemm_wgmma"),
    ("attention", "attention"),
    ("mainloop", "mainloop"),
    ("block_scaled", "gemm_block_scaled"),
    ("1d1d", "gemm_block_scaled"),
    ("1d2d", "gemm_blockwise_fp8"),
    ("blockwise", "gemm_blockwise_fp8"),
    ("swiglu_quantised", "gemm_swiglu_quantised"),
    ("swiglu", "gemm_swiglu"),
    ("fused", "gemm_fused"),
    ("epilogue_load", "gemm_epilogue_load"),
    ("conv2d", "gemm_epilogue_load"),
    ("small", "gemm_small"),
    ("", "gemm"),
]

Instruction = collections.namedtuple("Instruction", "at predicated form operands")


def instructions(dump):
    """The first function's, in order."""
    code = []
    for line in dump.split("Function :")[1].splitlines():
        match = LINE.match(line)
        if match:
            code.append(Instruction(int(match[1], 16), bool(match[2]), match[3], match[4].strip()))
    return code


def blocks_of(code):
    """[(first, end)] as places in `code`, and whom each may go to."""
    place = {one.at: i for i, one in enumerate(code)}
    target = {}
    for i, one in enumerate(code):
        if one.form.split(".")[0] in ("BRA", "BRX", "JMP"):
            found = re.findall(r"0x([0-9a-f]+)", one.operands)
            if found and int(found[-1], 16) in place:
                target[i] = place[int(found[-1], 16)]
    def leaves(one):
        return one.form.split(".")[0] in ENDS

    first = {0, *target.values()}
    first |= {i + 1 for i, one in enumerate(code) if i in target or leaves(one)}
    starts = sorted(i for i in first if i < len(code))
    blocks = list(zip(starts, starts[1:] + [len(code)]))
    number = {start: n for n, (start, _) in enumerate(blocks)}
    follow = []
    for start, end in blocks:
        last = code[end - 1]
        always = not last.predicated and not re.search(r"\bU?P\d|\bUPT", last.operands)
        to = {number[target[end - 1]]} if end - 1 in target else set()
        if end < len(code) and not (always and (end - 1 in target or leaves(last))):
            to.add(number[end])
        follow.append(to)
    return blocks, follow


def natural_loops(follow):
    """Sets of blocks, one for each head."""
    before = collections.defaultdict(set)
    for n, to in enumerate(follow):
        for other in to:
            before[other].add(n)
    order, seen, stack = [], {0}, [(0, iter(sorted(follow[0])))]
    while stack:
        n, rest = stack[-1]
        step = next((other for other in rest if other not in seen), None)
        if step is None:
            order.append(n)
            stack.pop()
        else:
            seen.add(step)
            stack.append((step, iter(sorted(follow[step]))))
    order.reverse()
    over = {n: set(order) for n in order}  # who dominates
    over[0] = {0}
    changed = True
    while changed:
        changed = False
        for n in order[1:]:
            known = [over[other] for other in before[n] if other in over]
            new = set.intersection(*known) | {n}
            changed = changed or new != over[n]
            over[n] = new
    loops = collections.defaultdict(set)
    for n in order:
        for head in follow[n]:
            if head in over[n]:
                body, todo = {head, n}, [n]
                while todo:
                    at = todo.pop()
                    if at != head:
                        more = {b for b in before[at] if b in over} - body
                        body |= more
                        todo += more
                loops[head] |= body
    return list(loops.values())


def is_retry(code, blocks, follow, n):
    """A wait that is made again until it says yes, and the jump back behind it."""
    start, end = blocks[n]
    forms = [one.form for one in code[start:end]]
    again = n in follow[n] and all(WAIT.match(f) or f.startswith("BRA") for f in forms)
    return again or forms == ["BRA"]


def loops_of(code):
    """Of each natural loop: how often each form is in it, retries of waits left out."""
    blocks, follow = blocks_of(code)
    counted = []
    for body in natural_loops(follow):
        forms = collections.Counter()
        for n in body:
            if not is_retry(code, blocks, follow, n):
                start, end = blocks[n]
                forms.update(one.form for one in code[start:end])
        counted.append(forms)
    return counted


def total(forms, pattern):
    return sum(count for form, count in forms.items() if pattern.match(form))


def main_loop(loops, what, but=None):
    """The innermost of those with most of `what`."""
    found = [one for one in loops if total(one, what) and not (but and total(one, but))]
    return max(found, key=lambda one: (total(one, what) / one.total(), total(one, what)),
               default=None)


def figures(dump):
    """(instructions of a k step of load, those of mma, those of a box of the epilogue); None: no
    such loop."""
    loops = loops_of(instructions(dump))
    load, mma = main_loop(loops, LOADS, MULTIPLIES), main_loop(loops, MULTIPLIES)
    store = main_loop(loops, STORES, LOADS)

    def each(loop, of):
        return None if loop is None else round(loop.total() / max(total(loop, of), 1))

    return each(load, ARMS), each(mma, COMMITS), each(store, STORES)


def simplest(name):
    base = next(base for part, base in SIMPLEST if part in name)
    return "gemm" if base == name else base


def measured(options, path):
    """(name, figures, registers), or what is wrong."""
    arch = re.search(r"^\.target\s+(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        binary = pathlib.Path(folder) / "kernel.cubin"
        made = subprocess.run([options.ptxas, "-v", "-arch", arch, path, "-o", binary],
                              capture_output=True, text=True, check=False)
        said = made.stdout + made.stderr
        if made.returncode != 0:
            raise SystemExit(f"{path}: ptxas did not assemble it\n{said}")
        dump = subprocess.run([options.cuobjdump, "-sass", binary], capture_output=True, text=True,
                              check=True).stdout
    bytes_used = re.findall(r"(\d+) bytes (?:stack frame|spill \w+)", said)
    local = re.findall(r"\b(?:LDL|STL)\b.*", dump)
    if local or any(map(int, bytes_used)):
        raise SystemExit(f"{path}: a stack or local memory: {(local or bytes_used)[0]}")
    return figures(dump), max(map(int, re.findall(r"Used (\d+) registers", said)))


HEAD = """\
# Instructions of the loops

Generated by `scripts/loop_instructions.py` from nvcc's PTX of each clean scenario with its constant
extents, nvcc {version}: machine code of the innermost loops in which loads, products and stores
are. A *load* figure is the instructions of an iteration over the stages it arms, an *mma* figure
those over its commits, a *store* figure those over the boxes it stores: of a k step, and of a box.
Both ways of a branch count, and a wait once, without what repeats it. Where no loop has such an
instruction there is no figure. In brackets: how many more than in the simplest member of the
family, which stands in the last column. No kernel has a stack, spills, or a use of local memory:
the script ends where one has.
"""


def row(name, own, base):
    def beside(figure, of):
        if figure is None:
            return "-"
        return str(figure) if of in (None, figure) else f"{figure} ({figure - of:+d})"

    cells = [beside(a, b) for a, b in zip(own[0], base[0])]
    return f"| `{name}` | {' | '.join(cells)} | {own[1]} | `{simplest(name)}` |"


def page(found, version):
    lines = [HEAD.format(version=version), "| kernel | load | mma | store | registers | beside |",
             "|---|---:|---:|---:|---:|---|"]
    for name in sorted(found):
        base = found.get(simplest(name))
        lines.append(row(name, found[name], base or found[name]))
    return "\n".join(lines) + "\n"


def version_of(path):
    return re.search(r"Cuda compilation tools, release [\d.]+, V([\d.]+)",
                     path.read_text(encoding="utf-8"))[1]


def measure_all(options, paths):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: measured(options, path), paths)
        return {path.stem: result for path, result in zip(paths, results)}


def rows_of(text):
    return {re.match(r"\| `(\w+)`", line)[1]: line for line in text.splitlines()
            if line.startswith("| `")}


def check(options):
    text = options.check.read_text(encoding="utf-8")
    if options.cuobjdump is None:
        print("no cuobjdump")
        return 77
    if f"nvcc {version_of(options.files[0])}:" not in text:
        print("another nvcc has made these files")
        return 77
    part, parts = map(int, options.part.split("/"))
    known, paths = rows_of(text), {path.stem: path for path in options.files}
    chosen = [name for i, name in enumerate(sorted(paths)) if i % parts == part]
    needed = sorted({*chosen, *(simplest(name) for name in chosen)} & paths.keys())
    found = measure_all(options, [paths[name] for name in needed])
    faults = []
    for name in chosen:
        now = row(name, found[name], found.get(simplest(name)) or found[name])
        if known.get(name) != now:
            faults.append(f"- {known.get(name, name)}\n+ {now}")
    print("\n".join(faults) or f"{len(chosen)} rows are as they were")
    return 1 if faults or not chosen else 0


SAMPLE = """
\t\tFunction : kernel
        /*0000*/                   UTMALDG.2D [UR1], [UR2] ;
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR1], R2 ;
        /*0020*/              @!P0 BRA 0x90 ;
        /*0030*/                   UTMALDG.2D [UR1], [UR2] ;
        /*0040*/                   IADD3 R1, R1, 0x1, RZ ;
        /*0050*/              @P1 BRA 0x10 ;
        /*0060*/                   UTMASTG.2D [UR1], [UR2] ;
        /*0070*/                   BRA.U !UP1, 0x60 ;
        /*0080*/                   EXIT ;
        /*0090*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR1], R2 ;
        /*00a0*/              @!P0 BRA 0x90 ;
        /*00b0*/                   BRA 0x30 ;
"""


def self_test():
    def expect(actual, expected):
        if actual != expected:
            sys.exit(f"self-test: {actual!r} instead of {expected!r}")

    code = instructions(SAMPLE)
    expect(len(code), 12)
    expect(sorted(loop.total() for loop in loops_of(code)), [0, 2, 5])
    expect(figures(SAMPLE), (5, None, 2))
    twice = SAMPLE.replace("IADD3 R1, R1, 0x1, RZ", "SYNCS.ARRIVE.TRANS64 RZ, [UR1], R2")
    expect(figures(twice), (5, None, 2))
    armed = twice.replace("UTMALDG.2D [UR1], [UR2] ;\n        /*0040*/",
                          "SYNCS.ARRIVE.TRANS64 RZ, [UR1], R2 ;\n        /*0040*/").replace(
                              "@!P0 BRA 0x90", "UTMALDG.2D [UR1]", 1)
    expect(figures(armed), (2, None, 2))
    expect(simplest("gemm_wgmma_e4m3"), "gemm_wgmma")
    expect([simplest("gemm_2sm"), simplest("gemm_swiglu"), simplest("gemm_swiglu_clc")],
           ["gemm", "gemm", "gemm_swiglu"])
    expect(row("gemm_2sm", ((7, 5, None), 80), ((5, 5, 1), 77)),
           "| `gemm_2sm` | 7 (+2) | 5 | - | 80 | `gemm` |")
    expect(list(rows_of("| kernel |\n| `a` | 1 |\n")), ["a"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--names", type=pathlib.Path)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--cuobjdump", default=shutil.which("cuobjdump"))
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.self_test:
        self_test()
        return 0
    if options.names:
        known = set(rows_of(options.names.read_text(encoding="utf-8")))
        wanted = set(map(str, options.files))
        for name in sorted(known ^ wanted):
            print(f"{name}: {'no row' if name in wanted else 'a row, and no such kernel'}")
        return 1 if known != wanted else 0
    if options.check:
        return check(options)
    if not options.files or options.cuobjdump is None:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    paths = sorted(options.files)
    if len(paths) == 1 and paths[0].is_dir():
        paths = sorted(paths[0].glob("*.ptx"))
    sys.stdout.write(page(measure_all(options, paths), version_of(paths[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
