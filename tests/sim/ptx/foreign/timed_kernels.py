"""Kernels of our own in Triton and Gluon whose time is measured, and a compiler of them to PTX.

usage: timed_kernels.py FOLDER
Writes NAME.ptx of each kernel for sm_90a, and for each size that it is measured at a launch file
NAME_SIZE.json, with the operations of the launch as `flops` in `timed.json`. Needs no GPU.
"""

import json
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

SMS = 132
STRIP = 8  # tiles of rows that are walked together


@triton.jit
def place(tile, rows, columns, STRIP: tl.constexpr):
    strip = STRIP * columns
    first = tile // strip * STRIP
    high = min(rows - first, STRIP)
    return first + tile % strip % high, tile % strip // high


@triton.jit
def matmul_described(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                     STRIP: tl.constexpr):
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), STRIP)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        acc = tl.dot(a.load([row * BM, k * BK]), b.load([column * BN, k * BK]).T, acc)
    c.store([row * BM, column * BN], acc.to(tl.float16))


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                      STRIP: tl.constexpr, SMS: tl.constexpr):
    rows = tl.cdiv(M, BM)
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), rows * columns, SMS, flatten=True):
        row, column = place(tile, rows, columns, STRIP)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(a.load([row * BM, k * BK]), b.load([column * BN, k * BK]).T, acc)
        c.store([row * BM, column * BN], acc.to(tl.float16))


@triton.jit
def matmul_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                    STRIP: tl.constexpr):
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), STRIP)
    rm = row * BM + tl.arange(0, BM)
    rn = column * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def attention(q, k, v, o, scale, S, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    first = tl.program_id(1) * S
    row = first + tl.program_id(0) * BM
    queries = q.load([row, 0])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for n in range(0, S, BN):
        s = tl.dot(queries, k.load([first + n, 0]).T)
        new = tl.maximum(most, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(tl.float16), v.load([first + n, 0]), acc)
        most = new
    o.store([row, 0], (acc / total[:, None]).to(tl.float16))


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, B)
    values = tl.load(x + row * n + at)
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * n + at, e / tl.sum(e, axis=0))


@gluon.jit
def place_of(tile, rows, columns, STRIP: gl.constexpr):
    strip = STRIP * columns
    first = tile // strip * STRIP
    high = min(rows - first, STRIP)
    return first + tile % strip % high, tile % strip // high


@gluon.jit
def load_tiles(a, b, a_tiles, b_tiles, full, free, rows, columns, steps, STAGES: gl.constexpr,
               STRIP: gl.constexpr):
    at = 0
    for tile in range(gl.program_id(0), rows * columns, gl.num_programs(0)):
        row, column = place_of(tile, rows, columns, STRIP)
        for k in range(steps):
            stage = at % STAGES
            mbarrier.wait(free.index(stage), (at // STAGES & 1) ^ 1)
            mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta)
            left = k * a.block_shape[1]
            tma.async_load(a, [row * a.block_shape[0], left], full.index(stage),
                           a_tiles.index(stage))
            tma.async_load(b, [column * b.block_shape[0], left], full.index(stage),
                           b_tiles.index(stage))
            at += 1


@gluon.jit
def multiply_tiles(c, a_tiles, b_tiles, out, full, free, rows, columns, steps,
                   STAGES: gl.constexpr, STRIP: gl.constexpr, LAYOUT: gl.constexpr):
    at = 0
    for tile in range(gl.program_id(0), rows * columns, gl.num_programs(0)):
        row, column = place_of(tile, rows, columns, STRIP)
        acc = warpgroup_mma_init(gl.zeros(c.block_shape, gl.float32, LAYOUT))
        for k in range(steps):
            stage = at % STAGES
            mbarrier.wait(full.index(stage), at // STAGES & 1)
            b = b_tiles.index(stage).permute((1, 0))
            acc = warpgroup_mma(a_tiles.index(stage), b, acc, is_async=True)
            acc = warpgroup_mma_init(warpgroup_mma_wait(1, deps=(acc,)))
            mbarrier.arrive(free.index((at + STAGES - 1) % STAGES), count=1, pred=k > 0)
            at += 1
        acc = warpgroup_mma_wait(0, deps=(acc,))
        mbarrier.arrive(free.index((at + STAGES - 1) % STAGES), count=1)
        tma.store_wait(0)
        out.store(acc.to(gl.float16))
        fence_async_shared()
        tma.async_store(c, [row * c.block_shape[0], column * c.block_shape[1]], out)
    tma.store_wait(0)


@gluon.jit
def specialised(a, b, c, rows, columns, steps, STAGES: gl.constexpr, STRIP: gl.constexpr):
    """c = a @ b.T, persistent: one warp loads, eight multiply and store."""
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_shape, a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_shape, b.layout)
    out = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    free = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(free.index(s), count=1)
    fence_async_shared()
    acc: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [8, 1], [16, c.block_shape[1], 16])
    gl.warp_specialize(
        [
            (multiply_tiles, (c, a_tiles, b_tiles, out, full, free, rows, columns, steps, STAGES,
                              STRIP, acc)),
            (load_tiles, (a, b, a_tiles, b_tiles, full, free, rows, columns, steps, STAGES,
                          STRIP)),
        ],
        [1],
        [24],
    )


