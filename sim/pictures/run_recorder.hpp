/// From an engine's events to a recording.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/check/detector.hpp"
#include "sim/model/gpu.hpp"
#include "sim/pictures/recording_builder.hpp"

namespace warptwin::sim {

/// Sees every event of one run. An operation of a warp takes from the end of what its warp did
/// before to when it has its effect, and a wait from when it looked first; in steps, an operation
/// takes its own. What did not have to wait is an operation.
///
/// Loads and stores of lanes, and what only computes, are not recorded: they leave gaps.
class RunRecorder : public EventSink {
 public:
  /// All must outlive the recorder.
  RunRecorder(const LaunchConfig& config,
              const Symbols& symbols,
              RecordingClock clock,
              const RecordingWindow& window);
  void on_event(const Event& event) override;

  RecordingBuilder& builder() { return builder_; }
  /// What the run found, at the warps that it speaks of.
  void add(const std::vector<Finding>& findings);
  /// The recording, behind the run: what waits still, waits until its end.
  Recording take();

 private:
  struct WarpState {
    std::uint32_t track = kNoTrack;
    std::uint32_t cta = 0;
    std::uint64_t last = 0;  // when its last operation had its effect
    bool seen = false;
    bool waits = false;
    Slice wait{};  // begins when it looked first
    std::uint32_t last_slice = kNoSlice;
    Event last_event{};
    Op not_drawn_op = Op::kCount;  // the last operation that is not drawn, and when it was
    std::uint64_t not_drawn_at = 0;
    std::uint32_t work = 0;  // bits of what it does: a name for a warp without a role
  };
  struct BarrierState {
    static constexpr std::uint32_t kKept = 4;
    std::uint32_t track = kNoTrack;
    std::uint64_t begin = 0;
    std::uint32_t bytes = 0;
    std::uint32_t arrivals = 0;
    struct Completed {
      std::uint32_t phase = ~0U;
      std::uint32_t slice = kNoSlice;
    };
    std::array<Completed, kKept> completed{};
  };
  struct AsyncState {
    Slice slice{};
    std::uint32_t unit = 0;
    std::uint32_t cta = 0;
    std::uint32_t issuer = kNoSlice;
    std::uint32_t signals = 1;  // that are still to come
    std::uint32_t done = kNoSlice;
    Event issued{};
  };
  struct Write {
    std::uint32_t end = 0;
    std::uint32_t slice = kNoSlice;
  };

  WarpState& warp_of(const Event& event);
  BarrierState& barrier_of(std::uint32_t cta, std::uint32_t address);
  Slice slice_of(const Event& event);
  std::uint32_t site_of(const Event& event);
  std::uint32_t object_of(const Event& event);
  void note_blocked(const Event& event);
  void note_operation(const Event& event);
  void note_wait(const Event& event, WarpState& warp, Slice& slice);
  void start_async(const Event& event, std::uint32_t issuer);
  void end_async(const Event& event);
  void count(const AsyncState& async, std::uint64_t time, bool more);
  void complete(const Event& event, std::uint32_t cta, std::uint32_t address, std::uint32_t slice);
  void use_data(const Event& event, std::uint32_t slice);
  void add_rings();
  void add_declared();
  void name_roles();

  const LaunchConfig& config_;
  const Symbols& symbols_;
  Naming naming_;
  RecordingClock clock_;
  RecordingBuilder builder_;
  std::unordered_map<std::uint32_t, WarpState> warps_;            // by number in the grid
  std::unordered_map<std::uint64_t, BarrierState> barriers_;      // by CTA and address
  std::unordered_map<std::uint32_t, AsyncState> under_way_;       // by serial
  std::unordered_map<std::uint32_t, std::uint64_t> bytes_;        // on their way, by CTA
  std::unordered_map<std::uint32_t, std::uint32_t> tensor_;       // operations, by CTA
  std::unordered_map<std::uint32_t, std::uint64_t> tensor_free_;  // by CTA
  std::unordered_map<std::uint32_t, std::map<std::uint32_t, Write>> writes_;  // by CTA, address
  std::unordered_map<std::uint64_t, std::uint32_t> stages_;  // full of a ring, by CTA and ring
  std::unordered_map<std::uint64_t, std::uint32_t> sites_;
  std::uint64_t not_drawn_ = 0;  // operations
  std::uint64_t now_ = 0;
};

}  // namespace warptwin::sim
