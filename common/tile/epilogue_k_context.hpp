/// One k step of an epilogue that also reads the input stage: blockwise-scaled kernels.

#pragma once

#include <cstdint>
#include <utility>

#include "common/tile/input_tile_pipeline.hpp"
#include "common/tile/output_tile_pipeline.hpp"

namespace warptwin {

/// An accumulator and the input stage it was computed from, both given back when the scope ends.
///
/// The input's full barrier is not waited for. That its scales are there follows from the MMA,
/// which waited for them before it committed the accumulator; the peer of a pair has no other
/// evidence.
///
/// Each side arrives once: by `arrive_input` or `release_output` if they are called, as early as
/// the body is done with it, otherwise at the end.
///
/// Participants: every warp of the epilogue. Blocks: at the start, until the accumulator is
///               complete.
template <class OutputPipeline, class InputPipeline, class As>
class [[nodiscard]] EpilogueKContext {
 public:
  static_assert(kOneKStep<decltype(InputPipeline::Storage::payload)>,
                "a stage of the input ring holds a group of k steps, and this epilogue takes a "
                "stage for each k step: give the ring a payload of one");

  /// Waits for the accumulator, and claims the input stage beside it. `site` is that of both.
  constexpr EpilogueKContext(OutputPipeline& output, InputPipeline& input, SourceSite site)
      : output_{output.acquire_epilogue_linear(site)},
        input_{input.template claim_consumer<As>(site)},
        site_{site},
        machine_{&output.machine()} {}
  EpilogueKContext(const EpilogueKContext&) = delete;             // each side arrives once
  EpilogueKContext& operator=(const EpilogueKContext&) = delete;  // the same
  /// Gives back what has not been given back.
  constexpr ~EpilogueKContext() noexcept(false) {
    if (!input_released_) {
      arrive_input(site_);
    }
    if (!output_released_) {
      release_output(site_);
    }
  }

  /// The accumulator; until `release_output`.
  constexpr const typename OutputPipeline::Epilogue& output() const { return output_; }
  /// The tiles of the input stage; until `arrive_input`.
  constexpr auto payload() const { return input_.payload(); }

  /// The input stage has been read: its next copies are ordered after these reads.
  constexpr void arrive_input(SourceSite site = SourceSite::current()) {
    machine_->fence_proxy_async(ProxySpace::kSharedCta, site);
    std::move(input_).release(site);
    input_released_ = true;
  }
  /// The accumulator has been read.
  constexpr void release_output(SourceSite site = SourceSite::current()) {
    std::move(output_).release(site);
    output_released_ = true;
  }

 private:
  using Machine = std::remove_reference_t<decltype(std::declval<OutputPipeline&>().machine())>;

  typename OutputPipeline::Epilogue output_;
  typename InputPipeline::template ConsumerStage<As> input_;
  SourceSite site_;
  Machine* machine_;
  bool input_released_ = false;
  bool output_released_ = false;
};

}  // namespace warptwin
