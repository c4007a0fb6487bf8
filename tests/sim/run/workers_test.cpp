#include "sim/run/workers.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::workers_test {
namespace {

using Why = WorkEnd::Why;

std::vector<WorkEnd> ends_of(std::size_t count,
                             std::size_t jobs,
                             const WorkLimits& limits,
                             const std::function<std::string(std::size_t)>& work) {
  std::vector<WorkEnd> ends;
  run_workers(count, jobs, limits, work, [&](std::size_t number, const WorkEnd& end) {
    EXPECT_EQ(number, ends.size());
    ends.push_back(end);
  });
  return ends;
}

TEST(WorkersTest, EndsComeInOrderWhateverTheNumberOfJobs) {
  for (const std::size_t jobs : {0U, 1U, 3U, 64U}) {
    const std::vector<WorkEnd> ends = ends_of(
        20, jobs, {}, [](std::size_t i) { return std::string(i * 10'000, static_cast<char>(i)); });
    ASSERT_EQ(ends.size(), 20U);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      EXPECT_EQ(ends[i].why, Why::kDone);
      EXPECT_EQ(ends[i].text, std::string(i * 10'000, static_cast<char>(i)));
    }
  }
  EXPECT_TRUE(ends_of(0, 2, {}, [](std::size_t) { return ""; }).empty());
}

TEST(WorkersTest, WhatOneThrowsOrDiesOfLeavesTheOthers) {
  const std::vector<WorkEnd> ends = ends_of(3, 2, {}, [](std::size_t i) -> std::string {
    if (i == 0) {
      throw std::runtime_error("a contradiction");
    }
    if (i == 1) {
      ::raise(SIGKILL);
    }
    return "done";
  });
  EXPECT_EQ(ends[0].why, Why::kError);
  EXPECT_EQ(ends[0].text, "a contradiction");
  EXPECT_EQ(ends[1].why, Why::kSignal);
  EXPECT_EQ(ends[1].signal, SIGKILL);
  EXPECT_EQ(ends[2].text, "done");
}

TEST(WorkersTest, TimeIsLimited) {
  const std::vector<WorkEnd> ends = ends_of(1, 1, {.cpu_seconds = 1}, [](std::size_t) {
    for (volatile std::uint64_t i = 0;;) {
      i = i + 1;
    }
    return std::string{};
  });
  EXPECT_EQ(ends[0].why, Why::kTime);
}

TEST(WorkersTest, MemoryIsLimited) {
  const WorkLimits limits{.memory_bytes = std::uint64_t{1} << 32U};
  const std::vector<WorkEnd> ends = ends_of(2, 1, limits, [](std::size_t i) {
    std::vector<char> much(i == 0 ? std::size_t{1} << 33U : 1000, 'a');
    return std::string(much.data(), 3);
  });
  EXPECT_EQ(ends[0].why, Why::kMemory);
  EXPECT_EQ(ends[1].text, "aaa");
}

TEST(WorkersTest, WhatDeliveryThrowsEndsTheOthers) {
  const auto work = [](std::size_t i) {
    for (volatile bool forever = i != 0; forever;) {
    }
    return std::string{};
  };
  EXPECT_THROW(
      run_workers(
          2, 2, {}, work, [](std::size_t, const WorkEnd&) { throw std::runtime_error("no"); }),
      std::runtime_error);
}

}  // namespace
}  // namespace warptwin::sim::workers_test
