// Copies that reduce: what they leave, who may be beside them, and ways to use what they leave too
// early.

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::copy_reductions_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kWords = 32;  // that a copy reduces

// `part` in `text`, `by` instead.
std::string with(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part << " in " << text;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}

void expect_refused(const OneKernel& kernel, const char* why) {
  try {
    run_of(kernel);
    ADD_FAILURE() << kernel.body;
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
}

// Each warp of each CTA: its lanes store words of `in` to 128 bytes of `tile`, and lane 0 reduces
// them into `out`.
constexpr char kReduces[] =
    "  mov.u32 %r20, tile;\n  shr.u32 %r22, %r1, 5;\n  mad.lo.u32 %r20, %r22, 128, %r20;\n"
    "  and.b32 %r21, %r1, 31;\n  mad.lo.u32 %r23, %r21, 4, %r20;\n  mul.wide.u32 %rd4, %r21, 4;\n"
    "  add.u64 %rd5, %rd1, %rd4;\n  add.u64 %rd6, %rd2, %rd4;\n  ld.global.u32 %r2, [%rd5];\n"
    "  st.shared.u32 [%r23], %r2;\n  fence.proxy.async.shared::cta;\n"
    "  bar.warp.sync 0xffffffff;\n  setp.ne.u32 %p1, %r21, 0;\n  @%p1 bra LAST;\n  REDUCE\n"
    "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nLAST:\n"
    "  bar.warp.sync 0xffffffff;\n";
constexpr char kWait[] = "  cp.async.bulk.wait_group 0;\n";

std::string reduce(const std::string& what) {
  return "cp.reduce.async.bulk.global.shared::cta.bulk_group." + what + " [%rd2], [%r20], 128;";
}

OneKernel reducing(const std::string& what, std::uint32_t threads = 64, std::uint32_t ctas = 3) {
  OneKernel kernel;
  kernel.threads = threads;
  kernel.ctas = ctas;
  kernel.out_words = kWords;
  kernel.in.resize(kWords);
  std::iota(kernel.in.begin(), kernel.in.end(), 7);
  kernel.body = with(kReduces, "REDUCE", reduce(what));
  return kernel;
}

TEST(PtxCopyReductions, OfOneOperationMayMeet) {
  const OneKernel adds = reducing("add.u32");
  const OneRun run = run_of(adds);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t word = 0; word < kWords; ++word) {
    EXPECT_EQ(run.out[word], 6 * (7 + word));
  }
  expect_proved(adds);
  for (const char* what : {"max.s32",
                           "or.b32",
                           "add.u64",
                           "min.f16",
                           "add.f32",
                           "add.noftz.bf16",
                           "add.f64",
                           "inc.u32"}) {
    expect_proved(reducing(what));
  }
}

TEST(PtxCopyReductions, OfDoublesAndHalvesAddByElements) {
  OneKernel kernel = reducing("add.f32", 32, 2);
  for (std::uint32_t word = 0; word < kWords; ++word) {
    kernel.in[word] = std::bit_cast<std::uint32_t>(0.5F * static_cast<float>(word));
  }
  OneRun run = run_of(kernel);
  for (std::uint32_t word = 0; word < kWords; ++word) {
    EXPECT_EQ(std::bit_cast<float>(run.out[word]), static_cast<float>(word));
  }
  kernel = reducing("add.noftz.f16", 32, 2);
  std::fill(kernel.in.begin(), kernel.in.end(), 0x3C004000);  // 2 and 1
  run = run_of(kernel);
  EXPECT_EQ(run.out[9], 0x40004400U);
}

// What they leave is read behind the wait, by the thread that has made the copy.
TEST(PtxCopyReductions, AreReadBehindTheWait) {
  OneKernel kernel = reducing("add.u32", 32, 1);
  const std::string right = kernel.body;
  const std::string load = "  ld.global.u32 %r5, [%rd2];\n";
  kernel.body = with(right, kWait, kWait + load);
  expect_proved(kernel);
  kernel.body = with(right, kWait, load + kWait);
  expect_found(kernel, "GMEM_RAW_NO_WAIT");
  kernel.body = with(right, kWait, with(kWait, "group 0", "group.read 0") + load + kWait);
  expect_found(kernel, "GMEM_RAW_NO_WAIT");
  // Another CTA's may still come.
  kernel = reducing("add.u32", 32, 2);
  kernel.body = with(right, kWait, kWait + load);
  expect_found(kernel, "GMEM_RAW_NO_WAIT");
}

