/// The TMA engine of one SM: takes copies in order, an instruction in so many cycles, and moves
/// their rows, one at a time, while it takes the next ones. Many copies are on their way at once.

#pragma once

#include <vector>

#include <boost/circular_buffer.hpp>

#include "sim/timed/modules/agenda.hpp"
#include "sim/timed/modules/completions.hpp"
#include "sim/timed/modules/memory_system.hpp"
#include "sim/timed/modules/shared_memory.hpp"
#include "sim/timed/turns.hpp"

namespace warptwin::sim {

/// The longest row that the engine moves as one.
inline constexpr std::uint32_t kRowBytesMost = 128;

/// A bulk copy, as the engine sees it.
struct CopyShape {
  std::uint32_t rows = 0;       // that are moved one by one
  std::uint32_t row_bytes = 0;  // of one of them
  std::uint64_t box = 0;        // what it reads or writes in global memory, by name
  std::uint32_t map = 0;        // the number of its tensor map, from 1 on; 0: it has none
  double share = 1;             // of these bytes, that are in global memory: not of padding
  double bytes() const { return double{1} * rows * row_bytes; }
};

/// Where a load's bytes go, and the agent that counts them there.
struct CopyTargetPort {
  AgentSlot slot;
  SharedMemory* memory = nullptr;
};

struct TmaItem {
  enum class Step : std::uint8_t { kServed, kArrive, kWritten };
  Step step;
  CopyShape shape;
  CopyTargetPort target;
  Cause cause = kNoCause;
};

class TmaEngine : public Agenda<TmaItem>, private Asker {
 public:
  TmaEngine(const sc_core::sc_module_name& name,
            Timeline& timeline,
            Turns& turns,
            const Chip& chip,
            L2Port l2,
            SharedMemory& shared,
            MemorySystem& memory,
            Completions& completions,
            CauseLog* log = nullptr);

  /// One load to all of `targets`, read once, multicast; issued at `when`, which may lie ahead.
  void load(Ticks when, const CopyShape& shape, const std::vector<CopyTargetPort>& targets);
  void store(Ticks when, const CopyShape& shape, AgentSlot slot);

  /// Ticks in which the engine worked on rows.
  Ticks busy() const { return busy_; }
  void watch(UseHistory* history) { history_ = history; }
  /// From the asking of L2 until the last row is in shared memory, where L2 takes no time.
  static Ticks latency(const Chip& chip, std::uint32_t row_bytes = kRowBytesMost) {
    return to_ticks(chip.tma_latency + chip.tma_latency_per_row_byte * row_bytes);
  }
  std::uint64_t copies() const { return copies_; }

 private:
  /// A copy that waits for the engine or is in it; a store has no memory as its target.
  struct Queued {
    Ticks issued = 0;
    bool load = false;
    CopyShape shape;
    CopyTargetPort target;
    std::vector<CopyTargetPort> others;  // of a multicast
    Cause cause = kNoCause;              // that it was issued
  };

  static constexpr std::size_t kFirstCapacity = 2;  // grows by doubling

  /// What L2 is asked for: a load, or the store that is served.
  struct Asked {
    Queued copy;               // of a load
    Ticks rows_left = 0;       // from now until the last of it leaves the engine
    std::uint64_t ticket = 0;  // of the first arrival
    Cause last_row = kNoCause;
  };

  void due(const TmaItem& item) override;
  void turn() override;
  void submit(Queued copy);
  void serve();
  void begin_store();
  void fetch(const Asked& asked);
  void ask(Asked what);
  Ticks stretch(const Queued& copy);
  Ticks fetch_of_map(std::uint32_t map);
  void finish_service(Ticks end);
  void arrive(const TmaItem& item);

  Turns& turns_;
  const Chip& chip_;
  L2Port l2_;
  SharedMemory& shared_;
  MemorySystem& memory_;
  Completions& completions_;
  boost::circular_buffer<Queued> queue_{kFirstCapacity};  // the first one is being served
  boost::circular_buffer<Asked> asked_{kFirstCapacity};
  std::vector<bool> maps_;  // that have been used here
  Ticks free_ = 0;          // end of the last service
  Ticks takes_next_ = 0;    // when it takes another instruction, at the earliest
  Ticks started_ = 0;
  Ticks service_ = 0;  // as long as L2 does not hold it up
  Ticks taken_ = 0;    // when L2 has the store that is served
  Cause taken_cause_ = kNoCause;
  Ticks busy_ = 0;
  UseHistory* history_ = nullptr;
  std::uint64_t copies_ = 0;
  CauseLog* log_;
  Cause served_ = kNoCause;  // end of the last service
};

}  // namespace warptwin::sim
