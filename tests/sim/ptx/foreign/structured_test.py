#!/usr/bin/env python3
"""The structured GEMM of Modular's library, as Mojo compiles it: what warptwin says of it.

usage: structured_test.py WARPTWIN
Each kernel computes the product. Those of one SM are proved for every number of tiles that a CTA
may claim; those of clusters are refuted for what is known of them, and proved by the rules that
say otherwise; what nobody can decide is said so. Each edit of one line is found.
WARPTWIN_MOJO names the compiler, if it is not on the path.
exit codes: 0 right, 1 wrong, 77 skipped: there is no compiler, or it has no library for GPUs
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SOURCE = pathlib.Path(__file__).parent / "structured.mojo"
K = 640
THREADS = 224
SHARED_BYTES = 229760
PROVED, REFUTED, UNDECIDED = 0, 1, 5
FOR_ALL = "for every number of tiles a cluster may claim"
# By the manual: no order with the peer's allocation; an arrival at another CTA's mbarrier that
# names no scope tells it nothing. With the rules it is proved.
RULES = [word for rule in ("pair_alloc=together", "pair_dealloc=together", "arrive_scope=cluster")
         for word in ("--rule", rule)]
BYTES = {"bf16": 2, "f8e4m3": 1, "f32": 4}


@dataclasses.dataclass
class Kernel:
    entry: str  # a part of its name
    ctas: int = 1  # that multiply together
    cluster: tuple = (1, 1)
    sizes: tuple = (256, 128)
    type: str = "bf16"
    out: str = "bf16"
    swapped: bool = False
    splits: int = 1
    code: int = PROVED
    ids: frozenset = frozenset()
    says: str = FOR_ALL
    by_rules: str = ""  # said with RULES; empty: they change nothing


KERNELS = {
    "1sm": Kernel("bf16_1sm_128x64x16_1x1x1_8stages_1kg_2clc.*noswap.*rasterM_rbe"),
    "2sm": Kernel("bf16_2sm_128x64x16_2x1x1", ctas=2, cluster=(2, 1), code=REFUTED,
                  ids=frozenset({"TCGEN05_PEER_NOT_READY"}), says="", by_rules=FOR_ALL),
    "e4m3": Kernel("e4m3_e4m3_bf16_1sm", type="f8e4m3"),
    "tf32": Kernel("float32_1sm", type="f32", out="f32"),
    "2x2": Kernel("bf16_1sm_128x64x16_2x2x1", cluster=(2, 2), sizes=(512, 256), code=REFUTED,
                  ids=frozenset({"CLC_RESP_OVERWRITE"}), says="", by_rules=FOR_ALL),
    "2sm_4x1": Kernel("bf16_2sm_128x64x16_4x1x1", ctas=2, cluster=(4, 1), sizes=(512, 256),
                      code=REFUTED, ids=frozenset({"TCGEN05_PEER_NOT_READY"}), says="",
                      by_rules=FOR_ALL),
    "swapped": Kernel("bf16_1sm.*_swap_", swapped=True),
    # Turns that splits of a tile take by a word of global memory, whoever has claimed them.
    "split": Kernel("2splitk", splits=2, code=UNDECIDED,
                    says="clusters that ask for others meet in global memory"),
    # 160 threads arrive where 128 are expected, at the end of tensor memory.
    "static": Kernel("bf16_1sm.*_0clc", code=UNDECIDED, says="an ordering is missing"),
}

# The line that is edited, which of those that match, what becomes of it, the id.
MUTANTS = [
    (r"barrier\.cluster\.wait.*", 0, "", "MBAR_UNINIT"),
    (r"mov\.b32(.*), 24576", 0, r"mov.b32\1, 24560", "DEADLOCK"),
    (r"bar\.arrive.*", 0, "", "DEADLOCK"),
    (r"bar\.sync.*160;", 0, "", "TMEM_ADDR_READ_EARLY"),
    (r"tcgen05\.commit.*", 0, "", "DEADLOCK"),
    (r"tcgen05\.wait::ld.*", 0, "", "TMEM_DEALLOC_IN_USE"),
    (r"cp\.async\.bulk\.wait_group\.read.*", 0, "", "BULK_SRC_REUSE"),
    (r"cp\.async\.bulk\.commit_group.*", 0, "", "BULK_WAIT_WRONG_THREAD"),
    (r"fence\.proxy\.async.*", 4, "", "PROXY_FENCE_MISSING"),
    (r"fence\.proxy\.async.*", 3, "", "CLC_RESP_OVERWRITE"),
    (r"bar\.sync.*128;", 1, "", "BULK_SRC_REUSE"),
]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def of_row(i):
    return 1 + i % 3


def of_column(j):
    return (1 + j % 4) / 2


def tiled(buffer, rows, columns, size, box, batched):
    """A tensor map of tiles as wide as the swizzle; batched ones have planes."""
    map = {"buffer": buffer, "box": [*box, 128 // size], "swizzle": 128}
    if batched:
        plane = {"extent": 1, "stride_bytes": size * rows * columns, "step": 1}
        row = {"extent": rows, "stride_bytes": size * columns, "step": 1}
        map |= {"box": [1, *box, 128 // size], "dimensions": [plane, row]}
    return map


def words(*values):
    return {"fields": [{"type": "i32", "value": value} for value in values]}


def launch(kernel):
    m, n = kernel.sizes
    batched = kernel.splits == 1

    def operand(type, rows, numbers):
        return {"type": type, "shape": [rows, K], "use": "input",
                "contents": [numbers(i) for i in range(rows) for _ in range(K)]}

    def map(buffer, rows, columns, type, box):
        return tiled(buffer, rows, columns, BYTES[type], [box], batched)

    rows, columns = 128 // kernel.cluster[1], 64 * kernel.ctas // kernel.cluster[0]
    maps = {"a": map("a", m, K, kernel.type, rows), "b": map("b", n, K, kernel.type, columns),
            "d": map("d", m, n, kernel.out, 128)}
    if kernel.swapped:
        maps = {"a": map("b", n, K, kernel.type, 128), "b": map("a", m, K, kernel.type, 64),
                "d": map("d", m, n, kernel.out, 32)}
    first, second = (n, m) if kernel.swapped else (m, n)
    made = {
        "grid": [first // 128, second // (64 * kernel.ctas), kernel.splits],
        "block": THREADS, "cluster": [*kernel.cluster, 1], "dynamic_shared_bytes": SHARED_BYTES,
        "buffers": {
            "a": operand(kernel.type, m, of_row), "b": operand(kernel.type, n, of_column),
            "d": {"type": kernel.out, "shape": [m, n], "use": "output",
                  "expected": [K * of_row(i) * of_column(j) for i in range(m) for j in range(n)]},
        },
        "maps": maps,
    }
    shapes = [words(*kernel.cluster, 1), words(first, second, K)]
    if kernel.splits == 1:
        nothing = {"bytes": "00" * 16}
        made["parameters"] = [{"map": "a"}, {"map": "b"}, {"map": "d"}, {"map": "d"},
                              {"bytes": "00" * 8}, *shapes, nothing, nothing, {"value": 0}]
        return made
    made["buffers"] |= {
        "parts": {"type": "f32", "shape": [1, m * n], "use": "output"},
        "turns": {"type": "i32", "shape": [1, 64], "use": "control", "contents": 0}}
    parts = {"fields": [{"type": "u64", "buffer": "parts"}, {"type": "u64", "value": m * n}]}
    made["parameters"] = [{"map": "a"}, {"map": "b"}, {"map": "d"}, {"buffer": "parts"},
                          {"value": m * n}, {"value": 0}, parts, {"buffer": "turns"}, *shapes,
                          {"bytes": "00" * 16}]
    return made


def compiled(folder):
    """By name the PTX, beside its launch."""
    mojo = os.environ.get("WARPTWIN_MOJO") or shutil.which("mojo")
    if mojo is None:
        print("skipped: there is no mojo compiler on the path, and WARPTWIN_MOJO names none")
        sys.exit(SKIPPED)
    made = run(mojo, "build", "-j", "1", "--emit", "asm", "--target-accelerator", "sm_100a",
               str(SOURCE), "-o", str(folder / "structured.s"))
    if "install MAX" in made.stderr:
        print("skipped: the mojo compiler has no library for GPUs: pip install max-core")
        sys.exit(SKIPPED)
    if made.returncode != 0:
        sys.exit(made.stderr)
    entries = {path: re.search(r"\.entry (\w+)", path.read_text())[1]
               for path in folder.glob("*.ptx")}
    files = {}
    for name, kernel in KERNELS.items():
        (files[name],) = [path for path in entries if re.search(kernel.entry, entries[path])]
        (folder / f"{name}.json").write_text(json.dumps(launch(kernel)))
    return files


def defects(output):
    return set(re.findall(r"^defect: (\w+)", output, re.MULTILINE))


def judged(name, kernel, ptx):
    """What is wrong with what is said of a kernel; `ptx` runs a command on it."""
    values = ptx("run")
    if "output d: agrees" not in values.stdout:
        yield f"{name}: {values.stdout[-2000:]}{values.stderr}"
    proof = ptx("prove")
    found = defects(proof.stdout)
    if (proof.returncode, found) != (kernel.code, kernel.ids) or kernel.says not in proof.stdout:
        yield f"{name}: exit code {proof.returncode}, {found}: {proof.stdout[-2000:]}{proof.stderr}"
    if kernel.by_rules:
        proof = ptx("prove", *RULES)
        if proof.returncode != PROVED or kernel.by_rules not in proof.stdout:
            yield f"{name} by the rules: {proof.stdout[-2000:]}{proof.stderr}"


def main():
    warptwin = sys.argv[1]
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = compiled(folder)

        def of(kernel, path):
            return lambda command, *options: run(
                warptwin, "ptx", command, path, "--launch", folder / f"{kernel}.json", *options)

        for kernel, path in files.items():
            wrong += judged(kernel, KERNELS[kernel], of(kernel, path))
        text = files["1sm"].read_text()
        for pattern, which, replacement, expected in MUTANTS:
            match = list(re.finditer(pattern, text))[which]
            line = match.expand(replacement)
            path = folder / "mutant.txt"
            path.write_text(text[: match.start()] + line + text[match.end():])
            found = defects(of("1sm", path)("prove").stdout)
            if expected not in found:
                wrong.append(f"{match.group(0)} as '{line}': {expected} expected, found {found}")
    found = f"{len(files)} kernels and {len(MUTANTS)} edits, each as expected"
    print("\n".join(wrong) if wrong else found)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
