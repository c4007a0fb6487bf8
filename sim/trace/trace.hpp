/// What the warps of one launch did, operation by operation: the same from an engine and from a
/// GPU. Objects go by the scenario's names, so that a trace needs no kernel to be read.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/machine/element.hpp"
#include "common/trace/event.hpp"

namespace warptwin::sim {

/// One operation of one warp. Fields that an operation does not have are zero.
struct TraceOp {
  std::uint64_t time = 0;  // step number, or cycle of the SM's clock
  Op op = Op::kCount;
  std::uint8_t lanes = 0;
  std::uint32_t flags = 0;   // of event_flag: those in kTraceFlags
  std::uint32_t cta = 0;     // whose object it is, number in the grid
  std::uint32_t object = 0;  // index into Trace::names
  std::uint32_t on = 0;      // of a load: the barrier's
  std::uint32_t count = 0;   // arrivals of all lanes, threads, columns, operand
  std::uint32_t bytes = 0;   // of all lanes
  std::uint32_t wanted = 0;  // of a wait: the phase, or with no kExactPhase its parity
  std::uint32_t mask = 0;    // CTAs of a multicast
  std::uint32_t site = 0;    // index into Trace::names; "" where it is not known
  // Of a load, where data is recorded:
  std::uint32_t address = 0;  // where it writes, in a CTA's shared memory as the simulator's
  std::uint32_t data = 0;     // checksum of what it wrote; 0: not known
};

/// What operation `at` of a warp, a wait, found in shared memory when its phase was complete: in
/// one of the places that loads fill which count on its barrier. Not all of them need have been
/// filled for this phase.
struct TraceToken {
  std::uint32_t at = 0;
  std::uint32_t cta = 0;      // whose shared memory, number in the grid
  std::uint32_t object = 0;   // index into Trace::names
  std::uint32_t address = 0;  // as of a load
  std::uint32_t bytes = 0;
  std::uint32_t data = 0;  // checksum
};

/// In every run, the first `ops` operations of another warp come before operation `at` of this one.
struct TraceOrder {
  std::uint32_t at = 0;
  std::uint32_t warp = 0;  // number in the grid
  std::uint32_t ops = 0;
};

inline constexpr std::uint32_t kTraceFlags = event_flag::kExpectTx | event_flag::kNoComplete |
                                             event_flag::kDrop | event_flag::kExactPhase |
                                             event_flag::kRead | event_flag::kFalse;
/// The same, of a load: whether its bytes count in the leader of each pair.
inline constexpr std::uint32_t kTraceLoadFlags = event_flag::kPair;

/// Bytes of a tensor that operation `at` of a warp writes, or, a load, reads: `rows` pieces of
/// `row_bytes`, `pitch` apart. Of a box of more than two dimensions, the first of its rectangles.
struct TraceBox {
  std::uint32_t at = 0;
  std::uint32_t tensor = 0;  // index into Trace::names
  std::uint64_t begin = 0;   // of the first byte, in the tensor
  std::uint32_t rows = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t pitch = 0;
};

struct TraceRole {
  std::string name;
  std::uint32_t warps = 0;
};

struct WarpTrace {
  std::vector<TraceOp> ops;
  std::vector<TraceOrder> after;   // by `at`; what an earlier operation knew already is left out
  std::vector<TraceBox> boxes;     // by `at`; only of a run whose values are recorded
  std::vector<TraceToken> tokens;  // the same, and only of a GPU's
  std::uint64_t overwritten = 0;   // older operations that a full ring lost
  std::uint64_t lost = 0;          // operations of lanes that are not observed
};

/// What a launch left in global memory.
struct TraceOutput {
  std::string name;
  ElementType element = ElementType::kF32;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t pitch = 0;    // bytes from row to row
  std::uint32_t terms = 0;    // products that are added up in one element
  double magnitude = 0;       // largest sum of the absolute values of those products
  std::vector<float> values;  // row-major

  float at(std::uint32_t row, std::uint32_t column) const {
    return values[std::size_t{row} * columns + column];
  }
};

/// What the times of a trace are.
enum class TraceClock : std::uint8_t {
  kSteps,   // of the functional engine
  kCycles,  // of the SM: a machine's low 32 bits, or the timed engine's
};

struct Trace {
  std::string source;   // "simulator", "timed" or "hardware"
  std::string machine;  // the schedule, or the device
  std::string scenario;
  std::string parameters;
  std::string ending;                 // "done", or why the run ended early
  std::vector<std::string> emulated;  // what the machine does not have
  TraceClock clock = TraceClock::kSteps;
  bool ordered = false;    // `after` holds the order that the proof allows
  std::uint64_t seed = 0;  // of the inputs
  std::vector<TraceOutput> outputs;
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
  /// Whether waits recorded what they found, for which they took their time.
  bool has_tokens() const;
};

}  // namespace warptwin::sim
