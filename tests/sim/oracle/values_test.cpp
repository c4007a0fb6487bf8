// Oracle V on small programs: each wrong one beside its right twin.

#include <vector>

#include "tests/sim/oracle/values_draft.hpp"

namespace warptwin::sim::values_test {
namespace {

// The kernels that were called proved, and are wrong.
const std::vector<Case> kRows = {
    {"bulk_source_reused",
     "cp.async.bulk (store)",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       Draft::write(w, word(0), 1);
       w.fence_proxy();
       w.store(p.target, word(0), 16);
       w.commit_group();
       fault ? w.read(word(0)) : w.wait_group(0, true);
       w.write(word(0), 7);
       w.wait_group(0);
     }},
    {"two_readers_one_releases",
     "ld.shared",
     [](Draft& p, bool fault) {
       p.init({fault ? 1U : 2U});
       p.warp(0).write(word(0), 1);
       p.sync();
       for (std::uint32_t i = 1; i < 3; ++i) {
         p.warp(i).read(word(0));
         if (i == 2 || !fault) {
           p.warp(i).arrive(bar(0));
         }
       }
       Draft::wait(p.warp(0), bar(0), 0);
       p.warp(0).write(word(0), 2);
     },
     3},
    {"five_readers_of_a_global_place",
     "cp.async.bulk (load)",
     [](Draft& p, bool fault) {
       p.init({1, 1, 1, 1, 1, fault ? 4U : 5U});
       for (std::uint32_t i = 0; i < 5; ++i) {
         Draft::fill(p.warp(i), bar(i), word(i), p.target, 16);
         Draft::wait(p.warp(i), bar(i), 0);
         if (i != 0 || !fault) {
           p.warp(i).arrive(bar(5));
         }
       }
       WarpWriter w = p.warp(5);
       Draft::wait(w, bar(5), 0);
       Draft::write(w, word(9), 9);
       w.store(p.target, word(9), 16);
       w.commit_group();
       w.wait_group(0);
     },
     6},
    {"inval_races_with_a_wait",
     "no mbarrier",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(2).arrive(bar(0));
       Draft::wait(p.warp(0), bar(0), 0);
       Draft::wait(p.warp(1), bar(0), 0);
       if (!fault) {
         p.sync();
       }
       p.warp(1).inval(bar(0));
     },
     3},
    {"store_races_with_init",
     "bytes of a valid mbarrier",
     [](Draft& p, bool fault) {
       p.warp(0).write(bar(0), 5);
       if (!fault) {
         p.sync();
       }
       p.warp(1).init(bar(0), 1);
       p.warp(1).arrive(bar(0));
       Draft::wait(p.warp(1), bar(0), 0);
     }},
    {"relinquish_races_with_alloc",
     "permit",
     [](Draft& p, bool fault) {
       p.warp(0).alloc(word(15), 128);
       if (!fault) {
         p.sync();
       }
       p.warp(1).relinquish();
       p.warp(0).dealloc(0, 128);
     }},
    {"constant_column_races_with_alloc",
     "not allocated",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(0).alloc(word(15), 128);
       if (!fault) {
         p.sync();
       }
       p.warp(1).st(32U << 16, 16, 0);
       p.warp(1).wait_st();
       p.warp(1).arrive(bar(0));
       Draft::wait(p.warp(0), bar(0), 0);
       p.warp(0).dealloc(0, 128);
     }},
    {"a_flag_takes_a_value_twice",
     "ld.shared",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       w.global_write(p.flag, 1);
       w.global_write(p.flag, 2);
       w.write(word(0), 5);
       w.global_write(p.flag, fault ? 1 : 3);
       p.warp(1).global_poll(p.flag, fault ? 1 : 3);
       p.warp(1).read(word(0));
     }},
    {"a_flag_goes_back_to_its_first_value",
     "ld.shared",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       w.global_write(p.flag, 1);
       w.write(word(0), 5);
       w.global_write(p.flag, fault ? 0 : 2);
       p.warp(1).global_poll(p.flag, fault ? 0 : 2);
       p.warp(1).read(word(0));
     }},
    {"a_stage_is_freed_at_issue",
     "tcgen05.mma",
     [](Draft& p, bool fault) {
       p.init({1, 2, 1});
       p.warp(0).alloc(word(15), 32);
       p.sync();
       for (std::uint32_t i = 0; i < 2; ++i) {
         if (i > 0) {
           Draft::wait(p.warp(0), bar(1), i - 1);
         }
         Draft::fill(p.warp(0), bar(0), tile(0), p.source, kOperandBytes);
         for (std::uint32_t reader = 1; reader < 3; ++reader) {
           Draft::wait(p.warp(reader), bar(0), i);
         }
         p.warp(1).mma(0, tile(0));
         fault ? p.warp(1).arrive(bar(1)) : p.warp(1).commit(bar(1));
         p.warp(2).read(tile(0));
         p.warp(2).arrive(bar(1));
       }
       p.warp(1).commit(bar(2));
       Draft::wait(p.warp(1), bar(2), 0);
       p.sync();
       p.warp(0).dealloc(0, 32);
     },
     3},
    {"an_operand_is_loaded_in_part",
     "an MMA reads what nobody wrote",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       w.alloc(word(15), 32);
       Draft::fill(w, bar(0), tile(0), p.source, fault ? kOperandBytes / 2 : kOperandBytes);
       Draft::wait(w, bar(0), 0);
       w.mma(0, tile(0));
       w.commit(bar(1));
       Draft::wait(w, bar(1), 0);
       w.dealloc(0, 32);
     }},
    {"a_commit_to_a_peer_that_is_not_ready",
     "no mbarrier",
     [](Draft& p, bool fault) {
       p.sync();
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         p.warp(0, cta).init(bar(0), 1);
       }
       if (!fault) {
         p.sync();
       }
       p.warp(0, 0).commit(bar(0), CtaMask{3});
       for (std::uint32_t cta = 0; cta < 2; ++cta) {
         Draft::wait(p.warp(0, cta), bar(0), 0);
       }
       p.sync();
     },
     1,
     2},
    {"a_bulk_store_over_a_word_that_is_polled",
     "ld.shared",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       for (std::uint32_t i = 0; i < 4; ++i) {
         w.write(word(0) + 4 * i, 1);
       }
       w.fence_proxy();
       w.store(fault ? p.flag : p.target, word(0), 16);
       w.commit_group();
       w.wait_group(0);
       w.write(word(1), 5);
       w.global_write(p.flag, 1);
       p.warp(1).global_poll(p.flag, 1);
       p.warp(1).read(word(1));
     }},
    {"named_barriers_in_two_orders",
     "deadlock",
     [](Draft& p, bool fault) {
       p.warp(0).bar_sync(1, 64);
       p.warp(1).bar_sync(1, 64);
       p.warp(1).bar_sync(fault ? 1 : 2, 64);
       p.warp(2).bar_sync(fault ? 1 : 2, 64);
     },
     3},
    {"a_word_that_a_copy_brought_decides",
     "deadlock",
     [](Draft& p, bool fault) {
       p.program.words.push_back({Places::kFlags, 32, fault ? 1U : 0U});
       p.init({1, 1});
       WarpWriter w = p.warp(0);
       Draft::fill(w, bar(0), word(0), p.flag + 32, 16);
       Draft::wait(w, bar(0), 0);
       w.read(word(0), 3);
       w.jump_if(3, 0, false, w.next() + 2);
       w.wait(bar(1), 0);
     }},
};

