/// The GPU's machine with deadlines on its polled waits, and a record of what it does.
///
/// Derived from the production machine, which knows nothing of it: what is switched off here is not
/// in the kernel. A warp is observed by its elected lane. Where it records, the lanes of a
/// `for_lanes` run one after the other, as in the simulator: a warp has one ring. Where it is asked
/// for what stages are filled with, a wait that succeeds reads what its phase stands for, in the
/// shared memory of other CTAs too: whoever waits for a stage holds it until it gives it back.

#pragma once

#include <cstdint>
#include <type_traits>

#include "hw/cuda/machine.hpp"
#include "hw/record/watcher.hpp"

namespace warptwin::hw {

/// `kGroup`: the one cta_group of the kernel, where a launch chooses it. ptxas refuses a kernel
/// that has both, even if it runs one.
template <Watch kWatch, CtaGroup... kGroup>
class ObservedMachine : public CudaMachine {
  static_assert(sizeof...(kGroup) <= 1);

 public:
  /// Participants: the whole warp. `argument`: of the kernel, with its tensor maps; `base`: where
  /// the CTA's storage starts; `warps`: of a CTA.
  WARPTWIN_HOST_DEVICE ObservedMachine(std::uint32_t* memory,
                                       const Observation& observation,
                                       const void* argument,
                                       SharedAddress base,
                                       std::uint32_t warps)
      : CudaMachine{memory, argument, base},
        argument_{static_cast<const char*>(argument)},
        watcher_{observation, base, ptx::cta_index() * warps + warp_index(), is_elected()} {}

  /// The warp has reached its end.
  WARPTWIN_HOST_DEVICE void end() { watcher_.end(); }

  template <class F>
  WARPTWIN_HOST_DEVICE void for_lanes(std::uint32_t count, F&& f) {
    if constexpr (has_records(kWatch)) {
      if (watcher_.has_ring()) {
        for (std::uint32_t lane = 0; lane < count; ++lane) {
          watcher_.in_lane(lane, [&] { CudaMachine::for_lanes(count, f); });
        }
        return;
      }
    }
    CudaMachine::for_lanes(count, f);
  }

  // mbarriers

