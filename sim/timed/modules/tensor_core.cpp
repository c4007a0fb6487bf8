#include "sim/timed/modules/tensor_core.hpp"

namespace warptwin::sim {

namespace {

constexpr double kCopyBytes = 2048;  // what Chip::tcgen05_cp is for

}  // namespace

void TensorCore::hold(Ticks start, Ticks interval, const MmaShape& shape) {
  pipe_.reserve(start, interval);
  shared_.read(start, shape.operand_bytes, shape.form.read_extra);
}

void TensorCore::occupy(TensorCore* peer) {
  if (log_ == nullptr) {
    return;
  }
  if (peer != nullptr && peer->occupied_ != occupied_) {
    occupied_ = log_->add(Unit::kTensorCore, log_->end(occupied_), occupied_, peer->occupied_);
  }
  const bool reads = shared_.reads().free() > pipe_.free();
  occupied_ = log_->add(reads ? Unit::kSharedRead : Unit::kTensorCore,
                        std::max(shared_.reads().free(), pipe_.free()),
                        log_->acting,
                        occupied_);
  if (peer != nullptr) {
    peer->occupied_ = occupied_;
  }
}

void TensorCore::multiply(Ticks when, const MmaShape& shape, Slot slot, TensorCore* peer) {
  const MmaForm& form = shape.form;
  const Ticks interval =
      to_ticks(std::max(form.interval_per_column * shape.columns, form.interval_least));
  Ticks start = std::max({when, pipe_.free(), shared_.reads().free()});
  if (peer != nullptr) {
    start = std::max({start, peer->pipe_.free(), peer->shared_.reads().free()});
    peer->hold(start, interval, shape);
  }
  hold(start, interval, shape);
  occupy(peer);
  // The latency was measured until a waiter goes on: its way there is counted where it waits.
  const double latency = form.latency + form.latency_per_column * shape.columns -
                         chip_.mbarrier_wake - 2 * chip_.mma_issue;
  done_ = std::max(done_, start + to_ticks(std::max(latency, 0.0)));
  ++batch_;
  queue_.push_back({slot, false});
}

void TensorCore::copy(Ticks when, double bytes, Slot slot) {
  const Ticks start = std::max({when, pipe_.free(), shared_.reads().free()});
  shared_.read(start, bytes);
  done_ = std::max(done_, pipe_.reserve(start, to_ticks(chip_.tcgen05_cp * bytes / kCopyBytes)));
  occupy(nullptr);
  queue_.push_back({slot, false});
}

void TensorCore::commit(Ticks when, Slot slot) {
  const double alone = std::max(chip_.commit_latency - chip_.mbarrier_wake - chip_.mma_issue, 0.0);
  done_ = std::max(done_ + (batch_ > 1 ? to_ticks(chip_.mma_batch) : 0), when + to_ticks(alone));
  batch_ = 0;
  queue_.push_back({slot, true});
  const Cause issued = acting_in(log_);
  done_cause_ = add_step(log_,
                         Unit::kTensorCoreLatency,
                         done_,
                         add_step(log_, Unit::kTensorCore, 0, issued, occupied_),
                         done_cause_);
  at(done_, {slot, done_cause_});
}

void TensorCore::due(const Errand& errand) {
  bool committed = false;
  while (!committed && !queue_.empty()) {
    const Queued next = queue_.front();
    queue_.pop_front();
    committed = next.commit;
    step(completions_, log_, next.slot, errand.cause);
  }
}

bool TensorCore::flush() {
  const bool any = !queue_.empty();
  while (!queue_.empty()) {
    const Slot slot = queue_.front().slot;
    queue_.pop_front();
    completions_.step(slot);
  }
  return any;
}

}  // namespace warptwin::sim
