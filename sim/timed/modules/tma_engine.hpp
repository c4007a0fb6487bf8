/// The TMA engine of one SM: takes copies in order, a row at a time; many are on their way at once.

#pragma once

#include <vector>

#include <boost/circular_buffer.hpp>

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
  enum class Step : std::uint8_t { kServed, kArrive, kWritten };
  Step step;
  CopyShape shape;
  CopyTargetPort target;
  Cause cause = kNoCause;
};

class TmaEngine : public Agenda<TmaItem> {
 public:
  TmaEngine(const sc_core::sc_module_name& name,
            const Chip& chip,
            std::uint32_t half,
            SharedMemory& shared,
            MemorySystem& memory,
            Completions& completions,
            CauseLog* log = nullptr);

  /// One load to all of `targets`, read once, multicast; issued at `when`, which may lie ahead.
  void load(Ticks when, const CopyShape& shape, const std::vector<CopyTargetPort>& targets);
  void store(Ticks when, const CopyShape& shape, Slot slot);

  /// Ticks in which the engine worked on rows.
  Ticks busy() const { return busy_; }
  std::uint64_t copies() const { return copies_; }

 private:
  /// A copy that waits for the engine or is in it; a store has no memory as its target.
  struct Queued {
    Ticks issued;
    bool load;
    CopyShape shape;
    CopyTargetPort target;
    std::vector<CopyTargetPort> others;  // of a multicast
    Cause cause = kNoCause;              // that it was issued
  };

  static constexpr std::size_t kFirstCapacity = 8;  // grows by doubling

  void due(const TmaItem& item) override;
  void submit(Queued copy);
  void serve();
  Ticks stretch(const Queued& copy);
  void finish_service(Ticks end);
  void arrive(const TmaItem& item);
  Ticks load_latency(const CopyShape& shape) const;

  const Chip& chip_;
  std::uint32_t half_;
  SharedMemory& shared_;
  MemorySystem& memory_;
  Completions& completions_;
  boost::circular_buffer<Queued> queue_{kFirstCapacity};  // the first one is being served
  Ticks free_ = 0;                                        // end of the last service
  Ticks started_ = 0;
  Ticks taken_ = 0;  // when L2 has the store that is served
  Cause taken_cause_ = kNoCause;
  Ticks busy_ = 0;
  std::uint64_t copies_ = 0;
  CauseLog* log_;
  Cause served_ = kNoCause;  // end of the last service
};

}  // namespace warptwin::sim
