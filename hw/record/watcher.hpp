/// What the observed machine adds to an operation: deadlines, reports, records. Device code.

#pragma once

#include "common/trace/checksum.hpp"

#include "hw/ptx/address.hpp"
#include "hw/ptx/fence.hpp"
#include "hw/ptx/warp.hpp"
#include "hw/ptx/words.hpp"
#include "hw/record/record.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // bodies are empty on the host

namespace warptwin::hw {

/// A wait, as it is reported.
struct Waiting {
  Op op;
  std::uint32_t object;
  std::uint32_t wanted;
  std::uint32_t flags;
  SourceSite site;
};

namespace ptx {

/// Stores an event, with the clock's low half, if `holds`: no branch, so that lanes stay together.
WARPTWIN_HOST_DEVICE void store_event_if(
    bool holds, std::uint64_t to, std::uint32_t what, std::uint32_t object, std::uint32_t value) {
  NV_IF_TARGET(NV_IS_DEVICE,
               (asm volatile("{\n\t.reg .pred holds;\n\t.reg .u32 now;\n\t"
                             "setp.ne.u32 holds, %0, 0;\n\tmov.u32 now, %%clock;\n\t"
                             "@holds st.global.v4.u32 [%1], {now, %2, %3, %4};\n\t}" ::"r"(
                                 static_cast<std::uint32_t>(holds)),
                             "l"(to),
                             "r"(what),
                             "r"(object),
                             "r"(value)
                             : "memory");))
}

/// The word of a live mbarrier: invalidation writes it back, and what counts goes on from there.
WARPTWIN_HOST_DEVICE std::uint64_t word_of(Mbarrier bar) {
  NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                    (std::uint64_t word; asm volatile("mbarrier.inval.shared::cta.b64 [%1];\n\t"
                                                      "ld.volatile.shared.b64 %0, [%1];"
                                                      : "=l"(word)
                                                      : "r"(bar.address.value)
                                                      : "memory");
                     return word;),
                    (return 0;))
}

}  // namespace ptx

/// One warp's view of an observation. Of a watch of nothing, an object without effect.
template <Watch kWatch>
class Watcher {
 public:
  /// `base` is where the storage starts. Participants: the whole warp.
  WARPTWIN_HOST_DEVICE Watcher(const Observation& observation,
                               SharedAddress base,
                               std::uint32_t warp,
                               bool elected)
      : observation_{observation},
        base_{base.value},
        warp_{warp},
        elected_{elected},
        records_{elected},
        ring_{ring_of(observation, warp)} {
    set_state(WarpState::kRuns);
  }

  WARPTWIN_HOST_DEVICE std::uint32_t object(SharedAddress address,
                                            std::uint32_t rest = RecordedEvent::kOwnRank) const {
    return RecordedEvent::at(address.value - base_, rest);
  }
  WARPTWIN_HOST_DEVICE std::uint32_t object(Mbarrier bar,
                                            std::uint32_t rest = RecordedEvent::kOwnRank) const {
    return object(bar.address, rest);
  }
  /// A mapped address has the rank above the offset (seen on an H200).
  WARPTWIN_HOST_DEVICE std::uint32_t object(RemoteMbarrier bar) const {
    return RecordedEvent::at((bar.address.value & 0xFFFFFFU) - base_, bar.address.value >> 24);
  }

  /// One event of this warp. `alone`: the executing lane runs by itself.
  WARPTWIN_HOST_DEVICE void record(
      Op op, std::uint32_t flags, std::uint32_t object, std::uint32_t value, bool alone) {
    if constexpr (has_records(kWatch)) {
      store(RecordedEvent::what_of(op, alone ? 1 : kWarpLanes, flags), object, value);
    }
  }
  /// Where it is asked for, one event for each place that a phase of `bar` may stand for: what lies
  /// there. To be called when the phase is complete, and before its stage is given back.
  ///
  /// Participants: the lanes that have seen it complete. Those that are together with the one that
  /// records read side by side; others, whom a try has told otherwise, none. Blocks: never.
  WARPTWIN_HOST_DEVICE void record_data(Mbarrier bar) {
    if constexpr (has_tokens(kWatch)) {
      if (observation_.region_count != 0) {
        record_regions(object(bar, ptx::cluster_cta_rank()));
      }
    }
  }
  /// Whether there is a ring.
  WARPTWIN_HOST_DEVICE bool has_ring() const { return ring_ != 0; }
  /// Runs `f` in one lane, which records what it does. Participants: the whole warp. Blocks: until
  /// the lane is done.
  template <class F>
  WARPTWIN_HOST_DEVICE void in_lane(std::uint32_t lane, F&& f) {
    records_ = ptx::lane_index() == lane;
    if (records_) {
      f();
    }
    bytes_ = ptx::shuffle_sync(bytes_, lane);
    records_ = elected_;
  }

  /// Before and after a wait that has no deadline.
  WARPTWIN_HOST_DEVICE void enter(const Waiting& waiting) {
    if constexpr (has_deadlines(kWatch)) {
      if (elected_) {
        publish(waiting, WarpState::kBlocks, 0, 0);
      }
    }
  }
  WARPTWIN_HOST_DEVICE void leave() { set_state(WarpState::kRuns); }

