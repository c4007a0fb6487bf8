#!/usr/bin/env python3
"""Kernels of our own in Gluon, as Triton compiles them: what warptwin says of them.

usage: gluon_test.py WARPTWIN
Each kernel is proved, and computes what NumPy does where that is there. Each edit of one line is
found by its id.
WARPTWIN_TRITON_PYTHON names another interpreter than this one to import triton.
exit codes: 0 right, 1 wrong, 77 skipped: that interpreter has no Gluon that can be compiled so
"""

import os
import sys

from foreign import SKIPPED, Case, buffer, compile_into, described, judge, numpy, run, value

TILES, STEPS, FACTOR = 7, 5, 0.5
SAYS = {"claimed_sm100": "for every number of tiles a cluster may claim"}

# Of a kernel: the line that is edited, which of those that match, what becomes of it, the id.
MUTANTS = [
    ("ring_sm90", r"fence\.proxy\.async.*", 1, "", "PROXY_FENCE_MISSING_WAR"),
    ("ring_sm90", r"fence\.proxy\.async.*", 2, "", "PROXY_FENCE_MISSING"),
    ("ring_sm90", r"bar\.sync\s+0, 128;", 0, "", "SMEM_RACE"),
    ("ring_sm90", r"bar\.sync\s+0, 128;", 0, "bar.sync 0, 160;", "DEADLOCK"),
    ("ring_sm90", r"barrier\.sync\s+1;", 0, "", "DEADLOCK"),
    ("ring_sm90", r"mbarrier\.init(.*), 1;", 5, r"mbarrier.init\1, 2;", "DEADLOCK"),
    ("ring_sm90", r"expect_tx(.*), 8192", 0, r"expect_tx\1, 8176", "DEADLOCK"),
    ("ring_sm90", r"mbarrier\.arrive\.shared.*", 0, "", "DEADLOCK"),
    ("ring_sm90", r"not\.b32(.*)", 0, r"mov.b32\1", "DEADLOCK"),  # the parity
    ("ring_sm100", r"cp\.async\.bulk\.wait_group.*", 0, "", "BULK_SRC_REUSE"),
    ("ring_sm100", r"cp\.async\.bulk\.commit_group.*", 0, "", "BULK_WAIT_WRONG_THREAD"),
    ("hopper_sm90", r"wgmma\.wait_group\S* 0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_SMEM_RELEASE_EARLY"),
    ("hopper_sm90", r"wgmma\.wait_group\S* 0", 1, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_ACC_READ_EARLY"),
    ("hopper_sm90", r"wgmma\.commit_group.*", 0, "", "WGMMA_UNFINISHED_AT_EXIT"),
    ("hopper_sm90", r"wgmma\.fence.*", 0, "", "WGMMA_FENCE_MISSING"),
    ("blackwell_sm100", r"bar\.sync\s+0;", 0, "", "TMEM_ADDR_READ_EARLY"),
    ("blackwell_sm100", r"bar\.sync\s+0;", 1, "", "PROXY_FENCE_MISSING_WAR"),
    ("blackwell_sm100", r"fence\.proxy\.async.*", 0, "", "PROXY_FENCE_MISSING"),
    ("blackwell_sm100", r"tcgen05\.commit.*", 0, "", "DEADLOCK"),
    ("blackwell_sm100", r"@\S+ tcgen05\.commit.*", 0, r"\g<0>\n\g<0>", "DEADLOCK"),
    ("blackwell_sm100", r"tcgen05\.dealloc.*", 0, "", "TMEM_LEAK"),
    ("persistent_sm100", r"tcgen05\.wait::ld.*", 0, "", "TMEM_WAR"),
    ("persistent_sm100", r"bar\.sync\s+0, 128;", 0, "", "TMEM_WAR"),
    ("persistent_sm100", r"bar\.sync\s+0, 128;", 1, "", "BULK_WAIT_WRONG_THREAD"),
    ("persistent_sm100", r"mbarrier\.init(.*), 1;", 8, r"mbarrier.init\1, 2;", "DEADLOCK"),
    ("claimed_sm100", r"fence\.proxy\.async.*", 0, "", "CLC_RESP_OVERWRITE"),
    ("claimed_sm100", r"expect_tx(.*), 16;", 0, r"expect_tx\1, 0;", "CLC_RESP_READ_EARLY"),
    ("claimed_sm100", r"mbarrier\.arrive\.expect_tx.*", 0, "", "CLC_TX_MISMATCH"),
    ("broadcast_sm90", r"barrier\.cluster\.wait.*", 0, "", "MBAR_INIT_NOT_CLUSTER_VISIBLE"),
    ("broadcast_sm90", r"barrier\.cluster\.wait.*", 1, "", "SMEM_WAW_ASYNC"),
    ("broadcast_sm90", r"fence\.proxy\.async\.shared::cluster", 1,
     "fence.proxy.async.shared::cta", "PROXY_FENCE_MISSING_WAR"),
    ("broadcast_sm100", r"expect_tx(.*), 8192", 0, r"expect_tx\1, 8208", "DEADLOCK"),
    ("pair_sm100", r"barrier\.cluster\.wait.*", 1, "", "TCGEN05_PEER_NOT_READY"),
    ("pair_sm100", r"mbarrier\.init(.*), 2;", 0, r"mbarrier.init\1, 1;", "MBAR_OVERARRIVE"),
    ("pair_sm100", r"mov\.b16(.*), 3;", 0, r"mov.b16\1, 1;", "DEADLOCK"),  # whom a commit reaches
    ("pair_sm100", r"tcgen05\.wait::ld.*", 0, "", "TMEM_DEALLOC_IN_USE"),
]


def launch(buffers, maps, parameters, facts, grid=1):
    return {
        "grid": grid * facts["ctas"],
        "block": facts["warps"] * 32,
        "cluster": facts["ctas"],
        "dynamic_shared_bytes": facts["shared"],
        "buffers": buffers,
        "maps": {f"{name}m": {"buffer": name, "box": [rows, 64], "swizzle": 128}
                 for name, rows in maps.items()},
        # Triton's own: memory for scratch and for a profile, which these kernels do not use.
        "parameters": [*parameters, value(0), value(0)],
    }


def tiles(rows, out_rows, boxes, facts, *parameters, grid=1):
    buffers = {"x": buffer("f16", [rows, 64], "input"),
               "y": buffer("f16", [out_rows, 64], "output")}
    given = described(rows, 64, "xm") + described(out_rows, 64, "ym")
    return launch(buffers, boxes, given + list(parameters), facts, grid)


def product(m, n, boxes, facts, *parameters, grid=1):
    k = 64 * STEPS
    shapes = {"a": [m, k], "b": [n, k], "c": [m, n]}
    buffers = {name: buffer("f16", shape, "output" if name == "c" else "input")
               for name, shape in shapes.items()}
    given = [word for name, shape in shapes.items() for word in described(*shape, f"{name}m")]
    return launch(buffers, boxes, given + list(parameters), facts, grid)


def scaled(given):
    return "y", given["x"] * FACTOR


def multiplied(given):
    return "c", given["a"] @ given["b"].T


def spread(given):
    x = given["x"].reshape(TILES, 1, 64, 64)
    return "y", numpy.concatenate([x, x + x], 1).reshape(-1, 64)


def case(name, facts):
    rows = 64 * TILES
    operands = {"a": 128, "b": 64, "c": 128}
    if name == "ring":
        return tiles(rows, rows, {"x": 64, "y": 64}, facts, value(TILES), value(FACTOR)), scaled
    if name == "claimed":
        return tiles(rows, rows, {"x": 64, "y": 64}, facts, value(FACTOR), grid=TILES), scaled
    if name == "broadcast":
        return tiles(rows, 2 * rows, {"x": 64, "y": 64}, facts, value(TILES)), spread
    if name == "persistent":
        sizes = [value(2), value(8), value(STEPS)]
        return product(256, 256, operands, facts, *sizes, grid=2), multiplied
    if name == "pair":
        boxes = {"a": 128, "b": 64, "c": 128}
        return product(256, 128, boxes, facts, value(STEPS)), multiplied
    return product(128, 64, operands, facts, value(STEPS)), multiplied


def compiled_cases(python):
    def compiled(folder):
        os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
        facts = compile_into(folder, python, "gluon_kernels.py")
        return {full: Case(*case(full.rsplit("_", 1)[0], facts[full]), says=SAYS.get(full, ""))
                for full in facts}

    return compiled


def main():
    python = os.environ.get("WARPTWIN_TRITON_PYTHON", sys.executable)
    if run(python, "-c", "from triton.experimental.gluon._runtime import GluonASTSource; "
           "import triton.experimental.gluon.language.nvidia.blackwell.clc").returncode != 0:
        print(f"skipped: {python} has no triton with Gluon")
        return SKIPPED
    return judge(sys.argv[1], compiled_cases(python), MUTANTS)


if __name__ == "__main__":
    sys.exit(main())
