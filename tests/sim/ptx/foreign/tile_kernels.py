"""Kernels of our own in TileLang, and a compiler of them to PTX.

usage: tile_kernels.py FOLDER NVCC
Writes NAME.ptx of each kernel, by CUDA C++ that NVCC compiles. Needs no GPU.
"""

import pathlib
import subprocess
import sys

import tilelang
import tilelang.language as T
from tvm.target import Target
from tilelang.transform import PassContext

HERE = pathlib.Path(tilelang.__file__).parent


def product(m, n, k, tile, stages, threads):
    """c = a @ b.T by a pipeline of copies."""
    rows, columns, depth = tile

    @T.prim_func
    def main(a: T.Tensor((m, k), T.float16), b: T.Tensor((n, k), T.float16),
             c: T.Tensor((m, n), T.float16)):
        with T.Kernel(n // columns, m // rows, threads=threads) as (x, y):
            a_tile = T.alloc_shared((rows, depth), T.float16)
            b_tile = T.alloc_shared((columns, depth), T.float16)
            sums = T.alloc_fragment((rows, columns), T.float32)
            T.clear(sums)
            for i in T.Pipelined(k // depth, num_stages=stages):
                T.copy(a[y * rows, i * depth], a_tile)
                T.copy(b[x * columns, i * depth], b_tile)
                T.gemm(a_tile, b_tile, sums, transpose_B=True)
            T.copy(sums, c[y * rows, x * columns])

    return main


def attention(queries, keys, width, rows, columns, scale):
    """o = softmax(q @ k.T * scale) @ v, a block of keys at a time."""

    @T.prim_func
    def main(q: T.Tensor((queries, width), T.float16), k: T.Tensor((keys, width), T.float16),
             v: T.Tensor((keys, width), T.float16), o: T.Tensor((queries, width), T.float16)):
        with T.Kernel(queries // rows, threads=128) as y:
            q_tile = T.alloc_shared((rows, width), T.float16)
            k_tile = T.alloc_shared((columns, width), T.float16)
            v_tile = T.alloc_shared((columns, width), T.float16)
            scores = T.alloc_fragment((rows, columns), T.float32)
            weights = T.alloc_fragment((rows, columns), T.float16)
            acc = T.alloc_fragment((rows, width), T.float32)
            most = T.alloc_fragment((rows,), T.float32)
            before = T.alloc_fragment((rows,), T.float32)
            shrink = T.alloc_fragment((rows,), T.float32)
            part = T.alloc_fragment((rows,), T.float32)
            total = T.alloc_fragment((rows,), T.float32)
            T.copy(q[y * rows, 0], q_tile)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(most, -T.infinity(T.float32))
            for n in T.Pipelined(keys // columns, num_stages=2):
                T.copy(k[n * columns, 0], k_tile)
                T.clear(scores)
                T.gemm(q_tile, k_tile, scores, transpose_B=True)
                T.copy(most, before)
                T.reduce_max(scores, most, dim=1, clear=False)
                for i in T.Parallel(rows):
                    shrink[i] = T.exp2((before[i] - most[i]) * scale)
                for i, j in T.Parallel(rows, columns):
                    scores[i, j] = T.exp2((scores[i, j] - most[i]) * scale)
                T.reduce_sum(scores, part, dim=1)
                for i in T.Parallel(rows):
                    total[i] = total[i] * shrink[i] + part[i]
                T.copy(scores, weights)
                for i, j in T.Parallel(rows, width):
                    acc[i, j] *= shrink[i]
                T.copy(v[n * columns, 0], v_tile)
                T.gemm(weights, v_tile, acc)
            for i, j in T.Parallel(rows, width):
                acc[i, j] /= total[i]
            T.copy(acc, o[y * rows, 0])

    return main


def tensor_memory(m, n, k, tile, stages):
    """c = a @ b: a warp copies, one multiplies in tensor memory, four store."""
    rows, columns, depth = tile

    @T.prim_func
    def main(a: T.Tensor((m, k), T.float16), b: T.Tensor((k, n), T.float16),
             c: T.Tensor((m, n), T.float16)):
        with T.Kernel(m // rows, n // columns, threads=128) as (y, x):
            a_tiles = T.alloc_shared((stages, rows, depth), T.float16)
            b_tiles = T.alloc_shared((stages, depth, columns), T.float16)
            sums = T.alloc_tmem([rows, columns], T.float32)
            values = T.alloc_fragment((rows, columns), T.float32)
            c_tile = T.alloc_shared((rows, columns), T.float16)
            full = T.alloc_barrier([32] * stages)
            empty = T.alloc_barrier([1] * stages)
            done = T.alloc_barrier([1])
            thread = T.get_thread_binding()
            if thread < 32:
                for i in T.serial(k // depth):
                    T.mbarrier_wait_parity(empty[i % stages], ((i // stages) & 1) ^ 1)
                    T.tma_copy(a[y * rows : (y + 1) * rows, i * depth : (i + 1) * depth],
                               a_tiles[i % stages, :, :], barrier=full[i % stages])
                    T.tma_copy(b[i * depth : (i + 1) * depth, x * columns : (x + 1) * columns],
                               b_tiles[i % stages, :, :], barrier=full[i % stages])
                    T.mbarrier_arrive(full[i % stages])
            elif thread < 64:
                for i in T.serial(k // depth):
                    T.mbarrier_wait_parity(full[i % stages], (i // stages) & 1)
                    T.tcgen05_gemm(a_tiles[i % stages, :, :], b_tiles[i % stages, :, :], sums,
                                   mbar=empty[i % stages], clear_accum=i == 0)
                T.tcgen05_mma_arrive(done)
            T.mbarrier_wait_parity(done, 0)
            T.copy(sums, values)
            T.copy(values, c_tile)
            T.copy(c_tile, c[y * rows, x * columns])

    return main


PRODUCT = product(128, 64, 320, (128, 64, 64), 3, 128)
# By name: the kernel, its architecture, whether TileLang gives its copies warps of their own.
KERNELS = {
    "product": (PRODUCT, "sm_90a", True),
    "attention": (attention(128, 256, 64, 64, 64, 0.18), "sm_90a", True),
    "one_role": (PRODUCT, "sm_90a", False),
    "tensor_memory": (tensor_memory(256, 128, 320, (128, 64, 64), 3), "sm_100a", True),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    cutlass = HERE / "3rdparty" / "cutlass" / "include"
    for name, (kernel, arch, roles) in KERNELS.items():
        target = Target({"kind": "cuda", "arch": arch})
        source = folder / f"{name}.cu"
        config = {"tl.disable_warp_specialized": not roles}
        with target, PassContext(opt_level=3, config=config):
            source.write_text(tilelang.lower(kernel, target=target).kernel_source)
        subprocess.run([sys.argv[2], "-ptx", f"-arch={arch}", "-std=c++17", "-lineinfo",
                        f"-I{HERE / 'src'}", f"-I{cutlass}", "--expt-relaxed-constexpr",
                        str(source), "-o", str(folder / f"{name}.ptx")], check=True)


if __name__ == "__main__":
    main()
