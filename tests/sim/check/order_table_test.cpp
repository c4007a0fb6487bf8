/// Ordered pairs of tcgen05 and asynchronous operations on the same cells or bytes, from tables:
/// with the synchronisation the manual asks for they are clean, and each way of leaving one piece
/// of it out is found, with the right id. In one thread, across warps, and across a CTA pair.
/// Source: PTX ISA, "tcgen05 memory consistency model", "Async proxy", "cp.async.bulk".

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/micro/building.hpp"

namespace warptwin::sim::order_table_test {
namespace {

using micro::Body;
using micro::kBar;
using micro::kSource;
using micro::kTile;
using micro::M;

constexpr std::uint32_t kSecondWarp = 4;  // has the same lanes as warp 0
constexpr std::uint32_t kOtherColumns = 32;

// --- Tensor memory ----------------------------------------------------------------------------

enum class Use { kLd, kSt, kMma, kMmaAccumulate, kMmaA, kCp };
constexpr Use kUses[] = {Use::kLd, Use::kSt, Use::kMma, Use::kMmaAccumulate, Use::kMmaA, Use::kCp};
constexpr const char* kUseNames[] = {"ld", "st", "mma", "mma_accumulate", "mma_a", "cp"};

bool tensor(Use use) {
  return use != Use::kLd && use != Use::kSt;
}

UmmaInstructionDescriptor instruction() {
  return UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 128, 8);
}

void issue(M& m, Use use, TmemAddress cells) {
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  const TmemAddress elsewhere = cells.at_column(cells.column() + kOtherColumns);
  switch (use) {
    case Use::kLd: {
      SimFragment<8> registers;
      m.tcgen05_ld_32x32b(registers, cells);
      break;
    }
    case Use::kSt:
      m.tcgen05_st_32x32b(cells, SimFragment<8>{});
      break;
    case Use::kMma:
    case Use::kMmaAccumulate:
      m.tcgen05_mma(CtaGroup::kOne, cells, tile, tile, instruction(), use == Use::kMmaAccumulate);
      break;
    case Use::kMmaA:
      m.tcgen05_mma(CtaGroup::kOne, elsewhere, cells, tile, instruction(), false);
      break;
    case Use::kCp:
      m.tcgen05_cp(CtaGroup::kOne,
                   cells,
                   UmmaSmemDescriptor::make(kTile, 16, 128, Swizzle::kNone),
                   TmemCopy::k128x256b);
      break;
  }
}

void wait_moves(M& m) {
  SimFragment<8> none;
  m.tcgen05_wait_ld(none);
  m.tcgen05_wait_st();
}

// What stands between the two operations.
struct Pieces {
  bool complete = true;  // commit and its wait, or tcgen05.wait
  bool before = true;    // tcgen05.fence::before_thread_sync
  bool sync = true;      // a barrier
  bool after = true;     // tcgen05.fence::after_thread_sync
};

// All cells are written and known to be; then the two operations, by one warp or by two.
Body tmem_pair(Use first, Use second, bool same_warp, Pieces pieces) {
  return micro::tmem_and_barrier([=](M& m, TmemAddress cells) {
    const std::uint32_t second_warp = same_warp ? 0 : kSecondWarp;
    std::uint32_t phase = 0;
    const auto commit_and_wait = [&] {
      m.tcgen05_commit(CtaGroup::kOne, kBar);
      micro::wait(m, phase++);
    };
    const auto meet = [&] {
      m.tcgen05_fence_before_thread_sync();
      m.bar_sync(2, 64);
      m.tcgen05_fence_after_thread_sync();
    };
    const bool mine = m.warp_index() == 0;
    if (mine) {
      issue(m, Use::kCp, cells);
      commit_and_wait();
    }
    if (!same_warp && (mine || m.warp_index() == kSecondWarp)) {
      meet();
    }
    if (mine) {
      issue(m, first, cells);
      if (pieces.complete && tensor(first)) {
        commit_and_wait();
      } else if (pieces.complete) {
        wait_moves(m);
      }
      if (!same_warp && pieces.before) {
        m.tcgen05_fence_before_thread_sync();
      }
    }
    if (!same_warp && pieces.sync && (mine || m.warp_index() == kSecondWarp)) {
      m.bar_sync(3, 64);
    }
    if (m.warp_index() == second_warp) {
      if (!same_warp && pieces.after) {
        m.tcgen05_fence_after_thread_sync();
      }
      issue(m, second, cells);
      if (!tensor(second)) {
        wait_moves(m);
      }
    }
  });
}

// What is said of cells and bytes; the frame around the pair ends as it may.
std::set<std::string> found(Body body,
                            std::uint32_t warps,
                            bool tensor_memory,
                            std::uint32_t ctas = 1) {
  MicroProgram program{"", body, body, warps, ctas, "round-robin"};
  std::set<std::string> ids;
  for (const Finding& finding : run_micro(program, true)) {
    const std::string id = finding.info->id;
    const bool cells = id.rfind("TMEM_", 0) == 0 && id != "TMEM_DEALLOC_IN_USE";
    const bool bytes = id.rfind("SMEM_", 0) == 0 || id.rfind("PROXY_", 0) == 0 ||
                       id.rfind("WGMMA_", 0) == 0 || id == "BULK_SRC_REUSE";
    if (tensor_memory ? cells : bytes) {
      ids.insert(id);
    }
  }
  return ids;
}

// What is found in one thread when nothing stands between the two; "": they execute in order, or
// both only read.
constexpr const char* kSameThread[6][6] = {
    // ld              st          mma         mma_accumulate     mma_a              cp
    {"", "TMEM_WAR", "TMEM_WAR", "TMEM_WAR", "", "TMEM_WAR"},  // ld
    {"TMEM_ST_NO_WAIT", "TMEM_WAW", "TMEM_WAW", "TMEM_ST_NO_WAIT", "TMEM_ST_NO_WAIT", "TMEM_WAW"},
    {"TMEM_READ_BEFORE_COMMIT", "TMEM_WAW", "", "", "TMEM_PIPE_ORDER", "TMEM_PIPE_ORDER"},
    {"TMEM_READ_BEFORE_COMMIT", "TMEM_WAW", "", "", "TMEM_PIPE_ORDER", "TMEM_PIPE_ORDER"},
    {"", "TMEM_WAR", "TMEM_PIPE_ORDER", "TMEM_PIPE_ORDER", "", "TMEM_PIPE_ORDER"},  // mma_a
    {"TMEM_READ_BEFORE_COMMIT", "TMEM_WAW", "", "", "", "TMEM_PIPE_ORDER"},         // cp
};

// Across warps, when they meet with both fences, but the first is not complete.
constexpr const char* kAcross[6][6] = {
    {"", "TMEM_WAR", "TMEM_WAR", "TMEM_WAR", "", "TMEM_WAR"},
    {"TMEM_ST_NO_WAIT", "TMEM_WAW", "TMEM_WAW", "TMEM_ST_NO_WAIT", "TMEM_ST_NO_WAIT", "TMEM_WAW"},
    {"TMEM_READ_BEFORE_COMMIT", "TMEM_WAW", "", "", "TMEM_READ_BEFORE_COMMIT", "TMEM_WAW"},
    {"TMEM_READ_BEFORE_COMMIT", "TMEM_WAW", "", "", "TMEM_READ_BEFORE_COMMIT", "TMEM_WAW"},
    {"", "TMEM_WAR", "TMEM_WAR", "TMEM_WAR", "", "TMEM_WAR"},
    {"TMEM_READ_BEFORE_COMMIT", "TMEM_WAW", "", "", "", "TMEM_WAW"},
};

class TmemPairTest : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  int row() const { return std::get<0>(GetParam()); }
  int column() const { return std::get<1>(GetParam()); }
  Use first() const { return kUses[row()]; }
  Use second() const { return kUses[column()]; }
  bool conflict() const {
    return kAcross[row()][column()][0] != '\0' || kSameThread[row()][column()][0] != '\0' ||
           (tensor(first()) && tensor(second()));
  }
  static std::set<std::string> only(const char* id) {
    return *id == '\0' ? std::set<std::string>{} : std::set<std::string>{id};
  }
};

