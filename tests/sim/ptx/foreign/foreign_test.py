#!/usr/bin/env python3
"""Kernels of our own in Triton, as Triton compiles them: what warptwin says of them.

usage: foreign_test.py WARPTWIN
Each kernel is proved or has the findings that are known of it, and computes what NumPy does where
that is there. Each edit of one line is found by its id.
WARPTWIN_TRITON_PYTHON names another interpreter than this one to import triton.
exit codes: 0 right, 1 wrong, 77 skipped: that interpreter has no triton
"""

import os
import sys

from foreign import (
    SKIPPED, Case, buffer, compile_into, described, judge, numpy, run, value, whole)

M, N, K = 128, 128, 320
S, D = 256, 64
ROWS, COLUMNS, USED = 3, 1024, 1000
# TMA writes over the word that tcgen05.alloc wrote, and no proxy fence comes between.
KNOWN = {"described_sm100": frozenset({"PROXY_FENCE_MISSING"})}

# Of a kernel: the line that is edited, which of those that match, what becomes of it, the id.
MUTANTS = [
    ("softmax_sm90", r"bar\.sync.*", 0, "", "SMEM_RACE"),
    ("matmul_sm90", r"cp\.async\.wait_group\s+\d", 0, "cp.async.wait_group 3",
     "SMEM_RAW_NO_WAIT"),
    ("matmul_sm90", r"cp\.async\.wait_group.*", 0, "", "SMEM_RAW_NO_WAIT"),
    ("matmul_sm90", r"fence\.proxy\.async.*", 0, "", "PROXY_FENCE_MISSING"),
    ("matmul_sm90", r"wgmma\.fence.*", 0, "", "WGMMA_FENCE_MISSING"),
    ("matmul_sm90", r"wgmma\.wait_group\S* 0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_ACC_READ_EARLY"),
    ("attention_sm90", r"wgmma\.wait_group\S* 0", 0, "wgmma.wait_group.sync.aligned 1",
     "WGMMA_ACC_READ_EARLY"),
    ("attention_sm90", r"wgmma\.commit_group.*", 0, "", "WGMMA_ACC_READ_EARLY"),
    ("attention_sm90", r"cp\.async\.wait_group\s+2", 0, "cp.async.wait_group 3",
     "SMEM_RAW_NO_WAIT"),
    ("described_sm90", r"expect_tx(.*), 32768", 1, r"expect_tx\1, 32752", "DEADLOCK"),
    ("described_sm90", r"mbarrier\.init(.*), 1;", 0, r"mbarrier.init\1, 2;", "DEADLOCK"),
    ("described_sm90", r"wgmma\.wait_group\S* 1", 0, "wgmma.wait_group.sync.aligned 2",
     "WGMMA_SMEM_RELEASE_EARLY"),
    ("matmul_sm100", r"tcgen05\.wait::ld.*", 0, "", "TMEM_DEALLOC_IN_USE"),
    ("matmul_sm100", r"tcgen05\.commit.*", 0, "", "DEADLOCK"),
    ("matmul_sm100", r"fence\.proxy\.async.*", 0, "", "PROXY_FENCE_MISSING"),
    ("attention_sm100", r"tcgen05\.wait::ld.*", 0, "", "TMEM_WAR"),
    ("scaled_sm100", r"tcgen05\.wait::st.*", 1, "", "TMEM_ST_NO_WAIT"),
    ("scaled_sm100", r"fence\.proxy\.async.*", 0, "", "PROXY_FENCE_MISSING"),
]


