/// The seam: the operations kernel text is written in, one per PTX instruction and named after it.
///
/// A `Machine` is what one warp sees. The simulator's is `sim::SimMachine`, the GPU's
/// `hw::CudaMachine`. Everything above this line is one text for both.
///
/// Participants. A call is made by the whole warp unless the text says otherwise:
///  - `elect_one(f)` runs `f` in one lane, always the same one; `for_lanes(n, f)` runs `f(lane)` in
///    lanes 0..n-1; neither holds the warp together afterwards. `sync_warp()` does.
///  - *Per lane*: mbarrier operations, fences, flags, single words and copies of lanes act once for
///    every lane that executes them. An `mbarrier_arrive` of the whole warp is 32 arrivals.
///  - *Elected*: copies, bulk groups, tcgen05 mma, cp and commit are issued once: by the lane
/// inside
///    `elect_one`, or, called by the whole warp, by the lane the backend elects, always the same.
///  - *Of the warpgroup*: wgmma is executed by four consecutive warps, the first of an index that
///    is a multiple of 4, all in the same sequence; its fence, commit and wait by each warp.
///  - *Collective*: tcgen05 alloc, dealloc, relinquish, ld, st, waits, named and cluster barriers,
///    setmaxnreg need the whole warp, and bring its lanes together again.
///
/// Blocking. `mbarrier_wait_parity`, `bar_sync`, `barrier_cluster_wait`, the group, wgmma and
/// tcgen05 waits,
/// `tcgen05_alloc`, `setmaxnreg_inc`, `wait_global_u32` and `griddepcontrol_wait` block; nothing
/// else.
///
/// Sites. Each operation ends in `SourceSite site = SourceSite::current()`, the line it is reported
/// with. Layers above take the same default argument and pass it on.
///
/// Source: PTX ISA 9.0, the section of the same name.

#pragma once

#include <concepts>
#include <cstdint>

#include "common/machine/element.hpp"
#include "common/machine/extent.hpp"
#include "common/machine/note.hpp"
#include "common/machine/shared_tile.hpp"
#include "common/machine/types.hpp"
#include "common/machine/umma_descriptor.hpp"
#include "common/machine/wgmma_descriptor.hpp"

