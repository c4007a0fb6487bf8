/// The canonical sequences of pipelined kernels, as tables: whole they show nothing, and each step
/// that is left out is found, with the right id.
/// Source: PTX ISA, "mbarrier", "Async proxy", "tcgen05 memory consistency model", "cp.async.bulk",
/// "clusterlaunchcontrol", "griddepcontrol", "setmaxnreg".

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/micro/building.hpp"

namespace warptwin::sim::sequence_test {
namespace {

using micro::kBar;
using micro::kBar2;
using micro::kFlag;
using micro::kSource;
using micro::kTile;
using micro::kWord;
using micro::M;

constexpr SharedAddress kResponse{1056};
constexpr Mbarrier kEmpty{{1080}};
constexpr std::uint32_t kOperandBytes = 16384;
constexpr std::uint32_t kLaps = 3;

/// The steps of a sequence that are executed: all but one.
struct Steps {
  std::string omitted;
  bool operator()(const char* step) const { return omitted != step; }
};

struct Sequence {
  const char* name;
  MicroProgram program;  // warps, CTAs and clusters; its bodies are made
  std::function<void(M&, const Steps&)> body;
  std::vector<std::pair<const char*, const char*>> found;  // step, id when it is left out
};

// Two barriers of a count, known to all; in a cluster to all of it.
void start(M& m, std::uint32_t count, std::uint32_t second_count) {
  if (m.warp_index() == 0) {
    m.elect_one([&] {
      m.mbarrier_init(kBar, count);
      m.mbarrier_init(kEmpty, second_count);
      m.fence_mbarrier_init();
    });
  }
  if (m.cluster_size() > 1) {
    m.barrier_cluster_arrive();
    m.barrier_cluster_wait();
  } else {
    m.cta_sync();
  }
}

void wait(M& m, Mbarrier bar, std::int32_t phase, Ordering ordering = kAcquireCta) {
  m.mbarrier_wait_parity(bar, WaitPhase::number(phase), ordering);
}

void meet_cluster(M& m) {
  m.barrier_cluster_arrive();
  m.barrier_cluster_wait();
}

UmmaSmemDescriptor operand() {
  return UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
}

void issue_mma(M& m, CtaGroup group, TmemAddress d) {
  const std::uint32_t rows = group == CtaGroup::kTwo ? 256 : 128;
  m.tcgen05_mma(group,
                d,
                operand(),
                operand(),
                UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, rows, 16),
                false);
}

void load_operand(M& m, CopyTarget target) {
  m.cp_async_bulk_load(kTile, kSource, kOperandBytes, target);
}

// 1: a loader fills one stage lap by lap, an MMA warp empties it.
void load_to_mma(M& m, const Steps& has) {
  start(m, 1, 1);
  if (m.warp_index() == 0) {
    for (std::int32_t lap = 0; lap < static_cast<std::int32_t>(kLaps); ++lap) {
      m.elect_one([&] {
        if (has("wait empty")) {
          wait(m, kEmpty, lap - 1);
        }
        if (has("expect")) {
          m.mbarrier_arrive_expect_tx(kBar, kOperandBytes);
        } else {
          m.mbarrier_arrive(kBar);
        }
        load_operand(m, CopyTarget{kBar});
      });
    }
    return;
  }
  m.tcgen05_alloc(CtaGroup::kOne, kWord, 32);
  const TmemAddress d{m.ld_shared_u32(kWord)};
  for (std::int32_t lap = 0; lap < static_cast<std::int32_t>(kLaps); ++lap) {
    m.elect_one([&] {
      if (has("wait full")) {
        wait(m, kBar, lap);
      }
      issue_mma(m, CtaGroup::kOne, d);
      if (has("commit")) {
        m.tcgen05_commit(CtaGroup::kOne, kEmpty);
      }
    });
  }
  m.elect_one([&] { wait(m, kEmpty, kLaps - 1); });
  m.sync_warp();
  m.tcgen05_dealloc(CtaGroup::kOne, d, 32);
}

// 2: an MMA warp hands an accumulator to a warp that reads it, lap by lap. 5: its life.
void mma_to_epilogue(M& m, const Steps& has) {
  start(m, 1, 32);
  const bool first = m.warp_index() == 0;
  if (first) {
    m.tcgen05_alloc(CtaGroup::kOne, kWord, 32);
    m.elect_one([&] {
      m.mbarrier_init(kBar2, 1);
      m.mbarrier_arrive_expect_tx(kBar2, kOperandBytes);
      load_operand(m, CopyTarget{kBar2});
      wait(m, kBar2, 0);
    });
    m.sync_warp();
  }
  if (has("barrier after alloc")) {
    m.cta_sync();
  }
  const TmemAddress d{m.ld_shared_u32(kWord)};
  if (first) {
    m.tcgen05_relinquish_alloc_permit(CtaGroup::kOne);
  }
  for (std::int32_t lap = 0; lap < static_cast<std::int32_t>(kLaps); ++lap) {
    if (first) {
      m.elect_one([&] {
        if (has("wait acc_empty")) {
          wait(m, kEmpty, lap - 1);
        }
        if (has("after-fence of the MMA warp")) {
          m.tcgen05_fence_after_thread_sync();
        }
        issue_mma(m, CtaGroup::kOne, d);
        if (has("commit")) {
          m.tcgen05_commit(CtaGroup::kOne, kBar);
        }
      });
    } else if (m.warp_index() == 4) {
      if (has("wait acc_full")) {
        wait(m, kBar, lap);
        m.sync_warp();
      }
      if (has("after-fence of the epilogue")) {
        m.tcgen05_fence_after_thread_sync();
      }
      SimFragment<16> registers;
      m.tcgen05_ld_32x32b(registers, d);
      if (has("wait::ld")) {
        m.tcgen05_wait_ld(registers);
      }
      if (has("before-fence")) {
        m.tcgen05_fence_before_thread_sync();
      }
      if (has("arrive acc_empty")) {
        m.mbarrier_arrive(kEmpty);
      }
    }
  }
  if (has("barrier before dealloc")) {
    m.cta_sync();
  }
  if (first && has("dealloc")) {
    m.tcgen05_fence_after_thread_sync();
    m.tcgen05_dealloc(CtaGroup::kOne, d, 32);
  }
}

// 3: two warps write a tile, one lane stores it, twice into the same buffer.
void store_tile(M& m, const Steps& has) {
  for (std::uint32_t lap = 0; lap < 2; ++lap) {
    m.elect_one([&] {
      for (std::uint32_t i = 0; i < 4; ++i) {
        m.st_shared_u32(kTile + 16 * m.warp_index() + 4 * i, i);
      }
    });
    m.sync_warp();
    if (has("proxy fence")) {
      m.fence_proxy_async(ProxySpace::kSharedCta);
    }
    if (has("barrier before the store")) {
      m.cta_sync();
    }
    if (m.warp_index() == 0) {
      m.elect_one([&] {
        m.cp_async_bulk_store({kSource.value + 64 * lap}, kTile, 32);
        if (has("commit_group")) {
          m.cp_async_bulk_commit_group();
        }
        if (has(lap == 0 ? "wait_group.read" : "wait_group.read before the exit")) {
          m.cp_async_bulk_wait_group_read<0>();
        }
      });
    }
    if (lap == 0 && has("barrier before the buffer is written again")) {
      m.cta_sync();
    }
  }
}

// 4: threads read a tile that a copy fills, lap by lap.
void read_copied_tile(M& m, const Steps& has) {
  start(m, 1, 1);
  for (std::int32_t lap = 0; lap < static_cast<std::int32_t>(kLaps); ++lap) {
    m.elect_one([&] {
      if (m.warp_index() == 0) {
        if (has("wait empty")) {
          wait(m, kEmpty, lap - 1);
        }
        m.mbarrier_arrive_expect_tx(kBar, 32);
        m.cp_async_bulk_load(kTile, kSource, 32, CopyTarget{kBar});
      } else {
        if (has("wait full")) {
          wait(m, kBar, lap);
        }
        m.ld_shared_u32(kTile);
        if (has("proxy fence")) {
          m.fence_proxy_async(ProxySpace::kSharedCta);
        }
        if (has("arrive empty")) {
          m.mbarrier_arrive(kEmpty);
        }
      }
    });
  }
}

// 6: both CTAs of a pair load their half on the leader's barrier, the leader multiplies.
void pair(M& m, const Steps& has) {
  const bool leads = m.cta_rank() == 0;
  start(m, 1, 1);
  m.tcgen05_alloc(CtaGroup::kTwo, kWord, 32);
  const TmemAddress d{m.ld_shared_u32(kWord)};
  if (has("both CTAs have allocated")) {
    meet_cluster(m);
  }
  m.elect_one([&] {
    if (leads) {
      m.mbarrier_arrive_expect_tx(kBar,
                                  has("bytes of both CTAs") ? 2 * kOperandBytes : kOperandBytes);
    }
    load_operand(
        m, CopyTarget{kBar, {}, has("cta_group::2 of the copy") ? CtaGroup::kTwo : CtaGroup::kOne});
    if (leads) {
      wait(m, kBar, 0);
      issue_mma(m, CtaGroup::kTwo, d);
      m.tcgen05_commit_multicast(
          CtaGroup::kTwo,
          kEmpty,
          CtaMask{static_cast<std::uint16_t>(has("commit to both CTAs") ? 3 : 1)});
    }
    wait(m, kEmpty, 0);
  });
  m.sync_warp();
  m.tcgen05_fence_after_thread_sync();
  SimFragment<16> registers;
  m.tcgen05_ld_32x32b(registers, d);
  m.tcgen05_wait_ld(registers);
  m.tcgen05_fence_before_thread_sync();
  meet_cluster(m);
  m.tcgen05_fence_after_thread_sync();
  if (leads || has("dealloc in both CTAs")) {
    m.tcgen05_dealloc(CtaGroup::kTwo, d, 32);
  }
}

// 7: each CTA loads its half of a tile to both, lap by lap; both consume it.
void multicast(M& m, const Steps& has) {
  constexpr std::uint32_t kHalf = 32;
  start(m, 1, 2);
  const CtaMask both{3};
  for (std::int32_t lap = 0; lap < static_cast<std::int32_t>(kLaps); ++lap) {
    m.elect_one([&] {
      if (m.warp_index() == 0) {
        if (has("wait empty")) {
          wait(m, kEmpty, lap - 1, kAcquireCluster);
        }
        const bool all = m.cta_rank() == 0 || has("the bytes of all issuers, in every CTA");
        m.mbarrier_arrive_expect_tx(kBar, all ? 2 * kHalf : kHalf);
        m.cp_async_bulk_load(
            kTile + kHalf * m.cta_rank(), kSource, kHalf, CopyTarget{kBar, both, CtaGroup::kOne});
        return;
      }
      if (has("wait full")) {
        wait(m, kBar, lap);
      }
      m.ld_shared_u32(kTile);
      m.ld_shared_u32(kTile + kHalf);
      m.fence_proxy_async(ProxySpace::kSharedCta);
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        if (rank == m.cta_rank() || has("arrive empty in every issuer")) {
          m.mbarrier_arrive(m.mapa(kEmpty, rank));
        }
      }
    });
  }
  if (has("wait before the exit")) {
    meet_cluster(m);
  }
}

