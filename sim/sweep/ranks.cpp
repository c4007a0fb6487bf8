#include "sim/sweep/ranks.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <thread>

namespace warptwin::sim {

namespace {

using SteadyClock = std::chrono::steady_clock;

// The messages: a word, and what belongs to it.
constexpr const char* kReady = "ready";        // to rank 0: give me a point
constexpr const char* kRow = "row ";           // to rank 0: a row
constexpr const char* kAlive = "alive";        // of anybody to whoever waits for him
constexpr const char* kPoint = "point ";       // of rank 0: run this
constexpr const char* kEnough = "enough";      // of rank 0: there is nothing left
constexpr const char* kBereaved = "bereaved";  // likewise, and somebody has died

constexpr std::chrono::milliseconds kPulse{1000};
constexpr int kLookEvery = 5;  // milliseconds

// The points that run here.
class Here {
 public:
  Here(const Space& space, const SweepOptions& options) : space_{space}, options_{options} {}

  std::size_t free() const {
    return std::max<std::size_t>(options_.jobs, 1) - std::min(pool_.size(), options_.jobs);
  }
  void start(std::uint64_t point) {
    pool_.start(point, options_.limits, [&](std::size_t index) {
      return packed(run_point(space_, index, options_));
    });
  }
  // Those that have ended since.
  std::vector<SweepRow> ended() {
    std::map<std::size_t, WorkEnd> ends;
    if (pool_.size() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds{kLookEvery});
    } else {
      pool_.wait(ends, kLookEvery);
    }
    std::vector<SweepRow> rows;
    for (const auto& [point, end] : ends) {
      rows.push_back(row_of(point, end, options_));
    }
    return rows;
  }

 private:
  const Space& space_;
  const SweepOptions& options_;
  WorkerPool pool_;
};

// What rank 0 knows of another.
struct Other {
  std::set<std::uint64_t> runs;
  std::size_t asks = 0;
  SteadyClock::time_point heard = SteadyClock::now();
  bool lost = false;
};

class Leader {
 public:
  Leader(const Space& space,
         const std::vector<std::uint64_t>& points,
         const SweepOptions& options,
         const std::function<void(const SweepRow&)>& deliver,
         Ranks& ranks,
         std::chrono::milliseconds silence)
      : options_{options},
        deliver_{deliver},
        ranks_{ranks},
        silence_{silence},
        here_{space, options},
        open_{points.begin(), points.end()},
        left_{points.size()},
        others_(static_cast<std::size_t>(ranks.count())) {}

  RanksResult run() {
    while (left_ > 0) {
      hear();
      bury();
      give();
      pulse();
      for (const SweepRow& row : here_.ended()) {
        take(row);
      }
    }
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      ranks_.send(static_cast<int>(rank), result_.lost.empty() ? kEnough : kBereaved);
    }
    return std::move(result_);
  }

 private:
  void take(const SweepRow& row) {
    if (done_.insert(row.index).second) {
      --left_;
      deliver_(row);
    }
  }

  void hear() {
    while (const auto message = ranks_.receive()) {
      Other& other = others_[static_cast<std::size_t>(message->first)];
      other.heard = SteadyClock::now();
      if (message->second == kReady) {
        ++other.asks;
      } else if (message->second.starts_with(kRow)) {
        const SweepRow row = unpacked(message->second.substr(std::string_view{kRow}.size()),
                                      options_.columns.size());
        other.runs.erase(row.index);
        take(row);  // also of one that was thought dead
      }
    }
  }

  // Who runs something and is silent is dead: what it ran is open again.
  void bury() {
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      Other& other = others_[rank];
      if (!other.lost && !other.runs.empty() && SteadyClock::now() - other.heard > silence_) {
        other.lost = true;
        result_.lost.push_back(static_cast<int>(rank));
        for (const std::uint64_t point : other.runs) {
          if (!done_.contains(point)) {
            open_.push_front(point);
            ++result_.again;
          }
        }
      }
    }
  }

  void give() {
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      Other& other = others_[rank];
      for (; other.asks > 0 && !other.lost && !open_.empty(); --other.asks) {
        other.runs.insert(open_.front());
        other.heard = SteadyClock::now();
        ranks_.send(static_cast<int>(rank), kPoint + std::to_string(open_.front()));
        open_.pop_front();
      }
    }
    while (here_.free() > 0 && !open_.empty()) {
      here_.start(open_.front());
      open_.pop_front();
    }
  }

  void pulse() {
    if (SteadyClock::now() - pulsed_ < kPulse) {
      return;
    }
    pulsed_ = SteadyClock::now();
    for (std::size_t rank = 1; rank < others_.size(); ++rank) {
      if (!others_[rank].lost) {
        ranks_.send(static_cast<int>(rank), kAlive);
      }
    }
  }

  const SweepOptions& options_;
  const std::function<void(const SweepRow&)>& deliver_;
  Ranks& ranks_;
  std::chrono::milliseconds silence_;
  Here here_;
  std::deque<std::uint64_t> open_;
  std::set<std::uint64_t> done_;
  std::size_t left_;
  std::vector<Other> others_;
  SteadyClock::time_point pulsed_{};
  RanksResult result_;
};

}  // namespace

RanksResult run_points(const Space& space,
                       const std::vector<std::uint64_t>& points,
                       const SweepOptions& options,
                       const std::function<void(const SweepRow&)>& deliver,
                       Ranks& ranks,
                       std::chrono::milliseconds silence) {
  return Leader{space, points, options, deliver, ranks, silence}.run();
}

bool serve_points(const Space& space,
                  const SweepOptions& options,
                  Ranks& ranks,
                  std::chrono::milliseconds silence) {
  Here here{space, options};
  for (std::size_t i = 0; i < std::max<std::size_t>(options.jobs, 1); ++i) {
    ranks.send(0, kReady);
  }
  SteadyClock::time_point heard = SteadyClock::now();
  SteadyClock::time_point said = SteadyClock::now();
  for (;;) {
    while (const auto message = ranks.receive()) {
      heard = SteadyClock::now();
      if (message->second == kEnough || message->second == kBereaved) {
        return message->second == kEnough;
      }
      if (message->second.starts_with(kPoint)) {
        here.start(std::stoull(message->second.substr(std::string_view{kPoint}.size())));
      }
    }
    if (SteadyClock::now() - heard > silence) {
      return false;  // rank 0 is gone, and its journal has what came
    }
    for (const SweepRow& row : here.ended()) {
      ranks.send(0, kRow + packed(row));
      ranks.send(0, kReady);
      said = SteadyClock::now();
    }
    if (SteadyClock::now() - said > kPulse) {
      ranks.send(0, kAlive);
      said = SteadyClock::now();
    }
  }
}

Ranks*& ranks_of_process() {
  static Ranks* ranks = nullptr;
  return ranks;
}

}  // namespace warptwin::sim
