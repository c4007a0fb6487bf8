#include "tests/oracle/program_edits.hpp"
#include "tests/oracle/program_writer.hpp"

namespace warptwin::sim {

namespace {

using Places = ProgramPlaces;

constexpr std::uint32_t kWordBytes = 16;
constexpr Ordering kAcqRelCta{Semantics::kAcqRel, Scope::kCta};
constexpr Ordering kRelaxedCta{Semantics::kRelaxed, Scope::kCta};

// The elected lane, another one, or all of the warp.
Instruction& by_some(Instruction& instruction, Dice& dice, bool one = false) {
  Operation& op = instruction.operation;
  const bool all = !one && dice.chance(33);
  op.lanes = all ? kWarpLanes : 1;
  op.lane = static_cast<std::uint8_t>(all || dice.chance(50) ? 0 : 3);
  return instruction;
}

// The lanes of one or two warps, at one word and a few barriers, each of which has one phase.
class LanesApart {
 public:
  LanesApart(Program& program, Dice& dice) : program_{program}, dice_{dice} {}

  void begin() {
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      WarpWriter warp = warp_of(program_, 0, w);
      if (w == 0) {
        for (std::uint32_t bar = 0; bar < kBars; ++bar) {
          warp.init(Places::bar(bar), 1);
        }
        warp.fence_mbarrier_init();
        warp.write(word_, 7);
        warp.sync_warp();
      }
      warp.cta_sync();
    }
  }

  void act(std::uint32_t w) {
    WarpWriter warp = warp_of(program_, 0, w);
    const std::uint32_t what = dice_.below(100);
    if (what < 16) {
      by_some(warp.write(word_, dice_.between(1, 2)), dice_);
    } else if (what < 32) {
      by_some(warp.read(word_), dice_);
    } else if (what < 41) {
      by_some(warp.fence_proxy(), dice_);
    } else if (what < 51) {
      const auto lane = static_cast<std::uint8_t>(dice_.chance(50) ? 0 : 3);
      warp.store(target(), word_, kWordBytes).operation.lane = lane;
      warp.commit_group().operation.lane = lane;
    } else if (what < 57) {
      by_some(warp.wait_group(0, true), dice_, true);
    } else if (what < 65) {
      warp.sync_warp();
    } else if (what < 68) {
      warp.elect_sync();
    } else if (what < 77) {
      load(warp);
    } else if (what < 88) {
      hand_over(warp);
    } else if (what < 92) {
      by_some(warp.global_write(flag(), 1), dice_, true);
    } else if (what < 95) {
      by_some(warp.global_read(flag(), 0), dice_, true);
    } else {
      by_some(warp.fence({Semantics::kAcqRel, dice_.chance(50) ? Scope::kCta : Scope::kGpu}),
              dice_);
    }
  }

  void end() {
    for (std::uint32_t w = 0; w < kWarps; ++w) {
      WarpWriter warp = warp_of(program_, 0, w);
      warp.sync_warp();
      warp.cta_sync();
      by_some(warp.read(word_), dice_);
    }
  }

  static constexpr std::uint32_t kWarps = 2;

 private:
  static constexpr std::uint32_t kBars = 4;

  void load(WarpWriter warp) {
    if (bars_ < kBars) {
      const std::uint32_t bar = Places::bar(bars_++);
      by_some(warp.arrive_expect(bar, kWordBytes), dice_, true);
      by_some(
          warp.load(word_, program_.buffer_address(Places::kSource), kWordBytes, bar), dice_, true);
      by_some(warp.wait(bar, 0), dice_);
    }
  }

  // To lanes of this warp, or of the other.
  void hand_over(WarpWriter warp) {
    if (bars_ < kBars) {
      const std::uint32_t bar = Places::bar(bars_++);
      const bool relaxed = dice_.chance(30);
      WarpWriter other = warp_of(program_, 0, dice_.below(kWarps));
      if (relaxed && dice_.chance(70)) {
        by_some(warp.fence(kAcqRelCta), dice_);
      }
      by_some(warp.arrive(bar, 1, relaxed ? kRelaxedCta : kReleaseCta), dice_, true);
      const bool looks = dice_.chance(30);
      by_some(other.wait(bar, 0, true, looks ? kRelaxedCta : kAcquireCta), dice_);
      if (looks && dice_.chance(70)) {
        by_some(other.fence(kAcqRelCta), dice_);
      }
    }
  }

  std::uint64_t target() const { return program_.buffer_address(Places::kTarget); }
  std::uint64_t flag() const { return program_.buffer_address(Places::kFlags); }

