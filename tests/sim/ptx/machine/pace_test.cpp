#include "sim/ptx/machine/pace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/ptx/text/parse.hpp"
#include "sim/run/time/timing.hpp"
#include "sim/timed/modules/lane_memory.hpp"
#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::pace_test {
namespace {

double cycles_of(const OneKernel& kernel, const Chip& chip) {
  const ScenarioEntry entry = entry_of(kernel);
  TimingOptions options;
  options.run.moves_data = false;
  options.run.detect = false;
  const TimingResult timing = time_scenario(entry, ParameterSet{entry.parameters}, chip, options);
  EXPECT_EQ(timing.stats.ending, Ending::kDone);
  return timing.stats.cycles;
}

double cycles_of(const std::string& body, const Chip& chip = load_chip("b200")) {
  return cycles_of(OneKernel{.body = body}, chip);
}

const char* const kZeros =
    "  mov.f32 %f1, 0f00000000;\n  mov.f32 %f2, 0f00000000;\n  mov.f32 %f3, 0f00000000;\n"
    "  mov.f32 %f4, 0f00000000;\n  mov.f32 %f5, 0f00000000;\n  mov.f32 %f6, 0f00000000;\n"
    "  mov.f32 %f7, 0f00000000;\n  mov.f32 %f8, 0f00000000;\n";

// `count` multiply-adds on so many registers in turn.
std::string multiply_adds(std::uint32_t count, std::uint32_t registers) {
  std::string text = kZeros;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string f = "%f" + std::to_string(1 + i % registers);
    text += "  fma.rn.f32 " + f + ", " + f + ", " + f + ", " + f + ";\n";
  }
  return text;
}

// What 64 more of them take.
template <class F>
double more_of(F text_of, const Chip& chip = load_chip("b200")) {
  return cycles_of(text_of(128), chip) - cycles_of(text_of(64), chip);
}

TEST(Pace, WhatDependsWaitsForTheLatency) {
  Chip chip = load_chip("b200");
  const auto on = [&](std::uint32_t registers) {
    return more_of([&](std::uint32_t count) { return multiply_adds(count, registers); }, chip);
  };
  chip.alu_latency = 4;
  EXPECT_EQ(on(8), 64);  // one a cycle
  EXPECT_EQ(on(2), 32 * 4);
  EXPECT_EQ(on(1), 64 * 4);
  chip.alu_latency = 6;
  EXPECT_EQ(on(8), 64);
  EXPECT_EQ(on(1), 64 * 6);
}

TEST(Pace, AUnitThatIsSlowerThanItsIssueHoldsTheWarp) {
  const auto of = [](const std::string& instruction) {
    return more_of([&](std::uint32_t count) {
      std::string text = kZeros;
      for (std::uint32_t i = 0; i < count; ++i) {
        text += "  " + instruction + ";\n";
        for (std::size_t at = 0; (at = text.find('$', at)) != std::string::npos;) {
          text.replace(at, 1, std::to_string(2 + i % 7));
        }
      }
      return text;
    });
  };
  EXPECT_EQ(of("add.s32 %r$, %r1, 1"), 64 * 2);          // 64 lanes a cycle of an SM
  EXPECT_EQ(of("ex2.approx.ftz.f32 %f$, %f1"), 64 * 8);  // 16
  EXPECT_EQ(of("mul.wide.u32 %rd$, %r1, 3"), 64 * 4);    // a quarter of the multiply-adds
  EXPECT_EQ(of("add.s64 %rd$, %rd1, 1"), 64 * 4);        // two of 32 bits
  EXPECT_EQ(of("mov.b32 %r$, %r1"), 0);                  // another name
}

// Warps `first` and `second` work, the others of the CTA end.
double two_warps(std::uint32_t first, std::uint32_t second, const std::string& work) {
  OneKernel kernel;
  kernel.threads = 256;
  kernel.body = "  shr.u32 %r2, %r1, 5;\n  setp.eq.u32 %p1, %r2, " + std::to_string(first) +
                ";\n  setp.eq.u32 %p2, %r2, " + std::to_string(second) +
                ";\n  or.pred %p1, %p1, %p2;\n  @!%p1 bra END;\n" + work + "END:\n";
  return cycles_of(kernel, load_chip("b200"));
}

TEST(Pace, TwoWarpsOfASchedulerShareItsIssue) {
  const std::string independent = multiply_adds(512, 8);
  const double apart = two_warps(0, 1, independent);
  EXPECT_NEAR(two_warps(0, 4, independent) - apart, 512, 8);
  EXPECT_EQ(two_warps(0, 7, independent), apart);
  // What waits for latencies leaves the issue to the other.
  const std::string dependent = multiply_adds(512, 1);
  EXPECT_NEAR(two_warps(0, 4, dependent), two_warps(0, 1, dependent), 8);
}

TEST(Pace, LoadsAreOnTheirWayTogether) {
  const auto added = [](const std::string& body) {
    Chip chip = load_chip("b200");
    const double before = cycles_of(OneKernel{.body = body, .in = {0, 0, 0, 0}}, chip);
    chip.global_latency += 100;
    return cycles_of(OneKernel{.body = body, .in = {0, 0, 0, 0}}, chip) - before;
  };
  const std::string use = "  add.u32 %r5, %r3, %r4;\n  add.u32 %r5, %r5, %r5;\n  bar.sync 0;\n";
  EXPECT_EQ(added("  ld.global.u32 %r3, [%rd1];\n  ld.global.u32 %r4, [%rd1+4];\n" + use), 100);
  EXPECT_EQ(added("  ld.global.u32 %r3, [%rd1];\n  cvt.u64.u32 %rd3, %r3;\n"
                  "  add.s64 %rd3, %rd3, %rd1;\n  ld.global.u32 %r4, [%rd3];\n" +
                  use),
            200);
  // Nobody waits for what nobody uses.
  EXPECT_EQ(added("  ld.global.u32 %r3, [%rd1];\n"), 0);
}

