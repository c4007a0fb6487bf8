// What oracle V's machine does, operation by operation: each misuse beside its right twin.

#include <vector>

#include "tests/sim/oracle/values_draft.hpp"

namespace warptwin::sim {
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
       drop.operation.flags = fault ? std::uint16_t{0} : event_flag::kDrop;
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

const std::vector<Case> kCopies = {
    {"a_read_wait_does_not_wait_for_the_write",
     "cp.async.bulk (load)",
     [](Draft& p, bool fault) {
       p.init({1});
       WarpWriter w = p.warp(0);
       Draft::write(w, word(0), 1);
       w.store(p.target, word(0), 16);
       w.commit_group();
       w.wait_group(0, fault);
       Draft::fill(w, bar(0), word(1), p.target, 16);
       Draft::wait(w, bar(0), 0);
     }},
    {"a_store_in_no_group_is_not_waited_for",
     "cp.async.bulk (store)",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       Draft::write(w, word(0), 1);
       w.store(p.target, word(0), 16);
       if (!fault) {
         w.commit_group();
       }
       w.wait_group(0, true);
       w.write(word(0), 2);
     }},
    {"the_newest_group_is_left",
     "cp.async.bulk (store)",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       for (std::uint32_t i = 0; i < 2; ++i) {
         Draft::write(w, word(i), 1);
         w.store(p.target + 16 * i, word(i), 16);
         w.commit_group();
       }
       w.wait_group(1, true);
       w.write(word(fault ? 1 : 0), 2);
     }},
    {"bytes_that_nobody_wrote",
     "go to global memory",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       Draft::write(w, word(0), 1);
       w.store(p.target, word(fault ? 1 : 0), 16);
       w.commit_group();
       w.wait_group(0);
     }},
    {"a_multicast_lands_in_each_cta_by_itself",
     "ld.shared",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       p.warp(0, 0).arrive_expect(bar(0), 16);
       p.warp(0, 1).arrive_expect(bar(0), 16);
       p.warp(0, 0).load(word(0), p.source, 16, bar(0), CtaMask{3});
       Draft::wait(p.warp(0, 0), bar(0), 0);
       if (fault) {
         p.warp(0, 0).arrive_remote(bar(1), 1);
         Draft::wait(p.warp(0, 1), bar(1), 0);
         p.warp(0, 1).read(word(0));
       }
       Draft::wait(p.warp(0, 1), bar(0), 0);
       p.warp(0, 1).read(word(0));
       p.sync();
     },
     1,
     2},
    {"a_copy_that_lands_after_its_cta",
     "a CTA that has ended",
     [](Draft& p, bool fault) {
       p.init({1});
       Draft::fill(p.warp(0), bar(0), word(0), p.source, 16);
       if (!fault) {
         p.warp(0).wait(bar(0), 0);
       }
     }},
    {"an_arrival_on_a_cta_that_has_ended",
     "a CTA that has ended",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(0, 0).arrive_remote(bar(0), 1);
       if (!fault) {
         p.warp(0, 1).wait(bar(0), 0);
       }
     },
     1,
     2},
    {"two_stores_to_one_place",
     "global memory ends",
     [](Draft& p, bool fault) {
       for (std::uint32_t i = 0; i < 2; ++i) {
         WarpWriter w = p.warp(i);
         Draft::write(w, word(i), i);
         w.store(p.target + (fault ? 0 : 16 * i), word(i), 16);
         w.commit_group();
         w.wait_group(0);
       }
     }},
    {"additions_commute_and_stores_do_not",
     "global memory ends",
     [](Draft& p, bool fault) {
       p.warp(0).global_add(p.flag, 1);
       fault ? p.warp(1).global_write(p.flag, 2) : p.warp(1).global_add(p.flag, 2);
     }},
    {"a_word_that_nobody_wrote_decides",
     "nobody wrote",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       if (!fault) {
         w.write(word(0), 0);
       }
       w.read(word(0), 1);
       w.jump_if(1, 0, true, w.next());
     }},
    {"a_misaligned_copy",
     "a copy cannot have",
     [](Draft& p, bool fault) {
       p.init({1});
       Draft::fill(p.warp(0), bar(0), word(0), p.source + (fault ? 4 : 16), 16);
       p.warp(0).wait(bar(0), 0);
     }},
    {"a_copy_from_nowhere",
     "outside of global memory",
     [](Draft& p, bool fault) {
       p.init({1});
       Draft::fill(p.warp(0), bar(0), word(0), p.source + (fault ? Places::kBufferBytes : 0), 16);
       p.warp(0).wait(bar(0), 0);
     }},
};

void use_columns(Draft& p, const std::function<void(WarpWriter)>& body) {
  WarpWriter w = p.warp(0);
  w.alloc(word(15), 32);
  body(w);
  w.dealloc(0, 32);
}

