/// More of them: what an operation publishes and what it does not, tensor memory, and the ends of
/// CTAs and grids.

#pragma once

#include "tests/sim/oracle/relation_cases.hpp"

namespace warptwin::sim {

inline const RelationCase kPublishingCases[] = {
    {"an_arrival_releases_nothing",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect st.shared [word[0]], 1
  elect mbarrier.arrive.relaxed.cta [bar[0]], 1
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect st.shared [word[0]], 1
  elect fence.acq_rel.cta
  elect mbarrier.arrive.relaxed.cta [bar[0]], 1
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
)"},
    {"a_wait_acquires_nothing",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect st.shared [word[0]], 1
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  bar.sync 0
  mbarrier.wait.relaxed.cta [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect st.shared [word[0]], 1
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  bar.sync 0
  mbarrier.wait.relaxed.cta [bar[0]], phase 0
  bar.warp.sync
  elect fence.acq_rel.cta
  elect ld.shared [word[0]]
)"},
    {"a_commit_publishes_no_words",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect st.shared [word[0]], 1
  elect tcgen05.commit [bar[0]]
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 2
  bar.sync 0
  elect st.shared [word[0]], 1
  elect tcgen05.commit [bar[0]]
  elect mbarrier.arrive [bar[0]], 1
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
)"},
    {"a_copy_publishes_itself_alone",
     RelationKind::kRace,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect st.shared [word[1]], 1
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
  elect ld.shared [word[1]]
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  bar.sync 0
  elect st.shared [word[1]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
warp 1:
  bar.sync 0
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
  elect ld.shared [word[1]]
)"},
    {"a_read_tile_is_refilled_without_a_proxy_fence",
     RelationKind::kProxy,
     "warps 1",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
  mbarrier.wait [bar[0]], phase 1
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect ld.shared [word[0]]
  elect fence.proxy.async.shared::cta
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
  mbarrier.wait [bar[0]], phase 1
)"},
    {"an_accumulator_is_read_without_the_fence",
     RelationKind::kTensorFence,
     "warps 2",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  tcgen05.alloc [word[15]], 32
  bar.sync 0
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect tcgen05.commit [bar[1]]
  bar.sync 0
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  bar.sync 0
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  tcgen05.ld.32x32b.x16 f0, [tmem lane 32, column 0]
  tcgen05.wait::ld f0
  bar.sync 0
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  tcgen05.alloc [word[15]], 32
  bar.sync 0
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect tcgen05.commit [bar[1]]
  bar.sync 0
  tcgen05.dealloc [tmem column 0], 32
warp 1:
  bar.sync 0
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  tcgen05.fence::after_thread_sync
  tcgen05.ld.32x32b.x16 f0, [tmem lane 32, column 0]
  tcgen05.wait::ld f0
  bar.sync 0
)"},
    {"a_cta_ends_before_its_load_lands",
     RelationKind::kExit,
     "warps 1",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [source], 16, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
)"},
    {"memory_of_the_grid_before",
     RelationKind::kGridBefore,
     "warps 1",
     R"(input given f32 1 x 64 pitch 256 before
warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  elect cp.async.bulk.shared.global [word[0]], [given], 16, [bar[0]]
  griddepcontrol.wait
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
)",
     R"(input given f32 1 x 64 pitch 256 before
warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.arrive.expect_tx [bar[0]], 16
  griddepcontrol.wait
  elect cp.async.bulk.shared.global [word[0]], [given], 16, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
)"},
    {"accumulators_of_two_shapes",
     RelationKind::kRace,
     "warps 1",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  elect fence.mbarrier_init
  bar.warp.sync
  tcgen05.alloc [word[15]], 32
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect tcgen05.mma [tmem column 0], )"
     R"(desc([tile[0]], swizzle 0, stride 256, leading 128), )"
     R"(desc([tile[0]], swizzle 0, stride 256, leading 128), )"
     R"(m128n32, bf16, bf16
  elect tcgen05.commit [bar[1]]
  bar.warp.sync
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  tcgen05.fence::after_thread_sync
  tcgen05.dealloc [tmem column 0], 32
)",
     R"(warp 0:
  elect mbarrier.init [bar[0]], 1
  elect mbarrier.init [bar[1]], 1
  elect fence.mbarrier_init
  bar.warp.sync
  tcgen05.alloc [word[15]], 32
  elect mbarrier.arrive.expect_tx [bar[0]], 4096
  elect cp.async.bulk.shared.global [tile[0]], [source], 4096, [bar[0]]
  bar.warp.sync
  mbarrier.wait [bar[0]], phase 0
  bar.warp.sync
  elect MMA
  elect tcgen05.mma [tmem column 0], )"
     R"(desc([tile[0]], swizzle 0, stride 256, leading 128), )"
     R"(desc([tile[0]], swizzle 0, stride 256, leading 128), )"
     R"(m128n16, bf16, bf16
  elect tcgen05.commit [bar[1]]
  bar.warp.sync
  mbarrier.wait [bar[1]], phase 0
  bar.warp.sync
  tcgen05.fence::after_thread_sync
  tcgen05.dealloc [tmem column 0], 32
)"},
};

}  // namespace warptwin::sim
