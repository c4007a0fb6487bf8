#include "common/trace/event.hpp"

namespace warptwin {

const char* name_of(Op op) {
  constexpr const char* kNames[] = {
      "mbarrier.init",
      "mbarrier.inval",
      "mbarrier.arrive",
      "mbarrier.expect_tx",
      "mbarrier.complete_tx",
      "mbarrier.wait",
      "mbarrier.try_wait",
      "fence",
      "fence.mbarrier_init",
      "fence.proxy.async",
      "fence.proxy.tensormap::generic",
      "tcgen05.fence::before_thread_sync",
      "tcgen05.fence::after_thread_sync",
      "bar.sync",
      "bar.arrive",
      "barrier.cluster.arrive",
      "barrier.cluster.wait",
      "bar.warp.sync",
      "cp.async.bulk.tensor (load)",
      "cp.async.bulk.tensor (store)",
      "tensormap.replace.global_address",
      "cp.async.bulk (load)",
      "cp.async.bulk (store)",
      "cp.async.bulk.commit_group",
      "cp.async.bulk.wait_group",
      "tcgen05.alloc",
      "tcgen05.dealloc",
      "tcgen05.relinquish_alloc_permit",
      "tcgen05.mma",
      "tcgen05.cp",
      "tcgen05.commit",
      "tcgen05.ld",
      "tcgen05.st",
      "tcgen05.wait::ld",
      "tcgen05.wait::st",
      "fragment read",
      "st.shared",
      "ld.shared",
      "ld.global",
      "ld.acquire.global",
      "st.release.global",
      "red.add.global",
      "wait for a global word",
      "clusterlaunchcontrol.try_cancel",
      "clusterlaunchcontrol.query_cancel",
      "griddepcontrol.wait",
      "griddepcontrol.launch_dependents",
      "setmaxnreg",
      "stage note",
      "start",
      "exit",
      "CTA exit",
  };
  static_assert(sizeof kNames / sizeof *kNames == static_cast<unsigned>(Op::kCount));
  return op < Op::kCount ? kNames[static_cast<unsigned>(op)] : "nothing";
}

}  // namespace warptwin
