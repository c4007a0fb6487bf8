#!/usr/bin/env python3
"""Kernels of our own in TileLang, as it and nvcc compile them: what warptwin says of them.

usage: tile_test.py WARPTWIN NVCC
Each kernel has the findings that are known of it, and is proved with these mended. Each computes
what NumPy does where that is there. Each edit of one line is found by its id.
WARPTWIN_TILELANG_PYTHON names another interpreter than this one to import tilelang.
exit codes: 0 right, 1 wrong, 77 skipped: that interpreter has no tilelang, or there is no nvcc
"""

import os
import re
import shutil
import sys

from foreign import HERE, SKIPPED, Case, buffer, judge, numpy, run

M, N, K = 128, 64, 320
QUERIES, KEYS, WIDTH, SCALE = 128, 256, 64, 0.18

# Three of the four warps that load wait for a stage to be free, and nobody waits for them.
LEFT_BEHIND = frozenset({"ORDER_PASS"})
# The last two steps multiply what cp.async has brought, and no proxy fence comes between.
NOT_FENCED = frozenset({"PROXY_FENCE_MISSING", "PROXY_FENCE_UNCOVERED"})

# What mends them: the other three warps end; a fence in front of every product.
ALONE = (r"setmaxnreg\.dec.*", r"""\g<0>
{
  .reg .pred %other;
  .reg .b32 %thread;
  mov.u32 %thread, %tid.x;
  setp.ge.u32 %other, %thread, 32;
  @%other exit;
}""")
FENCED = (r"wgmma\.fence.*", r"fence.proxy.async.shared::cta;\n\g<0>")

# Of a kernel: the line that is edited, which of those that match, what becomes of it, the id.
MUTANTS = [
    ("product_mended", r"bar\.sync\s+0;", 0, "", "MBAR_INIT_RACE"),
    ("product_mended", r"mbarrier\.arrive\.expect_tx.*", 0, "", "DEADLOCK"),
    ("product_mended", r"mov\.u32(.*), 8192;", 0, r"mov.u32\1, 8176;", "DEADLOCK"),
    ("product_mended", r"mbarrier\.arrive\.shared::cta\.b64 _.*", 0, "", "DEADLOCK"),
    ("product_mended", r"mbarrier\.arrive\.shared::cta\.b64 _.*", 0, r"\g<0>\n\g<0>", "DEADLOCK"),
    ("product_mended", r"wgmma\.wait_group\S* 0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_SMEM_RELEASE_EARLY"),
    ("product_mended", r"wgmma\.fence.*", 1, "", "WGMMA_FENCE_MISSING"),
    ("product_mended", r"setmaxnreg\.inc(.*) 240;", 0, r"setmaxnreg.inc\1 248;\n"
     r"bar.sync 1, 128;\nsetmaxnreg.inc\1 240;", "SETMAXNREG_DIRECTION"),
    ("attention_mended", r"mbarrier\.arrive\.expect_tx.*", 1, "", "DEADLOCK"),
    ("attention_mended", r"wgmma\.fence.*", 1, "", "WGMMA_FENCE_MISSING"),
    ("attention_mended", r"wgmma\.wait_group\S* 0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_ACC_READ_EARLY"),
    ("attention_mended", r"mbarrier\.arrive\.shared::cta\.b64 _.*", 0, "", "DEADLOCK"),
    ("one_role_mended", r"cp\.async\.wait_group 2", 0, "cp.async.wait_group 3",
     "SMEM_RAW_NO_WAIT"),
    ("one_role_mended", r"cp\.async\.commit_group.*", 0, "", "SMEM_WAW_ASYNC"),
    ("one_role_mended", r"cp\.async\.wait_all.*", 0, "", "ASYNC_PENDING_AT_EXIT"),
    ("one_role_mended", r"bar\.sync\s+0;", 1, "", "SMEM_RACE"),
    ("one_role_mended", r"fence\.proxy\.async.*", 2, "", "PROXY_FENCE_UNCOVERED"),
    ("one_role_mended", r"wgmma\.commit_group.*", 0, "", "WGMMA_SMEM_RELEASE_EARLY"),
    ("tensor_memory", r"mbarrier\.arrive\.shared::cta\.b64 _.*", 0, "", "DEADLOCK"),
    ("tensor_memory", r"tcgen05\.commit.*", 0, "", "DEADLOCK"),
    ("tensor_memory", r"tcgen05\.wait::ld.*", 0, "", "TMEM_DEALLOC_IN_USE"),
    ("tensor_memory", r"tcgen05\.dealloc.*", 0, "", "TMEM_LEAK"),
    ("tensor_memory", r"bar\.sync\s+0;", 1, "", "TMEM_ADDR_READ_EARLY"),
    ("tensor_memory", r"mbarrier\.expect_tx.*", 0, "", "MBAR_TX_MISMATCH"),
]