// 8: one CTA arrives on the other's barrier.
void cluster_life(M& m, const Steps& has) {
  m.elect_one([&] {
    m.mbarrier_init(kBar, 1);
    if (has("fence.mbarrier_init")) {
      m.fence_mbarrier_init();
    }
  });
  m.sync_warp();
  if (has("cluster barrier before the first remote operation")) {
    m.barrier_cluster_arrive({Semantics::kRelaxed, Scope::kCluster});
    m.barrier_cluster_wait();
  }
  m.elect_one([&] { m.mbarrier_arrive(m.mapa(kBar, 1 - m.cta_rank())); });
  if (has("wait for what targets own memory")) {
    m.elect_one([&] { wait(m, kBar, 0); });
  }
}

// 9: the CTAs of a cluster work on as long as there are clusters to be had; CTA 0 asks.
void clc_loop(M& m, const Steps& has) {
  start(m, 1, m.cluster_size());
  const bool asks = m.cta_rank() == 0;
  for (std::int32_t lap = 0;; ++lap) {
    bool more = false;
    m.elect_one([&] {
      if (asks) {
        if (has("wait empty")) {
          wait(m, kEmpty, lap - 1, kAcquireCluster);
        }
        for (std::uint32_t rank = 0; rank < m.cluster_size(); ++rank) {
          if (rank == 0 || has("16 bytes expected in every CTA")) {
            m.mbarrier_arrive_expect_tx(m.mapa(kBar, rank), kClcResponseBytes);
          }
        }
        m.clc_try_cancel(kResponse, kBar, true);
      }
      if (has("wait full")) {
        wait(m, kBar, lap);
      }
      more = m.clc_is_canceled(kResponse);
      if (more) {
        m.clc_first_cta(kResponse);
      }
      if (has("proxy fence")) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
      if (has("arrive empty")) {
        m.mbarrier_arrive(m.mapa(kEmpty, 0));
      }
    });
    m.sync_warp();
    const bool leaves = !more && (has("stop at the first failure") || lap > 3);
    if (leaves || (asks && !has("leave on the same response") && lap == 1)) {
      break;
    }
  }
  meet_cluster(m);
}