def half(rows, columns):
    return f"tensordesc<fp16[{rows},{columns}]>"


def laid(rows, columns):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)
    return f"tensordesc<fp16[{rows},{columns}],{layout!r}>"


def value(number):
    return {"value": number}


def compile_kernel(kernel, source, types, constants, warps, stages):
    signature = types | dict.fromkeys(constants, "constexpr")
    made = {"attrs": {}}
    if source is ASTSource:
        wide = [type[0] == "*" or type == "i32" for type in types.values()]
        made["attrs"] = {(i,): [["tt.divisibility", 16]] for i, is_so in enumerate(wide) if is_so}
    result = source(
        fn=kernel,
        signature=signature,
        constexprs={(list(signature).index(name),): number for name, number in constants.items()},
        **made,
    )
    options = {"num_warps": warps} | ({"num_stages": stages} if stages else {})
    return triton.compile(result, target=GPUTarget("cuda", 90, 32), options=options)


def described(name, rows, columns):
    """A tensor descriptor as Triton passes it: the map, the extents, the strides."""
    return [{"map": f"{name}m"}, value(rows), value(columns), value(columns), value(1)]


def operands(m, n, k):
    shapes = {"a": [m, k], "b": [n, k], "c": [m, n]}
    return {name: {"type": "f16", "shape": shape, "use": "output" if name == "c" else "input"}
            for name, shape in shapes.items()}


def product(m, n, k, boxes, grid, *more):
    """A launch of c = a @ b.T by tensor maps whose boxes have so many rows."""
    buffers = operands(m, n, k)
    return {
        "grid": grid,
        "buffers": buffers,
        "maps": {f"{name}m": {"buffer": name, "box": [boxes[name], 64], "swizzle": 128}
                 for name in "abc"},
        "parameters": [each for name in "abc" for each in described(name, *buffers[name]["shape"])]
        + [value(number) for number in more],
    }, 2 * m * n * k


def by_tiles(size, bm, bn, persistent):
    m = n = k = size
    tiles = m // bm * (n // bn)
    boxes = {"a": bm, "b": bn, "c": bm}
    return product(m, n, k, boxes, min(tiles, SMS) if persistent else tiles, m, n, k)


def by_pointers(size, bm, bn):
    launch, flops = by_tiles(size, bm, bn, False)
    del launch["maps"]
    launch["parameters"] = [{"buffer": name} for name in "abc"] + [value(size)] * 3
    return launch, flops


