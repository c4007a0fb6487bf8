// Atomics of vectors, and of two halves of a word: values, and what a proof says of them.

#include <bit>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::vector_atomics_test {

using testing::Contains;
using testing::IsEmpty;

constexpr std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// One thread does it.
OneKernel by_one(const std::string& body, std::vector<std::uint32_t> in) {
  OneKernel kernel;
  kernel.in = std::move(in);
  kernel.body = "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra DONE;\n" + body + "DONE:\n";
  return kernel;
}

std::vector<std::uint32_t> first_words(const OneKernel& kernel, std::ptrdiff_t count) {
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
  return {run.out.begin(), run.out.begin() + count};
}

TEST(PtxVectorAtomics, AddEachElement) {
  const std::string body =
      "  mov.f32 %f1, 0f3f800000;\n  mov.f32 %f2, 0f40000000;\n"
      "  atom.global.add.v2.f32 {%f3, %f4}, [%rd1], {%f1, %f2};\n"
      "  red.global.add.v4.f32 [%rd1+16], {%f1, %f2, %f2, %f1};\n"
      "  st.global.v2.f32 [%rd2], {%f3, %f4};\n"
      "  ld.global.v2.u32 {%r2, %r3}, [%rd1];\n  st.global.v2.u32 [%rd2+8], {%r2, %r3};\n"
      "  ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1+16];\n"
      "  st.global.v4.u32 [%rd2+16], {%r2, %r3, %r4, %r5};\n";
  EXPECT_EQ(
      first_words(by_one(body, {bits(0.5F), bits(0.25F), 0, 0, bits(1), bits(2), bits(3), bits(4)}),
                  8),
      (std::vector<std::uint32_t>{
          bits(0.5F), bits(0.25F), bits(1.5F), bits(2.25F), bits(2), bits(4), bits(5), bits(5)}));
}

// Subnormals are kept, and each half is rounded by itself.
TEST(PtxVectorAtomics, OfHalvesToo) {
  const std::string body =
      "  mov.b32 %r2, 0x00013C00;\n  atom.global.add.noftz.f16x2 %r3, [%rd1], %r2;\n"
      "  mov.b32 %r4, 0x3F803F80;\n  red.global.add.noftz.bf16x2 [%rd1+4], %r4;\n"
      "  mov.b16 %h1, 0x3C00;\n  mov.b16 %h2, 0x4000;\n"
      "  atom.global.max.noftz.v2.f16 {%h3, %h4}, [%rd1+8], {%h1, %h2};\n"
      "  red.global.add.noftz.v4.bf16x2 [%rd1+16], {%r4, %r4, %r4, %r2};\n"
      "  st.global.u32 [%rd2], %r3;\n  mov.b32 %r5, {%h3, %h4};\n  st.global.u32 [%rd2+4], %r5;\n"
      "  ld.global.v2.u32 {%r6, %r7}, [%rd1];\n  st.global.v2.u32 [%rd2+8], {%r6, %r7};\n"
      "  ld.global.u32 %r6, [%rd1+8];\n  st.global.u32 [%rd2+16], %r6;\n"
      "  ld.global.v2.u32 {%r6, %r7}, [%rd1+24];\n  st.global.u32 [%rd2+20], %r6;\n"
      "  st.global.u32 [%rd2+24], %r7;\n";
  EXPECT_EQ(
      first_words(
          by_one(body, {0x00024000, 0x40003F80, 0x3C004200, 0, 0, 0, 0x3F803F80, 0x00004000}), 7),
      (std::vector<std::uint32_t>{0x00024000,     // f16x2: 2 and a subnormal, then
                                  0x3C004200,     // f16: 3 and 1
                                  0x00034200,     // 3, and three of the least subnormal
                                  0x40404000,     // bf16x2: 2 + 1, 1 + 1
                                  0x40004200,     // the greater of each
                                  0x40004000,     // 1 + 1 each
                                  0x00014000}));  // 2 + half a step, and a subnormal
}

// All threads of two warps do this, and then that.
OneKernel together(const std::string& atomic, const std::string& use) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.in.resize(64);
  kernel.body =
      "  mov.f32 %f1, 0f3f800000;\n  mul.wide.u32 %rd3, %r1, 4;\n"
      "  add.u64 %rd3, %rd2, %rd3;\n  " +
      atomic + ";\n" + use;
  return kernel;
}

constexpr char kBranch[] =
    "  setp.ne.u32 %p1, %r2, 63;\n  @%p1 bra DONE;\n  st.global.u32 [%rd3], %r2;\nDONE:\n";
constexpr char kSums[] = "red.global.add.v2.f32 [%rd1], {%f1, %f1}";
constexpr char kHalves[] = "red.global.add.noftz.v4.f16x2 [%rd1], {%r1, %r1, %r1, %r1}";

TEST(PtxVectorAtomics, AreNoRaceAmongThemselves) {
  for (const char* atomic : {"red.global.add.v2.f32 [%rd2], {%f1, %f1}",
                             "red.global.add.noftz.v4.f16x2 [%rd2], {%r1, %r1, %r1, %r1}"}) {
    const auto beside = [&](const std::string& use) {
      OneKernel kernel = together(atomic, use);
      kernel.control = false;  // what is left depends on their order
      return kernel;
    };
    expect_proved(beside(""));
    expect_found(beside("  ld.global.u32 %r2, [%rd2+4];\n"), "GMEM_RACE");
    expect_found(beside("  st.global.u32 [%rd2+4], %r1;\n"), "GMEM_RACE");
    expect_proved(beside("  ld.global.u32 %r2, [%rd2+16];\n"));
  }
}

TEST(PtxVectorAtomics, WhatTheLastOneLeavesIsNotProvedToDecideAnything) {
  const std::string use = "  bar.sync 0;\n  ld.global.u32 %r2, [%rd1+4];\n";
  for (const char* atomic : {kSums, kHalves}) {
    EXPECT_EQ(proof_of(together(atomic, use + kBranch)).verdict, ProofVerdict::kUndecided)
        << atomic;
  }
  // Maxima come to the same in every order, but not two kinds of them.
  const std::string maxima = "red.global.max.noftz.v2.f16x2 [%rd1], {%r1, %r1}";
  expect_proved(together(maxima, use + kBranch));
  const std::string other = maxima + ";\n  red.global.max.noftz.v2.bf16x2 [%rd1], {%r1, %r1}";
  EXPECT_EQ(proof_of(together(other, use + kBranch)).verdict, ProofVerdict::kUndecided);
}

TEST(PtxVectorAtomics, StandAtAMultipleOfTheirSize) {
  const auto at = [](const std::string& offset) {
    OneKernel kernel = together("red.global.add.v2.f32 [%rd2+" + offset + "], {%f1, %f1}", "");
    kernel.control = false;
    return kernel;
  };
  expect_proved(at("8"));
  expect_found(at("4"), "WORD_OOB");
}

}  // namespace warptwin::sim::vector_atomics_test
