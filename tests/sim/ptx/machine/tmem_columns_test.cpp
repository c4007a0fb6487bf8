// Which columns an allocation of tensor memory gets: a kernel may not take column 0 for granted
// where another CTA of its SM may have it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::tmem_columns_test {

using testing::Contains;
using testing::IsEmpty;

// Stores a word a lane from column `at` of an allocation on, whose address %r21 has.
OneKernel stores_at(const std::string& at, const std::string& more = "") {
  OneKernel kernel;
  kernel.body =
      "  mov.u32 %r20, tile;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 64;\n"
      "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "  bar.sync 0;\n  ld.shared.u32 %r21, [%r20];\n" +
      more + "  mov.u32 %r22, " + at +
      ";\n  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%r1};\n"
      "  tcgen05.wait::st.sync.aligned;\n"
      "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 64;\n";
  return kernel;
}

TEST(PtxTensorMemoryColumns, BeginWhereTheAllocationSays) {
  const ProofResult read = proof_of(stores_at("%r21"));
  EXPECT_EQ(read.verdict, ProofVerdict::kProved);
  EXPECT_THAT(ids_in(read), IsEmpty());
  EXPECT_THAT(ids_in(proof_of(stores_at("0"))), Contains("TMEM_UNALLOCATED"));
}

// With so much shared memory one CTA has the SM alone.
TEST(PtxTensorMemoryColumns, BeginAtZeroForACtaThatIsAlone) {
  OneKernel alone = stores_at("0", "  mov.u32 %r23, more;\n");
  alone.variables = ".shared .align 16 .b8 more[131072];\n";
  const ProofResult proof = proof_of(alone);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_THAT(proof.notes, Contains(testing::HasSubstr("tcgen05.alloc gives columns as in this")));
}

// Which columns it gets nobody knows: what depends on that is not proved, with data neither.
class AskedColumns : public testing::TestWithParam<const char*> {};

TEST_P(AskedColumns, DecideNothing) {
  for (const char* first : {"",
                            "  ld.global.u32 %r4, [%rd1];\n  setp.eq.u32 %p1, %r4, 77;\n"
                            "  @%p1 bra NEXT;\n"}) {
    OneKernel kernel = stores_at("%r21", std::string{first} + GetParam());
    kernel.in = {1};
    kernel.control = false;
    EXPECT_THROW(proof_of(kernel), ConfigError) << kernel.body;
  }
}

