#include "sim/prove/chain_counter.hpp"

namespace warptwin::sim {

ChainCounter::ChainCounter(const LaunchConfig& config) {
  const std::size_t warps =
      std::size_t{config.clusters} * config.cluster_size * config.warps_per_cta;
  index_.reserve(warps);
}

std::uint32_t ChainCounter::warp_step(const Event& event) {
  const bool executes = event.step == Step::kDone || event.step == Step::kIssued;
  if (!executes || event.op == Op::kStageNote || event.op == Op::kWarpStart ||
      event.op == Op::kCtaExit || (event.flags & event_flag::kLateLanes) != 0) {
    return 0;
  }
  std::uint32_t& index = slot(index_, event.warp);
  if (event.warp >= time_.size()) {
    time_.resize(event.warp + 1, 0);
  }
  // One operation may have several events, all of one step. Only a bar.sync has two steps, its
  // arrival and its return, which are one where it is the last to come.
  const bool last_to_come = event.op == Op::kBarSync &&
                            !event.as<payload::NamedBarrier>().returns &&
                            (event.flags & event_flag::kPhaseCompleted) != 0;
  if (time_[event.warp] != event.time || index == 0) {
    index += last_to_come ? 2 : 1;
  }
  time_[event.warp] = event.time;
  return index;
}

}  // namespace warptwin::sim
