"""Kernels of our own in Gluon, and a compiler of them to PTX.

usage: gluon_kernels.py FOLDER
Writes NAME_smARCH.ptx of each kernel and `compiled.json`: by that name its bytes of shared memory,
its warps and the CTAs of a cluster. Needs no GPU.
"""

import json
import pathlib
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia import blackwell, hopper
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    tcgen05_commit,
    tcgen05_mma,
)
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)


@gluon.jit
def init_ring(stages: gl.constexpr, filled_by: gl.constexpr, freed_by: gl.constexpr):
    full = mbarrier.allocate_mbarrier(batch=stages)
    free = mbarrier.allocate_mbarrier(batch=stages)
    for s in gl.static_range(stages):
        mbarrier.init(full.index(s), count=filled_by)
        mbarrier.init(free.index(s), count=freed_by)
    return full, free


@gluon.jit
def load_tiles(x, tiles, full, free, n, STAGES: gl.constexpr):
    for i in range(n):
        stage = i % STAGES
        mbarrier.wait(free.index(stage), (i // STAGES & 1) ^ 1)
        mbarrier.expect(full.index(stage), x.nbytes_per_cta)
        tma.async_load(x, [i * x.block_shape[0], 0], full.index(stage), tiles.index(stage))


@gluon.jit
def scale_tiles(y, tiles, out, full, free, n, factor, STAGES: gl.constexpr, LAYOUT: gl.constexpr):
    for i in range(n):
        stage = i % STAGES
        mbarrier.wait(full.index(stage), i // STAGES & 1)
        values = tiles.index(stage).load(LAYOUT)
        fence_async_shared()
        mbarrier.arrive(free.index(stage), count=1)
        tma.store_wait(0)
        out.store((values * factor).to(gl.float16))
        fence_async_shared()
        tma.async_store(y, [i * y.block_shape[0], 0], out)
    tma.store_wait(0)


@gluon.jit
def ring(x, y, n, factor, STAGES: gl.constexpr):
    """Each tile of x, multiplied by a factor: one warp loads, four compute and store."""
    tiles = gl.allocate_shared_memory(x.dtype, [STAGES] + x.block_shape, x.layout)
    out = gl.allocate_shared_memory(y.dtype, y.block_shape, y.layout)
    full, free = init_ring(STAGES, 1, 1)
    fence_async_shared()
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    gl.warp_specialize(
        [
            (scale_tiles, (y, tiles, out, full, free, n, factor, STAGES, rows)),
            (load_tiles, (x, tiles, full, free, n, STAGES)),
        ],
        [1],
        [24],
    )


@gluon.jit
def load_operands(a, b, a_tiles, b_tiles, full, free, steps, STAGES: gl.constexpr):
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(free.index(stage), (k // STAGES & 1) ^ 1)
        mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta)
        at = k * a.block_shape[1]
        tma.async_load(a, [0, at], full.index(stage), a_tiles.index(stage))
        tma.async_load(b, [0, at], full.index(stage), b_tiles.index(stage))


@gluon.jit
def multiply_registers(c, a_tiles, b_tiles, out, full, free, steps, STAGES: gl.constexpr,
                       LAYOUT: gl.constexpr):
    acc = warpgroup_mma_init(gl.zeros(c.block_shape, gl.float32, LAYOUT))
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(full.index(stage), k // STAGES & 1)
        acc = warpgroup_mma_wait(0, deps=(acc,))
        mbarrier.arrive(free.index((k + STAGES - 1) % STAGES), count=1, pred=k > 0)
        b = b_tiles.index(stage).permute((1, 0))
        acc = warpgroup_mma(a_tiles.index(stage), b, acc, is_async=True)
    acc = warpgroup_mma_wait(0, deps=(acc,))
    out.store(acc.to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [0, 0], out)
    tma.store_wait(0)


@gluon.jit
def product_hopper(a, b, c, steps, STAGES: gl.constexpr):
    """c = a @ b.T by wgmma: one warp loads, four multiply and store."""
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_shape, a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_shape, b.layout)
    out = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    full, free = init_ring(STAGES, 1, 1)
    fence_async_shared()
    acc: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, c.block_shape[1], 16])
    gl.warp_specialize(
        [
            (multiply_registers, (c, a_tiles, b_tiles, out, full, free, steps, STAGES, acc)),
            (load_operands, (a, b, a_tiles, b_tiles, full, free, steps, STAGES)),
        ],
        [1],
        [24],
    )


@gluon.jit
def multiply_tensor(a_tiles, b_tiles, acc, full, free, done, steps, STAGES: gl.constexpr):
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(full.index(stage), k // STAGES & 1)
        b = b_tiles.index(stage).permute((1, 0))
        tcgen05_mma(a_tiles.index(stage), b, acc, use_acc=k > 0)
        tcgen05_commit(free.index(stage))
    tcgen05_commit(done)


@gluon.jit
def store_product(c, acc, out, done):
    mbarrier.wait(done, 0)
    out.store(acc.load().to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [0, 0], out)
    tma.store_wait(0)


@gluon.jit
def product_blackwell(a, b, c, steps, STAGES: gl.constexpr):
    """c = a @ b.T by tcgen05: a warp loads, a warp multiplies, four store."""
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_shape, a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_shape, b.layout)
    out = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    acc = allocate_tensor_memory(gl.float32, c.block_shape, TensorMemoryLayout(c.block_shape, 1))
    full, free = init_ring(STAGES, 1, 1)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    gl.warp_specialize(
        [
            (store_product, (c, acc, out, done)),
            (load_operands, (a, b, a_tiles, b_tiles, full, free, steps, STAGES)),
            (multiply_tensor, (a_tiles, b_tiles, acc, full, free, done, steps, STAGES)),
        ],
        [1, 1],
        [24, 24],
    )


@gluon.jit
def load_persistent(a, b, a_tiles, b_tiles, full, free, rows, tiles, steps, STAGES: gl.constexpr):
    at = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        row = tile % rows * a.block_shape[0]
        column = tile // rows * b.block_shape[0]
        for k in range(steps):
            stage = at % STAGES
            mbarrier.wait(free.index(stage), (at // STAGES & 1) ^ 1)
            mbarrier.expect(full.index(stage), a.nbytes_per_cta + b.nbytes_per_cta)
            left = k * a.block_shape[1]
            tma.async_load(a, [row, left], full.index(stage), a_tiles.index(stage))
            tma.async_load(b, [column, left], full.index(stage), b_tiles.index(stage))
            at += 1


@gluon.jit
def multiply_persistent(a_tiles, b_tiles, accs, full, free, computed, read, tiles, steps,
                        STAGES: gl.constexpr):
    at = 0
    done = 0
    for _ in range(gl.program_id(0), tiles, gl.num_programs(0)):
        half = done % 2
        mbarrier.wait(read.index(half), (done // 2 & 1) ^ 1)
        for k in range(steps):
            stage = at % STAGES
            mbarrier.wait(full.index(stage), at // STAGES & 1)
            b = b_tiles.index(stage).permute((1, 0))
            tcgen05_mma(a_tiles.index(stage), b, accs.index(half), use_acc=k > 0,
                        mbarriers=[free.index(stage)])
            at += 1
        tcgen05_commit(computed.index(half))
        done += 1


@gluon.jit
def store_persistent(c, accs, out, computed, read, rows, tiles):
    done = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        half = done % 2
        mbarrier.wait(computed.index(half), done // 2 & 1)
        values = accs.index(half).load()
        mbarrier.arrive(read.index(half), count=1)
        tma.store_wait(0)
        out.store(values.to(gl.float16))
        fence_async_shared()
        at = [tile % rows * c.block_shape[0], tile // rows * c.block_shape[1]]
        tma.async_store(c, at, out)
        done += 1
    tma.store_wait(0)


@gluon.jit
def persistent(a, b, c, rows, tiles, steps, STAGES: gl.constexpr):
    """Tiles of c = a @ b.T, as many as a CTA has, with two accumulators."""
    a_tiles = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_shape, a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_shape, b.layout)
    out = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    layout: gl.constexpr = TensorMemoryLayout(c.block_shape, 1)
    accs = allocate_tensor_memory(gl.float32, [2] + c.block_shape, layout)
    full, free = init_ring(STAGES, 1, 1)
    computed, read = init_ring(2, 1, 1)
    fence_async_shared()
    gl.warp_specialize(
        [
            (store_persistent, (c, accs, out, computed, read, rows, tiles)),
            (load_persistent,
             (a, b, a_tiles, b_tiles, full, free, rows, tiles, steps, STAGES)),
            (multiply_persistent,
             (a_tiles, b_tiles, accs, full, free, computed, read, tiles, steps, STAGES)),
        ],
        [1, 1],
        [24, 24],
    )


@gluon.jit
def broadcast(x, y, n):
    """Each tile of x is loaded once, into both CTAs. One stores it, the other twice it."""
    tile = gl.allocate_shared_memory(x.dtype, x.block_shape, x.layout)
    out = gl.allocate_shared_memory(y.dtype, y.block_shape, y.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    fence_async_shared(cluster=True)
    hopper.cluster.barrier()
    whole: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], [[0, 0]])
    split: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0], [[1, 0]])
    for i in range(n):
        mbarrier.expect(full, x.nbytes_per_cta)
        tma.async_load(x, [i * x.block_shape[0], 0], full, tile, multicast=True)
        mbarrier.wait(full, i & 1)
        values = tile.load(whole)
        both = gl.convert_layout(gl.join(values, values + values).permute(2, 0, 1).reshape(
            y.block_shape), split)
        hopper.cluster.barrier()
        tma.store_wait(0)
        out.store(both)
        fence_async_shared()
        tma.async_store(y, [i * y.block_shape[0], 0], out)
    tma.store_wait(0)


@gluon.jit
def pair(a, b, c, steps):
    """c = a @ b.T by two CTAs as one: each loads half of a and half of b."""
    a_tile = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    b_tile = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    out = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    layout: gl.constexpr = TensorMemoryLayout([128, c.block_shape[1]], 1, cga_layout=[[1, 0]],
                                              two_ctas=True)
    acc = allocate_tensor_memory(gl.float32, c.block_shape, layout)
    full = mbarrier.allocate_mbarrier(two_ctas=True)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(done, count=1)
    fence_async_shared(cluster=True)
    hopper.cluster.barrier()
    for k in range(steps):
        at = k * a.block_shape[1]
        mbarrier.expect(full, a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [0, at], full, a_tile)
        tma.async_load(b, [0, at], full, b_tile)
        mbarrier.wait(full, k & 1)
        tcgen05_mma(a_tile, b_tile.permute((1, 0)), acc, use_acc=k > 0, multicast=True,
                    mbarriers=[done])
        mbarrier.wait(done, k & 1)
    out.store(acc.load().to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [0, 0], out)
    tma.store_wait(0)


@gluon.jit
def claimed(x, y, factor):
    """A tile of x for each program, multiplied by a factor: who is done claims another's."""
    tile = gl.allocate_shared_memory(x.dtype, x.block_shape, x.layout)
    out = gl.allocate_shared_memory(y.dtype, y.block_shape, y.layout)
    response = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    loaded = mbarrier.allocate_mbarrier()
    answered = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(answered, count=1)
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    at = gl.program_id(0)
    more = True
    parity = 0
    while more:
        fence_async_shared()
        gl.barrier()
        mbarrier.expect(answered, 16)
        blackwell.clc.try_cancel(response, answered)
        mbarrier.expect(loaded, x.nbytes_per_cta)
        tma.async_load(x, [at * x.block_shape[0], 0], loaded, tile)
        mbarrier.wait(loaded, parity)
        values = tile.load(rows)
        tma.store_wait(0)
        out.store((values * factor).to(gl.float16))
        fence_async_shared()
        tma.async_store(y, [at * y.block_shape[0], 0], out)
        mbarrier.wait(answered, parity)
        answer = blackwell.clc.load_result(response)
        more = answer.is_canceled()
        at = answer.program_id(0)
        parity ^= 1
    tma.store_wait(0)


def tensor(rows, columns, **more):
    layout = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2, **more)
    return f"tensordesc<fp16[{rows},{columns}],{layout!r}>"


OPERANDS = {"a": tensor(128, 64), "b": tensor(64, 64), "c": tensor(128, 64)}
ROWS = {"cga_layout": [[1, 0]]}
# By name: the kernel, its arguments' types, its constants, its CTAs, its capabilities.
KERNELS = {
    "ring": (ring, {"x": tensor(64, 64), "y": tensor(64, 64), "n": "i32", "factor": "fp32"},
             {"STAGES": 3}, 1, [90, 100]),
    "hopper": (product_hopper, OPERANDS | {"steps": "i32"}, {"STAGES": 3}, 1, [90]),
    "blackwell": (product_blackwell, OPERANDS | {"steps": "i32"}, {"STAGES": 3}, 1, [100]),
    "persistent": (persistent, OPERANDS | dict.fromkeys(["rows", "tiles", "steps"], "i32"),
                   {"STAGES": 3}, 1, [100]),
    "claimed": (claimed, {"x": tensor(64, 64), "y": tensor(64, 64), "factor": "fp32"}, {}, 1,
                [100]),
    "broadcast": (broadcast, {"x": tensor(64, 64, cga_layout=[[0, 0]]),
                              "y": tensor(128, 64, **ROWS), "n": "i32"}, {}, 2, [90, 100]),
    "pair": (pair, {"a": tensor(256, 64, **ROWS), "b": tensor(128, 64, **ROWS),
                    "c": tensor(256, 128, **ROWS), "steps": "i32"}, {}, 2, [100]),
}


def compiled(kernel, types, constants, ctas, capability):
    signature = types | dict.fromkeys(constants, "constexpr")
    source = GluonASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(list(signature).index(name),): value for name, value in constants.items()},
        attrs={},
    )
    options = {"num_warps": 4, "num_ctas": ctas}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def main():
    folder = pathlib.Path(sys.argv[1])
    CUDABackend.make_cubin = lambda *_args, **_options: b""  # PTX is all that is asked for
    facts = {}
    for name, (kernel, types, constants, ctas, capabilities) in KERNELS.items():
        for capability in capabilities:
            result = compiled(kernel, types, constants, ctas, capability)
            full = f"{name}_sm{capability}"
            (folder / f"{full}.ptx").write_text(result.asm["ptx"])
            made = result.metadata
            facts[full] = {"shared": made.shared, "warps": made.num_warps, "ctas": ctas}
    (folder / "compiled.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