TEST_P(TmemPairTest, InOneThread) {
  EXPECT_EQ(found(tmem_pair(first(), second(), true, {}), 1, true), std::set<std::string>{});
  Pieces pieces;
  pieces.complete = false;
  EXPECT_EQ(found(tmem_pair(first(), second(), true, pieces), 1, true),
            only(kSameThread[row()][column()]));
}

TEST_P(TmemPairTest, AcrossWarps) {
  const std::uint32_t warps = kSecondWarp + 1;
  EXPECT_EQ(found(tmem_pair(first(), second(), false, {}), warps, true), std::set<std::string>{});
  Pieces incomplete;
  incomplete.complete = false;
  EXPECT_EQ(found(tmem_pair(first(), second(), false, incomplete), warps, true),
            only(kAcross[row()][column()]));
  Pieces apart;
  apart.sync = false;
  const std::set<std::string> unordered =
      found(tmem_pair(first(), second(), false, apart), warps, true);
  const bool reads = kAcross[row()][column()][0] == '\0' && !conflict();
  EXPECT_EQ(unordered.empty(), reads) << ::testing::PrintToString(unordered);
  EXPECT_FALSE(unordered.contains("TMEM_FENCE_MISSING"));
}

TEST_P(TmemPairTest, EachFenceIsNeeded) {
  const std::uint32_t warps = kSecondWarp + 1;
  for (const bool before : {true, false}) {
    Pieces pieces;
    (before ? pieces.before : pieces.after) = false;
    const std::set<std::string> ids =
        found(tmem_pair(first(), second(), false, pieces), warps, true);
    // A commit is a before-fence by itself.
    const bool needed = !(before && tensor(first()));
    // Two MMAs that read the same A write the same D.
    const bool reads_only = (first() == Use::kLd || first() == Use::kMmaA) &&
                            (second() == Use::kLd || second() == Use::kMmaA) &&
                            !(first() == Use::kMmaA && second() == Use::kMmaA);
    EXPECT_EQ(ids,
              needed && !reads_only ? std::set<std::string>{"TMEM_FENCE_MISSING"}
                                    : std::set<std::string>{})
        << (before ? "without before" : "without after");
  }
}

