/// Rings of a cluster of 2 x 2 CTAs: masks that leave the row, roles that are not declared, rings
/// without stages.

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/check/detectors/detectors.hpp"
#include "sim/run/proof/prove.hpp"
#include "tests/support/small_kernel.hpp"

namespace warptwin::sim::stages_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::SmallKernel;

constexpr std::uint32_t kFull = 2048;
constexpr std::uint32_t kEmpty = 2056;
constexpr std::uint32_t kTiles = 4096;
constexpr std::uint32_t kPartBytes = 16;  // what each CTA of a row loads of a stage
constexpr std::uint32_t kCtas = 4;
constexpr std::uint32_t kLaps = 2;

struct Fault {
  bool copies_by_column = false;   // cta 0: its copies go to its column
  bool commits_by_column = false;  // all: their commits
  Role frees = Role::kMma;         // who commits
  std::uint32_t stages = 1;
};

Region barrier(const char* part, std::uint32_t address, Contributor contributor, std::uint32_t n) {
  Region region{RegionKind::kBarriers, "ring", part, address, 1, 8, {}};
  region.contract.contributors[0] = contributor;
  region.contract.bytes = n;
  return region;
}

// Each CTA loads a part of its row's stage and multicasts it along the row; each frees the stage
// in its row.
void act(SimMachine& m, const Fault& fault, GlobalAddress source) {
  const std::uint32_t rank = m.cta_rank();
  const CtaMask row{static_cast<std::uint16_t>(0x3U << (rank & 2U))};
  const CtaMask column{static_cast<std::uint16_t>(0x5U << (rank & 1U))};
  const Mbarrier full{{kFull}};
  const Mbarrier empty{{kEmpty}};
  if (m.warp_index() == 0) {
    m.elect_one([&] {
      m.mbarrier_init(full, 1);
      m.mbarrier_init(empty, 2);
      m.fence_mbarrier_init();
    });
    m.sync_warp();
  }
  m.barrier_cluster_arrive(kReleaseCluster);
  m.barrier_cluster_wait();
  for (std::uint32_t lap = 0; lap < kLaps; ++lap) {
    if (m.warp_index() == 0) {
      if (lap != 0) {
        m.mbarrier_wait_parity(empty, WaitPhase::number(lap - 1), kAcquireCluster);
        m.sync_warp();
      }
      m.elect_one([&] {
        m.mbarrier_arrive_expect_tx(full, 2 * kPartBytes);
        m.cp_async_bulk_load({kTiles + kPartBytes * (rank & 1U)},
                             source,
                             kPartBytes,
                             CopyTarget{full, fault.copies_by_column && rank == 0 ? column : row});
      });
    } else if (m.warp_index() == (fault.frees == Role::kMma ? 1U : 2U)) {
      m.mbarrier_wait_parity(full, WaitPhase::number(lap), kAcquireCluster);
      m.sync_warp();
      m.note_stage({StageStep::kConsumerAcquired, full, fault.stages, 0, lap, {}});
      m.elect_one([&] {
        m.tcgen05_commit_multicast(CtaGroup::kOne, empty, fault.commits_by_column ? column : row);
      });
    }
  }
  if (m.warp_index() == 0) {
    m.mbarrier_wait_parity(empty, WaitPhase::number(kLaps - 1), kAcquireCluster);
    m.sync_warp();
  }
  m.barrier_cluster_arrive(kReleaseCluster);
  m.barrier_cluster_wait();
}

ProofResult proof_of(const Fault& fault) {
  SmallKernel kernel;
  kernel.roles = {{Role::kLoad, 1}, {Role::kMma, 1}, {Role::kEpilogue, 1}};
  kernel.cluster_size = kCtas;
  kernel.regions = {
      barrier("full", kFull, {Role::kLoad, ArrivalKind::kTmaBytes, 1}, 2 * kPartBytes),
      barrier("empty", kEmpty, {Role::kMma, ArrivalKind::kUmmaCommit, 2}, 0)};
  kernel.rings = {{"ring", kFull, kEmpty, 1, kTiles, 2 * kPartBytes}};
  kernel.body = [fault](SimMachine& m, const ParameterSet&, GlobalAddress words) {
    act(m, fault, words);
  };
  ProofOptions options;
  options.run.moves_data = false;
  return prove(tests::entry_of(kernel), ParameterSet{{}}, options);
}

std::set<std::string> errors_of(const ProofResult& result) {
  std::set<std::string> ids;
  for (const Finding& finding : result.run.findings) {
    if (finding.severity >= Severity::kError) {
      ids.insert(finding.info->id);
    }
  }
  return ids;
}

TEST(StagesTest, TheRightRingIsProved) {
  const ProofResult result = proof_of({});
  EXPECT_THAT(errors_of(result), IsEmpty());
  EXPECT_EQ(result.verdict, ProofVerdict::kProved);
}

TEST(StagesTest, ACopyThatLeavesItsRowIsFoundAtTheCopy) {
  const ProofResult result = proof_of({.copies_by_column = true});
  EXPECT_THAT(errors_of(result), Contains("BULK_MCAST_MASK"));
  for (const Finding& finding : result.run.findings) {
    if (std::string_view{finding.info->id} == "BULK_MCAST_MASK") {
      EXPECT_THAT(finding.message,
                  HasSubstr("fills a stage of ring in cta 2, which frees none for cta 0"));
    }
  }
}

// Every barrier gets as many arrivals as it takes: nothing hangs.
TEST(StagesTest, ACommitThatLeavesItsRowIsFoundThoughAllCountsFit) {
  const ProofResult result = proof_of({.commits_by_column = true});
  EXPECT_EQ(result.run.end, Ending::kDone);
  EXPECT_THAT(errors_of(result), Contains("TCGEN05_COMMIT_MASK"));
}

TEST(StagesTest, AnUndeclaredRolesArrivalIsFoundThoughTheCountFits) {
  const ProofResult result = proof_of({.frees = Role::kEpilogue});
  EXPECT_EQ(result.run.end, Ending::kDone);
  EXPECT_THAT(errors_of(result), Contains("PIPELINE_ROLE_MISMATCH"));
}

TEST(StagesTest, ARingWithoutStagesMayNotBeUsed) {
  EXPECT_THAT(errors_of(proof_of({.stages = 0})), Contains("PIPELINE_STAGE_OOB"));
}

// A ring of length 0 at the end of what is declared: its first wait is at no barrier at all.
TEST(StagesTest, AWaitOnARingWithoutStagesNamesTheRing) {
  for (const bool declared : {true, false}) {
    SmallKernel kernel;
    kernel.roles = {{Role::kLoad, 1}};
    if (declared) {
      kernel.rings = {{"ring", kFull, kFull, 0, kTiles, 2 * kPartBytes}};
    }
    kernel.body = [](SimMachine& m, const ParameterSet&, GlobalAddress) {
      m.mbarrier_wait_parity(Mbarrier{{kFull}}, WaitPhase::parity_only(1));
      m.sync_warp();
    };
    ProofOptions options;
    options.run.moves_data = false;
    const ProofResult result = prove(tests::entry_of(kernel), ParameterSet{{}}, options);
    EXPECT_EQ(errors_of(result).contains("PIPELINE_STAGE_OOB"), declared);
  }
}

}  // namespace
}  // namespace warptwin::sim::stages_test
