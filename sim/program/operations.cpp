#include "sim/program/operations.hpp"

#include <algorithm>
#include <iterator>

#include "common/trace/event.hpp"

namespace warptwin::sim {

namespace {

constexpr Verb kVerbs[] = {
    {"mbarrier.init", Op::kMbarrierInit, Operands::kBarrierCount},
    {"mbarrier.inval", Op::kMbarrierInval, Operands::kBarrier},
    {"mbarrier.arrive", Op::kMbarrierArrive, Operands::kArrive},
    {"mbarrier.arrive_drop", Op::kMbarrierArrive, Operands::kArrive, false, event_flag::kDrop},
    {"mbarrier.arrive.expect_tx",
     Op::kMbarrierArrive,
     Operands::kArrive,
     false,
     event_flag::kExpectTx},
    {"mbarrier.arrive.noComplete",
     Op::kMbarrierArrive,
     Operands::kArrive,
     false,
     event_flag::kNoComplete},
    {"mbarrier.expect_tx", Op::kMbarrierExpectTx, Operands::kBarrierCount},
    {"mbarrier.complete_tx", Op::kMbarrierCompleteTx, Operands::kBarrierCount},
    {"mbarrier.wait", Op::kMbarrierWait, Operands::kWait},
    {"mbarrier.try_wait", Op::kMbarrierTryWait, Operands::kWait},
    {"fence", Op::kFence, Operands::kNone},
    {"fence.mbarrier_init", Op::kFenceMbarrierInit, Operands::kNone},
    {"fence.proxy.async", Op::kFenceProxyAsync, Operands::kNone},
    {"fence.proxy.tensormap::generic.release.gpu", Op::kFenceProxyTensormap, Operands::kNone},
    {"fence.proxy.tensormap::generic.acquire.gpu",
     Op::kFenceProxyTensormap,
     Operands::kMap,
     false,
     1},
    {"tcgen05.fence::before_thread_sync", Op::kTcgen05FenceBefore, Operands::kNone},
    {"tcgen05.fence::after_thread_sync", Op::kTcgen05FenceAfter, Operands::kNone},
    {"bar.sync", Op::kBarSync, Operands::kNamed},
    {"bar.arrive", Op::kBarArrive, Operands::kNamed},
    {"barrier.cluster.arrive", Op::kClusterArrive, Operands::kNone},
    {"barrier.cluster.wait", Op::kClusterWait, Operands::kNone},
    {"bar.warp.sync", Op::kSyncWarp, Operands::kNone},
    {"elect.sync", Op::kElectSync, Operands::kNone},
    {"cp.async.bulk.tensor.shared.global", Op::kTensorLoad, Operands::kTensorLoad, true},
    {"cp.async.bulk.tensor.shared.global.tile::gather4",
     Op::kTensorLoad,
     Operands::kTensorLoad,
     true,
     1},
    {"cp.async.bulk.tensor.global.shared", Op::kTensorStore, Operands::kTensorStore, true},
    {"tensormap.replace.global_address", Op::kTensormapReplace, Operands::kMapGlobal},
    {"tensormap.replace.global_dim", Op::kTensormapReplace, Operands::kMapExtent, false, 1},
    {"cp.async.bulk.shared.global", Op::kBulkLoad, Operands::kBulkLoad, true},
    {"cp.async.bulk.global.shared", Op::kBulkStore, Operands::kBulkStore, true},
    {"cp.async.bulk.commit_group", Op::kBulkCommitGroup, Operands::kNone, true},
    {"cp.async.bulk.wait_group", Op::kBulkWaitGroup, Operands::kNumber},
    {"cp.async.bulk.wait_group.read", Op::kBulkWaitGroup, Operands::kNumber, false, 1},
    {"tcgen05.alloc", Op::kTcgen05Alloc, Operands::kTmemAlloc},
    {"tcgen05.dealloc", Op::kTcgen05Dealloc, Operands::kTmemRegion},
    {"tcgen05.relinquish_alloc_permit", Op::kTcgen05Relinquish, Operands::kNone},
    {"tcgen05.mma", Op::kTcgen05Mma, Operands::kMma, true},
    {"tcgen05.mma.block_scale", Op::kTcgen05Mma, Operands::kMma, true, 1},
    {"tcgen05.mma.sp", Op::kTcgen05Mma, Operands::kMma, true, 2},
    {"tcgen05.mma.sp.block_scale", Op::kTcgen05Mma, Operands::kMma, true, 3},
    {"tcgen05.cp.128x256b", Op::kTcgen05Cp, Operands::kCp, true, 0},
    {"tcgen05.cp.128x128b", Op::kTcgen05Cp, Operands::kCp, true, 1},
    {"tcgen05.cp.32x128b.warpx4", Op::kTcgen05Cp, Operands::kCp, true, 2},
    {"tcgen05.commit", Op::kTcgen05Commit, Operands::kCommit, true},
    {"tcgen05.ld.32x32b", Op::kTcgen05Ld, Operands::kTmemLoad},
    {"tcgen05.ld.16x32bx2", Op::kTcgen05Ld, Operands::kTmemLoad, false, 1},
    {"tcgen05.ld.16x256b", Op::kTcgen05Ld, Operands::kTmemLoad, false, 2},
    {"tcgen05.st.32x32b", Op::kTcgen05St, Operands::kTmemStore},
    {"tcgen05.wait::ld", Op::kTcgen05WaitLd, Operands::kFragment},
    {"tcgen05.wait::st", Op::kTcgen05WaitSt, Operands::kNone},
    {"wgmma.mma_async", Op::kWgmma, Operands::kWgmma},
    {"wgmma.mma_async.sp", Op::kWgmma, Operands::kWgmma, false, 1},
    {"wgmma.fence", Op::kWgmmaFence, Operands::kNone},
    {"wgmma.commit_group", Op::kWgmmaCommit, Operands::kNone},
    {"wgmma.wait_group", Op::kWgmmaWait, Operands::kNumberFragment},
    {"use", Op::kFragmentRead, Operands::kFragment},
    {"st.shared", Op::kSharedStore, Operands::kSharedStore},
    {"st.shared.rows", Op::kSharedStore, Operands::kRowsStore, false, 1},
    {"st.shared.columns", Op::kSharedStore, Operands::kRowsStore, false, 2},
    {"st.shared.half_rows", Op::kSharedStore, Operands::kRowsStore, false, 3},
    {"st.shared.half_columns", Op::kSharedStore, Operands::kRowsStore, false, 4},
    {"st.shared.accumulator", Op::kSharedStore, Operands::kAccumulator, false, 5},
    {"ld.shared", Op::kSharedLoad, Operands::kSharedLoad},
    {"ld.shared.rows", Op::kSharedLoad, Operands::kRowsLoad, false, 1},
    {"ld.global", Op::kGlobalLoad, Operands::kGlobalLoad},
    {"ld.global.nc", Op::kGlobalLoad, Operands::kGlobalLoad, false, 1},
    {"ld.acquire.gpu.global", Op::kGlobalLoadAcquire, Operands::kGlobalLoad},
    {"st.release.gpu.global", Op::kGlobalStoreRelease, Operands::kGlobalValue},
    {"red.add.release.gpu.global", Op::kGlobalRedAdd, Operands::kGlobalValue},
    {"wait.acquire.gpu.global", Op::kGlobalWait, Operands::kGlobalValue},
    {"clusterlaunchcontrol.try_cancel", Op::kClcTryCancel, Operands::kClcRequest, true},
    {"clusterlaunchcontrol.try_cancel.multicast::cluster::all",
     Op::kClcTryCancel,
     Operands::kClcRequest,
     true,
     1},
    {"clusterlaunchcontrol.query_cancel.is_canceled", Op::kClcQuery, Operands::kClcQuery},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid",
     Op::kClcQuery,
     Operands::kClcQuery,
     false,
     1},
    {"griddepcontrol.wait", Op::kGriddepcontrolWait, Operands::kNone},
    {"griddepcontrol.launch_dependents", Op::kGriddepcontrolLaunch, Operands::kNone},
    {"setmaxnreg.dec", Op::kSetmaxnreg, Operands::kNumber},
    {"setmaxnreg.inc", Op::kSetmaxnreg, Operands::kNumber, false, 1},
    {"note.stage", Op::kStageNote, Operands::kStageNote},
};

}  // namespace