INSTANTIATE_TEST_SUITE_P(OrderTable,
                         TmemPairTest,
                         ::testing::Combine(::testing::Range(0, 6), ::testing::Range(0, 6)),
                         [](const auto& pair) {
                           return std::string{kUseNames[std::get<0>(pair.param)]} + "_then_" +
                                  kUseNames[std::get<1>(pair.param)];
                         });

// --- Accumulators of 64 rows --------------------------------------------------------------------

// An MMA of 64 x 8 in one CTA writes the first 16 lanes of each quarter.
Body load_64_rows(std::function<void(M&, TmemAddress)> load) {
  return micro::tmem_and_barrier([=](M& m, TmemAddress cells) {
    const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
    const auto shape =
        UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 64, 8);
    m.tcgen05_mma(CtaGroup::kOne, cells, tile, tile, shape, false);
    m.tcgen05_commit(CtaGroup::kOne, kBar);
    micro::wait(m, 0);
    m.tcgen05_fence_after_thread_sync();
    load(m, cells);
    wait_moves(m);
  });
}

TEST(HalfRowsTest, OnlyTheLanesAndColumnsThatTheMmaWritesMayBeLoaded) {
  const auto ids = [](auto registers, bool halves) {
    return found(load_64_rows([=](M& m, TmemAddress cells) {
                   auto fragment = registers;
                   if (halves) {
                     m.tcgen05_ld_16x32bx2(fragment, cells);
                   } else {
                     m.tcgen05_ld_32x32b(fragment, cells);
                   }
                 }),
                 1,
                 true);
  };
  const std::set<std::string> unwritten = {"TMEM_UNINIT_READ"};
  EXPECT_EQ(ids(SimFragment<4>{}, true), std::set<std::string>{});
  EXPECT_EQ(ids(SimFragment<8>{}, true), unwritten);   // 16 columns
  EXPECT_EQ(ids(SimFragment<8>{}, false), unwritten);  // 32 lanes
}

// --- The CTAs of a pair -----------------------------------------------------------------------

// The leader's MMA writes the cells of both CTAs; the odd CTA loads or stores its own.
void issue_pair_mma(M& m, TmemAddress cells, CtaMask committed_to) {
  const auto tile = UmmaSmemDescriptor::make(kTile, 16, 1024, Swizzle::k128B);
  const auto shape =
      UmmaInstructionDescriptor::make(ElementType::kBf16, ElementType::kBf16, 256, 16);
  m.tcgen05_mma(CtaGroup::kTwo, cells, tile, tile, shape, false);
  m.tcgen05_commit_multicast(CtaGroup::kTwo, kBar, committed_to);
}

