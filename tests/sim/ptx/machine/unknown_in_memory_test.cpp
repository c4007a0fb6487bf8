// What nobody knows (a clock, a register that nobody has written) is unknown in memory too, with
// data as without: where it decides something behind a load, the kernel is refused.

#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::unknown_in_memory_test {

/// Thread 0 stores %r4; %r31 is what all find, and decides. %r10 is the address of `tile`, %p1 says
/// whether it is thread 0, and %p2 whether it is of CTA 0.
struct Way {
  const char* name;
  const char* body;
  std::uint32_t ctas = 1;  // all in one cluster
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.body;
}

OneKernel deciding(const Way& way, const std::string& value) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.ctas = kernel.cluster = way.ctas;
  kernel.in.resize(64, 3);
  kernel.body =
      "  mov.u32 %r10, tile;\n  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r6, %ctaid.x;\n"
      "  mov.u32 %r31, 1;\n"
      "  setp.eq.and.u32 %p2, %r6, 0, %p1;\n" +
      value + std::string{way.body} +
      "  setp.eq.and.u32 %p9, %r31, 0, %p2;\n  @%p9 st.global.u32 [%rd2+64], 9;\n";
  return kernel;
}

constexpr char kMeet[] = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
constexpr char kPeer[] =
    "  xor.b32 %r7, %r6, 1;\n  mapa.shared::cluster.u32 %r8, %r10, %r7;\n  add.u32 %r9, %r8, 64;\n";
constexpr char kInit[] =
    "  @%p1 mbarrier.init.shared.b64 [tile+64], 1;\n  fence.mbarrier_init.release.cluster;\n";
constexpr char kWait[] =
    "WAIT:\n  mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p10, [tile+64], 0;\n"
    "  @!%p10 bra WAIT;\n";
constexpr char kBulk[] = "  st.shared.v4.u32 [tile], {%r4, %r4, %r4, %r4};\n  fence.proxy.async;\n";
constexpr char kEnd[] =
    "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nMEET:\n  bar.sync 0;\n";

std::vector<Way> ways() {
  static const std::string remote = std::string{kInit} + kMeet + kPeer;
  static const std::string store = remote + "  @%p1 st.shared::cluster.u32 [%r8], %r4;\n" + kMeet +
                                   "  ld.shared.u32 %r31, [tile];\n";
  static const std::string async =
      remote +
      "  @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [tile+64], 4;\n"
      "  @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8], %r4, [%r9];\n" +
      kWait + "  ld.shared.u32 %r31, [tile];\n" + kMeet;
  static const std::string copy =
      "  @%p1 st.shared.v4.u32 [tile+128], {%r4, %r4, %r4, %r4};\n  fence.proxy.async;\n" + remote +
      "  @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [tile+64], 16;\n"
      "  @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], "
      "[tile+128], 16, [%r9];\n" +
      kWait + "  ld.shared.u32 %r31, [tile];\n" + kMeet;
  static const std::string stored =
      std::string{"  @!%p1 bra MEET;\n"} + kBulk +
      "  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 16;\n" + kEnd +
      "  ld.global.u32 %r31, [%rd2];\n";
  static const std::string reduced =
      std::string{"  @!%p1 bra MEET;\n"} + kBulk +
      "  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [tile], 16;\n" + kEnd +
      "  ld.global.u32 %r31, [%rd1];\n";
  static const std::string loaded =
      std::string{kInit} +
      "  @%p1 st.global.v4.u32 [%rd2], {%r4, %r4, %r4, %r4};\n  fence.proxy.async;\n  bar.sync 0;\n"
      "  @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd9, [tile+64], 16;\n"
      "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd2], "
      "16, "
      "[tile+64];\n" +
      kWait + "  ld.shared.u32 %r31, [tile];\n";
  return {
      {"Shared",
       "  @%p1 st.shared.u32 [tile], %r4;\n  bar.sync 0;\n  ld.shared.u32 %r31, [tile];\n"},
      {"SharedOfEachLane",
       "  mad.lo.u32 %r7, %r1, 4, %r10;\n  st.shared.u32 [%r7], %r4;\n  bar.sync 0;\n"
       "  mad.lo.u32 %r7, %r1, -4, %r10;\n  ld.shared.u32 %r31, [%r7+252];\n"},
      {"Output",
       "  @%p1 st.global.u32 [%rd2], %r4;\n  bar.sync 0;\n  ld.global.u32 %r31, [%rd2];\n"},
      {"Input",
       "  @%p1 st.global.u32 [%rd1], %r4;\n  bar.sync 0;\n  ld.global.u32 %r31, [%rd1];\n"},
      {"RelaxedLoad",
       "  @%p1 st.global.u32 [%rd1], %r4;\n  bar.sync 0;\n"
       "  ld.relaxed.gpu.global.u32 %r31, [%rd1];\n"},
      {"Atomic",
       "  @%p1 st.global.u32 [%rd1], %r4;\n  bar.sync 0;\n"
       "  @%p1 atom.global.add.u32 %r31, [%rd1], 1;\n"},
      {"AtomicBehindAnother",
       "  @%p1 atom.global.add.u32 %r7, [%rd1], %r4;\n"
       "  @%p1 atom.global.max.u32 %r31, [%rd1], 1;\n"},
      {"Reduction",
       "  @%p1 red.global.add.u32 [%rd1], %r4;\n  bar.sync 0;\n"
       "  ld.global.u32 %r31, [%rd1];\n"},
      {"AtomicOfShared",
       "  @%p1 st.shared.u32 [tile], %r4;\n  bar.sync 0;\n"
       "  @%p1 atom.shared.exch.b32 %r31, [tile], 1;\n"},
      {"CopyOfALane",
       "  @%p1 st.global.u32 [%rd2], %r4;\n  bar.sync 0;\n"
       "  @%p1 cp.async.ca.shared.global [tile], [%rd2], 4;\n  cp.async.wait_all;\n  bar.sync 0;\n"
       "  ld.shared.u32 %r31, [tile];\n"},
      {"Matrix",
       "  setp.lt.u32 %p5, %r1, 32;\n  @!%p5 bra NEXT;\n  mad.lo.u32 %r7, %r1, 16, %r10;\n"
       "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r7], {%r4};\n  bar.warp.sync -1;\n"
       "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r31}, [%r7];\nNEXT:\n"},
      {"BulkStore", stored.c_str()},
      {"BulkReduction", reduced.c_str()},
      {"BulkLoad", loaded.c_str()},
      {"OtherCta", store.c_str(), 2},
      {"AsyncStore", async.c_str(), 2},
      {"CopyToCta", copy.c_str(), 2},
  };
}

