// What oracle V's machine does at barriers and where warps meet: each misuse beside its right twin.

#include <vector>

#include "tests/sim/oracle/values_draft.hpp"

namespace warptwin::sim::values_machine_test {
namespace {

Operation& last(WarpWriter& warp, Instruction& instruction) {
  static_cast<void>(warp);
  return instruction.operation;
}

const std::vector<Case> kBarriers = {
    {"a_phase_is_a_parity",
     "ld.shared",
     [](Draft& p, bool fault) {
       // A wait for phase 2 passes after phase 0.
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.arrive(bar(0));
       w.arrive(bar(0));
       w.write(word(0), 1);
       w.arrive(bar(0));
       w.arrive(bar(1));
       p.warp(1).wait(bar(fault ? 0 : 1), fault ? 2 : 0);
       p.warp(1).read(word(0));
     }},
    {"initialised_twice",
     "initialised already",
     [](Draft& p, bool fault) {
       p.init({1});
       if (!fault) {
         p.warp(0).inval(bar(0));
       }
       p.warp(0).init(bar(0), 1);
     }},
    {"a_count_of_nothing",
     "a count that an mbarrier cannot have",
     [](Draft& p, bool fault) { p.warp(0).init(bar(0), fault ? 0 : 1); }},
    {"misaligned",
     "8 bytes",
     [](Draft& p, bool fault) { p.warp(0).init(bar(0) + (fault ? 4 : 0), 1); }},
    {"outside",
     "outside",
     [](Draft& p, bool fault) { p.warp(0).init(fault ? 0x200000 : bar(0), 1); }},
    {"no_complete_completes",
     ".noComplete",
     [](Draft& p, bool fault) {
       p.init({2});
       WarpWriter w = p.warp(0);
       last(w, w.arrive(bar(0), fault ? 2 : 1)).flags = event_flag::kNoComplete;
     }},
    {"a_drop_lowers_the_count",
     "deadlock",
     [](Draft& p, bool fault) {
       p.init({2});
       WarpWriter w = p.warp(0);
       Instruction& drop = w.arrive(bar(0));
       drop.operation.flags = fault ? std::uint32_t{0} : event_flag::kDrop;
       for (std::uint32_t phase = 0; phase < 2; ++phase) {
         p.warp(1).arrive(bar(0));
         p.warp(1).wait(bar(0), phase);
         p.warp(1).sync_warp();
       }
     }},
    {"a_drop_to_zero",
     "drop",
     [](Draft& p, bool fault) {
       p.init({fault ? 1U : 2U});
       WarpWriter w = p.warp(0);
       last(w, w.arrive(bar(0))).flags = event_flag::kDrop;
     }},
    {"too_many_bytes",
     "tx-count",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(0).expect(bar(0), kMbarrierCountMax);
       p.warp(0).expect(bar(0), fault ? 16 : 0);
     }},
    {"bytes_may_land_before_they_are_expected",
     "deadlock",
     [](Draft& p, bool fault) {
       p.init({1});
       WarpWriter w = p.warp(0);
       w.load(word(0), p.source, 16, bar(0));
       w.expect(bar(0), fault ? 32 : 16);
       w.arrive(bar(0));
       w.wait(bar(0), 0);
     }},
    {"thirty_two_lanes_are_thirty_two_arrivals",
     "deadlock",
     [](Draft& p, bool fault) {
       p.init({32});
       WarpWriter w = p.warp(0);
       last(w, w.arrive(bar(0))).lanes = fault ? 1 : 32;
       w.wait(bar(0), 0);
     }},
    {"an_arrival_on_another_cta_is_on_its_way",
     "no mbarrier",
     [](Draft& p, bool fault) {
       // An arrival ends after its instruction: only who has seen it may take the barrier away.
       p.init({1});
       p.warp(0, 0).arrive_remote(bar(0), 1);
       if (fault) {
         p.warp(0, 0).cluster_arrive(kRelaxedCluster);
         p.warp(0, 1).cluster_arrive(kRelaxedCluster);
       } else {
         p.warp(0, 0).cluster_arrive();
         p.warp(0, 1).cluster_arrive();
       }
       p.warp(0, 0).cluster_wait();
       p.warp(0, 1).cluster_wait();
       p.warp(0, 1).inval(bar(0));
       p.sync();
     },
     1,
     2},
    {"late_lanes_owe_their_look",
     "deadlock",
     [](Draft& p, bool fault) {
       // Only the elected lane has passed; the others may find two phases gone.
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.arrive(bar(0));
       w.wait(bar(1), 0);
       w.sync_warp();
       w.arrive(bar(0));
       WarpWriter r = p.warp(1);
       r.wait(bar(0), 0);
       if (!fault) {
         r.sync_warp();
       }
       r.arrive(bar(1));
       r.sync_warp();
     }},
    {"a_spin_that_never_ends",
     "livelock",
     [](Draft& p, bool fault) {
       p.init({1});
       WarpWriter w = p.warp(0);
       const std::uint32_t again = w.next();
       w.try_wait(bar(0), 0, 1);
       w.jump_if(1, 0, false, again);
       if (!fault) {
         p.warp(1).arrive(bar(0));
       }
     }},
};

const std::vector<Case> kMeetings = {
    {"two_counts_in_one_generation",
     "two counts",
     [](Draft& p, bool fault) {
       p.warp(0).bar_sync(1, 64);
       p.warp(1).bar_sync(1, fault ? 96 : 64);
     },
     3},
    {"ended_warps_and_the_whole_cta",
     "deadlock",
     [](Draft& p, bool fault) {
       // Without a count an ended warp is not waited for.
       p.warp(0).bar_sync(1, fault ? 64 : 0);
     }},
    {"an_arrival_that_has_ended_on_a_barrier_of_all",
     "ld.shared",
     [](Draft& p, bool fault) {
       p.warp(0).cta_sync();
       p.warp(0).read(word(0));
       p.warp(1).bar_arrive(0, 96);
       if (fault) {
         p.warp(2).cta_sync();
       }
       p.warp(2).write(word(0), 1);
       if (!fault) {
         p.warp(2).cta_sync();
       }
     },
     3},
    {"an_arrival_that_has_ended_does_not_stand_for_others",
     "deadlock",
     [](Draft& p, bool fault) {
       p.warp(0, 0).cluster_arrive();
       p.warp(0, 1).cluster_arrive();
       p.warp(0, 1).cluster_wait();
       p.warp(1, 0).cluster_arrive();
       p.warp(1, 0).cluster_wait();
       p.warp(1, 1).cluster_arrive();
       p.warp(1, 1).cluster_wait();
       if (fault) {
         p.warp(1, 1).bar_sync(1, 64);
       }
     },
     2,
     2},
    {"a_second_arrival_in_a_generation",
     "second arrival",
     [](Draft& p, bool fault) {
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         p.warp(0, cta).cluster_arrive();
         if (!fault) {
           p.warp(0, cta).cluster_wait();
         }
         p.warp(0, cta).cluster_arrive();
         p.warp(0, cta).cluster_wait();
       }
     },
     1,
     2},
    {"a_wait_without_an_arrival",
     "without an arrival",
     [](Draft& p, bool fault) {
       if (!fault) {
         p.warp(0).cluster_arrive();
       }
       p.warp(0).cluster_wait();
     },
     1},
    {"registers_that_nobody_gives",
     "deadlock",
     [](Draft& p, bool fault) {
       p.warp(0).setmaxnreg(fault ? 160 : 120, false);
       p.warp(1).setmaxnreg(216, true);
     }},
    {"registers_in_the_wrong_direction",
     "direction",
     [](Draft& p, bool fault) { p.warp(0).setmaxnreg(fault ? 200 : 120, false); }},
    {"a_grid_before_that_has_not_ended",
     "cp.async.bulk (load)",
     [](Draft& p, bool fault) {
       p.program.workload.from_grid_before = {Places::kSource};
       p.init({1});
       WarpWriter w = p.warp(0);
       if (!fault) {
         w.griddepcontrol_wait();
       }
       Draft::fill(w, bar(0), word(0), p.source, 16);
       Draft::wait(w, bar(0), 0);
     }},
    {"a_response_is_read_early",
     "clusterlaunchcontrol",
     [](Draft& p, bool fault) {
       p.program.workload.resident_clusters = 1;
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         WarpWriter w = p.warp(0, cta);
         w.init(bar(0), 1);
         w.arrive_expect(bar(0), kClcResponseBytes);
         w.clc_request(word(0), bar(0));
         if (!fault) {
           w.wait(bar(0), 0);
         }
         w.clc_canceled(word(0), 1);
         if (fault) {
           w.wait(bar(0), 0);
         }
       }
     },
     1,
     1,
     2},
    {"a_request_after_a_failure",
     "seen a failure",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       w.init(bar(0), 1);
       for (std::uint32_t i = 0; i < 2; ++i) {
         w.arrive_expect(bar(0), kClcResponseBytes);
         w.clc_request(word(0), bar(0));
         Draft::wait(w, bar(0), i);
         if (fault) {
           w.clc_canceled(word(0), 1);
         }
       }
     },
     1},
    {"work_that_both_outcomes_do",
     "deadlock",
     [](Draft& p, bool fault) {
       // Who is refused leaves; who got a tile waits for what never comes.
       p.program.workload.resident_clusters = 1;
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         WarpWriter w = p.warp(0, cta);
         w.init(bar(0), 1);
         w.init(bar(1), 1);
         w.arrive_expect(bar(0), kClcResponseBytes);
         w.clc_request(word(0), bar(0));
         w.wait(bar(0), 0);
         w.clc_canceled(word(0), 1);
         w.jump_if(1, 1, !fault, w.next() + 2);
         w.jump(w.next() + 2);
         fault ? w.wait(bar(1), 0) : w.arrive(bar(1));
       }
     },
     1,
     1,
     2},
};

INSTANTIATE_TEST_SUITE_P(Barriers, TwinsTest, testing::ValuesIn(kBarriers), name_of_case);
INSTANTIATE_TEST_SUITE_P(Meetings, TwinsTest, testing::ValuesIn(kMeetings), name_of_case);

}  // namespace
}  // namespace warptwin::sim::values_machine_test
