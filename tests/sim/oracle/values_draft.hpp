/// What the tests of oracle V are written with: programs in the making, and pairs of a wrong one
/// and its right twin.

#pragma once

#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/oracle/values.hpp"
#include "tests/oracle/program_writer.hpp"

namespace warptwin::sim {

using Places = ProgramPlaces;

constexpr std::uint32_t bar(std::uint32_t i) {
  return Places::bar(i);
}
constexpr std::uint32_t word(std::uint32_t i) {
  return Places::word(i);
}
constexpr std::uint32_t tile(std::uint32_t i) {
  return Places::tile(i);
}

/// A program in the making.
struct Draft {
  explicit Draft(std::uint32_t warps, std::uint32_t cluster_size = 1, std::uint32_t clusters = 1)
      : program{empty_program("test", warps, cluster_size, clusters)},
        source{program.buffer_address(Places::kSource)},
        target{program.buffer_address(Places::kTarget)},
        flag{program.buffer_address(Places::kFlags)} {}

  WarpWriter warp(std::uint32_t index, std::uint32_t cta = 0) {
    return warp_of(program, cta, index);
  }
  /// Warp 0 of each CTA makes barriers with these counts, and all meet.
  void init(std::initializer_list<std::uint32_t> counts) {
    const std::uint32_t warps = program.warps_per_cta();
    const auto ctas = static_cast<std::uint32_t>(program.warps.size()) / warps;
    for (std::uint32_t cta = 0; cta < ctas; ++cta) {
      std::uint32_t i = 0;
      for (const std::uint32_t count : counts) {
        warp(0, cta).init(bar(i++), count);
      }
    }
    sync();
  }
  void sync() {
    for (std::uint32_t i = 0; i < program.warps.size(); ++i) {
      const std::uint32_t warps = program.warps_per_cta();
      WarpWriter each = warp(i % warps, i / warps);
      if (program.workload.cluster_size > 1) {
        each.cluster_arrive();
        each.cluster_wait();
      } else {
        each.cta_sync();
      }
    }
  }
  /// Stores words 0 to 3 of `address`.
  static void write(WarpWriter warp, std::uint32_t address, std::uint32_t value) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      warp.write(address + 4 * i, value + i);
    }
  }
  static void fill(WarpWriter warp,
                   std::uint32_t barrier,
                   std::uint32_t to,
                   std::uint64_t from,
                   std::uint32_t bytes) {
    warp.arrive_expect(barrier, bytes);
    warp.load(to, from, bytes, barrier);
  }
  static void wait(WarpWriter warp, std::uint32_t barrier, std::uint32_t phase) {
    warp.wait(barrier, phase);
    warp.sync_warp();
  }

  void number_lines() {
    std::uint32_t line = 0;
    for (std::vector<Instruction>& each : program.warps) {
      for (Instruction& instruction : each) {
        instruction.operation.site = {"test", ++line};
      }
    }
  }

  Program program;
  std::uint64_t source, target, flag;
};

struct Case {
  const char* name;
  const char* what;  // is wrong, if `fault`
  std::function<void(Draft&, bool fault)> write;
  std::uint32_t warps = 2;
  std::uint32_t cluster_size = 1;
  std::uint32_t clusters = 1;
};
inline void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name;
}

/// Judges one of the two, with the reduction and without.
inline ValuesResult judge(const Case& test, bool fault) {
  Draft draft{test.warps, test.cluster_size, test.clusters};
  test.write(draft, fault);
  draft.number_lines();
  const ValuesResult result = judge_values(draft.program);
  ValuesOptions whole;
  whole.reduce = false;
  whole.states_max = 200'000;
  EXPECT_EQ(judge_values(draft.program, whole).verdict, result.verdict) << "without the reduction";
  return result;
}

class TwinsTest : public testing::TestWithParam<Case> {};

TEST_P(TwinsTest, TheWrongOneIsWrongAndItsTwinIsRight) {
  const ValuesResult wrong = judge(GetParam(), true);
  EXPECT_EQ(wrong.verdict, ValuesResult::kWrong) << wrong.what;
  EXPECT_THAT(wrong.what, testing::HasSubstr(GetParam().what));
  EXPECT_FALSE(wrong.path.empty());
  const ValuesResult right = judge(GetParam(), false);
  EXPECT_EQ(right.verdict, ValuesResult::kRight) << right.what << "\n"
                                                 << testing::PrintToString(right.path);
}

inline std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

}  // namespace warptwin::sim