def by_roles(size, bm, bn):
    boxes = {"a": bm, "b": bn, "c": bm}
    return product(size, size, size, boxes, SMS, size // bm, size // bn, size // 64)


def heads_of(heads, length, depth, bm, bn):
    rows = heads * length
    return {
        "grid": [length // bm, heads],
        "buffers": {name: {"type": "f16", "shape": [rows, depth],
                           "use": "output" if name == "o" else "input"} for name in "qkvo"},
        "maps": {f"{name}m": {"buffer": name, "box": [bm if name in "qo" else bn, 64],
                              "swizzle": 128} for name in "qkvo"},
        "parameters": [each for name in "qkvo" for each in described(name, rows, depth)]
        + [value(0.18033688), value(length)],
    }, 4 * heads * length * length * depth


def rows_of(rows, columns):
    return {
        "grid": rows,
        "buffers": {name: {"type": "f32", "shape": [rows, columns], "use": use}
                    for name, use in (("x", "input"), ("y", "output"))},
        "parameters": [{"buffer": "x"}, {"buffer": "y"}, value(columns)],
    }, 5 * rows * columns


def tiles_of(bm, bn):
    return {"a": half(bm, 64), "b": half(bn, 64), "c": half(bm, bn)}


INTS = dict.fromkeys(["M", "N", "K"], "i32")
POINTERS = {name: "*fp16" for name in "abc"}
HEADS = {"q": half(128, 128), "k": half(128, 128), "v": half(128, 128), "o": half(128, 128)}
# By name: the kernel, what compiles it, its arguments' types, its constants, warps, stages, and by
# size its launch.
KERNELS = {
    "described": (
        matmul_described, ASTSource, tiles_of(128, 256) | INTS,
        {"BM": 128, "BN": 256, "BK": 64, "STRIP": STRIP}, 8, 3,
        {size: by_tiles(size, 128, 256, False) for size in (4096, 8192)}),
    "small": (
        matmul_described, ASTSource, tiles_of(128, 128) | INTS,
        {"BM": 128, "BN": 128, "BK": 64, "STRIP": STRIP}, 4, 3,
        {size: by_tiles(size, 128, 128, False) for size in (4096, 8192)}),
    "persistent": (
        matmul_persistent, ASTSource, tiles_of(128, 256) | INTS,
        {"BM": 128, "BN": 256, "BK": 64, "STRIP": STRIP, "SMS": SMS}, 8, 3,
        {size: by_tiles(size, 128, 256, True) for size in (4096, 8192)}),
    "pointers": (
        matmul_pointers, ASTSource, POINTERS | INTS,
        {"BM": 128, "BN": 128, "BK": 64, "STRIP": STRIP}, 4, 3,
        {size: by_pointers(size, 128, 128) for size in (2048, 4096)}),
    "specialised": (
        specialised, GluonASTSource,
        {"a": laid(128, 64), "b": laid(256, 64), "c": laid(128, 256)}
        | dict.fromkeys(["rows", "columns", "steps"], "i32"),
        {"STAGES": 3, "STRIP": STRIP}, 8, 0,
        {size: by_roles(size, 128, 256) for size in (4096, 8192)}),
    "attention": (
        attention, ASTSource, HEADS | {"scale": "fp32", "S": "i32"},
        {"BM": 128, "BN": 128, "D": 128}, 8, 2,
        {f"{heads}x{length}": heads_of(heads, length, 128, 128, 128)
         for heads, length in ((16, 4096), (32, 2048))}),
    "softmax": (
        softmax, ASTSource, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"B": 4096}, 4, 0,
        {"16384x4096": rows_of(16384, 4096)}),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    CUDABackend.make_cubin = lambda *_args, **_options: b""  # PTX is all that is asked for
    facts = {}
    for name, (kernel, source, types, constants, warps, stages, launches) in KERNELS.items():
        result = compile_kernel(kernel, source, types, constants, warps, stages)
        (folder / f"{name}.ptx").write_text(result.asm["ptx"])
        made = result.metadata
        for size, (launch, flops) in launches.items():
            launch |= {"block": made.num_warps * 32, "dynamic_shared_bytes": made.shared}
            # Triton's own: memory for scratch and for a profile, which these kernels do not use.
            launch["parameters"] += [value(0), value(0)]
            full = f"{name}_{size}"
            (folder / f"{full}.json").write_text(json.dumps(launch))
            facts[full] = {"kernel": name, "size": str(size), "flops": flops}
        print(name, made.num_warps, made.shared, flush=True)
    (folder / "timed.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
