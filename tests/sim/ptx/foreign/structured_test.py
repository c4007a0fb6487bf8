#!/usr/bin/env python3
"""The structured GEMM of Modular's library, as Mojo compiles it: what warptwin says of it.

usage: structured_test.py WARPTWIN
The kernel of one SM is proved for every number of tiles that a CTA may claim, and that of two SMs
is refuted for what is known of it. Both compute the product. Each edit of one line is found.
WARPTWIN_MOJO names the compiler, if it is not on the path.
exit codes: 0 right, 1 wrong, 77 skipped: there is no compiler, or it has no library for GPUs
"""

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
M, N, K = 256, 128, 640
THREADS = 224
SHARED_BYTES = 229760
# By the manual: no order with the peer's allocation. With the rules it is proved.
KNOWN_OF_PAIRS = {"TCGEN05_PEER_NOT_READY"}
RULES_OF_PAIRS = [word for rule in ("pair_alloc=together", "pair_dealloc=together",
                                    "arrive_scope=cluster") for word in ("--rule", rule)]

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


def launch(ctas):
    def tiled(buffer, rows, columns, box_rows):
        plane = {"extent": 1, "stride_bytes": 2 * rows * columns, "step": 1}
        row = {"extent": rows, "stride_bytes": 2 * columns, "step": 1}
        return {"buffer": buffer, "box": [1, box_rows, 64], "swizzle": 128,
                "dimensions": [plane, row]}

    def bf16(rows, columns, use, **more):
        return {"type": "bf16", "shape": [rows, columns], "use": use, **more}

    def of_row(i):
        return 1 + i % 3

    def of_column(j):
        return (1 + j % 4) / 2

    def words(*values):
        return {"fields": [{"type": "i32", "value": value} for value in values]}

    return {
        "grid": [M // 128, N // (64 * ctas), 1], "block": THREADS, "cluster": ctas,
        "dynamic_shared_bytes": SHARED_BYTES,
        "buffers": {
            "a": bf16(M, K, "input", contents=[of_row(i) for i in range(M) for _ in range(K)]),
            "b": bf16(N, K, "input", contents=[of_column(j) for j in range(N) for _ in range(K)]),
            "d": bf16(M, N, "output",
                      expected=[K * of_row(i) * of_column(j) for i in range(M) for j in range(N)]),
        },
        "maps": {"a": tiled("a", M, K, 128), "b": tiled("b", N, K, 64), "d": tiled("d", M, N, 128)},
        "parameters": [{"map": "a"}, {"map": "b"}, {"map": "d"}, {"map": "d"}, {"bytes": "00" * 8},
                       words(ctas, 1, 1), words(M, N, K), {"bytes": "00" * 16},
                       {"bytes": "00" * 16}, {"value": 0}],
    }


def compiled(folder):
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
    files = {}
    for ctas in (1, 2):
        (path,) = folder.glob(f"*_{ctas}sm_*.ptx")
        files[ctas] = path
        (folder / f"{ctas}.json").write_text(json.dumps(launch(ctas)))
    return files


def main():
    warptwin = sys.argv[1]
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = compiled(folder)

        def ptx(command, path, ctas, *options):
            file = folder / f"{ctas}.json"
            return run(warptwin, "ptx", command, str(path), "--launch", str(file), *options)

        def defects(output):
            return set(re.findall(r"^defect: (\w+)", output, re.MULTILINE))

        for ctas, path in files.items():
            values = ptx("run", path, ctas)
            if "output d: agrees" not in values.stdout:
                wrong.append(f"{path.name}: {values.stdout[-2000:]}{values.stderr}")
            proof = ptx("prove", path, ctas, *(RULES_OF_PAIRS if ctas == 2 else []))
            if "for every number of tiles a cluster may claim" not in proof.stdout:
                wrong.append(f"{path.name}: {proof.stdout[-2000:]}{proof.stderr}")
        found = defects(ptx("prove", files[2], 2).stdout)
        if found != KNOWN_OF_PAIRS:
            wrong.append(f"{files[2].name}: {KNOWN_OF_PAIRS} expected, found {found}")
        text = files[1].read_text()
        for pattern, which, replacement, expected in MUTANTS:
            match = list(re.finditer(pattern, text))[which]
            line = match.expand(replacement)
            path = folder / "mutant.ptx"
            path.write_text(text[: match.start()] + line + text[match.end():])
            found = defects(ptx("prove", path, 1).stdout)
            if expected not in found:
                wrong.append(f"{match.group(0)} as '{line}': {expected} expected, found {found}")
    print("\n".join(wrong) if wrong else f"two kernels and {len(MUTANTS)} edits, each as expected")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
