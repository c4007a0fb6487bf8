/// Events handed on: all of them, in their order, to some at once, and none missing when somebody
/// asks.

#include "sim/run/watchers.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::watchers_test {
namespace {

// Keeps the times of the events it sees; answers by how many they are.
class Seen : public EventSink, public TryJudge, public LaneJudge {
 public:
  void on_event(const Event& event) override { times_.push_back(event.time); }
  bool certain(std::uint32_t /*warp*/,
               std::uint32_t /*lanes*/,
               std::uint32_t /*cta*/,
               std::uint32_t /*address*/,
               std::uint32_t phase) const override {
    return times_.size() >= phase;
  }
  std::uint32_t now(std::uint32_t /*warp*/) const override {
    return static_cast<std::uint32_t>(times_.size());
  }
  bool knows(std::uint32_t /*warp*/,
             std::uint32_t /*lanes*/,
             std::uint32_t /*other*/,
             std::uint32_t time) const override {
    return times_.size() >= time;
  }
  const std::vector<std::uint64_t>& times() const { return times_; }

 private:
  std::vector<std::uint64_t> times_;
};

Event at(std::uint64_t time) {
  Event event;
  event.time = time;
  return event;
}

TEST(Watchers, HandOnEachEventOnceInTheirOrder) {
  Seen at_once;
  Seen late;
  Seen late_too;
  Watchers watchers;
  watchers.add(&at_once);
  watchers.add_late(&late);
  watchers.add_late(&late_too);
  std::vector<std::uint64_t> expected(1000);
  std::iota(expected.begin(), expected.end(), std::uint64_t{0});
  for (const std::uint64_t time : expected) {
    watchers.on_event(at(time));
    ASSERT_EQ(at_once.times().size(), time + 1);
  }
  watchers.flush();
  watchers.flush();
  for (const Seen* seen : {&at_once, &late, &late_too}) {
    EXPECT_THAT(seen->times(), ::testing::ElementsAreArray(expected));
  }
}

TEST(Watchers, AskJudgesThatHaveSeenEveryEvent) {
  Seen seen;
  Watchers watchers;
  watchers.add_late(&seen);
  watchers.ask(&seen, &seen);
  for (std::uint32_t number = 1; number <= 300; number += 3) {
    watchers.on_event(at(number));
    EXPECT_TRUE(watchers.try_judge()->certain(0, 1, 0, 0, number));
    watchers.on_event(at(number + 1));
    EXPECT_EQ(watchers.lane_judge()->now(0), number + 1);
    watchers.on_event(at(number + 2));
    EXPECT_TRUE(watchers.lane_judge()->knows(0, 1, 0, number + 2));
    EXPECT_FALSE(watchers.lane_judge()->knows(0, 1, 0, number + 3));
  }
}

TEST(Watchers, WhereNobodyLooksOnNobodyIsAsked) {
  Watchers watchers;
  watchers.add(nullptr);
  watchers.add_late(nullptr);
  watchers.ask(nullptr, nullptr);
  EXPECT_EQ(watchers.sink(), nullptr);
  EXPECT_EQ(watchers.try_judge(), nullptr);
  EXPECT_EQ(watchers.lane_judge(), nullptr);
}

}  // namespace
}  // namespace warptwin::sim::watchers_test