constexpr const char* kAsked[] = {
    // The bits by which the simulator marks the first address, made by arithmetic on data.
    "  ld.global.u32 %r4, [%rd1];\n  setp.eq.u32 %p1, %r1, 0;\n  @%p1 mov.u32 %r4, 5;\n"
    "  xor.b32 %r5, %r4, 0xb0719956;\n  sub.u32 %r6, %r5, %r21;\n  @%p1 bra NEXT;\n"
    "  setp.ne.u32 %p9, %r6, 0;\n  @%p9 bra NEXT;\n  mov.u32 %r5, 1;\nNEXT:\n",
    "  ld.global.u32 %r4, [%rd1];\n  setp.eq.u32 %p1, %r1, 0;\n  @%p1 mov.u32 %r4, 5;\n"
    "  cvt.u64.u32 %rd3, %r4;\n  xor.b64 %rd3, %rd3, 0xb071995600000000;\n"
    "  mov.b64 {%r5, %r6}, %rd3;\n  sub.u32 %r6, %r6, %r21;\n  @%p1 bra NEXT;\n"
    "  setp.ne.u32 %p9, %r6, 0;\n  @%p9 bra NEXT;\n  mov.u32 %r5, 1;\nNEXT:\n",
    "  setp.eq.u32 %p9, %r21, 0;\n  @%p9 bra NEXT;\n  mov.u32 %r5, 1;\nNEXT:\n",
    "  add.u32 %r4, %r21, 448;\n  setp.gt.u32 %p9, %r4, 511;\n  @%p9 bra NEXT;\n"
    "  mov.u32 %r5, 1;\nNEXT:\n",
    "  and.b32 %r4, %r21, 256;\n  setp.ne.u32 %p9, %r4, 0;\n  @%p9 bra NEXT;\n"
    "  mov.u32 %r5, 1;\nNEXT:\n",
    "  add.u32 %r5, %r20, %r21;\n  st.shared.u32 [%r5+16], %r1;\nNEXT:\n",
    "  setp.eq.u32 %p2, %r1, 0;\n  @%p2 st.shared.u32 [%r20+16], %r21;\n  bar.warp.sync -1;\n  "
    "ld.shared.u32 %r4, [%r20+16];\n"
    "  setp.eq.u32 %p9, %r4, 0;\n  @%p9 bra NEXT;\n  mov.u32 %r5, 1;\nNEXT:\n",
    "  ld.shared.u8 %r4, [%r20];\n  setp.eq.u32 %p9, %r4, 0;\n  @%p9 bra NEXT;\n"
    "  mov.u32 %r5, 1;\nNEXT:\n",
    "  shfl.sync.idx.b32 %r4, %r21, 0, 31, -1;\n  setp.eq.u32 %p9, %r4, 0;\n  @%p9 bra NEXT;\n"
    "  mov.u32 %r5, 1;\nNEXT:\n",
    "  cvt.u64.u32 %rd5, %r21;\n  add.u64 %rd5, %rd5, 4;\n  setp.eq.u64 %p9, %rd5, 4;\n"
    "  @%p9 bra NEXT;\n  mov.u32 %r5, 1;\nNEXT:\n",
    "  setp.ne.u32 %p9, %r21, 0;\n  @%p9 trap;\nNEXT:\n",
    "  setp.eq.u32 %p9, %r21, 0;\n  @%p9 bar.sync 0;\nNEXT:\n",
    "  setp.eq.u32 %p9, %r21, 0;\n  vote.sync.all.pred %p8, %p9, -1;\n  @%p8 bra NEXT;\n"
    "  mov.u32 %r5, 1;\nNEXT:\n",
    "  shr.u32 %r4, %r21, 5;\n  bar.sync %r4, 32;\nNEXT:\n",
    "  xor.b32 %r21, %r21, 32;\nNEXT:\n",
    "  shl.b32 %r4, %r21, 1;\n  mov.u32 %r21, %r4;\nNEXT:\n",  // an address of nothing
};
INSTANTIATE_TEST_SUITE_P(PtxTensorMemoryColumns, AskedColumns, testing::ValuesIn(kAsked));

// Or is taken for granted by who says so.
TEST(PtxTensorMemoryColumns, AreTheLowestByARule) {
  const ScenarioEntry entry = entry_of(stores_at("%r21", kAsked[0]));
  ProofOptions options;
  options.run.moves_data = false;
  choose_rule(options.run.rules, "tmem_base=lowest");
  EXPECT_EQ(prove(entry, ParameterSet{entry.parameters}, options).verdict, ProofVerdict::kProved);
}

// What comes out the same wherever the allocation is, is known.
class MovedColumns : public testing::TestWithParam<const char*> {};

TEST_P(MovedColumns, MayBeComputedWith) {
  const OneKernel kernel = stores_at("%r22", std::string{GetParam()});
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << kernel.body << proof.strength();
  EXPECT_THAT(ids_in(proof), IsEmpty());
}

