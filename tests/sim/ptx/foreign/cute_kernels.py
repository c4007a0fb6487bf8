"""Kernels of our own in CuTe DSL, and a compiler of them to PTX.

usage: cute_kernels.py FOLDER NAME
Writes NAME.ptx, and of the kernel `compiled.json`: its bytes of shared memory. NAME ends in the
architecture, sm90 or sm100; the package takes one for each process. Needs no GPU.
"""

import json
import os
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
NAME = sys.argv[2]
os.environ["CUTE_DSL_ARCH"] = f"sm_{NAME.rsplit('_sm', 1)[1]}a"
os.environ["CUTE_DSL_KEEP_PTX"] = "1"
os.environ["CUTE_DSL_DUMP_DIR"] = str(FOLDER / NAME)

import cutlass
import cutlass.cute as cute
import cutlass.utils.blackwell_helpers as blackwell
import cutlass.utils.hopper_helpers as hopper
from cutlass import pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05, warpgroup
from cutlass.cute.runtime import make_fake_compact_tensor
from cutlass.memory import SmemAllocator, TmemAllocator
from cutlass.tensor_utils import LayoutEnum

F16, F32 = cutlass.Float16, cutlass.Float32
STAGES = 3


def one_thread():
    return pipeline.CooperativeGroup(pipeline.Agent.Thread)


def threads(count):
    return pipeline.CooperativeGroup(pipeline.Agent.Thread, count)


def shared_tensor(smem, layout):
    return smem.allocate_tensor(F16, layout.outer, byte_alignment=1024, swizzle=layout.inner)


@cute.jit
def loop_of_loads(loaded: pipeline.PipelineProducer, a_copy: cute.CopyAtom, a_global: cute.Tensor,
                  a_shared: cute.Tensor, b_copy: cute.CopyAtom, b_global: cute.Tensor,
                  b_shared: cute.Tensor, b_mask):
    for k in cutlass.range(cute.size(a_global, mode=[1]), unroll=1):
        stage = loaded.acquire_and_advance()
        cute.copy(a_copy, a_global[None, k], a_shared[None, stage.index],
                  tma_bar_ptr=stage.barrier)
        cute.copy(b_copy, b_global[None, k], b_shared[None, stage.index],
                  tma_bar_ptr=stage.barrier, mcast_mask=b_mask)
    loaded.tail()


def bytes_of_stage(*layouts):
    return sum(cute.size_in_bytes(F16, cute.select(layout, mode=list(range(cute.rank(layout) - 1))))
               for layout in layouts)


