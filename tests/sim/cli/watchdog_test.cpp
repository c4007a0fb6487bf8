#include "sim/cli/watchdog.hpp"

#include <csignal>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace warptwin::sim::watchdog_test {
namespace {

using namespace std::chrono_literals;

TEST(WatchdogTest, TheCodeOfTheWorkComesBack) {
  const WatchedEnd end = run_watched([] { return 5; }, 10s);
  EXPECT_EQ(end.code, 5);
  EXPECT_FALSE(end.killed);
  EXPECT_EQ(end.signal, 0);
}

TEST(WatchdogTest, WorkThatHangsIsKilled) {
  const auto start = std::chrono::steady_clock::now();
  const WatchedEnd end = run_watched(
      [] {
        signal(SIGTERM, SIG_IGN);
        for (;;) {
          std::this_thread::sleep_for(1s);
        }
        return 0;
      },
      200ms);
  EXPECT_TRUE(end.killed);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(WatchdogTest, WorkThatCrashesSaysSo) {
  const WatchedEnd end = run_watched(
      [] {
        raise(SIGKILL);
        return 0;
      },
      10s);
  EXPECT_FALSE(end.killed);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(WatchdogTest, WorkThatThrowsFails) {
  const WatchedEnd end = run_watched([]() -> int { throw std::runtime_error("no device"); }, 10s);
  EXPECT_EQ(end.code, 3);
}

}  // namespace
}  // namespace warptwin::sim::watchdog_test