void issue_move(M& m, Use use, TmemAddress cells) {
  if (use == Use::kLd) {
    SimFragment<16> registers;
    m.tcgen05_ld_32x32b(registers, cells);
  } else {
    m.tcgen05_st_32x32b(cells, SimFragment<16>{});
  }
}

void meet_cluster(M& m) {
  m.barrier_cluster_arrive();
  m.barrier_cluster_wait();
}

void mma_then_move(M& m, Use move, TmemAddress cells, const Pieces& pieces) {
  const bool leads = m.cta_rank() == 0;
  if (leads) {
    issue_pair_mma(m, cells, CtaMask{static_cast<std::uint16_t>(pieces.complete ? 0x3 : 0x1)});
  }
  if (leads || pieces.complete) {
    micro::wait(m, 1);
  }
  if (!leads) {
    if (pieces.after) {
      m.tcgen05_fence_after_thread_sync();
    }
    issue_move(m, move, cells);
    wait_moves(m);
  }
}

void move_then_mma(M& m, Use move, TmemAddress cells, const Pieces& pieces) {
  const bool leads = m.cta_rank() == 0;
  if (!leads) {
    issue_move(m, move, cells);
    if (pieces.complete) {
      wait_moves(m);
    }
    if (pieces.before) {
      m.tcgen05_fence_before_thread_sync();
    }
  }
  if (pieces.sync) {
    meet_cluster(m);
  }
  if (leads) {
    if (pieces.after) {
      m.tcgen05_fence_after_thread_sync();
    }
    issue_pair_mma(m, cells, CtaMask{0x1});
    micro::wait(m, 1);
  }
  wait_moves(m);
}

Body pair_of_ctas(bool mma_first, Use move, Pieces pieces) {
  return [=](M& m) {
    m.elect_one([&] {
      m.mbarrier_init(kBar, 1);
      m.mbarrier_init(micro::kBar2, 1);
      m.fence_mbarrier_init();
      m.mbarrier_arrive_expect_tx(micro::kBar2, 16384);
      m.cp_async_bulk_load(kTile, kSource, 16384, CopyTarget{micro::kBar2});
    });
    m.mbarrier_wait_parity(micro::kBar2, WaitPhase::number(0));
    m.sync_warp();
    m.tcgen05_alloc(CtaGroup::kTwo, micro::kWord, 32);
    const TmemAddress cells{m.ld_shared_u32(micro::kWord)};
    meet_cluster(m);
    if (m.cta_rank() == 0) {
      issue_pair_mma(m, cells, CtaMask{0x3});
    }
    micro::wait(m, 0);
    m.tcgen05_fence_before_thread_sync();
    meet_cluster(m);
    m.tcgen05_fence_after_thread_sync();
    if (mma_first) {
      mma_then_move(m, move, cells, pieces);
    } else {
      move_then_mma(m, move, cells, pieces);
    }
    meet_cluster(m);
    m.tcgen05_dealloc(CtaGroup::kTwo, cells, 32);
    meet_cluster(m);
  };
}

TEST(PairOfCtasTest, EachPieceIsNeeded) {
  const auto ids = [](bool mma_first, Use move, void (*leave_out)(Pieces&)) {
    Pieces pieces;
    leave_out(pieces);
    return found(pair_of_ctas(mma_first, move, pieces), 1, true, 2);
  };
  const auto none = [](Pieces&) {};
  const auto complete = [](Pieces& p) { p.complete = false; };
  const auto before = [](Pieces& p) { p.before = false; };
  const auto sync = [](Pieces& p) { p.sync = false; };
  const auto after = [](Pieces& p) { p.after = false; };
  using Ids = std::set<std::string>;
  for (const bool mma_first : {true, false}) {
    for (const Use move : {Use::kLd, Use::kSt}) {
      SCOPED_TRACE(std::string{kUseNames[static_cast<int>(move)]} +
                   (mma_first ? " last" : " first"));
      const bool load = move == Use::kLd;
      const Ids race = {!load ? "TMEM_WAW" : mma_first ? "TMEM_READ_BEFORE_COMMIT" : "TMEM_WAR"};
      EXPECT_EQ(ids(mma_first, move, none), Ids{});
      EXPECT_EQ(ids(mma_first, move, complete), race);
      EXPECT_EQ(ids(mma_first, move, after), Ids{"TMEM_FENCE_MISSING"});
      if (!mma_first) {
        EXPECT_EQ(ids(mma_first, move, sync), race);
        EXPECT_EQ(ids(mma_first, move, before), Ids{"TMEM_FENCE_MISSING"});
      }
    }
  }
}

