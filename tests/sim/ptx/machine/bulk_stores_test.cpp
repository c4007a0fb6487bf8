// Bulk stores that several lanes of a warp make: whose groups are waited for, and whether one that
// all lanes make of the same bytes to the same place is a race.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::bulk_stores_test {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

// %r20: `tile`, of which both warps have written a word each lane; %r22: 16 bytes for each lane.
// Warp 1 goes on to MEET.
constexpr char kBegin[] =
    "  mov.u32 %r20, tile;\n  mad.lo.u32 %r21, %r1, 4, %r20;\n"
    "  mad.lo.u32 %r22, %r1, 16, %r20;\n  mul.wide.u32 %rd4, %r1, 16;\n"
    "  add.u64 %rd4, %rd2, %rd4;\n  st.shared.u32 [%r21], %r1;\n"
    "  st.shared.v4.u32 [%r22+1024], {%r1, %r1, %r1, %r1};\n"
    "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n"
    "  setp.eq.u32 %p2, %r1, 0;\n  setp.ne.u32 %p3, %r1, 5;\n"
    "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra MEET;\n";
constexpr char kStore[] = "  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r20], 128;\n";
constexpr char kCommit[] = "  cp.async.bulk.commit_group;\n";
constexpr char kRead[] = "  cp.async.bulk.wait_group.read 0;\n";
constexpr char kWait[] = "  cp.async.bulk.wait_group 0;\n";
constexpr char kMeet[] = "MEET:\n  bar.sync 0;\n";
// Warp 1 writes the bytes that have been stored.
constexpr char kReuse[] = "  @%p1 st.shared.u32 [%r21+-128], %r1;\n  bar.sync 0;\n";

OneKernel storing(const std::string& body) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body = kBegin + body;
  return kernel;
}

void expect_proved(const std::string& body) {
  const ProofResult proof = proof_of(storing(body));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << body << testing::PrintToString(ids_in(proof));
}

void expect_found(const std::string& body, const char* id) {
  const ProofResult proof = proof_of(storing(body));
  EXPECT_NE(proof.verdict, ProofVerdict::kProved) << body;
  EXPECT_THAT(ids_in(proof), Contains(id)) << body;
}

// As the epilogue of CUTLASS: 32 stores of one tile to one place, each lane waits for its own.
TEST(PtxBulkStores, OfTheSameByAllLanesAreNoRace) {
  const std::string same = std::string{kStore} + kCommit + kRead + kMeet + kReuse;
  expect_proved(same);
  const OneRun run = run_of(storing(same));
  EXPECT_EQ(run.out[7], 7U);
  // The last group may still be read.
  expect_proved(std::string{kStore} + kCommit + "  cp.async.bulk.wait_group.read 1;\n" + kRead +
                kMeet + kReuse);
}

TEST(PtxBulkStores, OfOtherBytesToOnePlaceAreARace) {
  expect_found(std::string{"  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r22+1024], "
                           "16;\n"} +
                   kCommit + kRead + kMeet,
               "GMEM_RACE");
  // Of the same bytes at two times: they have been written between.
  const std::string again = std::string{kStore} + kCommit + kRead + kMeet + kReuse +
                            "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @%p1 bra LAST;\n" +
                            kStore + kCommit;
  expect_found(again + kRead + "LAST:\n", "GMEM_RACE");
}

// As CUTLASS's test of bulk stores: all threads write a tile, and each of them begins all stores of
// it.
TEST(PtxBulkStores, OfTheSameByTwoWarpsAreARaceAndNeedAFence) {
  const auto found = [](bool fence, bool by_one) {
    std::string stores;
    for (int i = 0; i < 16; ++i) {
      const std::string place = std::to_string(i * 16);
      stores += "  cp.async.bulk.global.shared::cta.bulk_group [%rd2+" + place + "], [%r20+" +
                place + "], 16;\n";
    }
    OneKernel kernel;
    kernel.threads = 64;
    kernel.body =
        "  mov.u32 %r20, tile;\n  mad.lo.u32 %r21, %r1, 4, %r20;\n"
        "  st.shared.u32 [%r21], %r1;\n  setp.ge.u32 %p1, %r1, 32;\n" +
        std::string{fence ? "  fence.proxy.async.shared::cta;\n" : ""} + "  bar.sync 0;\n" +
        (by_one ? "  @%p1 bra LAST;\n" : "") + stores + kCommit + kWait + "LAST:\n";
    const ProofResult proof = proof_of(kernel);
    EXPECT_EQ(proof.verdict == ProofVerdict::kProved, fence && by_one)
        << testing::PrintToString(ids_in(proof));
    return ids_in(proof);
  };
  EXPECT_THAT(found(false, false), IsSupersetOf({"GMEM_RACE", "PROXY_FENCE_MISSING"}));
  EXPECT_THAT(found(false, true), Contains("PROXY_FENCE_MISSING"));
  EXPECT_THAT(found(true, false), Contains("GMEM_RACE"));
  EXPECT_THAT(found(true, false), Not(Contains("PROXY_FENCE_MISSING")));
  EXPECT_TRUE(found(true, true).empty());
}