  Program& program_;
  Dice& dice_;
  const std::uint32_t word_ = Places::word(0);
  std::uint32_t bars_ = 0;
};

// Lanes of a CTA's first warp initialise mbarriers, fence and hand over; who waits uses them, in
// this CTA or the other.
class InitsApart {
 public:
  InitsApart(Program& program, Dice& dice) : program_{program}, dice_{dice} {}

  void begin() {
    for (std::uint32_t w = 0; w < kCtas * kWarps; ++w) {
      WarpWriter warp = warp_of(program_, w / kWarps, w % kWarps);
      if (w % kWarps == 0) {
        for (std::uint32_t i = 0; i < kHandsMax; ++i) {
          warp.init(hand(i), 1);
        }
        warp.fence_mbarrier_init();
        warp.sync_warp();
      }
    }
    meet(kReleaseCluster);
  }

  void act() {
    WarpWriter warp = warp_of(program_, 0, 0);
    const std::uint32_t what = dice_.below(100);
    if (what < 30 && made_ < kLatesMax) {
      by_some(warp.init(late(made_++), 1), dice_);
    } else if (what < 60) {
      by_some(warp.fence_mbarrier_init(), dice_);
    } else if (what < 66) {
      warp.sync_warp();
    } else if (what < 69) {
      warp.elect_sync();
    } else if (what < 73) {
      by_some(warp.fence({Semantics::kAcqRel, dice_.chance(50) ? Scope::kCta : Scope::kCluster}),
              dice_);
    } else if (what < 80) {
      meet(dice_.chance(50) ? kReleaseCluster : kRelaxedCluster);
      use(dice_.below(kCtas), dice_.below(kWarps));
    } else {
      hand_over(warp);
    }
  }

  void end() { meet(kReleaseCluster); }

  static constexpr std::uint32_t kCtas = 2, kWarps = 2;

 private:
  static constexpr std::uint32_t kLatesMax = 3, kHandsMax = 4;
  static constexpr Ordering kRelaxedCluster{Semantics::kRelaxed, Scope::kCluster};

  static std::uint32_t late(std::uint32_t i) { return Places::bar(i); }
  static std::uint32_t hand(std::uint32_t i) { return Places::bar(kLatesMax + i); }

  void meet(Ordering arrival) {
    for (std::uint32_t w = 0; w < kCtas * kWarps; ++w) {
      WarpWriter warp = warp_of(program_, w / kWarps, w % kWarps);
      warp.cluster_arrive(arrival);
      warp.cluster_wait();
    }
  }

  void hand_over(WarpWriter warp) {
    if (hands_ == kHandsMax) {
      return;
    }
    const std::uint32_t bar = hand(hands_++);
    const std::uint32_t cta = dice_.below(kCtas);
    const std::uint32_t w = cta == 0 ? 1 : dice_.below(kWarps);
    const Ordering ordering = dice_.chance(30) ? kRelaxedCluster : kReleaseCluster;
    by_some(cta == 0 ? warp.arrive(bar, 1, ordering) : warp.arrive_remote(bar, cta, ordering),
            dice_,
            true);
    by_some(warp_of(program_, cta, w).wait(bar, 0, true, kAcquireCluster), dice_);
    use(cta, w);
  }

  // The next that has been made, once.
  void use(std::uint32_t cta, std::uint32_t w) {
    if (used_ < made_) {
      const std::uint32_t bar = late(used_++);
      WarpWriter warp = warp_of(program_, cta, w);
      by_some(cta == 0 ? warp.arrive(bar, 1, kReleaseCluster)
                       : warp.arrive_remote(bar, 0, kReleaseCluster),
              dice_,
              true);
    }
  }

  Program& program_;
  Dice& dice_;
  std::uint32_t made_ = 0;
  std::uint32_t used_ = 0;
  std::uint32_t hands_ = 0;
};

}  // namespace

Program inits_apart_program(Dice& dice, const std::string& name) {
  Program program = empty_program(name, InitsApart::kWarps, InitsApart::kCtas);
  InitsApart lanes{program, dice};
  lanes.begin();
  const std::uint32_t acts = dice.between(4, 8);
  for (std::uint32_t n = 0; n < acts; ++n) {
    lanes.act();
  }
  lanes.end();
  return program;
}

Program lanes_apart_program(Dice& dice, const std::string& name) {
  Program program = empty_program(name, LanesApart::kWarps);
  LanesApart lanes{program, dice};
  lanes.begin();
  const std::uint32_t acts = dice.between(3, 6);
  const bool both = dice.chance(40);
  for (std::uint32_t n = 0; n < acts; ++n) {
    lanes.act(both ? dice.below(LanesApart::kWarps) : 0);
  }
  lanes.end();
  return program;
}

}  // namespace warptwin::sim