// --- Shared memory ----------------------------------------------------------------------------

enum class Access { kLoad, kRead, kWrite, kStore, kMma };
constexpr Access kAccesses[] = {
    Access::kLoad, Access::kRead, Access::kWrite, Access::kStore, Access::kMma};
constexpr const char* kAccessNames[] = {"load", "read", "write", "store", "mma"};

bool asynchronous(Access access) {
  return access == Access::kLoad || access == Access::kStore || access == Access::kMma;
}
bool writes(Access access) {
  return access == Access::kLoad || access == Access::kWrite;
}

// What is found when the first is not known to be complete, or, if it is synchronous, when nothing
// orders the two (across warps).
constexpr const char* kIncomplete[5][5] = {
    // load            read                write             store               mma
    {"SMEM_WAW_ASYNC",
     "SMEM_RAW_NO_WAIT",
     "SMEM_WAW_ASYNC",
     "SMEM_RAW_NO_WAIT",
     "SMEM_RAW_NO_WAIT"},
    {"SMEM_RACE", "", "SMEM_RACE", "", ""},                                  // read
    {"SMEM_WAW_ASYNC", "SMEM_RACE", "SMEM_RACE", "SMEM_RACE", "SMEM_RACE"},  // write
    {"BULK_SRC_REUSE", "", "BULK_SRC_REUSE", "", ""},                        // store
    {"SMEM_WAR_ASYNC", "", "SMEM_WAR_ASYNC", "", ""},                        // mma
};
// And with no proxy fence: an ordinary access before an asynchronous one.
const char* unfenced(Access first, Access second) {
  if (asynchronous(first) || !asynchronous(second)) {
    return "";
  }
  if (first == Access::kWrite) {
    return "PROXY_FENCE_MISSING";
  }
  return writes(second) ? "PROXY_FENCE_MISSING_WAR" : "";
}

struct SharedPieces {
  bool complete = true;
  bool fence = true;
  bool sync = true;
};

constexpr Mbarrier kFull{{1048}};   // of the first access
constexpr Mbarrier kFull2{{1056}};  // of the second
constexpr std::uint32_t kBytes = 128 * 128;

// The tile is filled and known to be; then the two accesses.
Body shared_pair(Access first, Access second, bool same_warp, SharedPieces pieces) {
  return micro::tmem_and_barrier([=](M& m, TmemAddress at) {
    const std::uint32_t second_warp = same_warp ? 0 : 1;
    if (m.warp_index() == 0) {
      m.elect_one([&] {
        m.mbarrier_init(kFull, 1);
        m.mbarrier_init(kFull2, 1);
      });
    }
    m.cta_sync();
    const auto act = [&](Access access, Mbarrier full, bool complete) {
      switch (access) {
        case Access::kLoad:
          m.elect_one([&] {
            m.mbarrier_arrive_expect_tx(full, kBytes);
            m.cp_async_bulk_load(kTile, kSource, kBytes, CopyTarget{full});
          });
          if (complete) {
            m.mbarrier_wait_parity(full, WaitPhase::number(0));
            m.sync_warp();
          }
          break;
        case Access::kRead:
          micro::read_tile(m);
          break;
        case Access::kWrite:
          micro::write_tile(m);
          break;
        case Access::kStore:
          micro::store_tile(m);
          if (complete) {
            micro::wait_stored(m);
          }
          break;
        case Access::kMma:
          micro::mma(m, at);
          if (complete) {
            micro::complete(m);
          }
          break;
      }
    };
    if (m.warp_index() == 0) {
      act(first, kFull, pieces.complete);
      if (pieces.fence) {
        m.fence_proxy_async(ProxySpace::kSharedCta);
      }
    }
    if (!same_warp && pieces.sync) {
      m.bar_sync(2, 64);
    }
    if (m.warp_index() == second_warp) {
      act(second, kFull2, false);
    }
  });
}