  WARPTWIN_HOST_DEVICE void mbarrier_init(Mbarrier bar, std::uint32_t count, SourceSite = {}) {
    note(Op::kMbarrierInit, 0, bar, count);
    CudaMachine::mbarrier_init(bar, count);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_inval(Mbarrier bar, SourceSite = {}) {
    note(Op::kMbarrierInval, 0, bar, 0);
    CudaMachine::mbarrier_inval(bar);
  }
  template <class Barrier>
  WARPTWIN_HOST_DEVICE void mbarrier_arrive(Barrier bar,
                                            std::uint32_t count = 1,
                                            Ordering ordering = kReleaseCluster,
                                            SourceSite = {}) {
    note(Op::kMbarrierArrive, 0, bar, count);
    CudaMachine::mbarrier_arrive(bar, count, ordering);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive(Mbarrier bar, std::uint32_t count = 1) {
    mbarrier_arrive(bar, count, kReleaseCta);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive_drop(Mbarrier bar, SourceSite = {}) {
    note(Op::kMbarrierArrive, event_flag::kDrop, bar, 1);
    CudaMachine::mbarrier_arrive_drop(bar);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_arrive_no_complete(Mbarrier bar,
                                                        std::uint32_t count,
                                                        SourceSite = {}) {
    note(Op::kMbarrierArrive, event_flag::kNoComplete, bar, count);
    CudaMachine::mbarrier_arrive_no_complete(bar, count);
  }
  template <class Barrier>
  WARPTWIN_HOST_DEVICE void mbarrier_arrive_expect_tx(Barrier bar,
                                                      std::uint32_t bytes,
                                                      SourceSite = {}) {
    note(Op::kMbarrierArrive, event_flag::kExpectTx, bar, bytes);
    CudaMachine::mbarrier_arrive_expect_tx(bar, bytes);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_expect_tx(Mbarrier bar, std::uint32_t bytes, SourceSite = {}) {
    note(Op::kMbarrierExpectTx, 0, bar, bytes);
    CudaMachine::mbarrier_expect_tx(bar, bytes);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_complete_tx(Mbarrier bar,
                                                 std::uint32_t bytes,
                                                 SourceSite = {}) {
    note(Op::kMbarrierCompleteTx, 0, bar, bytes);
    CudaMachine::mbarrier_complete_tx(bar, bytes);
  }
  WARPTWIN_HOST_DEVICE void mbarrier_wait_parity(Mbarrier bar,
                                                 WaitPhase phase,
                                                 Ordering ordering = kAcquireCta,
                                                 SourceSite site = SourceSite::current()) {
    watcher_.wait(
        {Op::kMbarrierWait, watcher_.object(bar), phase.value(), flags_of(phase), site},
        [&] { return ptx::mbarrier_try_wait_parity(bar, phase.parity(), ordering); },
        [&] { return ptx::word_of(bar); });
    note(Op::kMbarrierWait, flags_of(phase), bar, phase.value());
    watcher_.record_data(bar);
  }
  WARPTWIN_HOST_DEVICE bool mbarrier_try_wait_parity(Mbarrier bar,
                                                     WaitPhase phase,
                                                     Ordering ordering = kAcquireCta,
                                                     SourceSite = {}) {
    const bool done = CudaMachine::mbarrier_try_wait_parity(bar, phase, ordering);
    note(Op::kMbarrierTryWait,
         flags_of(phase) | (done ? std::uint32_t{0} : event_flag::kFalse),
         bar,
         phase.value());
    if (done) {
      watcher_.record_data(bar);
    }
    return done;
  }

  // Named and cluster barriers

  WARPTWIN_HOST_DEVICE void bar_sync(std::uint32_t id,
                                     std::uint32_t threads,
                                     SourceSite site = SourceSite::current()) {
    watcher_.enter({Op::kBarSync, id, threads, 0, site});
    CudaMachine::bar_sync(id, threads);
    watcher_.leave();
    note_value(Op::kBarSync, id, threads);
  }
  WARPTWIN_HOST_DEVICE void bar_arrive(std::uint32_t id, std::uint32_t threads, SourceSite = {}) {
    note_value(Op::kBarArrive, id, threads);
    CudaMachine::bar_arrive(id, threads);
  }
  WARPTWIN_HOST_DEVICE void cta_sync(SourceSite site = SourceSite::current()) {
    watcher_.enter({Op::kBarSync, 0, 0, 0, site});
    CudaMachine::cta_sync();
    watcher_.leave();
    note_value(Op::kBarSync, 0, 0);
  }
  WARPTWIN_HOST_DEVICE void barrier_cluster_arrive(Ordering ordering = kReleaseCluster,
                                                   SourceSite = {}) {
    note_value(Op::kClusterArrive, 0, 0);
    CudaMachine::barrier_cluster_arrive(ordering);
  }
  WARPTWIN_HOST_DEVICE void barrier_cluster_wait(SourceSite site = SourceSite::current()) {
    watcher_.enter({Op::kClusterWait, 0, 0, 0, site});
    CudaMachine::barrier_cluster_wait();
    watcher_.leave();
    note_value(Op::kClusterWait, 0, 0);
  }

  // Copies

  template <class At>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_load(
      SharedAddress smem, const TensorMap& map, const At& at, CopyTarget target, SourceSite = {}) {
    constexpr bool kRows = std::is_same_v<At, RowsOf4>;
    watcher_.record(Op::kTensorLoad,
                    target.multicast.bits,
                    watcher_.object(smem, place_of(map) | (kRows ? RecordedEvent::kFourRows : 0U)),
                    watcher_.object(target.barrier, pair_of(target)),
                    is_alone());
    CudaMachine::cp_async_bulk_tensor_load(smem, map, at, target);
  }
  template <std::uint32_t kRank>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_tensor_store(const TensorMap& map,
                                                       Coordinates<kRank> at,
                                                       SharedAddress smem,
                                                       SourceSite = {}) {
    watcher_.record(Op::kTensorStore, 0, watcher_.object(smem, place_of(map)), 0, is_alone());
    CudaMachine::cp_async_bulk_tensor_store(map, at, smem);
  }
  WARPTWIN_HOST_DEVICE void cp_async_bulk_load(SharedAddress smem,
                                               GlobalAddress global,
                                               std::uint32_t bytes,
                                               CopyTarget target,
                                               SourceSite = {}) {
    watcher_.record(Op::kBulkLoad,
                    bytes / 16,
                    watcher_.object(smem, target.multicast.bits),
                    watcher_.object(target.barrier, pair_of(target)),
                    is_alone());
    CudaMachine::cp_async_bulk_load(smem, global, bytes, target);
  }
  WARPTWIN_HOST_DEVICE void cp_async_bulk_store(GlobalAddress global,
                                                SharedAddress smem,
                                                std::uint32_t bytes,
                                                SourceSite = {}) {
    note(Op::kBulkStore, 0, smem, bytes);
    CudaMachine::cp_async_bulk_store(global, smem, bytes);
  }
  WARPTWIN_HOST_DEVICE void cp_async_bulk_commit_group(SourceSite = {}) {
    note_value(Op::kBulkCommitGroup, 0, 0);
    CudaMachine::cp_async_bulk_commit_group();
  }
  template <std::uint32_t kPending>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_wait_group(SourceSite = {}) {
    CudaMachine::cp_async_bulk_wait_group<kPending>();
    note_value(Op::kBulkWaitGroup, 0, kPending);
  }
  template <std::uint32_t kPending>
  WARPTWIN_HOST_DEVICE void cp_async_bulk_wait_group_read(SourceSite = {}) {
    CudaMachine::cp_async_bulk_wait_group_read<kPending>();
    watcher_.record(Op::kBulkWaitGroup, event_flag::kRead, 0, kPending, is_alone());
  }

  // Copies by lanes: what they arrive for is recorded when they are asked to

  WARPTWIN_HOST_DEVICE void cp_async_mbarrier_arrive_noinc(Mbarrier bar, SourceSite = {}) {
    note(Op::kMbarrierArrive, 0, bar, 1);
    CudaMachine::cp_async_mbarrier_arrive_noinc(bar);
  }
  WARPTWIN_HOST_DEVICE void cp_async_mbarrier_arrive(Mbarrier bar, SourceSite = {}) {
    note(Op::kMbarrierExpectTx, 0, bar, 1);
    note(Op::kMbarrierCompleteTx, 0, bar, 1);
    CudaMachine::cp_async_mbarrier_arrive(bar);
  }

  // Tensor memory

  WARPTWIN_HOST_DEVICE void tcgen05_alloc(CtaGroup group,
                                          SharedAddress word,
                                          std::uint32_t columns,
                                          SourceSite site = SourceSite::current()) {
    watcher_.enter({Op::kTcgen05Alloc, watcher_.object(word), columns, 0, site});
    CudaMachine::tcgen05_alloc(only(group), word, columns);
    watcher_.leave();
    note_value(Op::kTcgen05Alloc, 0, columns);
  }
  WARPTWIN_HOST_DEVICE void tcgen05_dealloc(CtaGroup group,
                                            TmemAddress address,
                                            std::uint32_t columns,
                                            SourceSite = {}) {
    note_value(Op::kTcgen05Dealloc, address.value, columns);
    CudaMachine::tcgen05_dealloc(only(group), address, columns);
  }
  WARPTWIN_HOST_DEVICE void tcgen05_relinquish_alloc_permit(CtaGroup group, SourceSite = {}) {
    note_value(Op::kTcgen05Relinquish, 0, 0);
    CudaMachine::tcgen05_relinquish_alloc_permit(only(group));
  }
  template <class A>
  WARPTWIN_HOST_DEVICE void tcgen05_mma(CtaGroup group,
                                        TmemAddress d,
                                        A a,
                                        UmmaSmemDescriptor b,
                                        UmmaInstructionDescriptor instruction,
                                        bool accumulate,
                                        SourceSite = {}) {
    note_value(Op::kTcgen05Mma, d.value, 0);
    CudaMachine::tcgen05_mma(only(group), d, a, b, instruction, accumulate);
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
    note_value(Op::kTcgen05Mma, d.value, 0);
    CudaMachine::tcgen05_mma_block_scale(
        only(group), d, a, b, instruction, scale_a, scale_b, accumulate);
  }
  WARPTWIN_HOST_DEVICE void tcgen05_mma_sp(CtaGroup group,
                                           TmemAddress d,
                                           UmmaSmemDescriptor a,
                                           UmmaSmemDescriptor b,
                                           UmmaInstructionDescriptor instruction,
                                           TmemAddress metadata,
                                           bool accumulate,
                                           SourceSite = {}) {
    note_value(Op::kTcgen05Mma, d.value, 0);
    CudaMachine::tcgen05_mma_sp(only(group), d, a, b, instruction, metadata, accumulate);
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
    note_value(Op::kTcgen05Mma, d.value, 0);
    CudaMachine::tcgen05_mma_sp_block_scale(
        only(group), d, a, b, instruction, metadata, scale_a, scale_b, accumulate);
  }
  WARPTWIN_HOST_DEVICE void tcgen05_cp(
      CtaGroup group, TmemAddress to, UmmaSmemDescriptor from, TmemCopy shape, SourceSite = {}) {
    note_value(Op::kTcgen05Cp, to.value, columns_of(shape));
    CudaMachine::tcgen05_cp(only(group), to, from, shape);
  }
  WARPTWIN_HOST_DEVICE void tcgen05_commit(CtaGroup group, Mbarrier bar, SourceSite = {}) {
    tcgen05_commit_multicast(group, bar, CtaMask{});
  }
  WARPTWIN_HOST_DEVICE void tcgen05_commit_multicast(CtaGroup group,
                                                     Mbarrier bar,
                                                     CtaMask mask,
                                                     SourceSite = {}) {
    note(Op::kTcgen05Commit, 0, bar, mask.bits);
    CudaMachine::tcgen05_commit_multicast(only(group), bar, mask);
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void tcgen05_ld_32x32b(CudaFragment<kRegisters>& fragment,
                                              TmemAddress address,
                                              SourceSite = {}) {
    note_value(Op::kTcgen05Ld, address.value, kRegisters);
    CudaMachine::tcgen05_ld_32x32b(fragment, address);
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void tcgen05_ld_16x32bx2(CudaFragment<kRegisters>& fragment,
                                                TmemAddress address,
                                                SourceSite = {}) {
    note_value(Op::kTcgen05Ld, address.value, 2 * kRegisters);
    CudaMachine::tcgen05_ld_16x32bx2(fragment, address);
  }
  template <class Columns>
  WARPTWIN_HOST_DEVICE void tcgen05_ld_16x256b(CudaAccumulator<Columns>& d,
                                               TmemAddress address,
                                               SourceSite = {}) {
    note_value(Op::kTcgen05Ld, address.value, d.columns);
    CudaMachine::tcgen05_ld_16x256b(d, address);
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void tcgen05_st_32x32b(TmemAddress address,
                                              const CudaFragment<kRegisters>& fragment,
                                              SourceSite = {}) {
    note_value(Op::kTcgen05St, address.value, kRegisters);
    CudaMachine::tcgen05_st_32x32b(address, fragment);
  }

  // The MMA of a warpgroup

  template <class Columns, class A, class B>
  WARPTWIN_HOST_DEVICE void wgmma(
      CudaAccumulator<Columns>& d, A a, B b, bool accumulate, SourceSite = {}) {
    note_value(Op::kWgmma, 0, d.columns);
    CudaMachine::wgmma(d, a, b, accumulate);
  }
  template <class Columns, class Element>
  WARPTWIN_HOST_DEVICE void wgmma_sp(CudaAccumulator<Columns>& d,
                                     WgmmaSmemDescriptor<Element> a,
                                     WgmmaSmemDescriptor<Element> b,
                                     const CudaFragment<1>& metadata,
                                     std::uint32_t selector,
                                     bool accumulate,
                                     SourceSite = {}) {
    note_value(Op::kWgmma, 0, d.columns);
    CudaMachine::wgmma_sp(d, a, b, metadata, selector, accumulate);
  }
  WARPTWIN_HOST_DEVICE void wgmma_commit_group(SourceSite = {}) {
    note_value(Op::kWgmmaCommit, 0, 0);
    CudaMachine::wgmma_commit_group();
  }
  template <std::uint32_t kPending, class... D>
  WARPTWIN_HOST_DEVICE void wgmma_wait_group(D&&... d) {
    CudaMachine::wgmma_wait_group<kPending>(d...);
    note_value(Op::kWgmmaWait, 0, kPending);
  }

  // Words, launch, registers

  WARPTWIN_HOST_DEVICE void st_release_global_u32(GlobalAddress address,
                                                  std::uint32_t value,
                                                  SourceSite = {}) {
    note_value(Op::kGlobalStoreRelease, 0, value);
    CudaMachine::st_release_global_u32(address, value);
  }
  WARPTWIN_HOST_DEVICE void red_add_release_global_u32(GlobalAddress address,
                                                       std::uint32_t value,
                                                       SourceSite = {}) {
    note_value(Op::kGlobalRedAdd, 0, value);
    CudaMachine::red_add_release_global_u32(address, value);
  }
  WARPTWIN_HOST_DEVICE void wait_global_u32(GlobalAddress address,
                                            std::uint32_t value,
                                            SourceSite site = SourceSite::current()) {
    watcher_.wait(
        {Op::kGlobalWait, 0, value, 0, site},
        [&] { return ptx::ld_acquire_global_u32(address) == value; },
        [&] { return std::uint64_t{ptx::ld_acquire_global_u32(address)}; });
    note_value(Op::kGlobalWait, 0, value);
  }
  WARPTWIN_HOST_DEVICE void clc_try_cancel(SharedAddress response,
                                           Mbarrier bar,
                                           bool multicast,
                                           SourceSite = {}) {
    watcher_.record(Op::kClcTryCancel,
                    multicast ? (1U << cluster_size()) - 1 : std::uint32_t{0},
                    watcher_.object(response),
                    watcher_.object(bar, 0),
                    is_alone());
    CudaMachine::clc_try_cancel(response, bar, multicast);
  }
  WARPTWIN_HOST_DEVICE void griddepcontrol_wait(SourceSite site = SourceSite::current()) {
    watcher_.enter({Op::kGriddepcontrolWait, 0, 0, 0, site});
    CudaMachine::griddepcontrol_wait();
    watcher_.leave();
    note_value(Op::kGriddepcontrolWait, 0, 0);
  }
  WARPTWIN_HOST_DEVICE void griddepcontrol_launch_dependents(SourceSite = {}) {
    note_value(Op::kGriddepcontrolLaunch, 0, 0);
    CudaMachine::griddepcontrol_launch_dependents();
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void setmaxnreg_dec(SourceSite = {}) {
    note_value(Op::kSetmaxnreg, 0, kRegisters);
    CudaMachine::setmaxnreg_dec<kRegisters>();
  }
  template <std::uint32_t kRegisters>
  WARPTWIN_HOST_DEVICE void setmaxnreg_inc(SourceSite site = SourceSite::current()) {
    watcher_.enter({Op::kSetmaxnreg, 0, kRegisters, 0, site});
    CudaMachine::setmaxnreg_inc<kRegisters>();
    watcher_.leave();
    note_value(Op::kSetmaxnreg, 0, kRegisters);
  }

 private:
  WARPTWIN_HOST_DEVICE static constexpr CtaGroup only(CtaGroup group) {
    if constexpr (sizeof...(kGroup) == 1) {
      return (kGroup, ...);
    }
    return group;
  }
  WARPTWIN_HOST_DEVICE static std::uint32_t flags_of(WaitPhase phase) {
    return phase.is_exact() ? event_flag::kExactPhase : std::uint32_t{0};
  }
  template <class Object>
  WARPTWIN_HOST_DEVICE void note(Op op, std::uint32_t flags, Object at, std::uint32_t value) {
    watcher_.record(op, flags, watcher_.object(at), value, is_alone());
  }
  WARPTWIN_HOST_DEVICE void note_value(Op op, std::uint32_t object, std::uint32_t value) {
    watcher_.record(op, 0, object, value, is_alone());
  }
  WARPTWIN_HOST_DEVICE static std::uint32_t pair_of(const CopyTarget& target) {
    return target.group == CtaGroup::kTwo ? RecordedEvent::kPairLoad : std::uint32_t{0};
  }
  WARPTWIN_HOST_DEVICE std::uint32_t place_of(const TensorMap& map) const {
    const auto bytes = reinterpret_cast<const char*>(&map) - argument_;
    const std::int64_t place = bytes / RecordedEvent::kMapUnit;
    return place >= 0 && place < RecordedEvent::kStored
               ? static_cast<std::uint32_t>(place)
               : RecordedEvent::kStored |
                     static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(&map) /
                                                sizeof(TensorMap) % RecordedEvent::kStoredMaps);
  }

  const char* argument_;
  Watcher<kWatch> watcher_;
};

static_assert(Machine<ObservedMachine<Watch::kAll>>);

}  // namespace warptwin::hw
