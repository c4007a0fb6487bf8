// redux.sync of f32.

#include <bit>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::float_reductions_test {

std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// The result in the first lane; `in` is the value of lanes 0, 1 and 2, all others have that of 3.
std::uint32_t reduced(const std::string& modifiers, const std::vector<float>& in) {
  OneKernel kernel;
  for (const float value : in) {
    kernel.in.push_back(bits(value));
  }
  kernel.body =
      "  min.u32 %r3, %r1, 3;\n  mul.wide.u32 %rd3, %r3, 4;\n"
      "  add.u64 %rd3, %rd1, %rd3;\n  ld.global.f32 %f1, [%rd3];\n  redux.sync." +
      modifiers +
      ".f32 %f2, %f1, 0xffffffff;\n  mul.wide.u32 %rd4, %r1, 4;\n"
      "  add.u64 %rd4, %rd2, %rd4;\n  st.global.f32 [%rd4], %f2;\n";
  const OneRun run = run_of(kernel);
  EXPECT_EQ(run.out[0], run.out[31]);
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  return run.out[0];
}

TEST(PtxFloatReductions, AreTheLeastAndTheLargest) {
  EXPECT_EQ(reduced("min", {3, -5, 2, 1}), bits(-5));
  EXPECT_EQ(reduced("max", {3, -5, 2, 1}), bits(3));
  EXPECT_EQ(reduced("max.abs", {3, -5, 2, 1}), bits(5));
  EXPECT_EQ(reduced("min", {0.0F, -0.0F, 2, 1}), bits(-0.0F));
  EXPECT_EQ(reduced("max", {-0.0F, 0.0F, -2, -1}), bits(0.0F));
}

TEST(PtxFloatReductions, PassNansByUnlessTheyAreAskedFor) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(reduced("max", {nan, -5, 2, 1}), bits(2));
  EXPECT_EQ(reduced("max.NaN", {nan, -5, 2, 1}), 0x7FFFFFFFU);
  EXPECT_EQ(reduced("min", {nan, nan, nan, nan}), 0x7FFFFFFFU);
}

}  // namespace warptwin::sim::float_reductions_test
