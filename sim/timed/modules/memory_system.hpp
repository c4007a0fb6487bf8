/// L2 and DRAM, shared by all SMs: what is where, and their bandwidth.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <systemc>

#include "sim/timed/causes.hpp"
#include "sim/timed/chip.hpp"
#include "sim/timed/modules/gap_port.hpp"
#include "sim/timed/modules/port.hpp"
#include "sim/timed/places.hpp"

namespace warptwin::sim {

/// When a box is there, and why then.
struct Arrival {
  Ticks when = 0;
  Cause cause = kNoCause;
};

/// What one half of L2 holds, in the order of use; the least recently used goes first. It knows
/// boxes, not lines: two boxes that overlap without being the same are two.
class ResidentBoxes {
 public:
  explicit ResidentBoxes(double capacity) : capacity_{capacity} {}

  /// When the box is there, or null if it is not. Counts as a use.
  const Arrival* find(std::uint64_t box);
  void insert(std::uint64_t box, double bytes, const Arrival& available);
  double bytes() const { return bytes_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    std::uint64_t box = 0;
    double bytes = 0;
    Arrival available;
    std::uint32_t older = kNone;
    std::uint32_t newer = kNone;
  };

  void unlink(std::uint32_t at);
  void link_newest(std::uint32_t at);

  double capacity_;
  double bytes_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
};

/// The share of a grid's boxes that L2 holds when the grid is launched again and again, 0 to 1,
/// where they are `bytes` in all. A half is filled unevenly, and a part of it has no room before
/// the rest: how much the parts get is normally distributed, with `l2_fill_spread`. Where that is
/// 0, a half holds all of them, or none.
double share_held(const Chip& chip, double bytes);

class MemorySystem : public sc_core::sc_module {
 public:
  /// `clock` in GHz turns the chip's nanoseconds and bytes per second into cycles. A share of the
  /// boxes, `resident`, is in L2 whenever it is asked for: 0 to 1.
  MemorySystem(const sc_core::sc_module_name& name,
               const Chip& chip,
               double clock,
               double resident,
               CauseLog* log = nullptr);

  /// A box is asked for by an SM, for `copies` SMs. Returns when L2 has handed all of it on and the
  /// way there and back is done; why L2 handed it on then is left in the log's `acting`.
  Ticks fetch(Ticks from, L2Port port, std::uint64_t box, double bytes, double copies = 1);
  /// A box is written from `from` on. Returns when L2 has taken all of it; why then is left in the
  /// log's `acting`.
  Ticks store(Ticks from, std::uint32_t half, std::uint64_t box, double bytes);

  /// The way there and back.
  Ticks latency() const { return latency_; }
  std::uint32_t halves() const { return static_cast<std::uint32_t>(resident_.size()); }
  /// Writes down when L2 hands on, and takes, bytes, and when DRAM does.
  void watch(UseHistory* l2_reads, UseHistory* l2_writes, UseHistory* dram) {
    for (GapPort& half : l2_) {
      half.watch(l2_reads);
    }
    for (Port& half : stores_) {
      half.watch(l2_writes);
    }
    dram_.watch(dram);
  }
  /// Bytes a cycle of the SMs: what a half of L2 hands on, what it takes, and what DRAM does.
  double read_rate() const { return l2_rate_; }
  double store_rate() const { return store_rate_; }
  double dram_rate() const { return dram_rate_; }
  const GapPort& l2(std::uint32_t half) const { return l2_[half]; }
  const Port& dram() const { return dram_; }
  /// Out of half `half`, to the other.
  const Port& link(std::uint32_t half) const { return link_[half]; }

 private:
  Arrival first_available(Ticks from, std::uint32_t half, std::uint64_t box, double bytes);
  // The half hands on `bytes` from `from` on, because of `why`.
  Arrival hand_on(Ticks from, std::uint32_t half, double bytes, Cause why);
  Arrival read_dram(Ticks from, double bytes);

  double l2_rate_;     // bytes a cycle of the SMs, of one half
  double multicast_;   // of a further copy, what L2 hands on again
  double shared_;      // of what is on its way to the GPC, what L2 hands on again
  double store_rate_;  // the same, into it
  double dram_rate_;   // bytes a cycle
  double link_rate_;   // bytes a cycle
  Ticks dram_latency_;
  Ticks latency_;
  Ticks far_latency_;
  double always_here_;  // of the boxes
  std::vector<ResidentBoxes> resident_;
  std::vector<std::unordered_map<std::uint64_t, Ticks>> on_their_way_;  // by GPC: until when
  std::vector<GapPort> l2_;
  std::vector<Port> stores_;
  std::vector<Port> link_;
  Port dram_;
  Ticks now_ = 0;
  CauseLog* log_;
  struct Busy {
    Ticks until = 0;
    Cause cause = kNoCause;
  };
  std::vector<Busy> l2_busy_;  // until when a half has work, and why
  std::vector<Cause> store_cause_;
  std::vector<Cause> link_cause_;
  Cause dram_cause_ = kNoCause;
};

}  // namespace warptwin::sim
