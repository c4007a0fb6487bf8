// Micro-programs about tensor memory and tcgen05.

#include "sim/micro/building.hpp"

namespace warptwin::sim::micro {

void add_tensor_memory(List& list) {
  list.add(
      "TMEM_ALLOC_NCOLS",
      1,
      [](M& m) { m.tcgen05_alloc(CtaGroup::kOne, kWord, 96); },
      with_tmem([](M&, TmemAddress) {}));
  list.add(
      "TMEM_ALLOC_NOT_CONVERGED",
      1,
      [](M& m) { m.elect_one([&] { m.tcgen05_alloc(CtaGroup::kOne, kWord, 64); }); },
      with_tmem([](M&, TmemAddress) {}));
  list.add(
      "TMEM_ALLOC_AFTER_RELINQUISH",
      1,
      [](M& m) {
        m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
      },
      with_tmem([](M& m, TmemAddress) { m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne); }));
  list.add("TMEM_ALLOC_GROWS",
           1,
           with_tmem([](M& m, TmemAddress) {
             m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 128);
             m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 128);
           }),
           with_tmem([](M& m, TmemAddress) {
             m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 32);
             m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 32);
           }));
  list.add("TMEM_ALLOC_CONCURRENT",
           2,
           with_tmem([](M& m, TmemAddress) {
             if (m.warp_index() == 1) {
               m.tcgen05_alloc(CtaGroup::kOne, kWord + 4, 32);
               m.tcgen05_dealloc(CtaGroup::kOne, {m.ld_shared_u32(kWord + 4)}, 32);
             }
           }),
           with_tmem([](M&, TmemAddress) {}));
  list.add(
      "TMEM_ADDR_READ_EARLY",
      2,
      [](M& m) {
        if (m.warp_index() == 0) {
          m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        } else {
          m.ld_shared_u32(kWord);
        }
        m.cta_sync();
        if (m.warp_index() == 0) {
          m.tcgen05_dealloc(CtaGroup::kOne, {0}, 64);
        }
      },
      with_tmem([](M&, TmemAddress) {}),
      "starve:1");
  list.add("TMEM_DEALLOC_MISMATCH",
           1,
           with_tmem([](M& m, TmemAddress at) { m.tcgen05_dealloc(CtaGroup::kOne, at, 32); }),
           with_tmem([](M&, TmemAddress) {}));
  list.add("TMEM_DOUBLE_FREE",
           1,
           with_tmem([](M& m, TmemAddress at) { m.tcgen05_dealloc(CtaGroup::kOne, at, 64); }),
           with_tmem([](M&, TmemAddress) {}));
  list.add("TMEM_OOB",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(500)); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at.at_column(48));
             load(m, at.at_column(48));
           }));
  list.add("TMEM_UNALLOCATED",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at.at_column(64)); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at.at_column(48));
             load(m, at.at_column(48));
           }));
  list.add(
      "TMEM_USE_AFTER_FREE",
      1,
      [](M& m) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        m.tcgen05_dealloc(CtaGroup::kOne, {0}, 64);
        load(m, {0});
      },
      with_tmem([](M& m, TmemAddress at) {
        store(m, at);
        load(m, at);
      }));
  list.add("TMEM_LANE_VIOLATION",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at.at_lane(32)); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at);
             load(m, at);
           }));
  list.add("TCGEN05_SHAPE",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) { mma(m, at, 0); }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
           }));
  list.add("TCGEN05_SDESC",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             m.tcgen05_mma(
                 CtaGroup::kOne,
                 at,
                 UmmaSmemDescriptor{},
                 UmmaSmemDescriptor{},
                 UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 16),
                 false);
           }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
           }));
  list.add("TMEM_READ_BEFORE_COMMIT",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             load(m, at);
             complete(m);
           }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             mma(m, at);
             complete(m);
             load(m, at);
           }));
  list.add("TMEM_WAR",
           1,
           tmem_and_barrier([](M& m, TmemAddress at) {
             store(m, at);
             SimFragment<16> registers;
             m.tcgen05_ld_32x32b(registers, at);
             mma(m, at);
             complete(m);
           }),
           tmem_and_barrier([](M& m, TmemAddress at) {
             store(m, at);
             load(m, at);
             mma(m, at);
             complete(m);
           }));
  list.add(
      "TCGEN05_UNFINISHED_AT_EXIT",
      1,
      [](M& m) {
        m.tcgen05_alloc(CtaGroup::kOne, kWord, 64);
        mma(m, {0});
      },
      tmem_and_barrier([](M& m, TmemAddress at) {
        mma(m, at);
        complete(m);
      }),
      "lazy:1");
  list.add("TMEM_UNINIT_READ",
           1,
           with_tmem([](M& m, TmemAddress at) { load(m, at); }),
           with_tmem([](M& m, TmemAddress at) {
             store(m, at);
             load(m, at);
           }));
  list.add("TMEM_UNINIT_ACC",
           1,
           tmem_and_barrier([=](M& m, TmemAddress at) {
             mma(m, at, 16, true);
             complete(m);
           }),
           tmem_and_barrier([=](M& m, TmemAddress at) {
             mma(m, at);
             mma(m, at, 16, true);
             complete(m);
           }));
  const auto hand_over = [=](bool fence) -> Body {
    return tmem_and_barrier([=](M& m, TmemAddress at) {
      if (m.warp_index() == 0) {
        mma(m, at);
        m.tcgen05_commit(CtaGroup::kOne, kBar);
      } else {
        wait(m, 0);
        if (fence) {
          m.tcgen05_fence_after_thread_sync();
        }
        load(m, at.at_lane(32));
      }
    });
  };
  list.add("TMEM_FENCE_MISSING", 2, hand_over(false), hand_over(true));
}

}  // namespace warptwin::sim::micro
