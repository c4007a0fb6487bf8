/// Where the time of each warp goes, collected while it runs.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/model/gpu.hpp"
#include "sim/timed/engine.hpp"
#include "sim/timed/ticks.hpp"

namespace warptwin::sim {

class WarpAccount {
 public:
  void start(Ticks when) { started_ = when; }
  /// Not before its start: a warp of another timeline may end the run at an earlier time.
  void end(Ticks when) {
    alive_ += std::max(when, started_) - started_;
    ++runs_;
  }
  void issue(Ticks ticks) { issuing_ += ticks; }
  void wait(Op op, std::uint32_t address, Ticks ticks);

  /// One thing waited for: an mbarrier by its address, else the operation alone.
  struct Wait {
    Op op;
    std::uint32_t address;
    Ticks ticks;
  };
  const std::vector<Wait>& waits() const { return waits_; }
  Ticks alive() const { return alive_; }
  Ticks issuing() const { return issuing_; }
  std::uint32_t runs() const { return runs_; }

 private:
  Ticks started_ = 0;
  Ticks alive_ = 0;
  Ticks issuing_ = 0;
  std::uint32_t runs_ = 0;
  std::vector<Wait> waits_;
};

/// The name of the array that the mbarrier is in.
std::string barrier_name(std::uint32_t address, const Symbols& symbols);

/// The accounts of all warps by role; barriers of one array count together, by the array's name.
std::vector<RoleTime> by_role(const std::vector<WarpAccount>& accounts, const Gpu& gpu);

}  // namespace warptwin::sim