@cute.kernel
def blackwell_kernel(mma: cute.TiledMma, a_copy: cute.CopyAtom, a: cute.Tensor,
                     b_copy: cute.CopyAtom, b: cute.Tensor, c: cute.Tensor,
                     a_layout: cute.ComposedLayout, b_layout: cute.ComposedLayout,
                     tile: cutlass.Constexpr, ctas: cutlass.Constexpr):
    """c = a @ b.T by one CTA or two: warps 0 to 3 store, warp 4 multiplies, warp 5 loads."""
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    rank = cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster())
    smem = SmemAllocator()
    a_tiles = shared_tensor(smem, a_layout)
    b_tiles = shared_tensor(smem, b_layout)
    cluster = cute.make_layout((ctas, 1, 1, 1))
    tmem = TmemAllocator(barrier_for_retrieve=pipeline.NamedBarrier(1, 160), allocator_warp_id=0,
                         is_two_cta=ctas == 2)
    loaded, to_multiply = pipeline.PipelineTmaUmma.create(
        num_stages=STAGES, producer_group=one_thread(), consumer_group=one_thread(),
        tx_count=ctas * bytes_of_stage(a_layout, b_layout),
        cta_layout_vmnk=cluster).make_participants()
    multiplied, to_store = pipeline.PipelineUmmaAsync.create(
        num_stages=1, producer_group=one_thread(), consumer_group=threads(128 * ctas),
        cta_layout_vmnk=cluster).make_participants()

    part = mma.get_slice(rank)
    a_parts = part.partition_A(cute.local_tile(a, (tile[0], tile[2]), (0, None)))
    b_parts = part.partition_B(cute.local_tile(b, (tile[1], tile[2]), (0, None)))
    c_part = part.partition_C(cute.local_tile(c, tile[:2], (0, 0)))
    one = cute.make_layout(1)
    a_shared, a_global = cpasync.tma_partition(a_copy, 0, one, cute.group_modes(a_tiles, 0, 3),
                                               cute.group_modes(a_parts, 0, 3))
    b_shared, b_global = cpasync.tma_partition(b_copy, 0, one, cute.group_modes(b_tiles, 0, 3),
                                               cute.group_modes(b_parts, 0, 3))
    a_operand = mma.make_fragment_A(a_tiles)
    b_operand = mma.make_fragment_B(b_tiles)
    acc_layout = mma.make_fragment_C(mma.partition_shape_C(tile[:2])).layout

    tmem.allocate(64)
    if ctas == 2:
        cute.arch.cluster_arrive()
        cute.arch.cluster_wait()  # no MMA of the pair before the peer has allocated
    if warp == 5:
        loop_of_loads(loaded, a_copy, a_global, a_shared, b_copy, b_global, b_shared, None)
    if warp == 4:
        tmem.wait_for_alloc()
        acc = cute.make_tensor(tmem.retrieve_ptr(F32), acc_layout)
        if rank == 0:
            result = multiplied.acquire_and_advance()
            for k in cutlass.range(cute.size(a_parts, mode=[3]), unroll=1):
                stage = to_multiply.wait_and_advance()
                for block in cutlass.range_constexpr(cute.size(a_operand, mode=[2])):
                    at = (None, None, block, stage.index)
                    mma.set(tcgen05.Field.ACCUMULATE, k != 0 or block != 0)
                    cute.gemm(mma, acc, a_operand[at], b_operand[at], acc)
                stage.release()
            result.commit()
            multiplied.tail()
    if warp < 4:
        tmem.wait_for_alloc()
        tmem_ptr = tmem.retrieve_ptr(F32)
        sums = cute.make_tensor(tmem_ptr, acc_layout)[(None, None), 0, 0]
        load = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x64), F32)
        copy = tcgen05.make_tmem_copy(load, sums)
        thread, _, _ = cute.arch.thread_idx()
        mine = copy.get_slice(thread)
        c_mine = mine.partition_D(c_part[(None, None), 0, 0])
        values = cute.make_rmem_tensor(c_mine.shape, F32)
        result = to_store.wait_and_advance()
        cute.copy(copy, mine.partition_S(sums), values)
        cute.arch.fence_view_async_tmem_load()
        result.release()
        tmem.relinquish_alloc_permit()
        cute.autovec_copy(values, c_mine)
        pipeline.NamedBarrier(2, 128).arrive_and_wait()
        tmem.free(tmem_ptr)


@cute.jit
def blackwell_product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, ctas: cutlass.Constexpr):
    tile = (128 * ctas, 64, 64)
    group = tcgen05.CtaGroup.ONE if ctas == 1 else tcgen05.CtaGroup.TWO
    mma = blackwell.make_trivial_tiled_mma(F16, F16, OperandMajorMode.K, OperandMajorMode.K, F32,
                                           group, tile[:2])
    a_layout = blackwell.make_smem_layout_a(mma, tile, F16, STAGES)
    b_layout = blackwell.make_smem_layout_b(mma, tile, F16, STAGES)
    load = cpasync.CopyBulkTensorTileG2SOp(group)
    one_stage = (None, None, None, 0)
    a_copy, a_map = cute.nvgpu.make_tiled_tma_atom_A(load, a, cute.slice_(a_layout, one_stage),
                                                     tile, mma, (ctas, 1, 1, 1))
    b_copy, b_map = cute.nvgpu.make_tiled_tma_atom_B(load, b, cute.slice_(b_layout, one_stage),
                                                     tile, mma, (ctas, 1, 1, 1))
    blackwell_kernel(mma, a_copy, a_map, b_copy, b_map, c, a_layout, b_layout, tile, ctas).launch(
        grid=(ctas, 1, 1), block=(192, 1, 1), cluster=(ctas, 1, 1))


HOPPER_TILE = (64, 64, 64)


@cute.jit
def multiply_stage(mma: cute.TiledMma, acc: cute.Tensor, a: cute.Tensor, b: cute.Tensor, stage):
    warpgroup.fence()
    for block in cutlass.range_constexpr(cute.size(a, mode=[2])):
        at = (None, None, block, stage)
        cute.gemm(mma, acc, a[at], b[at], acc)
        mma.set(warpgroup.Field.ACCUMULATE, True)
    warpgroup.commit_group()