  /// Repeats `attempt` until it succeeds. When the deadline passes first, says what is waited for,
  /// with `word` of it, and never returns: the kernel ends with an error as soon as the host has
  /// read the reports.
  template <class Attempt, class Word>
  WARPTWIN_HOST_DEVICE void wait(const Waiting& waiting, Attempt&& attempt, Word&& word) {
    if constexpr (has_deadlines(kWatch)) {
      if (!attempt()) [[unlikely]] {
        const std::uint64_t start = ptx::clock();
        while (!attempt()) {
          const std::uint64_t cycles = ptx::clock() - start;
          if (cycles > observation_.deadline) {
            expire(waiting, cycles, word());
          }
        }
      }
    } else {
      while (!attempt()) {
      }
    }
  }

  /// The warp has reached its end.
  WARPTWIN_HOST_DEVICE void end() {
    if (elected_) {
      publish_count();
    }
    set_state(WarpState::kEnded);
  }

 private:
  static constexpr std::uint32_t kEventBytes = sizeof(RecordedEvent);
  // How long a warp that has spoken waits for the host, in cycles: some ten seconds.
  static constexpr std::uint64_t kPatience = 20'000'000'000;

  WARPTWIN_HOST_DEVICE static std::uint64_t ring_of(const Observation& observation,
                                                    std::uint32_t warp) {
    return has_records(kWatch) && observation.events != nullptr
               ? reinterpret_cast<std::uint64_t>(observation.events) +
                     std::uint64_t{warp} * observation.capacity * kEventBytes
               : 0;
  }

  WARPTWIN_HOST_DEVICE void record_regions(std::uint32_t barrier) {
    const auto lanes = ptx::LanesTogether::now();
    if (lanes.sum(records_ ? 1 : 0) == 0) {
      return;
    }
    ptx::fence({Semantics::kAcqRel, Scope::kCluster});  // some may lie in another CTA
    for (std::uint32_t i = 0; i < observation_.region_count; ++i) {
      const DataRegion& region = observation_.regions[i];
      if (region.barrier != barrier) {
        continue;
      }
      const ClusterAddress first = ptx::mapa({base_ + RecordedEvent::offset_of(region.place)},
                                             RecordedEvent::rest_of(region.place));
      const std::uint32_t part = checksum_part(region.bytes,
                                               lanes.place(),
                                               lanes.count(),
                                               [&](std::uint32_t(&words)[4], std::uint32_t at) {
                                                 ptx::ld_cluster_v4(words, {first.value + at});
                                               });
      const std::uint32_t data = checksum_of(lanes.sum(part));
      store(RecordedEvent::kToken, i, data);
    }
  }

  WARPTWIN_HOST_DEVICE void store(std::uint32_t what, std::uint32_t object, std::uint32_t value) {
    ptx::store_event_if(records_ && ring_ != 0,
                        ring_ + (bytes_ & (observation_.capacity * kEventBytes - 1)),
                        what,
                        object,
                        value);
    bytes_ += kEventBytes;
  }

  WARPTWIN_HOST_DEVICE void publish_count() {
    if constexpr (has_records(kWatch)) {
      if (ring_ != 0) {
        observation_.counts[warp_] = bytes_ / kEventBytes;
      }
    }
  }

  WARPTWIN_HOST_DEVICE void set_state(WarpState state) {
    if constexpr (has_deadlines(kWatch)) {
      if (elected_) {
        static_cast<volatile WarpReport&>(observation_.reports[warp_]).state = state;
      }
    }
  }

  WARPTWIN_HOST_DEVICE void publish(const Waiting& waiting,
                                    WarpState state,
                                    std::uint64_t cycles,
                                    std::uint64_t word) {
    publish_count();
    volatile WarpReport& report = observation_.reports[warp_];
    report.op = static_cast<std::uint32_t>(waiting.op);
    report.object = waiting.object;
    report.wanted = waiting.wanted;
    report.flags = waiting.flags;
    report.line = waiting.site.line;
    report.file = reinterpret_cast<std::uint64_t>(waiting.site.file);
    report.word = word;
    report.cycles = cycles;
    NV_IF_TARGET(NV_IS_DEVICE, (__threadfence_system();))
    report.state = state;
  }

  /// Lanes come here one by one or together: the first of those that are together speaks.
  WARPTWIN_HOST_DEVICE void expire(const Waiting& waiting,
                                   std::uint64_t cycles,
                                   std::uint64_t word) {
    NV_IF_TARGET(NV_IS_DEVICE,
                 (
                     if (ptx::lane_index() + 1 == __ffs(__activemask())) {
                       publish(waiting, WarpState::kExpired, cycles, word);
                     } const std::uint64_t start = ptx::clock();
                     const volatile std::uint32_t* const stop = observation_.stop;
                     while (*stop == 0 && ptx::clock() - start < kPatience) {
                       __nanosleep(100000);
                     } ptx::trap();))
  }

  const Observation& observation_;
  std::uint32_t base_;
  std::uint32_t warp_;  // in the grid
  bool elected_;
  bool records_;             // this lane, for its warp
  std::uint64_t ring_;       // where this warp's events go; 0: nowhere
  std::uint32_t bytes_ = 0;  // recorded, those that a full ring lost too
};

}  // namespace warptwin::hw

#pragma GCC diagnostic pop
