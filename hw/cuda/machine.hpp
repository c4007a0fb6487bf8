/// The GPU's `Machine`: one warp, and the instructions it executes. Everything is inlined: the
/// object is a handful of values that live in registers, or are known when the kernel is compiled.
///
/// sm_100a has all of it; elsewhere tcgen05, pairs of CTAs and cluster launch control are emulated,
/// see `TmemEmulation` and `ClusterEmulation`.

#pragma once

#include <cstdint>
#include <utility>

#include <cuda.h>

#include "common/machine/machine.hpp"

#include "hw/cuda/cluster_emulation.hpp"
#include "hw/cuda/lane_copies.hpp"
#include "hw/cuda/registers.hpp"
#include "hw/cuda/tensor_maps.hpp"
#include "hw/cuda/tmem_emulation.hpp"
#include "hw/ptx/barrier.hpp"
#include "hw/ptx/convert.hpp"
#include "hw/ptx/copy.hpp"
#include "hw/ptx/fence.hpp"
#include "hw/ptx/launch.hpp"
#include "hw/ptx/mbarrier.hpp"
#include "hw/ptx/tcgen05.hpp"
#include "hw/ptx/warp.hpp"
#include "hw/ptx/wgmma.hpp"
#include "hw/ptx/words.hpp"

namespace warptwin::hw {

class CudaMachine : public CudaLaneCopies, public CudaMapChanges {
 public:
  using TensorMap = CUtensorMap;
  using TensorMaps = CudaTensorMaps;
  template <class Columns>
  using Accumulator = CudaAccumulator<Columns>;
  template <std::uint32_t kRegisters>
  using Fragment = CudaFragment<kRegisters>;

  /// Participants: the whole warp. `memory`: see `EmulationMemory`; null on sm_100a. `argument`: of
  /// the kernel; `base`: where the CTA's shared memory starts.
  WARPTWIN_HOST_DEVICE CudaMachine(std::uint32_t* memory, const void* argument, SharedAddress base)
      : warp_index_{ptx::warp_index()},
        elected_{ptx::elect_sync()},
        tmem_{memory},
        cluster_{memory, argument, base} {}