namespace warptwin {

/// Who the warp is.
template <class M>
concept HasIdentity = requires(const M machine) {
  { machine.warp_index() } -> std::same_as<std::uint32_t>;     // in its CTA
  { machine.cta_rank() } -> std::same_as<std::uint32_t>;       // in its cluster
  { machine.cluster_size() } -> std::same_as<std::uint32_t>;   // CTAs
  { machine.cluster_index() } -> std::same_as<std::uint32_t>;  // in the grid
  { machine.cluster_count() } -> std::same_as<std::uint32_t>;
};

/// Lanes, and what is decided outside the protocol.
template <class M>
concept HasLanes = requires(M machine, void (*once)(), void (*each)(std::uint32_t)) {
  machine.elect_one(once);
  machine.for_lanes(std::uint32_t{}, each);
  machine.sync_warp();
};

/// Mbarriers: each call is one PTX instruction of the calling lane (PTX ISA, "mbarrier"). An
/// arrival by `RemoteMbarrier` may be in another CTA of the cluster; everything else acts in the
/// own one. A `mbarrier_try_wait_parity` says whether the phase is complete, and
/// `mbarrier_wait_parity` repeats it until it is. A `noComplete` arrival must not be a phase's
/// last.
template <class M>
concept HasMbarrier = requires(M machine, Mbarrier bar, RemoteMbarrier remote) {
  machine.mbarrier_init(bar, std::uint32_t{});
  machine.mbarrier_inval(bar);
  machine.mbarrier_arrive(bar, std::uint32_t{}, kReleaseCta);
  machine.mbarrier_arrive(remote, std::uint32_t{}, kReleaseCluster);
  machine.mbarrier_arrive_drop(bar);
  machine.mbarrier_arrive_no_complete(bar, std::uint32_t{});
  machine.mbarrier_arrive_expect_tx(bar, std::uint32_t{});
  machine.mbarrier_arrive_expect_tx(remote, std::uint32_t{});
  machine.mbarrier_expect_tx(bar, std::uint32_t{});
  machine.mbarrier_complete_tx(bar, std::uint32_t{});
  machine.mbarrier_wait_parity(bar, WaitPhase::number(0), kAcquireCta);
  {
    machine.mbarrier_try_wait_parity(bar, WaitPhase::number(0), kAcquireCta)
    } -> std::same_as<bool>;
  { machine.mapa(bar, std::uint32_t{}) } -> std::same_as<RemoteMbarrier>;
};

/// Fences: `fence` among generic accesses (PTX ISA, "fence"; a relaxed one does nothing), after the
/// initialisation of mbarriers, between generic accesses and the async proxy's, and the two of
/// tcgen05, before and after threads synchronise.
template <class M>
concept HasFences = requires(M machine) {
  machine.fence(kReleaseCluster);
  machine.fence_mbarrier_init();
  machine.fence_proxy_async(ProxySpace::kSharedCta);
  machine.tcgen05_fence_before_thread_sync();
  machine.tcgen05_fence_after_thread_sync();
};

/// Named barriers of the CTA, by id and count of threads, and the barrier of all threads of the
/// cluster (PTX ISA, "bar", "barrier.cluster").
template <class M>
concept HasBarriers = requires(M machine) {
  machine.bar_sync(std::uint32_t{}, std::uint32_t{});    // id, threads
  machine.bar_arrive(std::uint32_t{}, std::uint32_t{});  // id, threads
  machine.cta_sync();                                    // bar.sync 0 of every thread of the CTA
  machine.barrier_cluster_arrive(kReleaseCluster);
  machine.barrier_cluster_wait();
};

/// Registers of a warp: `Fragment<N>` is a row of N 32-bit columns in each lane, `Fragment<1>` one
/// value for each row. Element-wise and within a lane, but for `any`, a vote of the whole warp.
///
/// A simulator that moves no data has no values: there `any` says yes.
template <class M>
concept HasRegisters = requires(typename M::template Fragment<32> row,
                                typename M::template Fragment<1> value,
                                float (*of_one)(float),
                                float (*of_two)(float, float),
                                float (*of_column)(float, std::uint32_t),
                                float (*of_place)(float, std::uint32_t, std::uint32_t),
                                bool (*test)(float)) {
  row.fill(float{});
  row.transform(of_one);             // x = f(x)
  row.transform_columns(of_column);  // x = f(x, its column)
  row.transform_places(of_place);    // x = f(x, its row of the warp's 32, its column)
  row.combine(row, of_two);          // x = f(x, the other fragment's)
  row.combine_rows(value, of_two);   // x = f(x, its row's value)
  row.fold_into(value, of_two);      // value = f(value, x) for each x of its row, in order
  row.exp2();                        // x = 2^x, to about 22 bits
  { value.any(test) } -> std::same_as<bool>;
  // Rounded to bf16, two to a register, the first in its low half.
  { row.template packed<bf16>() } -> std::same_as<typename M::template Fragment<16>>;
};

/// What a lane's registers are of a tile in shared memory. Of halves, what tcgen05_ld_16x32bx2 has
/// loaded: two lanes share one of 16.
enum class LaneHolds : std::uint8_t {
  kRow,         // lane i: row `row + i`
  kColumn,      // lane i: column `column + i`
  kHalfRow,     // lanes i and i + 16: row `row + i`
  kHalfColumn,  // lanes i and i + 16: column `column + i`
};

/// `CopyTarget` names the mbarrier of a load, the CTAs it goes to, and the pair rule.
struct CopyTarget {
  Mbarrier barrier;  // of each receiver at the same offset: it counts the bytes
  /// CTAs that receive the data; 0 means the executing CTA alone, without multicast.
  CtaMask multicast{};
  /// kTwo lets the bytes be counted on the leader CTA's barrier of each destination's pair.
  CtaGroup group = CtaGroup::kOne;
};

/// Bulk copies between global and shared memory, of boxes of tensors and of plain bytes (PTX ISA,
/// "cp.async.bulk"). A load completes on an mbarrier; stores are waited for in groups, `_read`
/// until what they store has been read, otherwise until they are complete.
template <class M>
concept HasCopies = requires(M machine,
                             const typename M::TensorMap& map,
                             SharedAddress smem,
                             GlobalAddress global,
                             Coordinates<2> at,
                             CopyTarget target) {
  machine.cp_async_bulk_tensor_load(smem, map, at, target);
  machine.cp_async_bulk_tensor_load(smem, map, RowsOf4{}, target);              // .tile::gather4
  machine.cp_async_bulk_tensor_load(smem, map, PixelCoordinates<4>{}, target);  // .im2col
  machine.cp_async_bulk_tensor_store(map, at, smem);
  // Hints, elected: a tensor map, or a box, comes nearer; no value changes, and nothing waits.
  machine.prefetch_tensormap(map);
  machine.cp_async_bulk_prefetch_tensor(map, at);
  machine.cp_async_bulk_load(smem, global, std::uint32_t{}, target);
  machine.cp_async_bulk_store(global, smem, std::uint32_t{});
  machine.cp_async_bulk_commit_group();
  machine.template cp_async_bulk_wait_group<0>();
  machine.template cp_async_bulk_wait_group_read<0>();
};

/// Copies of 4, 8 or 16 bytes, by an `Extent`, that each lane makes for itself, of rows that no
/// bulk copy takes (PTX ISA, "cp.async"): `f(lane)` says what a lane copies. It waits for its own,
/// in groups; or an mbarrier of its CTA counts them, and is told when all that the lane has made so
/// far are complete. They are accesses of the generic proxy.
template <class M>
concept HasLaneCopies = requires(M machine, CopyOfLane (*f)(std::uint32_t), Mbarrier bar) {
  machine.cp_async(Extent<16>{}, f);
  machine.cp_async_commit_group();
  machine.template cp_async_wait_group<0>();    // blocks
  machine.cp_async_mbarrier_arrive_noinc(bar);  // an arrival that the barrier's count has
  machine.cp_async_mbarrier_arrive(bar);  // the pending count grows by one first: of none it has
};

/// Tensor maps that stand in global memory, where a kernel may change them (PTX ISA,
/// "tensormap.replace"): `M::TensorMaps` are several of them, one behind the other. A change is
/// seen by copies behind two fences: one that releases it, of the lane that made it, and one that
/// acquires the map, of the lane that copies (PTX ISA, "fence.proxy.tensormap", scope gpu).
template <class M>
concept HasMapChanges = requires(M machine,
                                 const typename M::TensorMaps& maps,
                                 const typename M::TensorMap& map,
                                 GlobalAddress global) {
  maps[std::uint32_t{}];
  machine.tensormap_replace_global_address(map, global);  // where the tensor begins
  // How many elements the tensor has along a dimension, the innermost being 0.
  machine.tensormap_replace_global_dim(map, std::uint32_t{}, std::uint32_t{});
  machine.fence_proxy_tensormap_release();
  machine.fence_proxy_tensormap_acquire(map);
};

/// Tensor memory and the tensor core of SM100 (PTX ISA, "tcgen05"). In a pair each CTA allocates,
/// relinquishes and frees; mma, cp and commit are issued once for both.
template <class M>
concept HasTensorMemory = requires(M machine,
                                   SharedAddress word,
                                   TmemAddress tmem,
                                   Mbarrier bar,
                                   typename M::template Fragment<32>& fragment,
                                   typename M::template Accumulator<Extent<64>>& d,
                                   SharedTile<bf16> tile) {
  machine.tcgen05_alloc(CtaGroup::kOne, word, std::uint32_t{});
  machine.tcgen05_dealloc(CtaGroup::kOne, tmem, std::uint32_t{});
  machine.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
  machine.tcgen05_mma(CtaGroup::kOne,
                      tmem,
                      UmmaSmemDescriptor{},
                      UmmaSmemDescriptor{},
                      UmmaInstructionDescriptor{},
                      bool{});
  machine.tcgen05_mma(CtaGroup::kOne,
                      tmem,
                      tmem,  // A in tensor memory: lane m holds row m, packed into 32-bit cells
                      UmmaSmemDescriptor{},
                      UmmaInstructionDescriptor{},
                      bool{});
  machine.tcgen05_mma_block_scale(CtaGroup::kOne,
                                  tmem,
                                  UmmaSmemDescriptor{},
                                  UmmaSmemDescriptor{},
                                  UmmaInstructionDescriptor{},
                                  tmem,  // the scale factors of A, and those of B
                                  tmem,
                                  bool{});
  machine.tcgen05_mma_sp(CtaGroup::kOne,
                         tmem,
                         UmmaSmemDescriptor{},  // A without its zeros
                         UmmaSmemDescriptor{},
                         UmmaInstructionDescriptor{},
                         tmem,  // the metadata: SparseMetadataCell
                         bool{});
  machine.tcgen05_mma_sp_block_scale(CtaGroup::kOne,
                                     tmem,
                                     UmmaSmemDescriptor{},
                                     UmmaSmemDescriptor{},
                                     UmmaInstructionDescriptor{},
                                     tmem,  // the metadata, and the factors of A and of B
                                     tmem,
                                     tmem,
                                     bool{});
  machine.tcgen05_cp(CtaGroup::kOne, tmem, UmmaSmemDescriptor{}, TmemCopy::k128x256b);
  machine.tcgen05_commit(CtaGroup::kOne, bar);
  machine.tcgen05_commit_multicast(CtaGroup::kTwo, bar, CtaMask{});
  machine.tcgen05_ld_32x32b(fragment, tmem);  // lane t of the warp's quarter, 32 columns
  machine.tcgen05_st_32x32b(tmem, fragment);
  // The first 16 lanes of the quarter, 64 columns: lane t and lane t + 16 of the warp share a row,
  // and the second has the columns behind the first's.
  machine.tcgen05_ld_16x32bx2(fragment, tmem);
  // 16 lanes of the quarter, in registers as wgmma leaves its D: st_shared_accumulator stores them.
  machine.tcgen05_ld_16x256b(d, tmem);
  machine.tcgen05_wait_ld(fragment);  // names the registers it settles
  machine.tcgen05_wait_ld(d);
  machine.tcgen05_wait_st();
  // Each lane writes its registers, converted, from `row` and `column` on (st.shared).
  machine.st_shared(tile, std::uint32_t{}, std::uint32_t{}, fragment);
  machine.template st_shared<LaneHolds::kHalfColumn>(
      tile, std::uint32_t{}, std::uint32_t{}, fragment);
  // The reverse of st_shared of rows: the registers are settled at once (ld.shared). Of a fragment
  // of one register, each lane reads one element of 32 bits.
  machine.ld_shared_row(tile, std::uint32_t{}, std::uint32_t{}, fragment);
};

/// The MMA of a warpgroup (sm_90a). `Accumulator<Columns>` is a warp's 16 rows of D, fp32, in its
/// lanes' registers; the count of its columns is an `Extent`, a constant on a GPU.
///
/// The k-th wgmma of a warpgroup begins when all four of its warps have issued it. It reads its
/// operands by the async proxy and works on the accumulator until a wait covers the group it was
/// committed in: what one warp has waited for is over for all four. Until then nothing else may
/// touch the accumulator, and no operand may be overwritten.
template <class M>
concept HasWarpgroupMma = requires(M machine,
                                   typename M::template Accumulator<Extent<64>>& d,
                                   SharedTile<bf16> tile,
                                   const typename M::template Fragment<1>& metadata,
                                   float (*of_one)(float)) {
  requires std::constructible_from<typename M::template Accumulator<Extent<64>>, M&, Extent<64>>;
  d.fill(float{});
  d.transform(of_one);  // x = f(x)
  // Orders the warp's accesses of its registers before its next wgmma: before the first one, and
  // where an accumulator was touched, or is used with another shape, since the last.
  machine.wgmma_fence();
  // D = A * B^T (+ D): 64 rows of A, as many of B as D has columns, 32 bytes of K.
  machine.wgmma(d, WgmmaSmemDescriptor<bf16>{}, WgmmaSmemDescriptor<bf16>{}, bool{});
  // The same with a sparse A: 64 bytes of K of B, and of A what is not zero. The lanes of a
  // fragment hold the metadata (WgmmaMetadataCell), of which a selector chooses.
  machine.wgmma_sp(d,
                   WgmmaSmemDescriptor<bf16>{},
                   WgmmaSmemDescriptor<bf16>{},
                   metadata,
                   std::uint32_t{},
                   bool{});
  machine.wgmma_commit_group();
  // Blocks until at most so many groups are under way; names the registers it settles, if any.
  machine.template wgmma_wait_group<1>();
  machine.template wgmma_wait_group<0>(d);
  // The warp writes its rows, converted, to rows `row` to `row + 15` of `tile`: its columns from
  // `column` on, as many as a row of the tile has (st.shared).
  machine.st_shared_accumulator(tile, std::uint32_t{}, d, std::uint32_t{});
};

/// Single words: control data that also moves when tile data does not.
template <class M>
concept HasWords = requires(M machine, SharedAddress smem, GlobalAddress global) {
  { machine.ld_shared_u32(smem) } -> std::same_as<std::uint32_t>;
  machine.st_shared_u32(smem, std::uint32_t{});
  { machine.ld_acquire_global_u32(global) } -> std::same_as<std::uint32_t>;
  // A number of an input, and no control data: nothing in the grid may write it; 0 where no tile
  // data moves.
  { machine.ld_global_f32(global) } -> std::same_as<float>;
  // Control data that nothing in the grid writes.
  { machine.ld_global_u32(global) } -> std::same_as<std::uint32_t>;
  machine.st_release_global_u32(global, std::uint32_t{});
  machine.red_add_release_global_u32(global, std::uint32_t{});
  machine.wait_global_u32(global, std::uint32_t{});  // spins until the word equals the value
};

/// Registers moved between warpgroups: `setmaxnreg`, at a count that is a multiple of 8, from 24 to
/// 256. Taking more blocks until the CTA's pool has them.
template <class M>
concept HasResources = requires(M machine) {
  machine.template setmaxnreg_dec<24>();
  machine.template setmaxnreg_inc<240>();
};

/// Cluster launch control and dependent launches. A request asks for one cluster of the grid that
/// has not begun; its 16-byte response is written, and counted on `bar`, in this CTA or, with
/// `multicast`, at the same offsets of every CTA of the cluster. Elected; does not block.
template <class M>
concept HasLaunchControl = requires(M machine, SharedAddress response, Mbarrier bar) {
  machine.clc_try_cancel(response, bar, bool{});
  { machine.clc_is_canceled(response) } -> std::same_as<bool>;
  { machine.clc_first_cta(response) } -> std::same_as<std::uint32_t>;  // its index in the grid
  machine.griddepcontrol_wait();  // blocks until prerequisite grids are complete
  machine.griddepcontrol_launch_dependents();
};

/// What one warp of a kernel can do; see the top of this file.
template <class M>
concept Machine = HasIdentity<M> && HasLanes<M> && HasMbarrier<M> && HasFences<M> &&
    HasBarriers<M> && HasCopies<M> && HasLaneCopies<M> && HasMapChanges<M> && HasTensorMemory<M> &&
    HasWarpgroupMma<M> && HasRegisters<M> && HasWords<M> && HasLaunchControl<M> &&
    HasResources<M> && requires(M machine, StageNote note) {
  machine.note_stage(note);
};

}  // namespace warptwin
