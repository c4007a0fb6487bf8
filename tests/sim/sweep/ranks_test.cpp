#include "sim/sweep/ranks.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/named_scenario.hpp"

namespace warptwin::sim::sweep_ranks_test {
namespace {

// Processes on this machine, with a pair of sockets between each and rank 0.
class SocketRanks : public Ranks {
 public:
  explicit SocketRanks(int count) : count_{count}, files_(static_cast<std::size_t>(count), -1) {}

  // Makes the others; each runs `serve` and ends.
  void fork_others(const std::function<bool(Ranks&)>& serve) {
    for (int rank = 1; rank < count_; ++rank) {
      int ends[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
      const pid_t process = fork();
      if (process == 0) {
        rank_ = rank;
        files_.assign(1, ends[1]);
        close(ends[0]);
        _exit(serve(*this) ? 0 : 3);
      }
      close(ends[1]);
      files_[static_cast<std::size_t>(rank)] = ends[0];
      processes_[rank] = process;
    }
  }
  void kill_rank(int rank) { ::kill(processes_.at(rank), SIGKILL); }
  // The exit code of each, or minus the signal that ended it.
  std::map<int, int> ends() {
    std::map<int, int> ends;
    for (const auto& [rank, process] : processes_) {
      int status = 0;
      waitpid(process, &status, 0);
      ends[rank] = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }
    return ends;
  }

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  void send(int to, const std::string& message) override {
    ::send(files_[static_cast<std::size_t>(to)],
           message.data(),
           message.size(),
           MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  std::optional<std::pair<int, std::string>> receive() override {
    for (std::size_t from = rank_ == 0 ? 1 : 0; from < files_.size(); ++from) {
      std::string text(65536, '\0');
      const ssize_t size = recv(files_[from], text.data(), text.size(), MSG_DONTWAIT);
      if (size > 0) {
        text.resize(static_cast<std::size_t>(size));
        return std::pair{static_cast<int>(from), text};
      }
    }
    return {};
  }

 private:
  int count_;
  int rank_ = 0;
  std::vector<int> files_;  // by rank; of the others, to rank 0 alone
  std::map<int, pid_t> processes_;
};

class RanksTest : public testing::Test {
 protected:
  RanksTest() {
    options_.timing.run.moves_data = false;
    options_.timing.run.detect = false;
    options_.columns = columns_of("us");
    for (std::uint64_t i = 0; i < space_.size(); ++i) {
      points_.push_back(i);
    }
  }
  std::map<std::uint64_t, std::string> alone() {
    std::map<std::uint64_t, std::string> rows;
    run_points(
        space_, points_, options_, [&](const SweepRow& row) { rows[row.index] = packed(row); });
    return rows;
  }

  Chip chip_ = load_chip("b200");
  Space space_{named_scenario("gemm"), chip_, {"stages=2..5", "tile_n=32..256:32", "k=2048"}};
  SweepOptions options_;
  std::vector<std::uint64_t> points_;
};

TEST_F(RanksTest, FourTogetherMakeTheRowsThatOneMakes) {
  SocketRanks ranks{4};
  ranks.fork_others([&](Ranks& own) { return serve_points(space_, options_, own); });
  std::map<std::uint64_t, std::string> rows;
  const RanksResult result = run_points(
      space_,
      points_,
      options_,
      [&](const SweepRow& row) { EXPECT_TRUE(rows.emplace(row.index, packed(row)).second); },
      ranks);
  EXPECT_TRUE(result.lost.empty());
  EXPECT_EQ(rows, alone());
  EXPECT_EQ(ranks.ends(), (std::map<int, int>{{1, 0}, {2, 0}, {3, 0}}));
}

TEST_F(RanksTest, WhatARankThatDiesWasRunningOthersRun) {
  SocketRanks ranks{4};
  ranks.fork_others([&](Ranks& own) {
    if (own.rank() == 2) {
      own.send(0, "ready");  // and never runs what it is given
      pause();
    }
    return serve_points(space_, options_, own);
  });
  std::map<std::uint64_t, std::string> rows;
  const RanksResult result = run_points(
      space_,
      points_,
      options_,
      [&](const SweepRow& row) {
        EXPECT_TRUE(rows.emplace(row.index, packed(row)).second);
        if (rows.size() == 3) {
          ranks.kill_rank(2);
        }
      },
      ranks,
      std::chrono::milliseconds{3000});
  EXPECT_EQ(result.lost, std::vector<int>{2});
  EXPECT_EQ(result.again, 1U);
  EXPECT_EQ(rows, alone());
  EXPECT_EQ(ranks.ends(), (std::map<int, int>{{1, 3}, {2, -SIGKILL}, {3, 3}}));
}

TEST_F(RanksTest, WithoutRankZeroTheOthersEnd) {
  SocketRanks ranks{2};
  ranks.fork_others([&](Ranks& own) {
    return serve_points(space_, options_, own, std::chrono::milliseconds{300});
  });
  EXPECT_EQ(ranks.ends(), (std::map<int, int>{{1, 3}}));
}

}  // namespace
}  // namespace warptwin::sim::sweep_ranks_test
