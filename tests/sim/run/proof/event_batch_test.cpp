/// Events in batches: all of them, in their order, and none missing when somebody asks.

#include "sim/run/proof/event_batch.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::event_batch_test {
namespace {

// Keeps the times of the events it sees; answers yes once it has seen as many as `phase` says.
class Seen : public EventSink, public TryJudge {
 public:
  void on_event(const Event& event) override { times_.push_back(event.time); }
  bool certain(std::uint32_t /*warp*/,
               std::uint32_t /*lanes*/,
               std::uint32_t /*cta*/,
               std::uint32_t /*address*/,
               std::uint32_t phase) const override {
    return times_.size() >= phase;
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

TEST(EventBatch, HandsOnEachEventOnceInTheirOrder) {
  Seen seen;
  EventBatch batch{seen, seen};
  std::vector<std::uint64_t> expected(1000);
  std::iota(expected.begin(), expected.end(), std::uint64_t{0});
  for (const std::uint64_t time : expected) {
    batch.on_event(at(time));
  }
  batch.flush();
  batch.flush();
  EXPECT_THAT(seen.times(), ::testing::ElementsAreArray(expected));
}

TEST(EventBatch, AsksAJudgeThatHasSeenEveryEvent) {
  Seen seen;
  EventBatch batch{seen, seen};
  for (std::uint32_t number = 1; number <= 300; ++number) {
    batch.on_event(at(number));
    EXPECT_TRUE(batch.certain(0, 1, 0, 0, number));
    EXPECT_FALSE(batch.certain(0, 1, 0, 0, number + 1));
  }
}

}  // namespace
}  // namespace warptwin::sim::event_batch_test