class UnknownInMemory : public testing::TestWithParam<Way> {};

TEST_P(UnknownInMemory, DecidesNothing) {
  EXPECT_THROW(proof_of(deciding(GetParam(), "  mov.u32 %r4, %clock;\n")), ConfigError);
  EXPECT_THROW(proof_of(deciding(GetParam(), "  mov.u32 %r4, %r77;\n")), ConfigError);
}

TEST_P(UnknownInMemory, IsWhatIsStoredAlone) {
  expect_proved(deciding(GetParam(), "  mov.u32 %r4, 7;\n"));
}

INSTANTIATE_TEST_SUITE_P(Ptx, UnknownInMemory, testing::ValuesIn(ways()), [](const auto& way) {
  return std::string{way.param.name};
});

// A store that comes behind it makes it known again.
TEST(PtxUnknownInMemory, IsOverwritten) {
  const Way way{"",
                "  @%p1 st.shared.u32 [tile], %r4;\n  @%p1 st.shared.u32 [tile], 5;\n"
                "  @%p1 st.global.u32 [%rd2], %r4;\n  @%p1 st.global.u32 [%rd2], 5;\n"
                "  bar.sync 0;\n  ld.shared.u32 %r31, [tile];\n  ld.global.u32 %r32, [%rd2];\n"
                "  add.u32 %r31, %r31, %r32;\n"};
  expect_proved(deciding(way, "  mov.u32 %r4, %clock;\n"));
}

// What a bulk store has read is what it stores, whatever its source holds by then.
TEST(PtxUnknownInMemory, IsOfWhenACopyHasReadIt) {
  const auto stored = [](const char* first, const char* second) {
    OneKernel kernel;
    kernel.threads = 1;
    kernel.in.resize(64, 3);
    kernel.control = false;
    kernel.body =
        std::string{
            "  ld.global.u32 %r5, [%rd1];\n  mov.u32 %r6, 7;\n"
            "  st.shared.v4.u32 [tile], {"} +
        first + ", " + first + ", " + first + ", " + first +
        "};\n  fence.proxy.async;\n"
        "  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 16;\n"
        "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group.read 0;\n"
        "  st.shared.u32 [tile], " +
        second +
        ";\n  cp.async.bulk.wait_group 0;\n  ld.global.u32 %r31, [%rd2];\n"
        "  setp.eq.u32 %p9, %r31, 7;\n  @%p9 st.global.u32 [%rd2+64], 9;\n";
    return kernel;
  };
  EXPECT_TRUE(proof_of(stored("%r5", "%r6")).data_decides);
  EXPECT_FALSE(proof_of(stored("%r6", "%r5")).data_decides);
}

}  // namespace warptwin::sim::unknown_in_memory_test