// The programs in words: one warp between bars.
const std::vector<Case> kWords = {
    {"i1",
     "no mbarrier",
     [](Draft& p, bool fault) {
       p.warp(0).init(bar(0), 1);
       if (!fault) {
         p.sync();
       }
       p.warp(0).arrive(bar(0));
       p.warp(1).wait(bar(0), 0);
     }},
    {"i2",
     "no mbarrier",
     [](Draft& p, bool fault) {
       WarpWriter w = p.warp(0);
       if (!fault) {
         w.init(bar(0), 1);
       }
       w.load(word(0), p.source, 16, bar(0));
       if (fault) {
         w.init(bar(0), 1);
       }
       w.arrive_expect(bar(0), 16);
       w.wait(bar(0), 0);
     }},
    {"t1",
     "ld.shared",
     [](Draft& p, bool fault) {
       p.init({1, 1});
       p.warp(0).arrive(bar(0));
       p.warp(0).write(word(0), 1);
       p.warp(0).arrive(bar(1));
       WarpWriter w = p.warp(1);
       w.try_wait(bar(0), 0, 2);
       if (fault) {
         w.jump_if(2, 1, false, w.next() + 2);
       }
       w.wait(bar(1), 0);
       w.read(word(0));
     }},
    {"t2",
     "deadlock",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(0).arrive(bar(0));
       p.warp(0).bar_sync(1, 64);
       WarpWriter w = p.warp(1);
       w.try_wait(bar(0), 0, 2);
       if (fault) {
         w.jump_if(2, 1, false, w.next() + 2);
       }
       w.bar_sync(1, 64);
     }},
    {"t3",
     "deadlock",
     [](Draft& p, bool fault) {
       p.init({1, 2});
       p.warp(0).arrive(bar(0));
       p.warp(0).wait(bar(1), 0);
       p.warp(0).sync_warp();
       p.warp(0).arrive(bar(0));
       p.warp(0).wait(bar(1), 1);
       for (std::uint32_t i = 1; i < 3; ++i) {
         WarpWriter w = p.warp(i);
         w.wait(bar(0), 0);
         w.sync_warp();
         if (i == 2) {
           // A peek at the phase that it has passed already, or at the one that it is about.
           w.try_wait(bar(0), fault ? 0 : 1, 2);
         }
         w.arrive(bar(1));
         if (i == 2) {
           w.jump_if(2, 1, false, w.next() + 2);
         }
         w.wait(bar(0), 1);
         w.sync_warp();
         w.arrive(bar(1));
       }
     },
     3},
    {"t4",
     "deadlock",
     [](Draft& p, bool fault) {
       p.init({1, 2});
       for (std::uint32_t lap = 0; lap < 2; ++lap) {
         Draft::fill(p.warp(0), bar(0), word(lap), p.source, 16);
         p.warp(0).wait(bar(1), lap, false);
         p.warp(0).sync_warp();
       }
       for (std::uint32_t i = 1; i < 3; ++i) {
         WarpWriter w = p.warp(i);
         w.wait(bar(0), 0, false);
         w.sync_warp();
         w.arrive(bar(1));
         // It spins on the parity, wrong or right.
         const std::uint32_t again = w.next();
         w.try_wait(bar(0), i == 2 && fault ? 0 : 1, 2, false);
         w.jump_if(2, 0, false, again);
         w.arrive(bar(1));
       }
     },
     3},
    {"v1",
     "no mbarrier",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(1).arrive(bar(0));
       if (!fault) {
         p.sync();
       }
       p.warp(0).inval(bar(0));
     }},
    {"v1_init_anew",
     "",
     [](Draft& p, bool fault) {
       p.init({1});
       p.warp(0).inval(bar(0));
       if (!fault) {
         p.sync();
       }
       p.warp(1).init(bar(0), 2);
     }},
    {"f1",
     "ld.shared",
     [](Draft& p, bool fault) {
       p.warp(0).global_poll(p.flag, 1);
       p.warp(0).read(word(0));
       if (fault) {
         p.warp(1).global_add(p.flag, 1);
       }
       p.warp(1).write(word(0), 3);
       p.warp(1).global_write(p.flag, 1);
     }},
    {"m1",
     "ld.shared",
     [](Draft& p, bool fault) {
       p.warp(0).write(word(0), 1);
       p.warp(0).global_write(p.flag, 1);
       if (!fault) {
         p.warp(0).global_poll(p.flag, 2);
       }
       p.warp(0).read(word(0));
       p.warp(1).global_poll(p.flag, 1);
       p.warp(1).read(word(0));
       p.warp(1).write(word(0), 2);
       p.warp(1).global_write(p.flag, 2);
     }},
    {"an_arrival_before_the_bytes_are_expected",
     "more arrivals",
     [](Draft& p, bool fault) {
       p.init({fault ? 1U : 2U});
       p.warp(0).arrive(bar(0));
       Draft::fill(p.warp(1), bar(0), word(0), p.source, 16);
       p.warp(1).wait(bar(0), 0);
       // The bytes may be expected in the phase after, where an arrival is one too many.
       if (fault) {
         p.warp(0).wait(bar(0), 0);
         p.warp(0).arrive(bar(0));
       }
     }},
};

INSTANTIATE_TEST_SUITE_P(Rows, TwinsTest, testing::ValuesIn(kRows), name_of_case);
INSTANTIATE_TEST_SUITE_P(Words, TwinsTest, testing::ValuesIn(kWords), name_of_case);

}  // namespace
}  // namespace warptwin::sim::values_test
