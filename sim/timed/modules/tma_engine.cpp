#include "sim/timed/modules/tma_engine.hpp"

namespace warptwin::sim {

namespace {

constexpr double kRowBytesMost = 128;

}  // namespace

TmaEngine::TmaEngine(const sc_core::sc_module_name& name,
                     const Chip& chip,
                     std::uint32_t half,
                     SharedMemory& shared,
                     MemorySystem& memory,
                     Completions& completions)
    : Agenda{name},
      chip_{chip},
      half_{half},
      shared_{shared},
      memory_{memory},
      completions_{completions} {}

// A row that is written while the MMA reads meets its banks now and then: the more of the row and
// the more reads, the more often. Of the reads the ones since the last copy began are known.
Ticks TmaEngine::load_service(const CopyShape& shape, Ticks start) {
  const double reads = shared_.read_share(previous_start_, start);
  const double writes = shape.row_bytes / kRowBytesMost;
  const double stretch = 1.0 + chip_.smem_conflict * reads * writes;
  previous_start_ = start;
  return to_ticks(std::max(chip_.tma_instruction, shape.rows * chip_.tma_row * stretch));
}

Ticks TmaEngine::load_latency(const CopyShape& shape) const {
  return to_ticks(chip_.tma_latency + chip_.tma_latency_per_row_byte * shape.row_bytes);
}

void TmaEngine::load(const CopyShape& shape, const std::vector<CopyTargetPort>& targets) {
  ++copies_;
  const Ticks start = std::max(now(), engine_.free());
  const Ticks end = engine_.reserve(start, load_service(shape, start));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    at(end, {TmaItem::Step::kFetch, i == 0, shape, targets[i]});
  }
}

void TmaEngine::store(const CopyShape& shape, Slot slot) {
  ++copies_;
  const Ticks start = std::max(now(), engine_.free());
  const Ticks read = shared_.read(start, shape.bytes());
  const Ticks rows = to_ticks(std::max(chip_.tma_store_instruction, shape.rows * chip_.tma_row));
  const Ticks end = engine_.reserve(start, std::max(rows, read - start));
  at(end, {TmaItem::Step::kRead, false, shape, {slot, nullptr}});
}

void TmaEngine::due(const TmaItem& item) {
  TmaItem next = item;
  switch (item.step) {
    case TmaItem::Step::kFetch:
      if (item.asks) {
        fetched_ = memory_.fetch(now(), half_, item.shape.box, item.shape.bytes());
      }
      next.step = TmaItem::Step::kArrive;
      at(fetched_ + load_latency(item.shape), next);
      return;
    case TmaItem::Step::kArrive: {
      const bool streamed = item.target.memory == nullptr;
      const Ticks end = streamed ? now() : item.target.memory->fill(now(), item.shape.bytes());
      if (end > now()) {
        next.target.memory = nullptr;
        at(end, next);
      } else {
        completions_.step(item.target.slot);
      }
      return;
    }
    case TmaItem::Step::kRead:
      completions_.step(item.target.slot);
      next.step = TmaItem::Step::kWritten;
      at(memory_.store(now(), half_, item.shape.box, item.shape.bytes()) +
             to_ticks(chip_.tma_store_latency),
         next);
      return;
    case TmaItem::Step::kWritten:
      completions_.step(item.target.slot);
      return;
  }
}

}  // namespace warptwin::sim
