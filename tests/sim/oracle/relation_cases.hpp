/// Wrong programs, each with its twin, that oracle R is tested on.

#pragma once

#include <ostream>

#include "sim/oracle/relation.hpp"

namespace warptwin::sim {

/// A wrong program, and its twin by one line or two.
struct RelationCase {
  const char* name;
  RelationKind kind;  // of a finding that the wrong one must have
  const char* launch;
  const char* wrong;
  const char* right;
};

inline void PrintTo(const RelationCase& one, std::ostream* out) {
  *out << one.name;
}

inline const RelationCase kCases[] = {
    {"source_of_a_store_masked_by_a_load",
     RelationKind::kRace,
     "warps 1",
     R"(warp 0:
  elect st.shared [word[0]], 1
  elect st.shared [word[0]+4], 1
  elect st.shared [word[0]+8], 1
  elect st.shared [word[0]+12], 1
  elect fence.proxy.async.shared::cta
  elect cp.async.bulk.global.shared [target], [word[0]], 16
  elect cp.async.bulk.commit_group
  elect ld.shared [word[0]]
  elect st.shared [word[0]], 7
  elect cp.async.bulk.wait_group 0
)",
     R"(warp 0:
  elect st.shared [word[0]], 1
  elect st.shared [word[0]+4], 1
  elect st.shared [word[0]+8], 1
  elect st.shared [word[0]+12], 1
  elect fence.proxy.async.shared::cta
  elect cp.async.bulk.global.shared [target], [word[0]], 16
  elect cp.async.bulk.commit_group
  elect ld.shared [word[0]]
  elect cp.async.bulk.wait_group.read 0
  elect st.shared [word[0]], 7
  elect cp.async.bulk.wait_group 0
)"},
    {"two_readers_one_releases",
     RelationKind::kRace,
     "warps 3",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect st.shared [word[0]], 1
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect st.shared [word[0]], 2
warp 1:
  bar.sync 0
  elect ld.shared [word[0]]
warp 2:
  bar.sync 0
  elect ld.shared [word[0]]
  elect mbarrier.arrive [bar[0]], 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 2
  elect st.shared [word[0]], 1
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect st.shared [word[0]], 2
warp 1:
  bar.sync 0
  elect ld.shared [word[0]]
  elect mbarrier.arrive [bar[0]], 1
warp 2:
  bar.sync 0
  elect ld.shared [word[0]]
  elect mbarrier.arrive [bar[0]], 1
)"},
    {"inval_races_with_a_wait",
     RelationKind::kBarrierLife,
     "warps 3",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect mbarrier.inval [bar[0]]
warp 2:
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.sync 1, 64
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.sync 1, 64
  elect mbarrier.inval [bar[0]]
warp 2:
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
)"},
    {"a_store_on_what_becomes_an_mbarrier",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect st.shared [bar[1]], 5
warp 1:
  elect mbarrier.init [bar[1]], 1
  elect mbarrier.arrive [bar[1]], 1
  bar.warp.sync
  mbarrier.wait [bar[1]], phase 0
)",
     R"(warp 0:
  elect st.shared [bar[1]], 5
  bar.sync 0
warp 1:
  bar.sync 0
  elect mbarrier.init [bar[1]], 1
  elect mbarrier.arrive [bar[1]], 1
  bar.warp.sync
  mbarrier.wait [bar[1]], phase 0
)"},
    {"relinquish_races_with_alloc",
     RelationKind::kAllocation,
     "warps 2",
     R"(warp 0:
  tcgen05.alloc [word[15]], 32
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  tcgen05.relinquish_alloc_permit
)",
     R"(warp 0:
  tcgen05.alloc [word[15]], 32
  bar.sync 0
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  bar.sync 0
  tcgen05.relinquish_alloc_permit
)"},
    {"a_store_to_columns_races_with_alloc",
     RelationKind::kAllocation,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  tcgen05.alloc [word[15]], 32
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  tcgen05.fence::after_thread_sync
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  bar.sync 0
  tcgen05.st.32x32b.x4 [tmem lane 32, column 0], f0
  tcgen05.wait::st
  tcgen05.fence::before_thread_sync
  elect mbarrier.arrive [bar[0]], 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  tcgen05.alloc [word[15]], 32
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  tcgen05.fence::after_thread_sync
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  bar.sync 0
  tcgen05.st.32x32b.x4 [tmem lane 32, column 0], f0
  tcgen05.wait::st
  tcgen05.fence::before_thread_sync
  elect mbarrier.arrive [bar[0]], 1
)"},
    {"a_flag_takes_a_value_twice",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect st.release.gpu.global [flag], 1
  elect st.release.gpu.global [flag], 2
  elect st.shared [word[0]], 5
  elect st.release.gpu.global [flag], 1
warp 1:
  elect wait.acquire.gpu.global [flag], 1
  bar.warp.sync
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect st.release.gpu.global [flag], 1
  elect st.release.gpu.global [flag], 2
  elect st.shared [word[0]], 5
  elect st.release.gpu.global [flag], 3
warp 1:
  elect wait.acquire.gpu.global [flag], 3
  bar.warp.sync
  elect ld.shared [word[0]]
)"},
    {"a_flag_goes_back_to_its_first_value",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect st.release.gpu.global [flag], 1
  elect st.shared [word[0]], 5
  elect st.release.gpu.global [flag], 0
warp 1:
  elect wait.acquire.gpu.global [flag], 0
  bar.warp.sync
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect st.release.gpu.global [flag], 1
  elect st.shared [word[0]], 5
  elect st.release.gpu.global [flag], 2
warp 1:
  elect wait.acquire.gpu.global [flag], 2
  bar.warp.sync
  elect ld.shared [word[0]]
)"},
    {"a_stage_released_at_issue_masked_by_a_reader",
     RelationKind::kRace,
     "warps 3",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 2
  elect mbarrier.init [bar[2]], 1
  tcgen05.alloc [word[15]], 32
  bar.sync 0
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  mbarrier.wait [bar[0]], phase 1
  mbarrier.wait [bar[2]], phase 0
  bar.warp.sync
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect mbarrier.arrive [bar[1]], 1
  elect tcgen05.commit [bar[2]]
warp 2:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [tile[0]]
  elect fence.proxy.async.shared::cta
  elect mbarrier.arrive [bar[1]], 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 2
  elect mbarrier.init [bar[2]], 1
  tcgen05.alloc [word[15]], 32
  bar.sync 0
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  mbarrier.wait [bar[0]], phase 1
  mbarrier.wait [bar[2]], phase 0
  bar.warp.sync
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect tcgen05.commit [bar[1]]
  elect tcgen05.commit [bar[2]]
warp 2:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [tile[0]]
  elect fence.proxy.async.shared::cta
  elect mbarrier.arrive [bar[1]], 1
)"},
    {"an_operand_written_in_part",
     RelationKind::kUnwritten,
     "warps 1",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  tcgen05.alloc [word[15]], 32
  elect mbarrier.arrive.expect_tx [bar[0]], 4080
  elect cp.async.bulk.shared.global [tile[0]], [source], 4080, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect tcgen05.commit [bar[1]]
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  tcgen05.dealloc [tmem column 0], 32
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  tcgen05.alloc [word[15]], 32
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect tcgen05.commit [bar[1]]
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  tcgen05.dealloc [tmem column 0], 32
)"},
    {"a_commit_to_a_peer_before_its_init",
     RelationKind::kBarrierLife,
     "cluster 2\nwarps 1",
     R"(cta 0 warp 0:
  elect mbarrier.init [bar[0]], 1
  elect fence.mbarrier_init
  bar.warp.sync
  elect tcgen05.commit.multicast [bar[0]], mask 3
  mbarrier.wait.acquire.cluster [bar[0]], phase 0
  barrier.cluster.arrive
  barrier.cluster.wait
cta 1 warp 0:
  elect mbarrier.init [bar[0]], 1
  elect fence.mbarrier_init
  bar.warp.sync
  mbarrier.wait.acquire.cluster [bar[0]], phase 0
  barrier.cluster.arrive
  barrier.cluster.wait
)",
     R"(cta 0 warp 0:
  elect mbarrier.init [bar[0]], 1
  elect fence.mbarrier_init
  barrier.cluster.arrive.relaxed.cluster
  barrier.cluster.wait
  elect tcgen05.commit.multicast [bar[0]], mask 3
  mbarrier.wait.acquire.cluster [bar[0]], phase 0
  barrier.cluster.arrive
  barrier.cluster.wait
