/// Decides which agent acts next. A strategy is a file in schedulers/, a name in Strategy and a row
/// of the table in scheduler.cpp.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/model/last_adders.hpp"
#include "sim/model/ready_set.hpp"

namespace warptwin::sim {

/// One choice after the other, from the same seed always the same ones.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// Picks one of `ready`, which is not empty. `previous` acted last.
  virtual AgentSlot pick(const ReadySet& ready, AgentSlot previous) = 0;
  /// `slot` polled and was told no: others should go before it asks again.
  virtual void yielded(AgentSlot slot) { (void)slot; }
};

enum class Strategy : std::uint8_t { kRoundRobin, kInTurn, kRandom, kPct, kStarve, kLazy, kReplay };

/// Names a schedule: a strategy and what it needs. Its text form is part of a replay line.
struct ScheduleSpec {
  Strategy strategy = Strategy::kRoundRobin;
  std::uint64_t seed = 0;       // random, pct
  std::uint32_t depth = 3;      // pct: priority changes + 1
  std::uint64_t length = 4096;  // pct: steps the changes are spread over
  AgentSlot victim{};           // starve: who waits while anybody else can act; lazy: from whom on
  std::vector<AgentSlot> choices;  // replay: who acts, step by step; round robin after the last
  /// Every mbarrier try says no and is waited for when repeated: hardware may answer so too.
  bool tries_fail = false;
  /// Not 0: of a launch whose clusters ask for more (cluster launch control), clusters come one at
  /// a time; the first gets so many tiles, its own included, the others one each.
  std::uint32_t tiles = 0;
  /// With `tiles`: which clusters' tiles these are, as many, each once; empty: the first ones'. The
  /// first begins by itself.
  std::vector<std::uint32_t> order{};
  /// Who is the last to add to a word, where the threads that add ask for that; of a word that is
  /// not here, who happens to be.
  std::vector<LastAdder> last{};

  /// "round-robin", "in-turn", "random:7", "pct:7:3:4096", "starve:2", "lazy:6", "steps:0.0.5*3";
  /// of many steps "steps:0-1*3.5", where 0 and 1 act three times, in turn.
  /// With tries_fail, "+tries-fail" follows; with tiles, "+tiles:3", or "+order:4.0.2" if they have
  /// an order; with last, "+last:ADDRESS=5.0" (warp 5, lane 0), further ones behind commas.
  std::string to_string() const;
  /// Throws ConfigError when `text` names no schedule.
  static ScheduleSpec parse(const std::string& text);
};

std::unique_ptr<Scheduler> make_scheduler(const ScheduleSpec& spec);

}  // namespace warptwin::sim