constexpr const char* kMoved[] = {
    "  add.u32 %r22, %r21, 63;\n",
    "  and.b32 %r22, %r21, 0xffff;\n",
    "  or.b32 %r22, %r21, 7;\n",
    "  shr.u32 %r4, %r21, 16;\n  shl.b32 %r4, %r4, 16;\n  add.u32 %r22, %r4, %r21;\n",
    "  mad.lo.u32 %r22, %r1, 0, %r21;\n",
    "  cvt.u64.u32 %rd5, %r21;\n  cvt.u32.u64 %r22, %rd5;\n",
    "  shfl.sync.idx.b32 %r22, %r21, 0, 31, -1;\n",
    "  setp.eq.u32 %p2, %r1, 0;\n  @%p2 st.shared.u32 [%r20+16], %r21;\n  bar.warp.sync -1;\n  "
    "ld.shared.u32 %r22, [%r20+16];\n",
    "  add.u32 %r5, %r21, 3;\n  .local .align 8 .b8 own[16];\n  st.local.u32 [own+4], %r5;\n"
    "  ld.local.u32 %r22, [own+4];\n",
    "  mov.u32 %r22, %r21;\n  add.u32 %r5, %r21, 32;\n"
    "LOOP:\n  add.u32 %r22, %r22, 8;\n  setp.ne.u32 %p9, %r22, %r5;\n  @%p9 bra LOOP;\n",
};
INSTANTIATE_TEST_SUITE_P(PtxTensorMemoryColumns, MovedColumns, testing::ValuesIn(kMoved));

// Two allocations, whose addresses are %r21 and %r22: a store to column `at`, and back.
OneKernel stores_of_two(const std::string& at) {
  OneKernel kernel;
  const auto allocate = [](const std::string& word) {
    return "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [" + word + "], 64;\n";
  };
  kernel.body = allocate("tile") + allocate("tile+4") +
                "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
                "  bar.sync 0;\n  ld.shared.v2.u32 {%r21, %r22}, [tile];\n"
                "  tcgen05.st.sync.aligned.32x32b.x2.b32 [" +
                at +
                "], {%r1, %r1};\n"
                "  tcgen05.wait::st.sync.aligned;\n"
                "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 64;\n"
                "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r22, 64;\n";
  return kernel;
}

// One allocation need not be beside the other, as it is in the run.
TEST(PtxTensorMemoryColumns, AreThoseOfOneAllocation) {
  expect_proved(stores_of_two("%r21+62"));
  expect_proved(stores_of_two("%r22+62"));
  EXPECT_THROW(proof_of(stores_of_two("%r21+64")), ConfigError);
  expect_found(stores_of_two("%r22+63"), "TMEM_UNALLOCATED");  // beside %r21, here
}

// The address of another CTA's allocation is none here, be it the same number.
TEST(PtxTensorMemoryColumns, AreThoseOfTheOwnCta) {
  const auto from_rank = [](const std::string& rank) {
    OneKernel kernel = stores_at("%r23",
                                 "  barrier.cluster.arrive.aligned;\n"
                                 "  barrier.cluster.wait.aligned;\n"
                                 "  mov.u32 %r2, %cluster_ctarank;\n"
                                 "  mapa.shared::cluster.u32 %r24, %r20, " +
                                     rank +
                                     ";\n  ld.shared::cluster.u32 %r23, [%r24];\n"
                                     "  barrier.cluster.arrive.aligned;\n"
                                     "  barrier.cluster.wait.aligned;\n");
    kernel.ctas = kernel.cluster = 2;
    return kernel;
  };
  expect_proved(from_rank("%r2"));
  EXPECT_THROW(proof_of(from_rank("0")), ConfigError);
}

// Where data moves, what has left for global memory is a number; that is said.
TEST(PtxTensorMemoryColumns, AreThoseOfTheRunBesideData) {
  OneKernel kernel = stores_at("%r21",
                               "  ld.global.u32 %r4, [%rd1];\n  setp.eq.u32 %p9, %r4, 7;\n"
                               "  @%p9 bra NEXT;\n  mov.u32 %r5, 1;\nNEXT:\n");
  kernel.in = {1};
  kernel.control = false;
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_TRUE(proof.data_decides);
  EXPECT_THAT(proof.notes, Contains(testing::HasSubstr("its address has been copied")));
}

// With all columns it has no choice.
TEST(PtxTensorMemoryColumns, AreKnownOfAllOfThem) {
  OneKernel kernel = stores_at("%r21", kAsked[0]);
  for (std::size_t at = 0; (at = kernel.body.find(", 64;", at)) != std::string::npos;) {
    kernel.body.replace(at, 5, ", 512;");
  }
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

}  // namespace warptwin::sim::tmem_columns_test