cta 1 warp 0:
  elect mbarrier.init [bar[0]], 1
  elect fence.mbarrier_init
  barrier.cluster.arrive.relaxed.cluster
  barrier.cluster.wait
  mbarrier.wait.acquire.cluster [bar[0]], phase 0
  barrier.cluster.arrive
  barrier.cluster.wait
)"},
    {"a_bulk_store_over_a_word_that_is_polled",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect st.shared [word[0]], 1
  elect st.shared [word[0]+4], 1
  elect st.shared [word[0]+8], 1
  elect st.shared [word[0]+12], 1
  elect fence.proxy.async.shared::cta
  elect cp.async.bulk.global.shared [flag], [word[0]], 16
  elect cp.async.bulk.commit_group
  elect cp.async.bulk.wait_group 0
  elect st.shared [word[1]], 5
  elect st.release.gpu.global [flag], 1
warp 1:
  elect wait.acquire.gpu.global [flag], 1
  bar.warp.sync
  elect ld.shared [word[1]]
)",
     R"(warp 0:
  elect st.shared [word[0]], 1
  elect st.shared [word[0]+4], 1
  elect st.shared [word[0]+8], 1
  elect st.shared [word[0]+12], 1
  elect fence.proxy.async.shared::cta
  elect cp.async.bulk.global.shared [flag+16], [word[0]], 16
  elect cp.async.bulk.commit_group
  elect cp.async.bulk.wait_group 0
  elect st.shared [word[1]], 5
  elect st.release.gpu.global [flag], 1