TEST(PtxCopyReductions, KeepTheirSourceUntilItIsRead) {
  OneKernel kernel = reducing("add.u32", 32, 1);
  const std::string right = kernel.body;
  const std::string store = "  st.shared.u32 [%r20], %r1;\n";
  kernel.body = with(right, kWait, with(kWait, "group 0", "group.read 0") + store + kWait);
  expect_proved(kernel);
  kernel.body = with(right, kWait, store + kWait);
  expect_found(kernel, "BULK_SRC_REUSE");
  kernel.body = with(right, kWait, "");
  EXPECT_THAT(ids_in(proof_of(kernel)), Contains("BULK_STORE_PENDING_AT_EXIT"));
}

// Warp 1 does `other` with the bytes that warp 0 reduces.
OneKernel beside(const std::string& what, const std::string& other) {
  OneKernel kernel = reducing(what, 64, 1);
  kernel.out_words = 2 * kWords;
  kernel.body = with(kernel.body,
                     reduce(what),
                     "setp.ne.u32 %p2, %r22, 0;\n  @%p2 bra OTHER;\n  " + reduce(what) +
                         "\n  bra DONE;\nOTHER:\n  " + other + "\nDONE:\n");
  return kernel;
}

TEST(PtxCopyReductions, RaceWithWhatDoesNotReduce) {
  expect_proved(beside("add.u32", reduce("add.u32")));
  expect_found(
      beside("add.u32", "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r20], 128;"),
      "GMEM_RACE");
  // Of elements of another width: neither is atomic to the other.
  expect_found(beside("add.u32", reduce("add.u64")), "GMEM_RACE");
  // Of another proxy.
  expect_found(beside("add.u32", "red.global.add.u32 [%rd2], 1;"), "GMEM_RACE");
  expect_found(beside("add.u32", "st.global.u32 [%rd2+16], %r1;"), "GMEM_RACE");
  expect_proved(beside("add.u32", "st.global.u32 [%rd2+128], %r1;"));
}

// Which of two comes first shows in what they leave: nothing may depend on that.
TEST(PtxCopyReductions, OfTwoOperationsAreUndecidedWhereDataDecides) {
  const OneKernel both = beside("add.u32", reduce("max.u32"));
  expect_proved(both);
  const std::string decides = "  setp.gt.u32 %p5, %r2, 5;\n  @!%p5 trap;\n";
  const auto deciding = [&](OneKernel kernel) {
    kernel.control = false;
    kernel.body = with(kernel.body, "  st.shared.u32 [%r23]", decides + "  st.shared.u32 [%r23]");
    return proof_of(kernel).verdict;
  };
  EXPECT_EQ(deciding(both), ProofVerdict::kUndecided);
  EXPECT_EQ(deciding(beside("add.u32", reduce("add.u32"))), ProofVerdict::kProved);
  EXPECT_EQ(deciding(beside("inc.u32", reduce("inc.u32"))), ProofVerdict::kUndecided);
  EXPECT_EQ(deciding(beside("add.f32", reduce("add.f32"))), ProofVerdict::kUndecided);
}

TEST(PtxCopyReductions, ThatPtxHasNotAreRefused) {
  expect_refused(reducing("add.s64"), "no reduction by a copy");
  expect_refused(reducing("min.f32"), "no reduction by a copy");
  expect_refused(reducing("inc.s32"), "no reduction by a copy");
}

// --- By a tensor map ----------------------------------------------------------------------------

OneKernel by_map(const std::string& op, ElementType element, std::uint32_t ctas) {
  OneKernel kernel = reducing("add.u32", 32, ctas);
  kernel.element = element;
  kernel.columns = 16;
  kernel.out_words = 16 * 8;
  TensorMapSpec map;
  map.tensor = 1;
  map.box_rows = 4;
  map.box_columns = 8;
  map.swizzle = Swizzle::k32B;
  kernel.maps = {map};
  kernel.body = with(kReduces,
                     "REDUCE",
                     "cp.reduce.async.bulk.tensor.2d.global.shared::cta." + op +
                         ".tile.bulk_group [%rd20, {12, 6}], [%r20];");
  return kernel;
}

TEST(PtxCopyReductions, ByAMapAreOfItsType) {
  const OneKernel kernel = by_map("add", ElementType::kU32, 3);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t row = 0; row < 8; ++row) {
    for (std::uint32_t column = 0; column < 16; ++column) {
      const bool inside = row >= 6 && column >= 12;
      const std::uint32_t word = (row - 6) * 8 + column - 12;  // no swizzle in the first lines
      EXPECT_EQ(run.out[row * 16 + column], inside ? 3 * (7 + word) : 0);
    }
  }
  expect_proved(kernel);
  expect_proved(by_map("add", ElementType::kF32, 3));
  expect_proved(by_map("min", ElementType::kI32, 3));
  expect_proved(by_map("xor", ElementType::kI32, 3));
  expect_refused(by_map("min", ElementType::kF32, 1), "of the map's type");
  expect_refused(by_map("inc", ElementType::kI32, 1), "of the map's type");
  OneKernel reads = by_map("add", ElementType::kU32, 1);
  reads.body = with(reads.body, kWait, "  ld.global.u32 %r5, [%rd2+432];\n" + std::string{kWait});
  expect_found(reads, "GMEM_RAW_NO_WAIT");
}