class SharedPairTest : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  int row() const { return std::get<0>(GetParam()); }
  int column() const { return std::get<1>(GetParam()); }
  Access first() const { return kAccesses[row()]; }
  Access second() const { return kAccesses[column()]; }
  std::set<std::string> ids(bool same_warp, SharedPieces pieces) const {
    return found(shared_pair(first(), second(), same_warp, pieces), same_warp ? 1 : 2, false);
  }
  static std::set<std::string> only(const char* id) {
    return *id == '\0' ? std::set<std::string>{} : std::set<std::string>{id};
  }
};

TEST_P(SharedPairTest, WithAllPiecesItIsClean) {
  EXPECT_EQ(ids(true, {}), std::set<std::string>{});
  EXPECT_EQ(ids(false, {}), std::set<std::string>{});
}

TEST_P(SharedPairTest, WithoutCompletion) {
  SharedPieces pieces;
  pieces.complete = false;
  for (const bool same_warp : {true, false}) {
    EXPECT_EQ(ids(same_warp, pieces),
              asynchronous(first()) ? only(kIncomplete[row()][column()]) : std::set<std::string>{});
  }
}

// Either of the two may come first.
TEST_P(SharedPairTest, WithoutOrder) {
  SharedPieces pieces;
  pieces.sync = false;
  const std::string here = kIncomplete[row()][column()];
  const std::string there = kIncomplete[column()][row()];
  const std::set<std::string> found_ids = ids(false, pieces);
  EXPECT_EQ(found_ids.empty(), here.empty() && there.empty());
  for (const std::string& id : found_ids) {
    EXPECT_TRUE(id == here || id == there) << id;
  }
}

TEST_P(SharedPairTest, WithoutFence) {
  SharedPieces pieces;
  pieces.fence = false;
  for (const bool same_warp : {true, false}) {
    EXPECT_EQ(ids(same_warp, pieces), only(unfenced(first(), second())));
  }
}

INSTANTIATE_TEST_SUITE_P(OrderTable,
                         SharedPairTest,
                         ::testing::Combine(::testing::Range(0, 5), ::testing::Range(0, 5)),
                         [](const auto& pair) {
                           return std::string{kAccessNames[std::get<0>(pair.param)]} + "_then_" +
                                  kAccessNames[std::get<1>(pair.param)];
                         });

// --- A slice of a tile ------------------------------------------------------------------------

// An MMA reads the first 32 bytes of each row; warps 0..3 write 32 bytes of each row anew.
Body slice_then_rows(std::uint32_t first_column) {
  return micro::tmem_and_barrier([=](M& m, TmemAddress cells) {
    if (m.warp_index() == 0) {
      issue(m, Use::kMma, cells);
    }
    m.cta_sync();
    const SharedTile<f32> tile{kTile, 128, 32, Swizzle::k128B};
    m.st_shared(tile, m.warp_index() % 4 * kWarpLanes, first_column, SimFragment<8>{});
  });
}

// Without a swizzle: core matrices of 8 rows of 16 bytes. The operand's are at every second place.
Body slice_then_word(std::uint32_t offset) {
  return micro::tmem_and_barrier([=](M& m, TmemAddress cells) {
    if (m.warp_index() == 0) {
      const auto tile = UmmaSmemDescriptor::make(kTile, 128, 512, Swizzle::kNone);
      m.tcgen05_mma(CtaGroup::kOne, cells, tile, tile, instruction(), false);
    }
    m.cta_sync();
    if (m.warp_index() == 1) {
      m.elect_one([&] { m.st_shared_u32(kTile + offset, 0); });
    }
  });
}

TEST(SliceTest, OnlyTheCoreMatricesThatAnMmaReadsAreItsOperand) {
  EXPECT_EQ(found(slice_then_word(4), 2, false), std::set<std::string>{"SMEM_WAR_ASYNC"});
  EXPECT_EQ(found(slice_then_word(512 + 252), 2, false), std::set<std::string>{"SMEM_WAR_ASYNC"});
  EXPECT_EQ(found(slice_then_word(256), 2, false), std::set<std::string>{});
  EXPECT_EQ(found(slice_then_word(512 + 508), 2, false), std::set<std::string>{});
}

TEST(SliceTest, OnlyTheColumnsThatAnMmaReadsAreItsOperand) {
  EXPECT_EQ(found(slice_then_rows(0), 4, false), std::set<std::string>{"SMEM_WAR_ASYNC"});
  EXPECT_EQ(found(slice_then_rows(8), 4, false), std::set<std::string>{});
  EXPECT_EQ(found(slice_then_rows(24), 4, false), std::set<std::string>{});
}