def maps(**rows):
    return {name: {"buffer": name, "box": [box, 64], "swizzle": 128} for name, box in rows.items()}


def multiplied(given):
    return "c", given["a"] @ given["b"].T


def attended(given):
    scores = given["q"] @ given["k"].T * SCALE
    weights = numpy.exp2(scores - scores.max(1, keepdims=True))
    return "o", weights @ given["v"] / weights.sum(1, keepdims=True)


def cases():
    product = {
        "grid": 1,
        "block": 256,
        "dynamic_shared_bytes": 3 * (M + N) * 64 * 2,
        "buffers": {"a": buffer("f16", [M, K], "input"), "b": buffer("f16", [N, K], "input"),
                    "c": buffer("f16", [M, N], "output")},
        "maps": maps(a=M, b=N),
        "parameters": [{"map": "a"}, {"map": "b"}, {"buffer": "c"}],
    }
    attention = {
        "grid": QUERIES // 64,
        "block": 256,
        "dynamic_shared_bytes": 5 * 64 * WIDTH * 2,
        "buffers": {name: buffer("f16", [rows, WIDTH], "output" if name == "o" else "input")
                    for name, rows in zip("qkvo", (QUERIES, KEYS, KEYS, QUERIES))},
        "maps": maps(q=64, k=64, v=64),
        "parameters": [{"map": "k"}, {"buffer": "o"}, {"map": "q"}, {"map": "v"}],
    }
    one_role = {key: value for key, value in product.items() if key != "maps"}
    one_role |= {"block": 128, "parameters": [{"buffer": name} for name in "abc"]}
    m, n = 2 * M, 2 * N
    tensor_memory = {
        "grid": [2, 2],
        "block": 128,
        "dynamic_shared_bytes": 3 * (M + N) * 64 * 2,
        "buffers": {"a": buffer("f16", [m, K], "input"), "b": buffer("f16", [K, n], "input"),
                    "c": buffer("f16", [m, n], "output")},
        "maps": maps(a=M, b=64, c=M),
        "parameters": [{"map": "a"}, {"map": "b"}, {"map": "c"}],
    }
    return {"tensor_memory": (Case(tensor_memory, lambda given: ("c", given["a"] @ given["b"])),
                              None),
            "product": (Case(product, multiplied, LEFT_BEHIND), ALONE),
            "attention": (Case(attention, attended, LEFT_BEHIND), ALONE),
            "one_role": (Case(one_role, multiplied, NOT_FENCED), FENCED)}


def compiled_cases(python, nvcc):
    def compiled(folder):
        made = run(python, "-B", HERE / "tile_kernels.py", folder, nvcc)
        if made.returncode != 0:
            sys.exit(made.stdout[-2000:] + made.stderr[-2000:])
        found = {}
        for name, (case, mend) in cases().items():
            found[name] = case
            if mend is None:
                continue
            text = (folder / f"{name}.ptx").read_text()
            (folder / f"{name}_mended.ptx").write_text(re.sub(*mend, text))
            found[f"{name}_mended"] = Case(case.launch, case.reference)
        return found

    return compiled


def main():
    python = os.environ.get("WARPTWIN_TILELANG_PYTHON", sys.executable)
    nvcc = shutil.which(sys.argv[2])
    if nvcc is None or run(python, "-c", "import tilelang").returncode != 0:
        print(f"skipped: {python} has no tilelang, or there is no {sys.argv[2]}")
        return SKIPPED
    return judge(sys.argv[1], compiled_cases(python, nvcc), MUTANTS)


if __name__ == "__main__":
    sys.exit(main())