TEST(PtxBulkStores, OfEachLaneToItsOwnPlaceAreProved) {
  const std::string each =
      "  cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r22+1024], 16;\n";
  const std::string reuse =
      "  @%p1 st.shared.v4.u32 [%r22+512], {%r1, %r1, %r1, %r1};\n  bar.sync 0;\n";
  expect_proved(each + kCommit + kRead + kMeet + reuse);
  expect_found(
      each + kCommit + "  @%p3" + kRead + kMeet + reuse + "  @%p1 bra LAST;\n" + kRead + "LAST:\n",
      "BULK_SRC_REUSE");
}

TEST(PtxBulkStores, AreWaitedForByEachLane) {
  const std::string ends = "  @%p1 bra LAST;\n" + std::string{kRead} + "LAST:\n";
  // All but lane 5.
  expect_found(std::string{kStore} + kCommit + "  @%p3" + kRead + kMeet + kReuse + ends,
               "BULK_SRC_REUSE");
  const std::string pending = std::string{kStore} + kCommit + "  @%p3" + kRead + kMeet;
  EXPECT_THAT(ids_in(proof_of(storing(pending))), Contains("BULK_STORE_PENDING_AT_EXIT"));
  // One lane waits, and the others have groups of their own.
  expect_found(std::string{kStore} + kCommit + "  @%p2" + kRead + kMeet + kReuse + ends,
               "BULK_SRC_REUSE");
  expect_found(std::string{kStore} + "  @%p2" + kCommit + kRead + kMeet, "BULK_WAIT_WRONG_THREAD");
  // Each lane knows of its own store, and they have not met.
  expect_found(std::string{kStore} + kCommit + kRead + "  st.shared.u32 [%r21], %r1;\n" + kMeet,
               "WARP_LANES_NOT_RELEASED");
}

TEST(PtxBulkStores, OfOneLaneAreNotWaitedForByAnother) {
  const std::string one = std::string{"  @%p2"} + kStore + "  @%p2" + kCommit;
  expect_proved(one + "  @%p2" + kRead + "  bar.warp.sync 0xffffffff;\n" + kMeet + kReuse);
  expect_proved(one + kRead + "  bar.warp.sync 0xffffffff;\n" + kMeet + kReuse);
  const std::string other = "  setp.eq.u32 %p4, %r1, 5;\n  @%p4";
  expect_found(one + other + kRead + kMeet, "BULK_WAIT_WRONG_THREAD");
}

// Lane 0 has two groups, the others one: `wait_group.read 1` waits for one of lane 0's alone.
TEST(PtxBulkStores, AreCountedByTheGroupsOfTheirLane) {
  const std::string first = std::string{kStore} + kCommit;
  const std::string second =
      "  @%p2 cp.async.bulk.global.shared::cta.bulk_group [%rd2+2048], [%r20+1024], 16;\n  @%p2" +
      std::string{kCommit};
  const std::string ends = "  @%p1 bra LAST;\n" + std::string{kRead} + "LAST:\n";
  expect_found(first + second + "  cp.async.bulk.wait_group.read 1;\n" + kMeet + kReuse + ends,
               "BULK_SRC_REUSE");
  expect_proved(first + second + kRead + kMeet + kReuse);
}

TEST(PtxBulkStores, AreCompleteForWhoReadsThem) {
  const std::string load = "  @%p1 ld.global.u32 %r2, [%rd2];\n";
  expect_proved(std::string{kStore} + kCommit + kWait + kMeet + load);
  expect_found(std::string{kStore} + kCommit + kRead + kMeet + load, "GMEM_RAW_NO_WAIT");
  const ProofResult others =
      proof_of(storing(std::string{kStore} + kCommit + "  @%p3" + kWait + kMeet + load +
                       "  @%p1 bra LAST;\n" + kWait + "LAST:\n"));
  EXPECT_THAT(ids_in(others), Contains("GMEM_RAW_NO_WAIT"));
  EXPECT_THAT(ids_in(others), Not(Contains("GMEM_RACE")));
}

// The other lanes load and store what it has not stored, and need not know of its wait.
TEST(PtxBulkStores, ThatOneLaneWaitsForHoldNobodyElseUp) {
  const auto behind = [](const std::string& access) {
    return "  @%p2" + std::string{kStore} + "  @%p2" + kCommit + "  @%p2" + kWait + access + kMeet;
  };
  for (const char* access :
       {"  st.global.u32 [%rd4+$], %r1;\n", "  ld.global.u32 %r2, [%rd4+$];\n"}) {
    const auto at = [&](const char* offset) {
      std::string there = access;
      return there.replace(there.find('$'), 1, offset);
    };
    expect_proved(behind(at("1024")));
    expect_proved(behind("  bar.warp.sync -1;\n" + at("0")));
    expect_found(behind(at("0")), "WARP_LANES_NOT_RELEASED");
  }
  // A word that all lanes release tells of the stores.
  expect_found(behind("  st.release.gpu.global.u32 [%rd1], 1;\n"), "WARP_SYNC_MISSING");
}

}  // namespace warptwin::sim::bulk_stores_test