TEST(Pace, CopiesThatAreWaitedForTakeTheirLatencyOnce) {
  const auto added = [](const std::string& body) {
    Chip chip = load_chip("b200");
    const OneKernel kernel{.body = "  mov.u32 %r3, tile;\n" + body, .in = {0, 0, 0, 0}};
    const double before = cycles_of(kernel, chip);
    chip.global_latency += 100;
    return cycles_of(kernel, chip) - before;
  };
  const std::string copy = "  cp.async.ca.shared.global [%r3], [%rd1], 4;\n";
  const std::string next = "  cp.async.ca.shared.global [%r3+4], [%rd1+4], 4;\n";
  const std::string lone = "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra END;\n";
  EXPECT_EQ(added(lone + copy + next + "  cp.async.wait_all;\nEND:\n"), 100);
  EXPECT_EQ(added(lone + copy + "  cp.async.wait_all;\n" + next + "  cp.async.wait_all;\nEND:\n"),
            200);
}

TEST(Pace, BanksOfSharedMemory) {
  LaneAccess access{4};
  access.mask = ~0U;
  const auto passes = [&](std::uint32_t stride, std::uint32_t bytes) {
    access.bytes = bytes;
    for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      access.address[lane] = 1024 + std::uint64_t{lane} * stride;
    }
    return passes_of(access);
  };
  EXPECT_EQ(passes(4, 4), 1);
  EXPECT_EQ(passes(0, 4), 1);  // all the same word
  EXPECT_EQ(passes(8, 4), 2);
  EXPECT_EQ(passes(128, 4), 32);
  EXPECT_EQ(passes(132, 4), 1);
  EXPECT_EQ(passes(16, 16), 4);
  EXPECT_EQ(passes(128, 16), 32);
  access.mask = 1;
  EXPECT_EQ(passes(128, 4), 1);
}

TEST(Pace, SectorsOfGlobalMemory) {
  LaneAccess access{4};
  access.mask = ~0U;
  for (std::uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    access.address[lane] = 4096 + 4 * lane;
  }
  ASSERT_EQ(lines_of(access).size(), 1);
  EXPECT_EQ(lines_of(access)[0].bytes, 128);
  access.mask = 1;
  EXPECT_EQ(lines_of(access)[0].bytes, 32);
  access.address[0] = 4096 + 126;  // over the end of a line
  ASSERT_EQ(lines_of(access).size(), 2);
  EXPECT_EQ(lines_of(access)[1].line, 4096 + 128);
}

// What ptxas makes of an instruction, for one of each kind.
TEST(Pace, CostsOfInstructions) {
  using ptx::CostUnit;
  const auto of = [](const std::string& instruction) {
    const std::string text =
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
        "  .reg .pred %p<4>;\n  .reg .b16 %h<4>;\n  .reg .b32 %r<12>;\n  .reg .f32 %f<4>;\n"
        "  .reg .b64 %rd<4>;\n  .reg .f64 %fd<4>;\n  " +
        instruction + ";\n}\n";
    const ptx::Program program{ptx::parse_module(text, "k.ptx")};
    const ptx::Code& code = program.routines().front().code;
    EXPECT_NE(code.ops.front().form, nullptr) << instruction;
    return ptx::cost_of(code, code.ops.front());
  };
  EXPECT_EQ(of("mov.b32 %r1, %r2").unit, CostUnit::kNothing);
  EXPECT_EQ(of("mov.b64 %rd1, {%r1, %r2}").unit, CostUnit::kNothing);
  EXPECT_EQ(of("mov.b32 %r1, {%h1, %h2}").unit, CostUnit::kInteger);
  EXPECT_EQ(of("cvt.u64.u32 %rd1, %r1").unit, CostUnit::kNothing);
  EXPECT_EQ(of("cvt.s64.s32 %rd1, %r1").unit, CostUnit::kInteger);
  EXPECT_EQ(of("cvt.rn.f16x2.f32 %r1, %f1, %f2").unit, CostUnit::kConvert);
  EXPECT_EQ(of("cvt.rn.f64.s32 %fd1, %r1").unit, CostUnit::kMufu);
  EXPECT_EQ(of("fma.rn.f64 %fd1, %fd2, %fd2, %fd2").work, 2);
  EXPECT_EQ(of("max.f32 %f1, %f2, %f3").unit, CostUnit::kInteger);
  EXPECT_EQ(of("setp.lt.f32 %p1, %f2, %f3").unit, CostUnit::kInteger);
  EXPECT_EQ(of("div.full.f32 %f1, %f2, %f3").mufu, 1);
  EXPECT_EQ(of("bra $l;\n$l: ret").unit, CostUnit::kBranch);
  EXPECT_EQ(of("shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1").unit, CostUnit::kExchange);
  EXPECT_EQ(of("ld.local.u32 %r1, [%rd1]").unit, CostUnit::kExchange);
  EXPECT_EQ(of("ld.global.u32 %r1, [%rd1]").unit, CostUnit::kMachine);
  EXPECT_EQ(of("bar.sync 0").unit, CostUnit::kMachine);
  const ptx::InstructionCost product =
      of("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r1, %r2, %r3, %r4}, {%r5, %r6, "
         "%r7, %r8}, {%r9, %r10}, {%r1, %r2, %r3, %r4}");
  EXPECT_EQ(product.unit, CostUnit::kMma);
  EXPECT_EQ(product.work, 16 * 8 * 16 / 32);
}

}  // namespace
}  // namespace warptwin::sim::pace_test