warp 1:
  elect wait.acquire.gpu.global [flag], 1
  bar.warp.sync
  elect ld.shared [word[1]]
)"},
    {"a_word_that_a_copy_brings_decides",
     RelationKind::kEnding,
     "warps 1",
     R"(initial [flag], 1
warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [flag], 16, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared r0, [word[0]]
  @r0 == 0 exit
  mbarrier.wait [bar[1]], phase 0
)",
     R"(initial [flag], 1
warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [flag], 16, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared r0, [word[0]]
  @r0 == 1 exit
  mbarrier.wait [bar[1]], phase 0
)"},
    {"a_wait_may_look_before_the_init",
     RelationKind::kBarrierLife,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  mbarrier.wait [bar[0]], phase 0
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
)"},
    {"a_copy_is_issued_before_the_init",
     RelationKind::kBarrierLife,
     "warps 1",
     R"(warp 0:
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
)"},
    {"a_try_that_always_says_yes",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
  elect st.shared [word[0]], 1
  elect mbarrier.arrive [bar[1]], 1
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  mbarrier.try_wait r0, [bar[0]], phase 0
  @r0 != 0 bra done
  mbarrier.wait [bar[1]], phase 0
done:
  bar.warp.sync
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
  elect st.shared [word[0]], 1
  elect mbarrier.arrive [bar[1]], 1
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  mbarrier.try_wait r0, [bar[1]], phase 0
  @r0 != 0 bra done
  mbarrier.wait [bar[1]], phase 0
done:
  bar.warp.sync
  elect ld.shared [word[0]]
)"},
    {"a_try_decides_who_meets",
     RelationKind::kEnding,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
  bar.sync 1, 64
warp 1:
  bar.sync 0
  mbarrier.try_wait r0, [bar[0]], phase 0
  @r0 != 0 exit
  bar.sync 1, 64
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
  bar.sync 1, 64
warp 1:
  bar.sync 0
  mbarrier.try_wait r0, [bar[0]], phase 0
  bar.sync 1, 64
)"},
    {"an_arrival_races_with_inval",
     RelationKind::kBarrierLife,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect mbarrier.inval [bar[0]]
warp 1:
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect mbarrier.inval [bar[0]]
warp 1:
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
)"},
    {"a_counter_passes_through_the_value",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect red.add.release.gpu.global [flag], 1
  elect st.shared [word[0]], 1
  elect st.release.gpu.global [flag], 1
warp 1:
  elect wait.acquire.gpu.global [flag], 1
  bar.warp.sync
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect red.add.release.gpu.global [flag], 1
  elect st.shared [word[0]], 1
  elect st.release.gpu.global [flag], 2
warp 1:
  elect wait.acquire.gpu.global [flag], 2
  bar.warp.sync
  elect ld.shared [word[0]]
)"},
    {"a_first_reader_masks_the_race",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect st.shared [word[0]], 1
  elect st.release.gpu.global [flag], 1
  elect ld.shared [word[0]]
warp 1:
  elect wait.acquire.gpu.global [flag], 1
  bar.warp.sync
  elect ld.shared [word[0]]
  elect st.shared [word[0]], 2
)",
     R"(warp 0:
  elect st.shared [word[0]], 1
  elect ld.shared [word[0]]
  elect st.release.gpu.global [flag], 1