def kernels():
    """By kernel: buffers, maps, parameters, grid."""
    half = {"a": buffer("f16", [M, K], "input"), "c": buffer("f16", [M, N], "output")}
    heads = {name: buffer("f16", [S, D], "input") for name in "qkv"}
    box = {"box": [128, 64], "swizzle": 128}
    wide = {"b": buffer("f16", [K, N], "input"), "c": buffer("f32", [M, N], "output")}
    return {
        "matmul": (
            half | wide,
            {},
            [{"buffer": name} for name in "abc"] + [value(x) for x in (M, N, K, K, N, N)],
            1,
        ),
        "described": (
            half | {"b": buffer("f16", [N, K], "input")},
            {f"{name}m": {"buffer": name} | box for name in "abc"},
            described(M, K, "am") + described(N, K, "bm") + described(M, N, "cm") + [value(K)],
            1,
        ),
        "attention": (
            heads | {"o": buffer("f16", [S, D], "output")},
            {},
            [{"buffer": name} for name in "qkvo"] + [value(0.18), value(S)],
            S // 128,
        ),
        "scaled": (
            {
                "a": whole([M, K // 2], 0, 255),
                "sa": whole([M, K // 32], 124, 130),
                "b": whole([K, N], 0, 0x7E),
                "sb": whole([N, K // 32], 124, 130),
                "c": buffer("f32", [M, N], "output"),
            },
            {},
            [{"buffer": name} for name in ("a", "sa", "b", "sb", "c")] + [value(K)],
            1,
        ),
        "softmax": (
            {name: buffer("f32", [ROWS, COLUMNS], use)
             for name, use in (("x", "input"), ("y", "output"))},
            {},
            [{"buffer": "x"}, {"buffer": "y"}, value(COLUMNS), value(USED)],
            ROWS,
        ),
    }


def reference(name, given):
    """The output's name, and what NumPy makes of the inputs."""
    if name == "matmul":
        return "c", given["a"] @ given["b"]
    if name == "described":
        return "c", given["a"] @ given["b"].T
    if name == "scaled":
        of = {key: numpy.exp2(numpy.repeat(given[key] - 127, 32, 1)) for key in ("sa", "sb")}
        codes = given["a"].astype(int)
        magnitudes = numpy.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        a = numpy.stack([codes & 15, codes >> 4], 2).reshape(M, K)
        a = numpy.where(a > 7, -1, 1) * magnitudes[a & 7]
        exponent, mantissa = given["b"].astype(int) >> 3, given["b"] % 8 / 8
        b = numpy.where(exponent == 0, mantissa * 2, 1 + mantissa) * numpy.exp2(exponent - 7.0)
        return "c", (a * of["sa"]) @ (b * of["sb"].T)
    if name == "attention":
        s = given["q"] @ given["k"].T * 0.18
        p = numpy.exp2(s - s.max(1, keepdims=True))
        return "o", p @ given["v"] / p.sum(1, keepdims=True)
    e = numpy.exp(given["x"][:, :USED] - given["x"][:, :USED].max(1, keepdims=True))
    return "y", numpy.pad(e / e.sum(1, keepdims=True), ((0, 0), (0, COLUMNS - USED)))


def case(full, facts):
    name = full.rsplit("_", 1)[0]
    buffers, maps, parameters, grid = kernels()[name]
    launch = {
        "grid": grid,
        "block": facts["warps"] * 32,
        "dynamic_shared_bytes": facts["shared"],
        "buffers": buffers,
        # Triton's own: memory for scratch and for a profile, which these kernels do not use.
        "parameters": [*parameters, value(0), value(0)],
    }
    if maps:
        launch["maps"] = maps
    return Case(launch, lambda given: reference(name, given), KNOWN.get(full, frozenset()))


def compiled_cases(python):
    def compiled(folder):
        os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
        facts = compile_into(folder, python, "kernels.py")
        return {full: case(full, facts[full]) for full in facts}

    return compiled


def main():
    python = os.environ.get("WARPTWIN_TRITON_PYTHON", sys.executable)
    if run(python, "-c", "import triton").returncode != 0:
        print(f"skipped: {python} has no triton")
        return SKIPPED
    return judge(sys.argv[1], compiled_cases(python), MUTANTS)


if __name__ == "__main__":
    sys.exit(main())