// 10: a grid that starts early, and lets another start early.
void dependent_launch(M& m, const Steps& has) {
  start(m, 1, 1);  // independent of the grid before
  if (m.warp_index() == 0 ? has("griddepcontrol.wait of the one role")
                          : has("griddepcontrol.wait of the other role")) {
    m.griddepcontrol_wait();
  }
  m.elect_one([&] {
    if (m.warp_index() == 0) {
      m.mbarrier_arrive_expect_tx(kBar, 32);
      m.cp_async_bulk_load(kTile, kSource, 32, CopyTarget{kBar});
      wait(m, kBar, 0);
    } else {
      m.mbarrier_arrive_expect_tx(kEmpty, 32);
      m.cp_async_bulk_load(kTile + 128, kSource, 32, CopyTarget{kEmpty});
      wait(m, kEmpty, 0);
    }
  });
  if (has("griddepcontrol.launch_dependents")) {
    m.griddepcontrol_launch_dependents();
  }
  m.cta_sync();
  m.elect_one([&] {
    if (m.warp_index() == 0) {
      m.mbarrier_inval(kBar);
      m.mbarrier_inval(kEmpty);
    }
  });
}

// 11: one warpgroup gives registers to the other.
void registers(M& m, const Steps& has) {
  if (m.warp_index() < 4) {
    if (!has("a sum within the launch")) {
      m.setmaxnreg_dec<136>();
    } else if (has("dec of the producers")) {
      m.setmaxnreg_dec<40>();
    }
  } else {
    m.setmaxnreg_inc<232>();
  }
}