// --- To shared memory ---------------------------------------------------------------------------

// Both CTAs of a pair reduce their words into those of CTA 0, which waits for both and gives them.
constexpr char kToShared[] =
    "  mov.u32 %r20, tile;\n  add.u32 %r24, %r20, 1024;\n  add.u32 %r30, %r20, 2048;\n"
    "  mov.u32 %r31, %cluster_ctarank;\n  mad.lo.u32 %r23, %r1, 4, %r20;\n"
    "  add.u32 %r25, %r23, 1024;\n  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd5, %rd1, %rd4;\n"
    "  add.u64 %rd6, %rd2, %rd4;\n  ld.global.u32 %r2, [%rd5];\n  st.shared.u32 [%r23], %r2;\n"
    "  st.shared.u32 [%r25], %r1;\n  setp.ne.u32 %p1, %r1, 0;\n  setp.ne.u32 %p2, %r31, 0;\n"
    "  or.pred %p3, %p1, %p2;\n  @%p3 bra READY;\n  mbarrier.init.shared.b64 [%r30], 1;\n"
    "  fence.mbarrier_init.release.cluster;\n"
    "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r30], BYTES;\nREADY:\n"
    "  fence.proxy.async;\n  bar.warp.sync 0xffffffff;\n"
    "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n"
    "  mapa.shared::cluster.u32 %r26, %r24, 0;\n  mapa.shared::cluster.u32 %r27, %r30, 0;\n"
    "  @%p1 bra ISSUED;\n  REDUCE\nISSUED:\n  bar.warp.sync 0xffffffff;\n  @%p2 bra LAST;\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [%r30], 0;\n  @!%p4 bra WAIT;\n"
    "  ld.shared.u32 %r5, [%r25];\n  st.global.u32 [%rd6], %r5;\nLAST:\n"
    "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";

std::string to_shared(const std::string& what) {
  return "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." + what +
         " [%r26], [%r20], 128, [%r27];";
}

OneKernel pair(const std::string& body) {
  OneKernel kernel;
  kernel.ctas = 2;
  kernel.cluster = 2;
  kernel.out_words = kWords;
  kernel.in.resize(kWords);
  std::iota(kernel.in.begin(), kernel.in.end(), 7);
  kernel.body = body;
  return kernel;
}

std::string adding(const std::string& what, const char* bytes = "256") {
  return with(with(kToShared, "BYTES", bytes), "REDUCE", to_shared(what));
}

TEST(PtxCopyReductions, ToSharedMemoryAreCountedByItsMbarrier) {
  const OneKernel kernel = pair(adding("add.u32"));
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  for (std::uint32_t word = 0; word < kWords; ++word) {
    EXPECT_EQ(run.out[word], word + 2 * (7 + word));
  }
  expect_proved(kernel);
  expect_proved(pair(adding("max.s32")));
  expect_found(pair(adding("add.u32", "384")), "DEADLOCK");
  EXPECT_NE(proof_of(pair(adding("add.u32", "128"))).verdict, ProofVerdict::kProved);
  expect_refused(pair(adding("and.b64")), "no reduction by a copy");
}

TEST(PtxCopyReductions, ToSharedMemoryAreReadBehindTheWait) {
  const std::string wait =
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p4, [%r30], 0;\n  @!%p4 bra WAIT;\n";
  const std::string load = "  ld.shared.u32 %r5, [%r25];\n";
  EXPECT_NE(proof_of(pair(with(adding("add.u32"), wait + load, load + wait))).verdict,
            ProofVerdict::kProved);
  // They add to what is there.
  const std::string first = "  st.shared.u32 [%r25], %r1;\n";
  expect_found(pair(with(adding("add.u32"), first, "")), "SMEM_UNINIT_READ");
  // A copy that does not reduce, in no order with one that does.
  expect_found(pair(with(adding("add.u32"),
                         to_shared("add.u32"),
                         "@%p2 " + to_shared("add.u32") +
                             "\n  @!%p2 cp.async.bulk.shared::cluster.shared::cta.mbarrier::"
                             "complete_tx::bytes [%r26], [%r20], 128, [%r27];")),
               "SMEM_WAW_ASYNC");
  // The source of the copy to the other CTA is read until that CTA's phase.
  expect_found(
      pair(with(adding("add.u32"), "ISSUED:\n", "  @%p2 st.shared.u32 [%r20], %r1;\nISSUED:\n")),
      "BULK_SRC_REUSE");
}

}  // namespace warptwin::sim::copy_reductions_test
