/// The mbarrier object: phase, pending count, expected count, signed tx-count.
///
/// Source: PTX ISA, "mbarrier"; where an expect-tx completes a phase, an H200 (measured).

#pragma once

#include <algorithm>
#include <cstdint>

#include "common/machine/types.hpp"
#include "common/trace/event.hpp"

namespace warptwin::sim {

/// What a step did: what was wrong with it, whether it completed the phase.
struct BarrierStep {
  Fault fault = Fault::kNone;
  bool traps = false;  // hardware kills the kernel (seen on an H200)
  bool completed = false;
};

inline constexpr std::uint32_t kMbarrierBytes = 8;

class MbarrierState {
 public:
  bool valid() const { return valid_; }
  std::uint32_t phase() const { return phase_; }
  std::uint32_t pending() const { return pending_; }
  std::uint32_t expected() const { return expected_; }
  std::int32_t tx() const { return tx_; }
  /// How often it has been initialised since its CTA began.
  std::uint32_t lives() const { return lives_; }
  /// Nothing of the current phase has happened yet.
  bool idle() const { return pending_ == expected_ && tx_ == 0; }

  /// The hardware's test of a parity wait: the current phase's parity differs.
  bool done(std::uint32_t parity) const { return (phase_ & 1U) != (parity & 1U); }

  BarrierStep init(std::uint32_t count) {
    if (count == 0 || count > kMbarrierCountMax) {
      return {Fault::kBadCount, false, false};
    }
    const Fault fault = valid_ ? Fault::kAlreadyInitialised : Fault::kNone;
    valid_ = true;
    ++lives_;
    phase_ = 0;
    expected_ = pending_ = count;
    tx_ = 0;
    added_ = 0;
    return {fault, false, false};
  }

  void invalidate() { valid_ = false; }

  BarrierStep arrive(std::uint32_t count, bool no_complete) {
    if (count == 0) {
      return {Fault::kBadCount, false, false};  // no change (H200: a no-op)
    }
    if (count > pending_) {
      return {Fault::kOverArrive, true, false};
    }
    pending_ -= count;
    if (no_complete && pending_ == 0 && tx_ == 0) {
      return {Fault::kWouldComplete, false, complete()};
    }
    return {Fault::kNone, false, complete()};
  }

  BarrierStep arrive_expect_tx(std::uint32_t count, std::uint32_t bytes) {
    const BarrierStep expect = add_tx(bytes);
    if (expect.fault != Fault::kNone) {
      return expect;
    }
    return arrive(count, false);
  }

  BarrierStep arrive_drop(std::uint32_t count, std::uint32_t bytes = 0) {
    if (count >= expected_) {
      return {Fault::kDropToZero, false, false};
    }
    const BarrierStep expect = add_tx(bytes);
    if (expect.fault != Fault::kNone) {
      return expect;
    }
    expected_ -= count;
    return arrive(count, false);
  }

  BarrierStep expect_tx(std::uint32_t bytes, bool completes = true) {
    BarrierStep step = add_tx(bytes);
    step.completed = completes && step.fault == Fault::kNone && complete();
    return step;
  }

  /// An expect_tx of copies that raise the pending count: it stays in its range, whoever has
  /// arrived by then.
  BarrierStep expect_copies(std::uint32_t copies) {
    added_ += std::min(copies, kMbarrierCountMax);
    return expected_ + added_ > kMbarrierCountMax ? BarrierStep{Fault::kTxOverflow, true, false}
                                                  : expect_tx(copies);
  }

  BarrierStep complete_tx(std::uint32_t bytes) {
    if (bytes > kMbarrierCountMax ||
        tx_ - static_cast<std::int32_t>(bytes) < -static_cast<std::int32_t>(kMbarrierCountMax)) {
      return {Fault::kTxUnderflow, true, false};
    }
    tx_ -= static_cast<std::int32_t>(bytes);
    return {Fault::kNone, false, complete()};
  }

 private:
  BarrierStep add_tx(std::uint32_t bytes) {
    if (bytes > kMbarrierCountMax ||
        tx_ + static_cast<std::int32_t>(bytes) > static_cast<std::int32_t>(kMbarrierCountMax)) {
      return {Fault::kTxOverflow, true, false};
    }
    tx_ += static_cast<std::int32_t>(bytes);
    return {};
  }

  // PTX: completing a phase also reloads the pending count, in one step; no one may see the new
  // phase
  // with the old count.
  bool complete() {
    if (pending_ != 0 || tx_ != 0) {
      return false;
    }
    ++phase_;
    pending_ = expected_;
    added_ = 0;
    return true;
  }

  bool valid_ = false;
  std::uint32_t lives_ = 0;
  std::uint32_t phase_ = 0;
  std::uint32_t expected_ = 0;
  std::uint32_t pending_ = 0;
  std::int32_t tx_ = 0;
  std::uint32_t added_ = 0;  // by copies, in this phase
};

}  // namespace warptwin::sim