const Verb* find_verb(std::string_view mnemonic) {
  const Verb* best = nullptr;
  for (const Verb& verb : kVerbs) {
    const bool fits = mnemonic.starts_with(verb.name) &&
                      (mnemonic.size() == verb.name.size() || mnemonic[verb.name.size()] == '.');
    if (fits && (best == nullptr || verb.name.size() > best->name.size())) {
      best = &verb;
    }
  }
  return best;
}

const Verb* find_verb(Op op, std::uint32_t variant) {
  const Verb* found = std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const Verb& verb) {
    return verb.op == op && verb.variant == variant;
  });
  return found == std::end(kVerbs) ? nullptr : found;
}

namespace {

// Bytes of lanes have no text.
std::uint32_t variant_of_word(const Operation& operation) {
  return operation.is<operands::LaneBytes>() ? ~std::uint32_t{0} : 0;
}

}  // namespace

std::uint32_t variant_of(const Operation& operation) {
  const auto has = [&](std::uint32_t flag) { return (operation.flags & flag) != 0; };
  switch (operation.op) {
    case Op::kMbarrierArrive:
      return operation.flags &
             (event_flag::kDrop | event_flag::kExpectTx | event_flag::kNoComplete);
    case Op::kFenceProxyTensormap:
      return operation.ordering.semantics == Semantics::kAcquire ? 1 : 0;
    case Op::kBulkWaitGroup:
      return has(event_flag::kRead) ? 1 : 0;
    case Op::kTensorLoad:  // of im2col there is none
      return static_cast<std::uint32_t>(operation.as<operands::Copy>().mode);
    case Op::kTensormapReplace:
      return operation.as<operands::MapChange>().of_extent() ? 1 : 0;
    case Op::kGlobalLoad:
      return operation.is<operands::LaneBytes>() ? variant_of_word(operation)
             : has(event_flag::kReadOnly)        ? 1
                                                 : 0;
    case Op::kSetmaxnreg:
      return has(event_flag::kIncrease) ? 1 : 0;
    case Op::kTcgen05Mma:
      return (has(event_flag::kSparse) ? 2 : 0) + (has(event_flag::kBlockScale) ? 1 : 0);
    case Op::kWgmma:
      return has(event_flag::kSparse) ? 1 : 0;
    case Op::kTcgen05Cp:
      return static_cast<std::uint32_t>(operation.as<operands::TmemCopy>().shape);
    case Op::kTcgen05Ld:
      return operation.as<operands::TmemAccess>().half_rows       ? 1
             : operation.as<operands::TmemAccess>().of_16_lanes() ? 2
                                                                  : 0;
    case Op::kSharedStore: {
      if (!operation.is<operands::SharedRows>()) {
        return variant_of_word(operation);
      }
      const auto& rows = operation.as<operands::SharedRows>();
      return rows.of_accumulator ? 5
             : rows.half_rows    ? rows.by_columns ? 4 : 3
             : rows.by_columns   ? 2
                                 : 1;
    }
    case Op::kSharedLoad:
      return operation.is<operands::SharedRows>() ? 1 : variant_of_word(operation);
    case Op::kClcTryCancel:
      return operation.mask().bits != 0 ? 1 : 0;
    case Op::kClcQuery:
      return operation.as<operands::ClcQuery>().word;
    default:
      return 0;
  }
}

std::string known_verbs() {
  std::string known = "an operation:";
  for (const Verb& verb : kVerbs) {
    known += (&verb == kVerbs ? " " : ", ") + std::string{verb.name};
  }
  return known;
}

Ordering standard_ordering(const Operation& operation) {
  switch (operation.op) {
    case Op::kMbarrierArrive:
      return (operation.flags & event_flag::kRemote) != 0 ? kReleaseCluster : kReleaseCta;
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return kAcquireCta;
    case Op::kClusterArrive:
      return kReleaseCluster;
    case Op::kFence:
      return {Semantics::kAcqRel, Scope::kCta};
    case Op::kFenceProxyTensormap:
      return {
          operation.as<operands::MapFence>().map == 0 ? Semantics::kRelease : Semantics::kAcquire,
          Scope::kGpu};
    default:
      return kRelaxedCta;
  }
}

bool has_ordering(Op op) {
  return op == Op::kMbarrierArrive || op == Op::kMbarrierWait || op == Op::kMbarrierTryWait ||
         op == Op::kClusterArrive || op == Op::kFence;
}

}  // namespace warptwin::sim