warp 1:
  elect wait.acquire.gpu.global [flag], 1
  bar.warp.sync
  elect ld.shared [word[0]]
  elect st.shared [word[0]], 2
)"},
    {"a_barrier_of_all_takes_a_warp_that_has_ended",
     RelationKind::kPhase,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
  mbarrier.wait [bar[0]], phase 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  bar.sync 0
  bar.sync 0
  elect mbarrier.arrive [bar[0]], 1
  mbarrier.wait [bar[0]], phase 1
)"},
    {"a_cluster_barrier_takes_a_warp_that_has_ended",
     RelationKind::kPhase,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  barrier.cluster.arrive
  barrier.cluster.wait
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  barrier.cluster.arrive
  barrier.cluster.wait
  elect mbarrier.arrive [bar[0]], 1
  mbarrier.wait [bar[0]], phase 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  barrier.cluster.arrive
  barrier.cluster.wait
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  barrier.cluster.arrive
  barrier.cluster.wait
  barrier.cluster.arrive
  barrier.cluster.wait
  elect mbarrier.arrive [bar[0]], 1
  mbarrier.wait [bar[0]], phase 1
)"},
    {"the_end_of_a_warp_releases_nothing",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect st.shared [word[0]], 1
warp 1:
  bar.sync 0
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect st.shared [word[0]], 1
  bar.sync 0
warp 1:
  bar.sync 0
  elect ld.shared [word[0]]
)"},
    {"a_warp_frees_behind_the_fence_of_one_of_its_lanes",
     RelationKind::kAllocation,
     "warps 2",
     R"(warp 0:
  bar.sync 0
  bar.sync 0
  tcgen05.fence::after_thread_sync
  elect ld.shared [word[15]]
  tcgen05.st.32x32b.x8 [tmem column 0], f0
  tcgen05.wait::st
  tcgen05.fence::before_thread_sync
  bar.warp.sync
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  tcgen05.alloc [word[15]], 32
  tcgen05.fence::before_thread_sync
  bar.sync 0
  elect mbarrier.wait.relaxed.cta [bar[0]], phase 0
  bar.warp.sync
  tcgen05.dealloc [tmem column 0], 32
)",
     R"(warp 0:
  bar.sync 0
  bar.sync 0
  tcgen05.fence::after_thread_sync
  elect ld.shared [word[15]]
  tcgen05.st.32x32b.x8 [tmem column 0], f0
  tcgen05.wait::st
  tcgen05.fence::before_thread_sync
  bar.warp.sync
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  tcgen05.alloc [word[15]], 32
  tcgen05.fence::before_thread_sync
  bar.sync 0
  elect mbarrier.wait.relaxed.cta [bar[0]], phase 0
  bar.warp.sync
  lane 21 tcgen05.fence::after_thread_sync
  tcgen05.dealloc [tmem column 0], 32
)"},
};

}  // namespace warptwin::sim
