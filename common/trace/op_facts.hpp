/// The table of what an operation is: who wants to know what kind of operation it has asks here.
/// The oracles in sim/oracle have lists of their own.

#pragma once

#include <cstdint>
#include <iterator>

#include "common/trace/event.hpp"

namespace warptwin {

/// Bits of `OpFacts::traits`.
namespace op_trait {
/// The whole warp executes it, or it is wrong.
inline constexpr std::uint32_t kCollective = 1U << 0;
/// Behind it the lanes of the warp are together.
inline constexpr std::uint32_t kMeets = 1U << 1;
/// It is issued once, whoever calls it.
inline constexpr std::uint32_t kElected = 1U << 2;
/// Each lane does it for itself, and others may see it or depend on it.
inline constexpr std::uint32_t kPerLane = 1U << 3;
/// Of those: it may depend on a bulk store of the lane.
inline constexpr std::uint32_t kAfterStores = 1U << 4;
/// A warp may have to wait there.
inline constexpr std::uint32_t kMayBlock = 1U << 5;
/// One lane alone may wait there.
inline constexpr std::uint32_t kLaneWaits = 1U << 6;
/// It acts on an mbarrier, a named barrier or the cluster's.
inline constexpr std::uint32_t kBarrier = 1U << 7;
/// Others wait for it, or it waits for or orders what others do.
inline constexpr std::uint32_t kSynchronises = 1U << 8;
/// Nobody can see when it is executed: a timed warp need not wait to do it.
inline constexpr std::uint32_t kRunsAhead = 1U << 9;
/// It hands work to a unit that takes it in order.
inline constexpr std::uint32_t kUsesUnit = 1U << 10;
/// It stands in a trace file: it takes part in a protocol.
inline constexpr std::uint32_t kTraced = 1U << 11;
/// `Event::address` is in shared memory.
inline constexpr std::uint32_t kSharedObject = 1U << 12;
/// `Event::address` is in tensor memory.
inline constexpr std::uint32_t kTmemObject = 1U << 13;
/// A kernel begins or ends with it, whatever its roles do.
inline constexpr std::uint32_t kFrame = 1U << 14;
/// It is the thread's that does it, even where the warp meets: groups of copies, what a commit
/// tells of, and the fence that makes relaxed accesses of the thread release and acquire.
inline constexpr std::uint32_t kOfThread = 1U << 15;
/// Behind it each lane that executes it knows what the others did before it.
inline constexpr std::uint32_t kOrdersLanes = 1U << 16;
/// Lanes wait for each other there, and memory is not ordered by it.
inline constexpr std::uint32_t kGathers = 1U << 17;
/// It synchronises by a word of global memory.
inline constexpr std::uint32_t kGlobalWord = 1U << 18;
/// It may acquire what was released to an mbarrier or to a word.
inline constexpr std::uint32_t kAcquires = 1U << 19;
/// `Event::address` is an mbarrier.
inline constexpr std::uint32_t kMbarrier = 1U << 20;
/// Of those: it looks whether a phase is complete.
inline constexpr std::uint32_t kLooks = 1U << 21;
/// The tensor core does it.
inline constexpr std::uint32_t kTensorCore = 1U << 22;
}  // namespace op_trait

struct OpFacts {
  Op op;
  const char* name;  // PTX's, or words
  std::uint32_t traits;
};

namespace detail {

using namespace op_trait;  // NOLINT: for the rows
// clang-format off
inline constexpr OpFacts kOpFacts[] = {
    {Op::kMbarrierInit, "mbarrier.init",
     kPerLane | kBarrier | kSynchronises | kTraced | kSharedObject | kFrame | kMbarrier},
    {Op::kMbarrierInval, "mbarrier.inval",
     kPerLane | kBarrier | kSynchronises | kTraced | kSharedObject | kFrame | kMbarrier},
    {Op::kMbarrierArrive, "mbarrier.arrive",
     kPerLane | kBarrier | kSynchronises | kTraced | kSharedObject | kMbarrier},
    {Op::kMbarrierExpectTx, "mbarrier.expect_tx",
     kPerLane | kBarrier | kSynchronises | kTraced | kSharedObject | kMbarrier},
    {Op::kMbarrierCompleteTx, "mbarrier.complete_tx",
     kPerLane | kBarrier | kSynchronises | kTraced | kSharedObject | kMbarrier},
    {Op::kMbarrierWait, "mbarrier.wait",
     kPerLane | kMayBlock | kLaneWaits | kBarrier | kSynchronises | kTraced | kSharedObject |
     kAcquires | kMbarrier | kLooks},
    {Op::kMbarrierTryWait, "mbarrier.try_wait",
     kPerLane | kMayBlock | kLaneWaits | kBarrier | kSynchronises | kTraced | kSharedObject |
     kAcquires | kMbarrier | kLooks},
    {Op::kFence, "fence", kPerLane | kSynchronises | kRunsAhead | kFrame | kOfThread},
    {Op::kFenceMbarrierInit, "fence.mbarrier_init", kPerLane | kSynchronises | kRunsAhead | kFrame},
    {Op::kFenceProxyAsync, "fence.proxy.async", kPerLane | kSynchronises | kRunsAhead},
    {Op::kFenceProxyTensormap, "fence.proxy.tensormap::generic", kPerLane | kSynchronises},
    {Op::kTcgen05FenceBefore, "tcgen05.fence::before_thread_sync",
     kPerLane | kSynchronises | kRunsAhead | kFrame},
    {Op::kTcgen05FenceAfter, "tcgen05.fence::after_thread_sync",
     kPerLane | kSynchronises | kRunsAhead | kFrame},
    {Op::kBarSync, "bar.sync",
     kCollective | kMeets | kMayBlock | kBarrier | kSynchronises | kTraced | kOrdersLanes},
    {Op::kBarArrive, "bar.arrive", kCollective | kMeets | kBarrier | kSynchronises | kTraced},
    {Op::kClusterArrive, "barrier.cluster.arrive",
     kCollective | kMeets | kMayBlock | kBarrier | kSynchronises | kTraced | kFrame},
    {Op::kClusterWait, "barrier.cluster.wait",
     kCollective | kMeets | kMayBlock | kBarrier | kSynchronises | kTraced | kFrame | kOrdersLanes},
    {Op::kSyncWarp, "bar.warp.sync",
     kCollective | kMeets | kMayBlock | kSynchronises | kRunsAhead | kFrame | kOrdersLanes},
    {Op::kTensorLoad, "cp.async.bulk.tensor (load)",
     kElected | kSynchronises | kRunsAhead | kUsesUnit | kTraced | kSharedObject},
    {Op::kTensorStore, "cp.async.bulk.tensor (store)",
     kElected | kTraced | kSharedObject | kOfThread},
    {Op::kTensormapReplace, "tensormap.replace.global_address", kPerLane},
    {Op::kBulkLoad, "cp.async.bulk (load)",
     kElected | kSynchronises | kRunsAhead | kUsesUnit | kTraced | kSharedObject},
    {Op::kBulkStore, "cp.async.bulk (store)", kElected | kTraced | kSharedObject | kOfThread},
    {Op::kBulkCommitGroup, "cp.async.bulk.commit_group",
     kElected | kSynchronises | kTraced | kOfThread},
    {Op::kBulkWaitGroup, "cp.async.bulk.wait_group",
     kElected | kMayBlock | kLaneWaits | kSynchronises | kTraced | kOfThread},
    {Op::kTcgen05Alloc, "tcgen05.alloc",
     kCollective | kMeets | kMayBlock | kSynchronises | kTraced | kFrame},
    {Op::kTcgen05Dealloc, "tcgen05.dealloc",
     kCollective | kMeets | kMayBlock | kSynchronises | kTraced | kTmemObject | kFrame},
    {Op::kTcgen05Relinquish, "tcgen05.relinquish_alloc_permit",
     kCollective | kMeets | kSynchronises | kTraced | kFrame},
    {Op::kTcgen05Mma, "tcgen05.mma",
     kElected | kRunsAhead | kUsesUnit | kTraced | kTmemObject | kOfThread | kTensorCore},
    {Op::kTcgen05Cp, "tcgen05.cp",
     kElected | kRunsAhead | kUsesUnit | kTraced | kTmemObject | kOfThread | kTensorCore},
    {Op::kTcgen05Commit, "tcgen05.commit",
     kElected | kSynchronises | kRunsAhead | kUsesUnit | kTraced | kSharedObject | kOfThread |
     kMbarrier},
    {Op::kTcgen05Ld, "tcgen05.ld", kCollective | kMeets | kTraced | kTmemObject},
    {Op::kTcgen05St, "tcgen05.st", kCollective | kMeets | kTraced | kTmemObject},
    {Op::kTcgen05WaitLd, "tcgen05.wait::ld", kCollective | kMeets | kMayBlock | kSynchronises},
    {Op::kTcgen05WaitSt, "tcgen05.wait::st", kCollective | kMeets | kMayBlock | kSynchronises},
    {Op::kWgmma, "wgmma.mma_async",
     kCollective | kRunsAhead | kUsesUnit | kTraced | kGathers | kTensorCore},
    {Op::kWgmmaFence, "wgmma.fence", kCollective | kSynchronises | kGathers},
    {Op::kWgmmaCommit, "wgmma.commit_group",
     kCollective | kSynchronises | kRunsAhead | kTraced | kGathers},
    {Op::kWgmmaWait, "wgmma.wait_group",
     kCollective | kMayBlock | kSynchronises | kTraced | kGathers},
    {Op::kFragmentRead, "fragment read", kRunsAhead},
    {Op::kSharedStore, "st.shared", kPerLane | kAfterStores},
    {Op::kSharedLoad, "ld.shared", kPerLane},
    {Op::kGlobalLoad, "ld.global", kPerLane | kAfterStores},
    {Op::kGlobalLoadAcquire, "ld.acquire.global",
     kPerLane | kMayBlock | kSynchronises | kGlobalWord | kAcquires},
    {Op::kGlobalStoreRelease, "st.release.global",
     kPerLane | kAfterStores | kSynchronises | kTraced | kGlobalWord},
    {Op::kGlobalRedAdd, "red.add.global",
     kPerLane | kAfterStores | kSynchronises | kTraced | kGlobalWord},
    {Op::kGlobalWait, "wait for a global word",
     kPerLane | kMayBlock | kLaneWaits | kSynchronises | kTraced | kGlobalWord | kAcquires},
    {Op::kClcTryCancel, "clusterlaunchcontrol.try_cancel",
     kElected | kSynchronises | kTraced | kSharedObject},
    {Op::kClcQuery, "clusterlaunchcontrol.query_cancel", kPerLane},
    {Op::kGriddepcontrolWait, "griddepcontrol.wait", kLaneWaits | kSynchronises | kTraced | kFrame},
    {Op::kGriddepcontrolLaunch, "griddepcontrol.launch_dependents",
     kSynchronises | kTraced | kFrame},
    {Op::kSetmaxnreg, "setmaxnreg",
     kCollective | kMeets | kMayBlock | kSynchronises | kTraced | kFrame},
    {Op::kStageNote, "stage note", kFrame},
    {Op::kWarpStart, "start", kSynchronises | kFrame},
    {Op::kWarpExit, "exit", kMeets | kMayBlock | kSynchronises | kFrame},
    {Op::kCtaExit, "CTA exit", kSynchronises | kFrame},
    {Op::kGlobalStore, "st.global", kPerLane | kAfterStores},
    {Op::kTrap, "trap", 0},
    {Op::kElectSync, "elect.sync",
     kCollective | kMayBlock | kSynchronises | kRunsAhead | kFrame | kGathers},
};
// clang-format on
static_assert(std::size(kOpFacts) == static_cast<unsigned>(Op::kCount));
static_assert([] {
  for (unsigned i = 0; i < std::size(kOpFacts); ++i) {
    if (static_cast<unsigned>(kOpFacts[i].op) != i) {
      return false;
    }
  }
  return true;
}());
// Of one that has the first trait: it has the second one.
static_assert([] {
  constexpr std::uint32_t kImplied[][2] = {{kLooks, kMbarrier},
                                           {kLooks, kAcquires},
                                           {kMbarrier, kBarrier | kUsesUnit},
                                           {kOrdersLanes, kMeets | kMayBlock},
                                           {kGathers, kCollective},
                                           {kGlobalWord, kSynchronises},
                                           {kAcquires, kMayBlock},
                                           {kTensorCore, kUsesUnit}};
  for (const OpFacts& facts : kOpFacts) {
    for (const auto& [trait, implied] : kImplied) {
      if ((facts.traits & trait) != 0 && (facts.traits & implied) == 0) {
        return false;
      }
    }
  }
  return true;
}());

}  // namespace detail

/// Whether `op` has any of `traits`. Op::kCount has none.
constexpr bool has_trait(Op op, std::uint32_t traits) {
  return op < Op::kCount && (detail::kOpFacts[static_cast<unsigned>(op)].traits & traits) != 0;
}

/// Whether one lane has waited, for itself alone. A wait for bulk groups is always one lane's.
constexpr bool waits_alone(const Event& event) {
  return event.lanes == 1 && has_trait(event.op, op_trait::kLaneWaits) &&
         event.op != Op::kBulkWaitGroup && (event.flags & event_flag::kFalse) == 0;
}

}  // namespace warptwin