// --- A warpgroup's wgmma ----------------------------------------------------------------------

struct WgmmaPieces {
  bool complete = true;  // of wgmma: its wait; of a load: that of warps 1 to 3, too
  bool fence = true;     // fence.proxy.async by the other warp
  bool sync = true;      // a barrier
};

// Warps 0 to 3 multiply what a copy has brought; warp 4 does the other access.
Body wgmma_pair(Access other, bool wgmma_first, WgmmaPieces pieces) {
  return micro::after_init(1, [=](M& m) {
    const auto copy = [&] {
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(kBar, kBytes);
        m.cp_async_bulk_load(kTile, kSource, kBytes, CopyTarget{kBar});
      });
    };
    const auto wait = [&](std::uint32_t phase) {
      m.mbarrier_wait_parity(kBar, WaitPhase::number(phase));
      m.sync_warp();
    };
    const bool multiplies = m.warp_index() < kWarpsPerWarpgroup;
    if (m.warp_index() == 4) {
      copy();
    }
    wait(0);
    M::Accumulator<Extent<>> d{m, 8U};
    const auto act = [&] {
      if (multiplies) {
        const bool all_wait = pieces.complete || m.warp_index() == 0;
        if (!wgmma_first && other == Access::kLoad && all_wait) {
          wait(1);
        }
        m.wgmma_fence();
        const SharedTile<bf16> tile{kTile, 64, 64, Swizzle::k128B};
        const auto operand = WgmmaSmemDescriptor<bf16>::k_major(tile, 0, 0);
        m.wgmma(d, operand, operand, false);
        m.wgmma_commit_group();
        if (pieces.complete) {
          m.wgmma_wait_group<0>(d);
        }
      } else if (other == Access::kLoad) {
        copy();
      } else {
        micro::write_tile(m);
        if (pieces.fence) {
          m.fence_proxy_async(ProxySpace::kSharedCta);
        }
      }
    };
    if (multiplies == wgmma_first) {
      act();
    }
    if (pieces.sync) {
      m.bar_sync(2, 160);
    }
    if (multiplies != wgmma_first) {
      act();
    }
    if (multiplies) {
      m.wgmma_wait_group<0>(d);
    }
  });
}

struct WgmmaRow {
  const char* name;
  Access other;
  bool wgmma_first;
  WgmmaPieces pieces;
  const char* id;
};

void PrintTo(const WgmmaRow& row, std::ostream* out) {
  *out << row.name;
}

constexpr WgmmaRow kWgmmaTable[] = {
    {"load_after", Access::kLoad, true, {}, ""},
    {"load_after_incomplete", Access::kLoad, true, {false, true, true}, "WGMMA_SMEM_RELEASE_EARLY"},
    {"load_after_unordered", Access::kLoad, true, {true, true, false}, "WGMMA_SMEM_RELEASE_EARLY"},
    {"write_after", Access::kWrite, true, {}, ""},
    {"write_after_incomplete",
     Access::kWrite,
     true,
     {false, true, true},
     "WGMMA_SMEM_RELEASE_EARLY"},
    {"load_before", Access::kLoad, false, {}, ""},
    {"load_before_three_do_not_wait",
     Access::kLoad,
     false,
     {false, true, true},
     "SMEM_RAW_NO_WAIT"},
    {"write_before", Access::kWrite, false, {}, ""},
    {"write_before_unfenced", Access::kWrite, false, {true, false, true}, "PROXY_FENCE_MISSING"},
};

class WgmmaPairTest : public ::testing::TestWithParam<WgmmaRow> {};

TEST_P(WgmmaPairTest, IsFound) {
  const WgmmaRow& row = GetParam();
  const std::set<std::string> expected =
      *row.id == '\0' ? std::set<std::string>{} : std::set<std::string>{row.id};
  EXPECT_EQ(found(wgmma_pair(row.other, row.wgmma_first, row.pieces), 5, false), expected);
}

INSTANTIATE_TEST_SUITE_P(OrderTable,
                         WgmmaPairTest,
                         ::testing::ValuesIn(kWgmmaTable),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace warptwin::sim::order_table_test