// 12: a cluster stores a part, says so in a word of global memory, and another brings it in.
void hand_over_by_flag(M& m, const Steps& has) {
  start(m, 1, 1);
  if (m.cluster_index() == 0) {
    m.elect_one([&] {
      for (std::uint32_t i = 0; i < 4; ++i) {
        m.st_shared_u32(kTile + 4 * i, i);
      }
      m.fence_proxy_async(ProxySpace::kSharedCta);
      m.cp_async_bulk_store(kSource, kTile, 16);
      m.cp_async_bulk_commit_group();
      if (has("wait_group before the flag")) {
        m.cp_async_bulk_wait_group<0>();
      }
      m.st_release_global_u32(kFlag, 1);
      m.cp_async_bulk_wait_group<0>();
    });
    return;
  }
  if (has("wait for the flag")) {
    m.elect_one([&] { m.wait_global_u32(kFlag, 1); });
  }
  if (has("sync_warp after one lane has waited")) {
    m.sync_warp();
  }
  m.fence_proxy_async(ProxySpace::kGlobal);
  m.elect_one([&] {
    m.mbarrier_arrive_expect_tx(kBar, 16);
    m.cp_async_bulk_load(kTile, kSource, 16, CopyTarget{kBar});
  });
  if (has("wait full")) {
    wait(m, kBar, 0);
    m.sync_warp();
  }
  m.ld_shared_u32(kTile);
}