@cute.kernel
def shared_kernel(mma: cute.TiledMma, a_copy: cute.CopyAtom, a: cute.Tensor,
                  b_copy: cute.CopyAtom, b: cute.Tensor, c: cute.Tensor,
                  a_layout: cute.ComposedLayout, b_layout: cute.ComposedLayout):
    """c = a @ b.T: each of two CTAs has 64 rows, and loads half of b for both."""
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    thread, _, _ = cute.arch.thread_idx()
    rank = cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster())
    smem = SmemAllocator()
    a_tiles = shared_tensor(smem, a_layout)
    b_tiles = shared_tensor(smem, b_layout)
    loaded, to_multiply = pipeline.PipelineTmaAsync.create(
        num_stages=STAGES, producer_group=one_thread(), consumer_group=threads(128),
        tx_count=bytes_of_stage(a_layout, b_layout), cta_layout_vmnk=cute.make_layout((1, 2, 1, 1)),
        enable_multicast_signaling=True).make_participants()

    a_parts = cute.local_tile(a, (HOPPER_TILE[0], HOPPER_TILE[2]), (rank, None))
    b_parts = cute.local_tile(b, (HOPPER_TILE[1], HOPPER_TILE[2]), (0, None))
    c_part = cute.local_tile(c, HOPPER_TILE[:2], (rank, 0))
    a_shared, a_global = cpasync.tma_partition(a_copy, 0, cute.make_layout(1),
                                               cute.group_modes(a_tiles, 0, 2),
                                               cute.group_modes(a_parts, 0, 2))
    b_shared, b_global = cpasync.tma_partition(b_copy, rank, cute.make_layout(2),
                                               cute.group_modes(b_tiles, 0, 2),
                                               cute.group_modes(b_parts, 0, 2))
    if warp == 4:
        loop_of_loads(loaded, a_copy, a_global, a_shared, b_copy, b_global, b_shared,
                      cutlass.Int16(3))
    if warp < 4:
        part = mma.get_slice(thread)
        a_operand = mma.make_fragment_A(part.partition_A(a_tiles))
        b_operand = mma.make_fragment_B(part.partition_B(b_tiles))
        c_mine = part.partition_C(c_part)
        acc = cute.make_rmem_tensor(c_mine.shape, F32)
        mma.set(warpgroup.Field.ACCUMULATE, False)
        to_free = to_multiply.clone()
        for k in cutlass.range_constexpr(cute.size(a_parts, mode=[2])):
            stage = to_multiply.wait_and_advance()
            multiply_stage(mma, acc, a_operand, b_operand, stage.index)
            if k > 0:
                warpgroup.wait_group(1)
                to_free.release()
                to_free.advance()
        warpgroup.wait_group(0)
        to_free.release()
        cute.autovec_copy(acc, c_mine)


@cute.kernel
def turns_kernel(mma: cute.TiledMma, a_copy: cute.CopyAtom, a: cute.Tensor,
                 b_copy: cute.CopyAtom, b: cute.Tensor, c: cute.Tensor,
                 a_layout: cute.ComposedLayout, b_layout: cute.ComposedLayout,
                 tiles: cutlass.Constexpr):
    """c = a @ b.T: two warpgroups take turns at the tensor cores, a tile of 64 rows each time."""
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    group = warp // 4
    thread, _, _ = cute.arch.thread_idx()
    smem = SmemAllocator()
    a_tiles = shared_tensor(smem, a_layout)
    b_tiles = shared_tensor(smem, b_layout)
    loads = pipeline.PipelineTmaAsync.create(
        num_stages=STAGES, producer_group=one_thread(), consumer_group=threads(4),
        tx_count=bytes_of_stage(a_layout, b_layout))
    b_parts = cute.local_tile(b, (HOPPER_TILE[1], HOPPER_TILE[2]), (0, None))
    b_shared, b_global = cpasync.tma_partition(b_copy, 0, cute.make_layout(1),
                                               cute.group_modes(b_tiles, 0, 2),
                                               cute.group_modes(b_parts, 0, 2))
    steps = cute.size(b_parts, mode=[2])
    if warp == 8:
        producer = loads.make_producer()
        for tile in cutlass.range(tiles, unroll=1):
            a_parts = cute.local_tile(a, (HOPPER_TILE[0], HOPPER_TILE[2]), (tile, None))
            a_shared, a_global = cpasync.tma_partition(a_copy, 0, cute.make_layout(1),
                                                       cute.group_modes(a_tiles, 0, 2),
                                                       cute.group_modes(a_parts, 0, 2))
            for k in cutlass.range(steps, unroll=1):
                stage = producer.acquire_and_advance()
                cute.copy(a_copy, a_global[None, k], a_shared[None, stage.index],
                          tma_bar_ptr=stage.barrier)
                cute.copy(b_copy, b_global[None, k], b_shared[None, stage.index],
                          tma_bar_ptr=stage.barrier)
        producer.tail()
    if warp < 8:
        part = mma.get_slice(thread % 128)
        a_operand = mma.make_fragment_A(part.partition_A(a_tiles))
        b_operand = mma.make_fragment_B(part.partition_B(b_tiles))
        consumer = loads.make_consumer()
        if group == 1:
            cute.arch.barrier_arrive(barrier_id=2, number_of_threads=256)
            for _ in cutlass.range_constexpr(steps):
                consumer.advance()
        for tile in cutlass.range(group, tiles, 2, unroll=1):
            c_mine = part.partition_C(cute.local_tile(c, HOPPER_TILE[:2], (tile, 0)))
            acc = cute.make_rmem_tensor(c_mine.shape, F32)
            cute.arch.barrier(barrier_id=2 + group, number_of_threads=256)
            mma.set(warpgroup.Field.ACCUMULATE, False)
            to_free = consumer.clone()
            for _ in cutlass.range_constexpr(steps):
                stage = consumer.wait_and_advance()
                multiply_stage(mma, acc, a_operand, b_operand, stage.index)
            if tile + 1 < tiles:
                cute.arch.barrier_arrive(barrier_id=3 - group, number_of_threads=256)
            warpgroup.wait_group(0)
            for _ in cutlass.range_constexpr(steps):
                to_free.release()
                to_free.advance()
            for _ in cutlass.range_constexpr(steps):  # the other's
                consumer.advance()
            cute.autovec_copy(acc, c_mine)


