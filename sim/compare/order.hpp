/// The order of a recorded run against the one that the proof allows.
///
/// What happens before what is the same in every run of a proved launch (docs/proof.md). A trace of
/// the simulator has it, wait by wait: how many operations of each other warp come before. A GPU's
/// clock is read before an operation, of a wait after it: so if x comes before y in every run, x
/// has the earlier time. Warps of one CTA read one clock. Two SMs' clocks run alike and start
/// anyhow: between two CTAs an order is wrong where no difference of their clocks explains it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/compare/matching.hpp"
#include "sim/prove/run_order.hpp"
#include "sim/trace/recorder.hpp"

namespace warptwin::sim {

/// Records a run of the functional engine with the order of its proof.
class OrderRecorder : public EventSink {
 public:
  /// `trace` has its launch. All but `config` must outlive the recorder.
  OrderRecorder(Trace& trace,
                TraceRecorder& recorder,
                const LaunchConfig& config,
                bool whole_grid = false);

  void on_event(const Event& event) override;
  /// The run has ended by itself. The trace is ordered if the proof holds for it; else its order
  /// is taken out.
  void at_end();
  /// Clusters met through global memory: record again, with `whole_grid`.
  bool needs_whole_grid() const { return order_.needs_whole_grid(); }

 private:
  /// An operation of the trace, and which operation of its warp it is.
  struct Place {
    std::uint32_t index = 0;
    std::uint32_t ops = 0;  // of the trace, with this one
  };
  std::uint32_t traced(std::uint32_t warp, std::uint32_t index) const;

  Trace& trace_;
  TraceRecorder& recorder_;
  RunOrder order_;
  std::vector<std::vector<Place>> places_;         // by warp
  std::vector<std::vector<std::uint32_t>> known_;  // by warp: operations of the others, traced
};

/// Two operations in an order that no run has.
struct OrderViolation {
  std::string where;
  std::string proved;
  std::string seen;
  std::uint64_t time = 0;  // in the ordered trace
};

struct OrderCheck {
  std::vector<OrderViolation> violations;  // the first of each warp, and of each pair of clocks
  std::uint64_t pairs = 0;                 // that were held against the times
  std::uint64_t unchecked = 0;             // on clocks that nothing ties together
};

/// Holds the times of `timed` against the order of `ordered`. `matching` is from `ordered` to
/// `timed`.
OrderCheck check_order(const Trace& ordered, const Trace& timed, const Matching& matching);

}  // namespace warptwin::sim
