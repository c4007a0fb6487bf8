#include "sim/timed/modules/warpgroup_mma.hpp"

#include <algorithm>

namespace warptwin::sim {

void WarpgroupMma::multiply(Ticks when, const WgmmaShape& shape, AgentSlot slot) {
  const MmaForm& form = shape.form;
  const Ticks start = std::max(when, pipe_.free());
  const Ticks interval =
      to_ticks(std::max(form.interval_per_column * shape.columns, form.interval_least));
  const Ticks read = shared_.read_evenly(start, shape.operand_bytes, interval);
  // A product whose operands take longer keeps the pipe as long.
  const Ticks end = pipe_.reserve(start, std::max(interval, read - start));
  occupied_ = add_step(log_,
                       read - start > interval ? Unit::kSharedRead : Unit::kTensorCore,
                       end,
                       acting_in(log_),
                       occupied_);
  // The latency was measured from the issue of one product until the warpgroup goes on, with the
  // issue of a fence, a commit and a wait.
  const double latency = form.latency + form.latency_per_column * shape.columns - around_;
  const Ticks done = std::max(end, start + to_ticks(std::max(latency, 0.0)));
  at(done, {slot, add_step(log_, Unit::kTensorCoreLatency, done, occupied_)});
}

}  // namespace warptwin::sim
