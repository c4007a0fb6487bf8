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

void TensorCore::multiply(Ticks when, const MmaShape& shape, AgentSlot slot, TensorCore* peer) {
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
  Queue& queue = queue_of(slot);
  queue.done = std::max(queue.done, start + to_ticks(std::max(latency, 0.0)));
  ++queue.batch;
  queue.commits.push_back(false);
}

void TensorCore::copy(Ticks when, double bytes, AgentSlot slot) {
  const Ticks start = std::max({when, pipe_.free(), shared_.reads().free()});
  shared_.read(start, bytes);
  const Ticks end = pipe_.reserve(start, to_ticks(chip_.tcgen05_cp * bytes / kCopyBytes));
  occupy(nullptr);
  Queue& queue = queue_of(slot);
  queue.done = std::max(queue.done, end);
  queue.commits.push_back(false);
}

void TensorCore::commit(Ticks when, AgentSlot slot) {
  const double alone = std::max(chip_.commit_latency - chip_.mbarrier_wake - chip_.mma_issue, 0.0);
  Queue& queue = queue_of(slot);
  queue.done = std::max(queue.done + (queue.batch > 1 ? to_ticks(chip_.mma_batch) : 0),
                        when + to_ticks(alone));
  queue.batch = 0;
  queue.commits.push_back(true);
  const Cause issued = acting_in(log_);
  queue.done_cause = add_step(log_,
                              Unit::kTensorCoreLatency,
                              queue.done,
                              add_step(log_, Unit::kTensorCore, 0, issued, occupied_),
                              queue.done_cause);
  at(queue.done, {slot, queue.done_cause});
}

TensorCore::Queue& TensorCore::queue_of(AgentSlot slot) {
  for (Queue& queue : queues_) {
    if (queue.slot == slot) {
      return queue;
    }
  }
  queues_.push_back({slot, {}});
  return queues_.back();
}

void TensorCore::due(const Errand& errand) {
  Queue& queue = queue_of(errand.slot);
  bool committed = false;
  while (!committed && !queue.commits.empty()) {
    committed = queue.commits.front();
    queue.commits.pop_front();
    step(completions_, log_, queue.slot, errand.cause);
  }
}

bool TensorCore::flush() {
  bool any = false;
  for (Queue& queue : queues_) {
    for (; !queue.commits.empty(); any = true) {
      queue.commits.pop_front();
      completions_.step(queue.slot);
    }
  }
  return any;
}

}  // namespace warptwin::sim