const std::vector<Case> kTensor = {
    {"registers_before_their_wait",
     "fragment read",
     [](Draft& p, bool fault) {
       use_columns(p, [&](WarpWriter w) {
         w.st(0, 16, 0);
         w.wait_st();
         w.ld(0, 16, 1);
         if (!fault) {
           w.wait_ld(1, 16);
         }
         Operation use;
         use.op = Op::kFragmentRead;
         Instruction& read = w.append(use);
         read.fragment = 1;
         read.fragment_registers = 16;
         if (fault) {
           w.wait_ld(1, 16);
         }
       });
     },
     1},
    {"a_store_is_not_settled_before_its_wait",
     "tcgen05.ld",
     [](Draft& p, bool fault) {
       use_columns(p, [&](WarpWriter w) {
         w.st(0, 16, 0);
         if (!fault) {
           w.wait_st();
         }
         w.ld(0, 16, 1);
         w.wait_ld(1, 16);
         w.wait_st();
       });
     },
     1},
    {"an_accumulator_is_overwritten_while_it_is_read",
     "tcgen05.ld",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       for (std::uint32_t i = 0; i < 2; ++i) {
         w.mma(0, tile(0));
         w.commit(bar(1));
         Draft::wait(w, bar(1), i);
         w.ld(0, kOutputColumns, 0);
         if (!fault || i == 1) {
           w.wait_ld(0, kOutputColumns);
         }
       }
       w.dealloc(0, 32);
     },
     1},
    {"a_commit_of_another_lane_tracks_nothing",
     "tcgen05.ld",
     [](Draft& p, bool fault) {
       p.init({1, 1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       w.mma(0, tile(0));
       w.commit(bar(1)).operation.lane = fault ? 1 : 0;
       Draft::wait(w, bar(1), 0);
       w.ld(0, kOutputColumns, 0);
       w.wait_ld(0, kOutputColumns);
       w.commit(bar(2));
       Draft::wait(w, bar(2), 0);
       w.dealloc(0, 32);
     },
     1},
    {"an_accumulator_that_nobody_wrote",
     "an MMA reads what nobody wrote",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       w.mma(0, tile(0), fault);
       w.commit(bar(1));
       Draft::wait(w, bar(1), 0);
       w.dealloc(0, 32);
     },
     1},
    {"freed_while_an_mma_writes",
     "not allocated",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, kOperandBytes);
       Draft::wait(w, bar(0), 0);
       w.mma(0, tile(0));
       w.commit(bar(1));
       if (!fault) {
         Draft::wait(w, bar(1), 0);
       }
       w.dealloc(0, 32);
       if (fault) {
         Draft::wait(w, bar(1), 0);
       }
     },
     1},
    {"left_allocated",
     "at the end of its CTA",
     [](Draft& p, bool fault) {
       p.warp(0).alloc(word(15), 32);
       if (!fault) {
         p.warp(0).dealloc(0, 32);
       }
     },
     1},
    {"freed_twice",
     "no allocation",
     [](Draft& p, bool fault) {
       p.warp(0).alloc(word(15), 32);
       p.warp(0).dealloc(0, 32);
       if (fault) {
         p.warp(0).dealloc(0, 32);
       }
     },
     1},
    {"freed_in_part",
     "no allocation",
     [](Draft& p, bool fault) {
       p.warp(0).alloc(word(15), 64);
       p.warp(0).dealloc(0, fault ? 32 : 64);
     },
     1},
    {"an_allocation_that_grows",
     "larger",
     [](Draft& p, bool fault) {
       for (const std::uint32_t columns : {64U, fault ? 128U : 32U}) {
         p.warp(0).alloc(word(15), columns);
         p.warp(0).dealloc(0, columns);
       }
     },
     1},
    {"an_allocation_waits_for_columns",
     "deadlock",
     [](Draft& p, bool fault) {
       for (std::uint32_t i = 0; i < 2; ++i) {
         WarpWriter w = p.warp(i);
         w.alloc(word(14 + i), 512);
         if (fault) {
           w.bar_sync(1, 64);
         }
         w.dealloc(0, 512);
       }
     }},
    {"lanes_of_another_warp",
     "another warp's",
     [](Draft& p, bool fault) {
       use_columns(p, [&](WarpWriter w) {
         w.st((fault ? 32U : 0U) << 16, 16, 0);
         w.wait_st();
       });
     },
     1},
    {"a_pair_allocates_together",
     "deadlock",
     [](Draft& p, bool fault) {
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         WarpWriter w = p.warp(0, cta);
         if (cta == 0 || !fault) {
           w.alloc(word(15), 32, CtaGroup::kTwo);
           w.dealloc(0, 32, CtaGroup::kTwo);
         }
       }
     },
     1,
     2},
    {"a_free_of_a_pair_may_wait",
     "deadlock",
     [](Draft& p, bool fault) {
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         WarpWriter w = p.warp(0, cta);
         w.alloc(word(15), 32, CtaGroup::kTwo);
         // One frees and then meets, the other meets and then frees.
         if (cta == 1 || !fault) {
           w.cluster_arrive();
           w.cluster_wait();
         }
         w.dealloc(0, 32, CtaGroup::kTwo);
         if (cta == 0 && fault) {
           w.cluster_arrive();
           w.cluster_wait();
         }
       }
     },
     1,
     2},
};

INSTANTIATE_TEST_SUITE_P(Barriers, TwinsTest, testing::ValuesIn(kBarriers), name_of_case);
INSTANTIATE_TEST_SUITE_P(Meetings, TwinsTest, testing::ValuesIn(kMeetings), name_of_case);
INSTANTIATE_TEST_SUITE_P(Copies, TwinsTest, testing::ValuesIn(kCopies), name_of_case);
INSTANTIATE_TEST_SUITE_P(Tensor, TwinsTest, testing::ValuesIn(kTensor), name_of_case);

}  // namespace
}  // namespace warptwin::sim
