// Which columns an allocation of tensor memory gets: a kernel may not take column 0 for granted
// where another CTA of its SM may have it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::tmem_columns_test {

using testing::Contains;
using testing::IsEmpty;

// Stores a word a lane from column `at` of an allocation on, whose address %r21 has.
OneKernel stores_at(const std::string& at) {
  OneKernel kernel;
  kernel.body =
      "  mov.u32 %r20, tile;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], 64;\n"
      "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "  bar.sync 0;\n  ld.shared.u32 %r21, [%r20];\n"
      "  mov.u32 %r22, " +
      at +
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
  OneKernel alone = stores_at("0");
  alone.variables = ".shared .align 16 .b8 more[131072];\n";
  EXPECT_EQ(proof_of(alone).verdict, ProofVerdict::kProved);
}

}  // namespace warptwin::sim::tmem_columns_test
