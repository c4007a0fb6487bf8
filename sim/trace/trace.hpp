/// What the warps of one launch did, operation by operation: the same from an engine and from a
/// GPU. Objects go by the scenario's names, so that a trace needs no kernel to be read.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/trace/event.hpp"

namespace warptwin::sim {

/// One operation of one warp. Fields that an operation does not have are zero.
struct TraceOp {
  std::uint64_t time = 0;  // step number, or cycle of the SM's clock
  Op op = Op::kCount;
  std::uint8_t lanes = 0;
  std::uint16_t flags = 0;   // of event_flag: those in kTraceFlags
  std::uint32_t cta = 0;     // whose object it is, number in the grid
  std::uint32_t object = 0;  // index into Trace::names
  std::uint32_t on = 0;      // of a load: the barrier's
  std::uint32_t count = 0;   // arrivals of all lanes, threads, columns, operand
  std::uint32_t bytes = 0;   // of all lanes
  std::uint32_t wanted = 0;  // of a wait: the phase, or with no kExactPhase its parity
  std::uint32_t mask = 0;    // CTAs of a multicast
  std::uint32_t site = 0;    // index into Trace::names; "" where it is not known
};

inline constexpr std::uint16_t kTraceFlags = event_flag::kExpectTx | event_flag::kNoComplete |
                                             event_flag::kDrop | event_flag::kExactPhase |
                                             event_flag::kRead | event_flag::kFalse;

/// The operations that are in a trace: those that take part in a protocol. Fences, warp syncs and
/// words of shared memory are not.
bool is_traced(Op op);

struct TraceRole {
  std::string name;
  std::uint32_t warps = 0;
};

struct WarpTrace {
  std::vector<TraceOp> ops;
  std::uint64_t overwritten = 0;  // older operations that a full ring lost
  std::uint64_t lost = 0;         // operations of lanes that are not observed
};

struct Trace {
  std::string source;   // "simulator" or "hardware"
  std::string machine;  // the schedule, or the device
  std::string scenario;
  std::string parameters;
  std::string ending;                 // "done", or why the run ended early
  std::vector<std::string> emulated;  // what the machine does not have
  std::uint32_t clusters = 1;
  std::uint32_t cluster_size = 1;
  std::vector<TraceRole> roles;  // of a CTA, in warp order
  std::vector<std::string> names{""};
  std::vector<WarpTrace> warps;  // by number in the grid

  std::uint32_t warps_per_cta() const;
  /// The index of `name`, which is added if it is new.
  std::uint32_t name(const std::string& name);
  /// "cta 0 warp 1 (consumer)".
  std::string warp_name(std::size_t number) const;
};

}  // namespace warptwin::sim
