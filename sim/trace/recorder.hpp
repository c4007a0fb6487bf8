/// From the simulator's events to a trace.

#pragma once

#include <cstddef>
#include <unordered_map>

#include "sim/model/gpu.hpp"
#include "sim/trace/trace.hpp"

namespace warptwin::sim {

/// Writes down what each warp issues. Asynchronous steps, and blocked looks, are not operations of
/// a warp.
class TraceRecorder : public EventSink {
 public:
  /// `trace` has its launch; both must outlive the recorder.
  TraceRecorder(Trace& trace, const Symbols& symbols) : trace_{trace}, symbols_{symbols} {}
  void on_event(const Event& event) override;
  /// From here on, a checksum of what each copy wrote into shared memory, and where each store
  /// goes, read from the machine.
  void note_data_of(Gpu& gpu) { gpu_ = &gpu; }

 private:
  TraceOp op_of(const Event& event);
  void note_data(const Event& event);
  void note_box(const Event& event);

  Trace& trace_;
  const Symbols& symbols_;
  Gpu* gpu_ = nullptr;
  std::unordered_map<std::uint32_t, TraceOp> in_named_barrier_;  // by warp, that have not returned
  std::unordered_map<std::uint32_t, std::size_t> in_flight_;     // operation of a copy, by serial
};

/// A trace without operations, of a launch.
Trace trace_of_launch(const LaunchConfig& config, const Symbols& symbols);

/// What an object outside shared memory is called: a named barrier, columns of tensor memory.
std::string name_of_object(Op op, std::uint32_t address, const Symbols& symbols);

}  // namespace warptwin::sim
