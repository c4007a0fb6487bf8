/// The TMA engine of one SM: takes copies in order, a row at a time; many are on their way at once.

#pragma once

#include <vector>

#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/completions.hpp"
#include "sim/timed/modules/memory_system.hpp"
#include "sim/timed/modules/shared_memory.hpp"

namespace warptwin::sim {

/// A bulk copy, as the engine sees it.
struct CopyShape {
  std::uint32_t rows = 0;       // rows of at most 128 B that are moved one by one
  std::uint32_t row_bytes = 0;  // of one of them
  std::uint64_t box = 0;        // what it reads or writes in global memory, by name
  double bytes() const { return double{1} * rows * row_bytes; }
};

/// Where a load's bytes go, and the agent that counts them there.
struct CopyTargetPort {
  Slot slot = 0;
  SharedMemory* memory = nullptr;
};

struct TmaItem {
  enum class Step : std::uint8_t { kFetch, kArrive, kRead, kWritten };
  Step step;
  bool asks;  // of the targets of one load the first asks L2, for all
  CopyShape shape;
  CopyTargetPort target;
};

class TmaEngine : public Agenda<TmaItem> {
 public:
  TmaEngine(const sc_core::sc_module_name& name,
            const Chip& chip,
            std::uint32_t half,
            SharedMemory& shared,
            MemorySystem& memory,
            Completions& completions);

  /// One load to all of `targets`: read once, multicast.
  void load(const CopyShape& shape, const std::vector<CopyTargetPort>& targets);
  void store(const CopyShape& shape, Slot slot);

  /// Ticks in which the engine worked on rows.
  Ticks busy() const { return engine_.busy(); }
  std::uint64_t copies() const { return copies_; }

 private:
  void due(const TmaItem& item) override;
  Ticks load_service(const CopyShape& shape, Ticks start);
  Ticks load_latency(const CopyShape& shape) const;

  const Chip& chip_;
  std::uint32_t half_;
  SharedMemory& shared_;
  MemorySystem& memory_;
  Completions& completions_;
  Port engine_;
  Ticks previous_start_ = 0;
  Ticks fetched_ = 0;
  std::uint64_t copies_ = 0;
};

}  // namespace warptwin::sim