MicroProgram shape(std::uint32_t warps,
                   std::uint32_t ctas = 1,
                   const char* schedule = "round-robin") {
  MicroProgram program{};
  program.warps = warps;
  program.ctas = ctas;
  program.schedule = schedule;
  return program;
}

MicroProgram grid(std::uint32_t clusters, std::uint32_t ctas) {
  MicroProgram program = shape(1, ctas);
  program.clusters = clusters;
  program.resident = 1;
  return program;
}

MicroProgram early() {
  MicroProgram program = shape(2);
  program.dependent = true;
  program.has_dependents = true;
  program.rules.profile = Profile::kStrict;
  return program;
}

MicroProgram two_clusters() {
  MicroProgram program = shape(1);
  program.clusters = 2;
  return program;
}

const std::vector<Sequence>& sequences() {
  static const std::vector<Sequence> kSequences = {
      {"load_to_mma",
       shape(2),
       load_to_mma,
       {{"wait empty", "SMEM_WAW_ASYNC"},
        {"expect", "MBAR_TX_MISMATCH"},
        {"wait full", "SMEM_RAW_NO_WAIT"},
        {"commit", "DEADLOCK"}}},
      {"mma_to_epilogue",
       shape(5),
       mma_to_epilogue,
       {{"barrier after alloc", "TMEM_ADDR_READ_EARLY"},
        {"wait acc_empty", "TMEM_WAR"},
        {"after-fence of the MMA warp", "TMEM_FENCE_MISSING"},
        {"commit", "DEADLOCK"},
        {"wait acc_full", "TMEM_READ_BEFORE_COMMIT"},
        {"after-fence of the epilogue", "TMEM_FENCE_MISSING"},
        {"wait::ld", "TMEM_WAR"},
        {"before-fence", "TMEM_FENCE_MISSING"},
        {"arrive acc_empty", "DEADLOCK"},
        {"barrier before dealloc", "TMEM_DEALLOC_IN_USE"},
        {"dealloc", "TMEM_LEAK"}}},
      {"store_tile",
       shape(2),
       store_tile,
       {{"proxy fence", "PROXY_FENCE_MISSING"},
        {"barrier before the store", "SMEM_RACE"},
        {"commit_group", "BULK_GROUP_UNCOMMITTED"},
        {"wait_group.read", "BULK_SRC_REUSE"},
        {"wait_group.read before the exit", "BULK_STORE_PENDING_AT_EXIT"},
        {"barrier before the buffer is written again", "BULK_SRC_REUSE"}}},
      {"read_copied_tile",
       shape(2),
       read_copied_tile,
       {{"wait empty", "SMEM_WAW_ASYNC"},
        {"wait full", "SMEM_RAW_NO_WAIT"},
        {"proxy fence", "PROXY_FENCE_MISSING_WAR"},
        {"arrive empty", "DEADLOCK"}}},
      {"pair",
       shape(1, 2),
       pair,
       {{"both CTAs have allocated", "TCGEN05_PEER_NOT_READY"},
        {"bytes of both CTAs", "SMEM_RAW_NO_WAIT"},
        {"cta_group::2 of the copy", "MBAR_TX_MISMATCH"},
        {"commit to both CTAs", "DEADLOCK"},
        {"dealloc in both CTAs", "TMEM_LEAK"}}},
      {"multicast",
       shape(2, 2),
       multicast,
       {{"wait empty", "MBAR_OVERARRIVE"},
        {"the bytes of all issuers, in every CTA", "MBAR_TX_MISMATCH"},
        {"wait full", "SMEM_RAW_NO_WAIT"},
        {"arrive empty in every issuer", "MBAR_UNDERARRIVE"},
        {"wait before the exit", "ORDER_EXIT"}}},
      {"cluster_life",
       shape(1, 2),
       cluster_life,
       {{"fence.mbarrier_init", "MBAR_INIT_NOT_CLUSTER_VISIBLE"},
        {"cluster barrier before the first remote operation", "DSMEM_BEFORE_START"},
        {"wait for what targets own memory", "CTA_EXIT_WITH_PENDING_REMOTE"}}},
      {"clc_loop",
       grid(3, 2),
       clc_loop,
       {{"wait empty", "CLC_RESP_OVERWRITE"},
        {"16 bytes expected in every CTA", "CLC_TX_MISMATCH"},
        {"wait full", "CLC_RESP_READ_EARLY"},
        {"proxy fence", "CLC_RESP_OVERWRITE"},
        {"arrive empty", "DEADLOCK"},
        {"stop at the first failure", "CLC_AFTER_FAIL"},
        {"leave on the same response", "DEADLOCK"}}},
      {"dependent_launch",
       early(),
       dependent_launch,
       {{"griddepcontrol.wait of the one role", "PDL_WAIT_NOT_PUBLISHED"},
        {"griddepcontrol.wait of the other role", "PDL_WAIT_NOT_PUBLISHED"},
        {"griddepcontrol.launch_dependents", "PDL_NO_TRIGGER"}}},
      {"registers",
       shape(8),
       registers,
       {{"dec of the producers", "SETMAXNREG_POOL"},
        {"a sum within the launch", "SETMAXNREG_POOL"}}},
      {"hand_over_by_flag",
       two_clusters(),
       hand_over_by_flag,
       {{"wait_group before the flag", "GMEM_RAW_NO_WAIT"},
        {"wait for the flag", "GMEM_RACE"},
        {"sync_warp after one lane has waited", "WARP_SYNC_MISSING"},
        {"wait full", "SMEM_RAW_NO_WAIT"}}},
  };
  return kSequences;
}

std::set<std::string> found(const Sequence& sequence, const char* omitted) {
  const Steps steps{omitted};
  MicroProgram program = sequence.program;
  program.wrong = program.right = [&](M& m) { sequence.body(m, steps); };
  std::set<std::string> ids;
  for (const Finding& finding : run_micro(program, true)) {
    ids.insert(finding.info->id);
  }
  return ids;
}

class SequenceTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Sequence& sequence() const { return sequences()[GetParam()]; }
};

TEST_P(SequenceTest, WholeItIsClean) {
  EXPECT_EQ(found(sequence(), ""), std::set<std::string>{});
}

TEST_P(SequenceTest, EachStepLeftOutIsFound) {
  for (const auto& [step, id] : sequence().found) {
    const std::set<std::string> ids = found(sequence(), step);
    EXPECT_TRUE(ids.contains(id)) << "without " << step << ": " << ::testing::PrintToString(ids);
  }
}

INSTANTIATE_TEST_SUITE_P(Canonical,
                         SequenceTest,
                         ::testing::Range(std::size_t{0}, sequences().size()),
                         [](const auto& number) { return sequences()[number.param].name; });

}  // namespace
}  // namespace warptwin::sim::sequence_test