  /// Whether this cluster is to run a kernel that claims clusters, or has been claimed.
  ///
  /// Participants: the whole warp. Blocks: where launch control is emulated, until it is known.
  WARPTWIN_HOST_DEVICE bool cluster_begins() {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a, (return true;), (return cluster_.begins();))
  }
  /// This warp has run it. `warps`: of a CTA. Participants: the whole warp. Blocks: never.
  WARPTWIN_HOST_DEVICE void cluster_ends(std::uint32_t warps) const {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a, (), (cluster_.ends(warps, elected_);))
  }

  WARPTWIN_HOST_DEVICE std::uint32_t warp_index() const { return warp_index_; }
  WARPTWIN_HOST_DEVICE std::uint32_t cta_rank() const { return ptx::cluster_cta_rank(); }
  WARPTWIN_HOST_DEVICE std::uint32_t cluster_size() const { return ptx::cluster_cta_count(); }
  WARPTWIN_HOST_DEVICE std::uint32_t cluster_index() const { return ptx::cluster_index(); }
  WARPTWIN_HOST_DEVICE std::uint32_t cluster_count() const { return ptx::cluster_count(); }

  // Lanes

  template <class F>
  WARPTWIN_HOST_DEVICE void elect_one(F&& f) {
    if (issues()) {
      const bool before = std::exchange(alone_, true);
      f();
      alone_ = before;
    }
  }
  template <class F>
  WARPTWIN_HOST_DEVICE void for_lanes(std::uint32_t count, F&& f) {
    const std::uint32_t lane = ptx::lane_index();
    if (lane < count) {
      const bool before = std::exchange(alone_, true);
      f(lane);
      alone_ = before;
    }
  }
  WARPTWIN_HOST_DEVICE void sync_warp(SourceSite = {}) { ptx::sync_warp(); }

  // mbarriers

  WARPTWIN_HOST_DEVICE void mbarrier_init(Mbarrier bar, std::uint32_t count, SourceSite = {}) {
    ptx::mbarrier_init(bar, count);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_inval(Mbarrier bar, SourceSite = {}) {
    ptx::mbarrier_inval(bar);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive(Mbarrier bar,
                                            std::uint32_t count = 1,
                                            Ordering ordering = kReleaseCta,
                                            SourceSite = {}) {
    ptx::mbarrier_arrive(bar, count, ordering);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive(RemoteMbarrier bar,
                                            std::uint32_t count = 1,
                                            Ordering ordering = kReleaseCluster,
                                            SourceSite = {}) {
    ptx::mbarrier_arrive(bar, count, ordering);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive_drop(Mbarrier bar, SourceSite = {}) {
    ptx::mbarrier_arrive_drop(bar);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive_no_complete(Mbarrier bar,
                                                        std::uint32_t count,
                                                        SourceSite = {}) {
    ptx::mbarrier_arrive_no_complete(bar, count);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive_expect_tx(Mbarrier bar,
                                                      std::uint32_t bytes,
                                                      SourceSite = {}) {
    ptx::mbarrier_arrive_expect_tx(bar, bytes);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive_expect_tx(RemoteMbarrier bar,
                                                      std::uint32_t bytes,
                                                      SourceSite = {}) {
    ptx::mbarrier_arrive_expect_tx(bar, bytes);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_expect_tx(Mbarrier bar, std::uint32_t bytes, SourceSite = {}) {
    ptx::mbarrier_expect_tx(bar, bytes);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_complete_tx(Mbarrier bar,
                                                 std::uint32_t bytes,
                                                 SourceSite = {}) {
    ptx::mbarrier_complete_tx(bar, bytes);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_wait_parity(Mbarrier bar,
                                                 WaitPhase phase,
                                                 Ordering ordering = kAcquireCta,
                                                 SourceSite = {}) {
    while (!ptx::mbarrier_try_wait_parity(bar, phase.parity(), ordering)) {
    }
  }
  WARPTWIN_HOST_DEVICE bool mbarrier_try_wait_parity(Mbarrier bar,
                                                     WaitPhase phase,
                                                     Ordering ordering = kAcquireCta,
                                                     SourceSite = {}) {
    return ptx::mbarrier_try_wait_parity(bar, phase.parity(), ordering);
  }
  WARPTWIN_HOST_DEVICE RemoteMbarrier mapa(Mbarrier bar, std::uint32_t rank) const {
    return {ptx::mapa(bar.address, rank)};
  }

  // Fences

  WARPTWIN_HOST_DEVICE void fence(Ordering ordering, SourceSite = {}) { ptx::fence(ordering); }
  WARPTWIN_HOST_DEVICE void fence_mbarrier_init(SourceSite = {}) { ptx::fence_mbarrier_init(); }
  WARPTWIN_HOST_DEVICE void fence_proxy_async(ProxySpace space, SourceSite = {}) {
    ptx::fence_proxy_async(space);
  }
  WARPTWIN_HOST_DEVICE void tcgen05_fence_before_thread_sync(SourceSite = {}) {
    ptx::tcgen05_fence_before_thread_sync();
  }
  WARPTWIN_HOST_DEVICE void tcgen05_fence_after_thread_sync(SourceSite = {}) {
    ptx::tcgen05_fence_after_thread_sync();
  }

  // Named and cluster barriers

  WARPTWIN_HOST_DEVICE void bar_sync(std::uint32_t id, std::uint32_t threads, SourceSite = {}) {
    ptx::bar_sync(id, threads);
  }
  WARPTWIN_HOST_DEVICE void bar_arrive(std::uint32_t id, std::uint32_t threads, SourceSite = {}) {
    ptx::bar_arrive(id, threads);
  }
  WARPTWIN_HOST_DEVICE void cta_sync(SourceSite = {}) { ptx::cta_sync(); }
  WARPTWIN_HOST_DEVICE void barrier_cluster_arrive(Ordering ordering = kReleaseCluster,
                                                   SourceSite = {}) {
    ptx::barrier_cluster_arrive(ordering);
  }
  WARPTWIN_HOST_DEVICE void barrier_cluster_wait(SourceSite = {}) { ptx::barrier_cluster_wait(); }

  // Copies. The map's address is the kernel argument's own: nothing of it is copied.

  template <std::uint32_t kRank>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load(SharedAddress smem,
                                                      const TensorMap& map,
                                                      Coordinates<kRank> at,
                                                      CopyTarget target,
                                                      SourceSite = {}) {
    if (target.group == CtaGroup::kOne) {
      if (issues()) {
        ptx::cp_async_bulk_tensor_load(smem, &map, at, target.barrier, target.multicast);
      }
    } else {
      NV_IF_ELSE_TARGET(
          NV_HAS_FEATURE_SM_100a,
          (if (issues()) {
            ptx::cp_async_bulk_tensor_load_to_pair(
                smem, &map, at, target.barrier, target.multicast);
          }),
          (cluster_.load_to_pair(smem, &map, at, target.barrier, target.multicast, copying());))
    }
  }
  /// Where there is no such copy, four of one row each.
  WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load(SharedAddress smem,
                                                      const TensorMap& map,
                                                      const RowsOf4& rows,
                                                      CopyTarget target,
                                                      SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (if (issues()) {
                        ptx::cp_async_bulk_tensor_gather4(
                            smem, &map, rows, target.barrier, target.multicast, target.group);
                      }),
                      (for (std::uint32_t i = 0; i < 4; ++i) {
                        const std::uint32_t row = i * cluster_.box_bytes(&map);
                        cp_async_bulk_tensor_load(
                            smem + row, map, Coordinates<2>{{rows.column, rows.row[i]}}, target);
                      }))
  }
  WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load(SharedAddress smem,
                                                      const TensorMap& map,
                                                      const PixelCoordinates<4>& pixels,
                                                      CopyTarget target,
                                                      SourceSite = {}) {
    if (target.group == CtaGroup::kOne) {
      if (issues()) {
        ptx::cp_async_bulk_tensor_load(smem, &map, pixels, target.barrier, CtaMask{});
      }
    } else {
      NV_IF_ELSE_TARGET(
          NV_HAS_FEATURE_SM_100a,
          (if (issues()) {
            ptx::cp_async_bulk_tensor_load_to_pair(smem, &map, pixels, target.barrier);
          }),
          (cluster_.load_to_pair(smem, &map, pixels, target.barrier, CtaMask{}, copying());))
    }
  }
  template <std::uint32_t kRank>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_store(const TensorMap& map,
                                                       Coordinates<kRank> at,
                                                       SharedAddress smem,
                                                       SourceSite = {}) {
    if (issues()) {
      ptx::cp_async_bulk_tensor_store(&map, at, smem);
    }
  }
  WARPTWIN_HOST_DEVICE void prefetch_tensormap(const TensorMap& map, SourceSite = {}) {
    if (issues()) {
      ptx::prefetch_tensormap(&map);
    }
  }
  WARPTWIN_HOST_DEVICE void cp_async_bulk_prefetch_tensor(const TensorMap& map,
                                                          Coordinates<2> at,
                                                          SourceSite = {}) {
    if (issues()) {
      ptx::cp_async_bulk_prefetch_tensor(&map, at);
    }
  }
  /// Without a tensor map there is no form for pairs: the bytes are counted where they arrive.
  WARPTWIN_HOST_DEVICE void cp_async_bulk_load(SharedAddress smem,
                                               GlobalAddress global,
                                               std::uint32_t bytes,
                                               CopyTarget target,
                                               SourceSite = {}) {
    if (issues()) {
      ptx::cp_async_bulk_load(smem, global, bytes, target.barrier, target.multicast);
    }
  }
  WARPTWIN_HOST_DEVICE void cp_async_bulk_store(GlobalAddress global,
                                                SharedAddress smem,
                                                std::uint32_t bytes,
                                                SourceSite = {}) {
    if (issues()) {
      ptx::cp_async_bulk_store(global, smem, bytes);
    }
  }
  WARPTWIN_HOST_DEVICE void cp_async_bulk_commit_group(SourceSite = {}) {
    if (issues()) {
      ptx::cp_async_bulk_commit_group();
    }
  }
  /// Lanes that have issued nothing have nothing to wait for; the warp goes on together.
  template <std::uint32_t kPending>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_wait_group(SourceSite = {}) {
    ptx::cp_async_bulk_wait_group<kPending>();
    follow();
  }
  template <std::uint32_t kPending>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_wait_group_read(SourceSite = {}) {
    ptx::cp_async_bulk_wait_group_read<kPending>();
    follow();
  }

  // Tensor memory

  WARPTWIN_HOST_DEVICE void tcgen05_alloc(CtaGroup group,
                                          SharedAddress word,
                                          std::uint32_t columns,
                                          SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (ptx::tcgen05_alloc(group, word, columns);),
                      (tmem_.alloc(group, word, columns, elected_);))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_dealloc(CtaGroup group,
                                            TmemAddress address,
                                            std::uint32_t columns,
                                            SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (ptx::tcgen05_dealloc(group, address, columns);),
                      (tmem_.dealloc(address, columns);))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_relinquish_alloc_permit(CtaGroup group, SourceSite = {}) {
    NV_IF_TARGET(NV_HAS_FEATURE_SM_100a, (ptx::tcgen05_relinquish_alloc_permit(group);))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_mma(CtaGroup group,
                                        TmemAddress d,
                                        UmmaSmemDescriptor a,
                                        UmmaSmemDescriptor b,
                                        UmmaInstructionDescriptor instruction,
                                        bool accumulate,
                                        SourceSite = {}) {
    NV_IF_ELSE_TARGET(
        NV_HAS_FEATURE_SM_100a,
        (if (issues()) { ptx::tcgen05_mma(group, d, a, b, instruction, accumulate); }),
        (tmem_.mma(group, d, a, b, instruction, NoScales{}, accumulate, lanes());))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_mma(CtaGroup group,
                                        TmemAddress d,
                                        TmemAddress a,
                                        UmmaSmemDescriptor b,
                                        UmmaInstructionDescriptor instruction,
                                        bool accumulate,
                                        SourceSite = {}) {
    NV_IF_ELSE_TARGET(
        NV_HAS_FEATURE_SM_100a,
        (if (issues()) { ptx::tcgen05_mma_tmem_a(group, d, a, b, instruction, accumulate); }),
        (tmem_.mma(group, d, a, b, instruction, NoScales{}, accumulate, lanes());))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_mma_block_scale(CtaGroup group,
                                                    TmemAddress d,
                                                    UmmaSmemDescriptor a,
                                                    UmmaSmemDescriptor b,
                                                    UmmaInstructionDescriptor instruction,
                                                    TmemAddress scale_a,
                                                    TmemAddress scale_b,
                                                    bool accumulate,
                                                    SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (if (issues()) {
                        ptx::tcgen05_mma_block_scale(
                            group, d, a, b, instruction, scale_a, scale_b, accumulate);
                      }),
                      (const BlockScales scales{scale_a, scale_b};
                       tmem_.mma(group, d, a, b, instruction, scales, accumulate, lanes());))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_mma_sp(CtaGroup group,
                                           TmemAddress d,
                                           UmmaSmemDescriptor a,
                                           UmmaSmemDescriptor b,
                                           UmmaInstructionDescriptor instruction,
                                           TmemAddress metadata,
                                           bool accumulate,
                                           SourceSite = {}) {
    NV_IF_ELSE_TARGET(
        NV_HAS_FEATURE_SM_100a,
        (if (issues()) { ptx::tcgen05_mma_sp(group, d, a, b, instruction, metadata, accumulate); }),
        (tmem_.mma(group, d, a, b, instruction, SparseMetadata{metadata}, accumulate, lanes());))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_mma_sp_block_scale(CtaGroup group,
                                                       TmemAddress d,
                                                       UmmaSmemDescriptor a,
                                                       UmmaSmemDescriptor b,
                                                       UmmaInstructionDescriptor instruction,
                                                       TmemAddress metadata,
                                                       TmemAddress scale_a,
                                                       TmemAddress scale_b,
                                                       bool accumulate,
                                                       SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (if (issues()) {
                        ptx::tcgen05_mma_sp_block_scale(
                            group, d, a, b, instruction, metadata, scale_a, scale_b, accumulate);
                      }),
                      (const SparseScales scales{{scale_a, scale_b}, {metadata}};
                       tmem_.mma(group, d, a, b, instruction, scales, accumulate, lanes());))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_cp(
      CtaGroup group, TmemAddress to, UmmaSmemDescriptor from, TmemCopy shape, SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (if (issues()) { ptx::tcgen05_cp(group, to, from, shape); }),
                      (tmem_.cp(group, to, from, shape, lanes());))
  }
  WARPTWIN_HOST_DEVICE void tcgen05_commit(CtaGroup group, Mbarrier bar, SourceSite = {}) {
    tcgen05_commit_multicast(group, bar, CtaMask{});
  }
  WARPTWIN_HOST_DEVICE void tcgen05_commit_multicast(CtaGroup group,
                                                     Mbarrier bar,
                                                     CtaMask mask,
                                                     SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (if (issues()) { ptx::tcgen05_commit(group, bar, mask); }),
                      (tmem_.commit(group, bar, mask, issues(), !alone_);))
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void tcgen05_ld_32x32b(CudaFragment<kRegisters>& fragment,
                                              TmemAddress address,
                                              SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (ptx::tcgen05_ld_32x32b(fragment.words, address);),
                      (tmem_.ld(fragment.words, address);))
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void tcgen05_ld_16x32bx2(CudaFragment<kRegisters>& fragment,
                                                TmemAddress address,
                                                SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (ptx::tcgen05_ld_16x32bx2(fragment.words, address);),
                      (tmem_.ld_half_rows(fragment.words, address);))
  }
  template <class Columns>
  WARPTWIN_HOST_DEVICE void tcgen05_ld_16x256b(CudaAccumulator<Columns>& d,
                                               TmemAddress address,
                                               SourceSite = {}) {
    ptx::sync_warp();
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (load_accumulator(d, address);),
                      (tmem_.ld_accumulator(d.values, d.columns, address);))
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void tcgen05_st_32x32b(TmemAddress address,
                                              const CudaFragment<kRegisters>& fragment,
                                              SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (ptx::tcgen05_st_32x32b(address, fragment.words);),
                      (tmem_.st(address, fragment.words);))
  }
  /// Settles the named registers, and all earlier loads of the warp.
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void tcgen05_wait_ld(CudaFragment<kRegisters>& fragment, SourceSite = {}) {
    ptx::tcgen05_wait_ld(fragment.words);
  }
  template <class Columns>
  WARPTWIN_HOST_DEVICE void tcgen05_wait_ld(CudaAccumulator<Columns>& d, SourceSite = {}) {
    ptx::tcgen05_wait_ld(d.values);
  }
  WARPTWIN_HOST_DEVICE void tcgen05_wait_st(SourceSite = {}) { ptx::tcgen05_wait_st(); }

  /// Requires: kRegisters elements are whole 16-byte units, or at least words, and `column` is the
  /// first of one.
  template <LaneHolds kHolds = LaneHolds::kRow, class Element, std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void st_shared(const SharedTile<Element>& tile,
                                      std::uint32_t row,
                                      std::uint32_t column,
                                      const CudaFragment<kRegisters>& fragment,
                                      SourceSite = {}) {
    constexpr std::uint32_t kHalf = kWarpLanes / 2;
    const std::uint32_t lane = ptx::lane_index();
    if constexpr (kHolds == LaneHolds::kRow) {
      store_row(tile, row + lane, column, fragment);
    } else if constexpr (kHolds == LaneHolds::kColumn) {
      store_column(tile, row, column + lane, fragment);
    } else if constexpr (kHolds == LaneHolds::kHalfRow) {
      store_row(tile, row + lane % kHalf, column + lane / kHalf * kRegisters, fragment);
    } else {
      store_column(tile, row + lane / kHalf * kRegisters, column + lane % kHalf, fragment);
    }
  }

  /// Requires: as st_shared, or one register of a 32-bit element.
  template <class Element, std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void ld_shared_row(const SharedTile<Element>& tile,
                                          std::uint32_t row,
                                          std::uint32_t column,
                                          CudaFragment<kRegisters>& fragment,
                                          SourceSite = {}) {
    constexpr std::uint32_t kPerWord = ptx::kElementsPerWord<Element>;
    constexpr std::uint32_t kPerUnit = 4 * kPerWord;
    constexpr std::uint32_t kBits = 32 / kPerWord;
    constexpr std::uint32_t kMask = ~std::uint32_t{0} >> (32 - kBits);
    static_assert(kRegisters % kPerUnit == 0 || (kRegisters == 1 && kPerWord == 1),
                  "a row is read in units of 16 bytes, or as one word");
    const std::uint32_t own_row = row + ptx::lane_index();
    if constexpr (kRegisters == 1) {
      const std::uint32_t bits = ptx::ld_shared_u32(tile.at(own_row, column));
      fragment.words[0] = std::bit_cast<std::uint32_t>(decode(Element::kType, bits));
    } else {
      WARPTWIN_UNROLL for (std::uint32_t first = 0; first < kRegisters; first += kPerUnit) {
        std::uint32_t words[4];
        ptx::ld_shared_v4(words, tile.at(own_row, column + first));
        if constexpr (ptx::kDecodesPairs<Element>) {
          WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kPerUnit; i += 2) {
            float pair[2];
            const std::uint32_t bits = words[i / kPerWord] >> (i % kPerWord * kBits);
            ptx::decode_pair<Element>(bits, pair[0], pair[1]);
            fragment.words[first + i] = std::bit_cast<std::uint32_t>(pair[0]);
            fragment.words[first + i + 1] = std::bit_cast<std::uint32_t>(pair[1]);
          }
        } else {
          WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kPerUnit; ++i) {
            const std::uint32_t bits = (words[i / kPerWord] >> (i % kPerWord * kBits)) & kMask;
            fragment.words[first + i] = std::bit_cast<std::uint32_t>(decode(Element::kType, bits));
          }
        }
      }
    }
  }

  // The MMA of a warpgroup: traps elsewhere than on sm_90a

  WARPTWIN_HOST_DEVICE void wgmma_fence(SourceSite = {}) { ptx::wgmma_fence(); }
  template <class Columns, class A, class B>
  WARPTWIN_HOST_DEVICE void wgmma(
      CudaAccumulator<Columns>& d, A a, B b, bool accumulate, SourceSite = {}) {
    if constexpr (Columns::kIsStatic) {
      ptx::wgmma<CudaAccumulator<Columns>::kColumnsMost>(d.values, a, b, accumulate);
    } else {
      ptx::wgmma_of(d.columns, d.values, a, b, accumulate);
    }
  }
  template <class Columns, class Element>
  WARPTWIN_HOST_DEVICE void wgmma_sp(CudaAccumulator<Columns>& d,
                                     WgmmaSmemDescriptor<Element> a,
                                     WgmmaSmemDescriptor<Element> b,
                                     const CudaFragment<1>& metadata,
                                     std::uint32_t selector,
                                     bool accumulate,
                                     SourceSite = {}) {
    const ptx::WgmmaMetadata sparse{metadata.words[0], selector};
    if constexpr (Columns::kIsStatic) {
      ptx::wgmma_sp<CudaAccumulator<Columns>::kColumnsMost>(d.values, a, b, sparse, accumulate);
    } else {
      ptx::wgmma_sp_of(d.columns, d.values, a, b, sparse, accumulate);
    }
  }
  WARPTWIN_HOST_DEVICE void wgmma_commit_group(SourceSite = {}) { ptx::wgmma_commit_group(); }
  template <std::uint32_t kPending>
  WARPTWIN_HOST_DEVICE void wgmma_wait_group(SourceSite = {}) {
    ptx::wgmma_wait_group<kPending>();
  }
  /// Settles the named registers.
  template <std::uint32_t kPending, class Columns>
  WARPTWIN_HOST_DEVICE void wgmma_wait_group(CudaAccumulator<Columns>& d, SourceSite = {}) {
    ptx::wgmma_wait_group<kPending>();
    ptx::wgmma_settle(d.values);
  }
  /// Of 16-bit elements by stmatrix, 16 columns at a time. Otherwise a lane's pairs of columns
  /// differ by eight columns, which the swizzle keeps apart, and by eight rows, so one address is
  /// computed and the others are a bit or two away.
  template <class Element, class Columns>
  WARPTWIN_HOST_DEVICE void st_shared_accumulator(const SharedTile<Element>& tile,
                                                  std::uint32_t row,
                                                  const CudaAccumulator<Columns>& d,
                                                  std::uint32_t column,
                                                  SourceSite = {}) {
    if constexpr (sizeof(typename Element::Storage) == 2) {
      if (tile.columns % 16 == 0) {
        store_matrices(tile, row, d, column);
        return;
      }
    }
    const WgmmaCell cell = WgmmaCell::of(ptx::lane_index(), 0);
    const SharedAddress first = tile.at(row + cell.row, cell.column);
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < CudaAccumulator<Columns>::kColumnsMost / 2;
                         i += 4) {
      const std::uint32_t of_tile = i / 4 * 8 - column;  // wraps before the first
      if (of_tile < tile.columns) {
        const SharedAddress upper{first.value ^ of_tile * SharedTile<Element>::kElementBytes};
        store_pair<Element>(upper, d.values[i], d.values[i + 1]);
        store_pair<Element>(upper + 8 * tile.row_bytes(), d.values[i + 2], d.values[i + 3]);
      }
    }
  }

  // Words

  WARPTWIN_HOST_DEVICE std::uint32_t ld_shared_u32(SharedAddress address, SourceSite = {}) {
    return ptx::ld_shared_u32(address);
  }
  WARPTWIN_HOST_DEVICE void st_shared_u32(SharedAddress address,
                                          std::uint32_t value,
                                          SourceSite = {}) {
    ptx::st_shared_u32(address, value);
  }
  WARPTWIN_HOST_DEVICE std::uint32_t ld_global_u32(GlobalAddress address, SourceSite = {}) {
    return ptx::ld_global_u32(address);
  }
  WARPTWIN_HOST_DEVICE float ld_global_f32(GlobalAddress address, SourceSite = {}) {
    return ptx::ld_global_f32(address);
  }
  WARPTWIN_HOST_DEVICE std::uint32_t ld_acquire_global_u32(GlobalAddress address, SourceSite = {}) {
    return ptx::ld_acquire_global_u32(address);
  }
  WARPTWIN_HOST_DEVICE void st_release_global_u32(GlobalAddress address,
                                                  std::uint32_t value,
                                                  SourceSite = {}) {
    ptx::st_release_global_u32(address, value);
  }
  WARPTWIN_HOST_DEVICE void red_add_release_global_u32(GlobalAddress address,
                                                       std::uint32_t value,
                                                       SourceSite = {}) {
    ptx::red_add_release_global_u32(address, value);
  }
  WARPTWIN_HOST_DEVICE void wait_global_u32(GlobalAddress address,
                                            std::uint32_t value,
                                            SourceSite = {}) {
    while (ptx::ld_acquire_global_u32(address) != value) {
    }
  }

  // Launch

  WARPTWIN_HOST_DEVICE void clc_try_cancel(SharedAddress response,
                                           Mbarrier bar,
                                           bool multicast,
                                           SourceSite = {}) {
    if (issues()) {
      NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                        (ptx::clc_try_cancel(response, bar, multicast);),
                        (cluster_.try_cancel(response, bar, multicast);))
    }
  }
  WARPTWIN_HOST_DEVICE bool clc_is_canceled(SharedAddress response, SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (return ptx::clc_is_canceled(response);),
                      (return ClusterEmulation::is_canceled(response);))
  }
  WARPTWIN_HOST_DEVICE std::uint32_t clc_first_cta(SharedAddress response, SourceSite = {}) {
    NV_IF_ELSE_TARGET(NV_HAS_FEATURE_SM_100a,
                      (return ptx::clc_first_cta(response);),
                      (return ClusterEmulation::first_cta(response);))
  }
  WARPTWIN_HOST_DEVICE void griddepcontrol_wait(SourceSite = {}) { ptx::griddepcontrol_wait(); }
  WARPTWIN_HOST_DEVICE void griddepcontrol_launch_dependents(SourceSite = {}) {
    ptx::griddepcontrol_launch_dependents();
  }

  // Registers

  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void setmaxnreg_dec(SourceSite = {}) {
    ptx::sync_warp();
    ptx::setmaxnreg_dec<kRegisters>();
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void setmaxnreg_inc(SourceSite = {}) {
    ptx::sync_warp();
    ptx::setmaxnreg_inc<kRegisters>();
  }

  WARPTWIN_HOST_DEVICE void note_stage(const StageNote&) {}

 protected:
  WARPTWIN_HOST_DEVICE bool is_elected() const { return elected_; }
  // Whether a lane runs by itself, in `elect_one` or `for_lanes`.
  WARPTWIN_HOST_DEVICE bool is_alone() const { return alone_; }

 private:
  // Writes two elements that are side by side.
  template <class Element>
  WARPTWIN_HOST_DEVICE static void store_pair(SharedAddress at, float first, float second) {
    if constexpr (sizeof(typename Element::Storage) == 4) {
      const float values[2][1] = {{first}, {second}};
      ptx::st_shared_u32(at, ptx::convert_word<Element>(values[0]));
      ptx::st_shared_u32(at + 4, ptx::convert_word<Element>(values[1]));
    } else if constexpr (sizeof(typename Element::Storage) == 2) {
      const float values[2] = {first, second};
      ptx::st_shared_u32(at, ptx::convert_word<Element>(values));
    } else {
      ptx::st_shared_u16(at, static_cast<std::uint16_t>(ptx::convert_pair<Element>(first, second)));
    }
  }
  // Starts to load `d`, by instructions as wide as its columns let them be.
  template <class Columns>
  WARPTWIN_HOST_DEVICE static void load_accumulator(CudaAccumulator<Columns>& d,
                                                    TmemAddress address) {
    constexpr std::uint32_t kRegisters = CudaAccumulator<Columns>::kColumnsMost / 2;
    constexpr std::uint32_t kStep = !Columns::kIsStatic    ? 4
                                    : kRegisters % 32 == 0 ? 32
                                    : kRegisters % 16 == 0 ? 16
                                                           : 4;
    for_each_below(Extent<kRegisters / kStep>{}, [&](auto i) {
      if (2 * kStep * i < d.columns) {
        ptx::tcgen05_ld_16x256b<kStep * i, kStep>(d.values, address.at_column(2 * kStep * i));
      }
    });
  }
  // Writes the columns of `d` from `column` on to 16 rows of the tile. Lane i says where row i % 16
  // begins, of the first eight columns or of the second.
  template <class Element, class Columns>
  WARPTWIN_HOST_DEVICE static void store_matrices(const SharedTile<Element>& tile,
                                                  std::uint32_t row,
                                                  const CudaAccumulator<Columns>& d,
                                                  std::uint32_t column) {
    const std::uint32_t lane = ptx::lane_index();
    const SharedAddress first = tile.at(row + lane % 16, lane / 16 * 8);
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i + 8 <= CudaAccumulator<Columns>::kColumnsMost / 2;
                         i += 8) {
      const std::uint32_t of_tile = 2 * i - column;  // wraps before the first
      if (of_tile < tile.columns) {
        std::uint32_t words[4];
        WARPTWIN_UNROLL for (std::uint32_t j = 0; j < 4; ++j) {
          const float pair[2] = {d.values[i + 2 * j], d.values[i + 2 * j + 1]};
          words[j] = ptx::convert_word<Element>(pair);
        }
        ptx::stmatrix_x4({first.value ^ of_tile * SharedTile<Element>::kElementBytes}, words);
      }
    }
  }
  // Writes the registers to a row of the tile, from column `column` on.
  template <class Element, std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE static void store_row(const SharedTile<Element>& tile,
                                             std::uint32_t row,
                                             std::uint32_t column,
                                             const CudaFragment<kRegisters>& fragment) {
    constexpr std::uint32_t kPerWord = ptx::kElementsPerWord<Element>;
    constexpr std::uint32_t kPerUnit = 4 * kPerWord;
    if constexpr (kRegisters % kPerUnit == 0) {
      WARPTWIN_UNROLL for (std::uint32_t first = 0; first < kRegisters; first += kPerUnit) {
        std::uint32_t words[4];
        WARPTWIN_UNROLL for (std::uint32_t word = 0; word < 4; ++word) {
          float values[kPerWord];
          WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kPerWord; ++i) {
            values[i] = std::bit_cast<float>(fragment.words[first + word * kPerWord + i]);
          }
          words[word] = ptx::convert_word<Element>(values);
        }
        ptx::st_shared_v4(tile.at(row, column + first), words);
      }
    } else {
      const auto packed = fragment.template packed<Element>();
      WARPTWIN_UNROLL for (std::uint32_t word = 0; word < kRegisters / kPerWord; ++word) {
        ptx::st_shared_u32(tile.at(row, column + word * kPerWord), packed.words[word]);
      }
    }
  }
  // Writes the registers to a column of the tile, from row `row` on.
  template <class Element, std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE static void store_column(const SharedTile<Element>& tile,
                                                std::uint32_t row,
                                                std::uint32_t column,
                                                const CudaFragment<kRegisters>& fragment) {
    constexpr bool kWords = Element::kType == ElementType::kF32;
    static_assert(kWords || sizeof(typename Element::Storage) == 2, "f32, or 16-bit elements");
    WARPTWIN_UNROLL for (std::uint32_t i = 0; i < kRegisters; ++i) {
      if constexpr (kWords) {
        ptx::st_shared_u32(tile.at(row + i, column), fragment.words[i]);
      } else {
        const float value = std::bit_cast<float>(fragment.words[i]);
        const float values[2] = {value, value};
        ptx::st_shared_u16(tile.at(row + i, column),
                           static_cast<std::uint16_t>(ptx::convert_word<Element>(values)));
      }
    }
  }
  // Whether the executing lane issues what is issued once.
  WARPTWIN_HOST_DEVICE bool issues() const { return alone_ || elected_; }
  WARPTWIN_HOST_DEVICE CopyingLane copying() const { return {issues(), alone_}; }
  // Those that carry out together what is issued once, where it is emulated.
  WARPTWIN_HOST_DEVICE EmulatingLanes lanes() const {
    if (alone_) {
      return {0, 1};
    }
    return {ptx::lane_index(), kWarpLanes};
  }
  // Brings the lanes together, unless one of them runs alone.
  WARPTWIN_HOST_DEVICE void follow() const {
    if (!alone_) {
      ptx::sync_warp();
    }
  }

  std::uint32_t warp_index_;
  bool elected_;  // the lane the backend elects: one elect.sync, so the same for the whole kernel
  bool alone_ = false;  // inside `elect_one` or `for_lanes`; known wherever those are inlined
  TmemEmulation tmem_;
  ClusterEmulation cluster_;
};

static_assert(Machine<CudaMachine>);

}  // namespace warptwin::hw
