/// What every stage handle holds: the duty to release, and whom to tell when it is broken.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/pipeline_state.hpp"

namespace warptwin {

/// A duty that moves with its holder, and is reported when the holder dies with it or ends it
/// twice.
///
/// Errors: a duty that is dropped, or ended a second time, is noted to the machine with the site it
///         was taken at; the second end does nothing else. On a GPU neither is seen.
template <Machine M>
class StageClaim {
 public:
  /// Takes the duty; `note` says of which stage, and where it was taken.
  constexpr StageClaim(M& machine, const StageNote& note) : machine_{&machine}, note_{note} {}
  /// Takes over the duty of `other`, which has none afterwards.
  constexpr StageClaim(StageClaim&& other) noexcept
      : machine_{other.machine_}, note_{other.note_}, held_{std::exchange(other.held_, false)} {}
  StageClaim& operator=(StageClaim&&) = delete;  // a duty is not overwritten
  /// Notes `kDropped` if the duty has not ended.
  constexpr ~StageClaim() {
    if (held_) {
      note(StageStep::kDropped);
    }
  }

  constexpr M& machine() const { return *machine_; }  // of the warp with the duty
  constexpr PipelineState state() const { return {note_.index, note_.lap}; }  // the stage and lap

  /// Tells the machine that the stage has come to `step`; a GPU does nothing.
  constexpr void note(StageStep step) const {
    StageNote note = note_;
    note.step = step;
    machine_->note_stage(note);
  }
  /// True the first time: the holder now does what its release does.
  [[nodiscard]] constexpr bool end() {
    if (!held_) {
      note(StageStep::kReleasedTwice);
      return false;
    }
    held_ = false;
    return true;
  }

 private:
  M* machine_;
  StageNote note_;
  bool held_ = true;
};

}  // namespace warptwin