def hopper_operands(a, b, ctas):
    row_major = LayoutEnum.ROW_MAJOR
    mma = hopper.make_trivial_tiled_mma(F16, F16, OperandMajorMode.K, OperandMajorMode.K, F32,
                                        (1, 1, 1), HOPPER_TILE[:2])
    a_layout = hopper.make_smem_layout_a(row_major, HOPPER_TILE, F16, STAGES)
    b_layout = hopper.make_smem_layout_b(row_major, HOPPER_TILE, F16, STAGES)
    load = cpasync.CopyBulkTensorTileG2SOp()
    shared_load = cpasync.CopyBulkTensorTileG2SMulticastOp() if ctas == 2 else load
    one_stage = (None, None, 0)
    a_copy, a_map = cpasync.make_tiled_tma_atom(load, a, cute.slice_(a_layout, one_stage),
                                                (HOPPER_TILE[0], HOPPER_TILE[2]))
    b_copy, b_map = cpasync.make_tiled_tma_atom(shared_load, b, cute.slice_(b_layout, one_stage),
                                                (HOPPER_TILE[1], HOPPER_TILE[2]),
                                                num_multicast=ctas)
    return mma, a_copy, a_map, b_copy, b_map, a_layout, b_layout


@cute.jit
def shared_product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    mma, a_copy, a_map, b_copy, b_map, a_layout, b_layout = hopper_operands(a, b, 2)
    shared_kernel(mma, a_copy, a_map, b_copy, b_map, c, a_layout, b_layout).launch(
        grid=(2, 1, 1), block=(160, 1, 1), cluster=(2, 1, 1))


@cute.jit
def turns_product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tiles: cutlass.Constexpr):
    mma, a_copy, a_map, b_copy, b_map, a_layout, b_layout = hopper_operands(a, b, 1)
    turns_kernel(mma, a_copy, a_map, b_copy, b_map, c, a_layout, b_layout, tiles).launch(
        grid=(1, 1, 1), block=(288, 1, 1))


def half(rows, columns):
    return make_fake_compact_tensor(F16, (rows, columns), stride_order=(1, 0), assumed_align=16)


def single(rows, columns):
    return make_fake_compact_tensor(F32, (rows, columns), stride_order=(1, 0), assumed_align=16)


# By name: the kernel, and its arguments.
KERNELS = {
    "single_sm100": (blackwell_product, [half(128, 320), half(64, 320), single(128, 64), 1]),
    "pair_sm100": (blackwell_product, [half(256, 320), half(64, 320), single(256, 64), 2]),
    "shared_sm90": (shared_product, [half(128, 320), half(64, 320), single(128, 64)]),
    "turns_sm90": (turns_product, [half(256, 128), half(64, 128), single(256, 64), 4]),
}


def main():
    kernel, arguments = KERNELS[NAME]
    (FOLDER / NAME).mkdir(exist_ok=True)
    cute.compile(kernel, *arguments)
    (path,) = (FOLDER / NAME).glob("*.ptx")
    (FOLDER / f"{NAME}.ptx").write_text(path.read_text().rstrip("\0"))


if __name__ == "__main__":
    main()
