// Kernels that end themselves, and what they print.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::stops_test {

using testing::Contains;
using testing::IsEmpty;

// `bytes` of a text as an initialiser, with its zero.
std::string variable(const std::string& name, const std::string& text) {
  std::string values;
  for (const char c : text + '\0') {
    values += (values.empty() ? "" : ", ") + std::to_string(static_cast<int>(c));
  }
  return ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {" + values +
         "};\n";
}

OneKernel stopping(const std::string& bound, const std::string& how) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.variables =
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
      ".param .b64 e);\n" +
      variable("says", "n > 0") + variable("file", "k.cu") + variable("where", "void k()");
  kernel.body = "  setp.lt.u32 %p1, %r1, " + bound + ";\n  @%p1 bra GOOD;\n" + how + "GOOD:\n";
  return kernel;
}

std::string asserting() {
  std::string text = "  {\n";
  for (const char* name : {"says", "file", "where"}) {
    const std::string parameter = std::string{"p"} + name;
    text += "  mov.u64 %rd4, " + std::string{name} + ";\n  cvta.global.u64 %rd5, %rd4;\n" +
            "  .param .b64 " + parameter + ";\n  st.param.b64 [" + parameter + "], %rd5;\n";
  }
  return text +
         "  .param .b32 line;\n  st.param.b32 [line], 12;\n"
         "  .param .b64 size;\n  st.param.b64 [size], 1;\n"
         "  call.uni __assertfail, (psays, pfile, line, pwhere, size);\n  }\n";
}

TEST(PtxStops, TrapsAreFound) {
  for (const auto& [bound, how, found] : {std::tuple{"40", "  trap;\n", true},
                                          {"64", "  trap;\n", false},
                                          {"40", "  brkpt;\n", true},
                                          {"64", "  brkpt;\n", false}}) {
    const OneKernel kernel = stopping(bound, how);
    const ProofResult proof = proof_of(kernel);
    EXPECT_EQ(proof.verdict == ProofVerdict::kProved, !found);
    EXPECT_EQ(ids_in(run_of(kernel).result).size(), found ? 1U : 0U);
    if (found) {
      EXPECT_THAT(ids_in(proof), Contains("KERNEL_TRAP"));
    }
  }
}

TEST(PtxStops, AssertionsAreFoundWithTheirText) {
  const OneKernel kernel = stopping("40", asserting());
  const OneRun run = run_of(kernel);
  ASSERT_EQ(run.result.findings.size(), 1U);
  EXPECT_STREQ(run.result.findings[0].info->id, "ASSERTION_FAILED");
  EXPECT_EQ(run.result.findings[0].message, "k.cu:12: void k(): assertion `n > 0` fails");
  EXPECT_NE(proof_of(kernel).verdict, ProofVerdict::kProved);
  EXPECT_EQ(proof_of(stopping("64", asserting())).verdict, ProofVerdict::kProved);
}

TEST(PtxStops, WhatDependsOnDataIsAsked) {
  OneKernel kernel = stopping("64", "");
  kernel.control = false;
  kernel.in = {1, 2, 3, 4};
  kernel.body =
      "  ld.global.u32 %r2, [%rd1];\n  setp.eq.u32 %p1, %r2, 0;\n  @!%p1 bra GOOD;\n"
      "  trap;\nGOOD:\n";
  const ProofResult proof = proof_of(kernel);
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_TRUE(proof.data_decides);
}

TEST(PtxStops, FormattedTextComesOut) {
  OneKernel kernel;
  kernel.variables = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n" +
                     variable("format", "%d|%5.2f|%s|%llx|%%|%-4u|%c\n") + variable("word", "yes");
  kernel.body =
      "  .local .align 8 .b8 packed[48];\n  setp.gt.u32 %p1, %r1, 1;\n  @%p1 bra DONE;\n"
      "  sub.s32 %r2, 0, %r1;\n  st.local.u32 [packed], %r2;\n"
      "  mov.f64 %fd1, 0d3FF8000000000000;\n  st.local.f64 [packed+8], %fd1;\n"
      "  mov.u64 %rd4, word;\n  cvta.global.u64 %rd4, %rd4;\n  st.local.u64 [packed+16], %rd4;\n"
      "  mov.u64 %rd5, 1099511627775;\n  st.local.u64 [packed+24], %rd5;\n"
      "  st.local.u32 [packed+32], 7;\n  st.local.u32 [packed+36], 122;\n"
      "  {\n  .param .b64 a;\n  .param .b64 b;\n  .param .b32 r;\n  mov.u64 %rd6, format;\n"
      "  cvta.global.u64 %rd6, %rd6;\n  mov.u64 %rd7, packed;\n  cvta.local.u64 %rd7, %rd7;\n"
      "  st.param.b64 [a], %rd6;\n  st.param.b64 [b], %rd7;\n"
      "  call.uni (r), vprintf, (a, b);\n  }\nDONE:\n";
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_EQ(run.printed, "0| 1.50|yes|ffffffffff|%|7   |z\n-1| 1.50|yes|ffffffffff|%|7   |z\n");
  EXPECT_EQ(proof_of(kernel).verdict, ProofVerdict::kProved);
}

// A loop that only sleeps waits for nobody.
TEST(PtxStops, SleepWithoutAnEnd) {
  const auto sleeping = [](const std::string& until) {
    return OneKernel{.body =
                         "  mov.u32 %r5, 0;\nLOOP:\n  nanosleep.u32 20;\n"
                         "  add.u32 %r5, %r5, 1;\n  setp.lt.u32 %p1, %r5, 100;\n" +
                         until + " bra LOOP;\n",
                     .threads = 1};
  };
  expect_proved(sleeping("  @%p1"));
  EXPECT_THROW(proof_of(sleeping("")), ConfigError);
}

}  // namespace warptwin::sim::stops_test
