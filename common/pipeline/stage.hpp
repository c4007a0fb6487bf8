/// The handles of a base ring's stages, one for each side, and their scoped forms.

#pragma once

#include <cstdint>
#include <utility>

#include "common/machine/machine.hpp"
#include "common/pipeline/stage_claim.hpp"
#include "common/pipeline/typestate.hpp"
#include "common/sync/mbarrier.hpp"
#include "common/sync/participants.hpp"

namespace warptwin {

/// A stage being filled. `release` gives it up; the full barrier completes by what was issued: the
/// bytes of a kTmaBytes producer, the arrivals or the commit of another.
template <Machine M, class Producer>
class WARPTWIN_LINEAR [[nodiscard]] ProducerStage {
 public:
  /// Made by an acquire of the ring: `claim` is the duty to release, `full` the stage's full
  /// barrier.
  constexpr ProducerStage(StageClaim<M> claim, Mbarrier full)
      : claim_{std::move(claim)}, full_{full} {}
  constexpr ProducerStage(ProducerStage&&) = default;   // takes over the duty to release
  WARPTWIN_ONCE_GIVEN_UP constexpr ~ProducerStage() {}  // a stage still held is reported

  /// The stage's place in the ring, from 0.
  WARPTWIN_WHILE_HELD constexpr std::uint32_t index() const { return claim_.state().index; }
  /// The full barrier: what copies into this stage name.
  WARPTWIN_WHILE_HELD constexpr Mbarrier mbar() const { return full_; }

  /// Copies a tile of a tensor map, at `at` (innermost first), into the stage.
  ///
  /// Participants: the whole warp; one elected lane issues. Blocks: never.
  template <std::uint32_t kRank>
  WARPTWIN_WHILE_HELD constexpr void load(const typename M::TensorMap& map,
                                          Coordinates<kRank> at,
                                          SharedAddress tile,
                                          SourceSite site = SourceSite::current()) const {
    claim_.machine().cp_async_bulk_tensor_load(tile, map, at, CopyTarget{full_}, site);
  }

  /// Arrives on the full barrier unless bytes complete it.
  ///
  /// Participants: the whole warp. Blocks: never.
  WARPTWIN_GIVES_UP constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      arrive_as<Producer::kKind>(claim_.machine(), full_, site);
      claim_.note(StageStep::kProducerReleased);
    }
  }
  /// Gives the stage up without an arrival: it has been made with `mbar()`.
  WARPTWIN_GIVES_UP constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kProducerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  Mbarrier full_;
};

/// A stage being read. `release` arrives on its empty barrier as the role was declared to.
template <Machine M, class Consumer>
class WARPTWIN_LINEAR [[nodiscard]] ConsumerStage {
 public:
  /// Made by an acquire of the ring: `claim` is the duty to release, `empty` the stage's empty
  /// barrier.
  constexpr ConsumerStage(StageClaim<M> claim, Mbarrier empty)
      : claim_{std::move(claim)}, empty_{empty} {}
  constexpr ConsumerStage(ConsumerStage&&) = default;   // takes over the duty to release
  WARPTWIN_ONCE_GIVEN_UP constexpr ~ConsumerStage() {}  // a stage still held is reported

  /// The stage's place in the ring, from 0.
  WARPTWIN_WHILE_HELD constexpr std::uint32_t index() const { return claim_.state().index; }
  /// The empty barrier: what frees this stage.
  WARPTWIN_WHILE_HELD constexpr Mbarrier mbar() const { return empty_; }

  /// Arrives and keeps the handle; to be followed by `release_without_signal`.
  WARPTWIN_WHILE_HELD constexpr void arrive(SourceSite site = SourceSite::current()) const {
    arrive_as<Consumer::kKind>(claim_.machine(), empty_, site);
  }
  /// Participants: the whole warp. Blocks: never.
  WARPTWIN_GIVES_UP constexpr void release(SourceSite site = SourceSite::current()) && {
    if (claim_.end()) {
      arrive_as<Consumer::kKind>(claim_.machine(), empty_, site);
      claim_.note(StageStep::kConsumerReleased);
    }
  }
  /// Gives the stage up without an arrival: it has been made with `arrive()` or `mbar()`.
  WARPTWIN_GIVES_UP constexpr void release_without_signal() && {
    if (claim_.end()) {
      claim_.note(StageStep::kConsumerReleased);
    }
  }

 private:
  StageClaim<M> claim_;
  Mbarrier empty_;
};

/// How a scope ends: with the stage's arrival, or without.
enum class ScopeEnd : std::uint8_t {
  kRelease,               // by `release`, with its arrival
  kReleaseWithoutSignal,  // the body has made the arrival
};

/// A stage that is released when its scope ends, reported at the line it was acquired.
///
/// Errors: the end of a scope may run the engine of a simulator, and so may throw what it throws.
template <class Stage, ScopeEnd kEnd = ScopeEnd::kRelease>
class [[nodiscard]] ScopedStage {
 public:
  /// Takes over a stage that was acquired at `site`.
  constexpr ScopedStage(Stage&& stage, SourceSite site) : stage_{std::move(stage)}, site_{site} {}
  ScopedStage(const ScopedStage&) = delete;             // a stage is released once
  ScopedStage& operator=(const ScopedStage&) = delete;  // a stage is released once
  /// Releases the stage, as `kEnd` says.
  constexpr ~ScopedStage() noexcept(false) {
    if constexpr (kEnd == ScopeEnd::kRelease) {
      std::move(stage_).release(site_);
    } else {
      std::move(stage_).release_without_signal();
    }
  }

  constexpr Stage& operator*() { return stage_; }    // the stage, until the scope ends
  constexpr Stage* operator->() { return &stage_; }  // the stage, until the scope ends

 private:
  Stage stage_;
  SourceSite site_;
};

/// The scope of a stage acquired at `site`. A function, since Clang's analysis sees what a call
/// takes
/// over and not what a constructor does.
template <ScopeEnd kEnd = ScopeEnd::kRelease, class Stage>
constexpr ScopedStage<Stage, kEnd> scoped(Stage&& stage, SourceSite site) {
  return {std::move(stage), site};
}

/// A stage that is filled until its scope ends.
template <Machine M, class Producer>
using ProduceContext = ScopedStage<ProducerStage<M, Producer>>;
/// A stage that is read until its scope ends.
template <Machine M, class Consumer>
using ConsumeContext = ScopedStage<ConsumerStage<M, Consumer>>;
/// For lane-guarded or early arrivals: the body arrives with `stage->arrive()` or `stage->mbar()`.
template <Machine M, class Consumer>
using ExplicitConsumeContext =
    ScopedStage<ConsumerStage<M, Consumer>, ScopeEnd::kReleaseWithoutSignal>;

}  // namespace warptwin
