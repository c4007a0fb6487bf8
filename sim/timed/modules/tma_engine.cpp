#include "sim/timed/modules/tma_engine.hpp"

namespace warptwin::sim {

namespace {

template <class Item>
void append(boost::circular_buffer<Item>& queue, Item item) {
  if (queue.full()) {
    queue.set_capacity(2 * queue.capacity());
  }
  queue.push_back(std::move(item));
}

}  // namespace

TmaEngine::TmaEngine(const sc_core::sc_module_name& name,
                     Timeline& timeline,
                     Turns& turns,
                     const Chip& chip,
                     L2Port l2,
                     SharedMemory& shared,
                     MemorySystem& memory,
                     Completions& completions,
                     CauseLog* log)
    : Agenda{name, timeline},
      turns_{turns},
      chip_{chip},
      l2_{l2},
      shared_{shared},
      memory_{memory},
      completions_{completions},
      log_{log} {}

void TmaEngine::load(Ticks when,
                     const CopyShape& shape,
                     const std::vector<CopyTargetPort>& targets) {
  submit({when + fetch_of_map(shape.map),
          true,
          shape,
          targets.front(),
          {targets.begin() + 1, targets.end()},
          acting_in(log_)});
}

void TmaEngine::store(Ticks when, const CopyShape& shape, AgentSlot slot) {
  submit({when, false, shape, {slot, nullptr}, {}, acting_in(log_)});
}

// A tensor map that is used first has to be fetched.
Ticks TmaEngine::fetch_of_map(std::uint32_t map) {
  if (map == 0) {
    return 0;
  }
  if (maps_.size() < map) {
    maps_.resize(map, false);
  }
  const bool known = maps_[map - 1];
  maps_[map - 1] = true;
  return known ? 0 : to_ticks(chip_.tensor_map_fetch);
}

void TmaEngine::submit(Queued copy) {
  ++copies_;
  append(queue_, std::move(copy));
  if (queue_.size() == 1) {
    serve();
  }
}

// Begins with the first copy of the queue.
void TmaEngine::serve() {
  const Queued& copy = queue_.front();
  const double row = copy.load ? chip_.tma_row : chip_.tma_store_row;
  const Ticks taken = std::max(copy.issued, takes_next_);
  started_ = std::max({now(), taken, free_});
  service_ = to_ticks(copy.shape.rows * row);
  if (copy.load) {
    takes_next_ = taken + to_ticks(chip_.tma_instruction);
    at(started_ + service_, {TmaItem::Step::kServed, {}, {}, kNoCause});
  } else {
    service_ = std::max(service_, to_ticks(chip_.tma_store_instruction));
    takes_next_ = started_ + service_;
    service_ = std::max(service_, shared_.read(started_, copy.shape.bytes()) - started_);
    ask({});
  }
}

// The store that is served has its turn at L2: its rows leave as L2 takes them.
void TmaEngine::begin_store() {
  const Queued& copy = queue_.front();
  act(log_, copy.cause);
  taken_ = memory_.store(started_, l2_.half, copy.shape.box, copy.shape.bytes() * copy.shape.share);
  taken_cause_ = acting_in(log_);
  at(started_ + std::max(service_, taken_ - started_), {TmaItem::Step::kServed, {}, {}, kNoCause});
}

void TmaEngine::fetch(const Asked& asked) {
  const Queued& copy = asked.copy;
  act(log_, copy.cause);
  const auto copies = static_cast<double>(1 + copy.others.size());
  const Ticks fetched =
      memory_.fetch(now(), l2_, copy.shape.box, copy.shape.bytes() * copy.shape.share, copies);
  const Ticks arrives = fetched + asked.rows_left + latency(chip_, copy.shape.row_bytes);
  const Cause cause = add_step(log_, Unit::kCopyLatency, arrives, acting_in(log_), asked.last_row);
  std::uint64_t ticket = asked.ticket;
  at(arrives, {TmaItem::Step::kArrive, copy.shape, copy.target, cause}, ticket);
  for (const CopyTargetPort& target : copy.others) {
    at(arrives, {TmaItem::Step::kArrive, copy.shape, target, cause}, ++ticket);
  }
}

void TmaEngine::ask(Asked what) {
  const CopyShape& shape = what.copy.shape;
  const Ticks soonest = what.copy.load ? memory_.latency() + latency(chip_, shape.row_bytes) : 0;
  append(asked_, std::move(what));
  turns_.ask(timeline(), *this, now() + soonest);
}

void TmaEngine::turn() {
  const Asked asked = std::move(asked_.front());
  asked_.pop_front();
  if (asked.copy.load) {
    fetch(asked);
  } else {
    begin_store();
  }
}

// A row that is written while the MMA reads meets its banks now and then: the more of the row, and
// the more reads beside it, the more often.
Ticks TmaEngine::stretch(const Queued& copy) {
  const Ticks rows = to_ticks(copy.shape.rows * chip_.tma_row);
  const double reads = shared_.read_share(started_, now());
  const double share = chip_.smem_conflict * reads * copy.shape.row_bytes / kRowBytesMost;
  return static_cast<Ticks>(static_cast<double>(rows) * share + 0.5);
}

void TmaEngine::due(const TmaItem& item) {
  switch (item.step) {
    case TmaItem::Step::kServed:
      finish_service(now() + (queue_.front().load ? stretch(queue_.front()) : 0));
      return;
    case TmaItem::Step::kArrive:
      arrive(item);
      return;
    case TmaItem::Step::kWritten:
      step(completions_, log_, item.target.slot, item.cause);
      return;
  }
}

// The last row of the first copy leaves the engine at `end`, soon: L2 is asked once, for all its
// targets.
void TmaEngine::finish_service(Ticks end) {
  Queued copy = std::move(queue_.front());
  queue_.pop_front();
  busy_ += end - started_;
  if (history_ != nullptr) {
    history_->add(started_, end);
  }
  free_ = end;
  const bool held = !copy.load && taken_ >= end;  // by L2
  const Cause served =
      held ? taken_cause_ : add_step(log_, Unit::kTmaEngine, now(), copy.cause, served_);
  served_ = held ? taken_cause_ : add_step(log_, Unit::kTmaEngine, end, served);
  act(log_, served);
  if (!queue_.empty()) {
    serve();
  }
  if (copy.load) {
    copy.cause = served;
    const std::uint64_t ticket = timeline().tickets(1 + copy.others.size());
    ask({std::move(copy), end - now(), ticket, served_});
  } else {
    step(completions_, log_, copy.target.slot, served);
    act(log_, served);
    const Ticks written = now() + to_ticks(chip_.tma_store_latency);
    at(written,
       {TmaItem::Step::kWritten,
        copy.shape,
        copy.target,
        add_step(log_, Unit::kCopyLatency, written, acting_in(log_))});
  }
}

// The last row of a load is at the write port of an SM, where others may be before it.
void TmaEngine::arrive(const TmaItem& item) {
  const bool waited = item.target.memory == nullptr;
  const Ticks end = waited ? now() : item.target.memory->fill(now(), item.shape.bytes());
  if (end > now()) {
    SharedMemory& memory = *item.target.memory;
    memory.filled = add_step(log_, Unit::kSharedWrite, end, item.cause, memory.filled);
    at(end, {TmaItem::Step::kArrive, item.shape, {item.target.slot, nullptr}, memory.filled});
  } else {
    step(completions_, log_, item.target.slot, item.cause);
  }
}

}  // namespace warptwin::sim
