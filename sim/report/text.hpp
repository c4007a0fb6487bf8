/// Findings, results and budgets as text for a terminal. Same values, same bytes.

#pragma once

#include <functional>
#include <string>

#include "sim/run/budget.hpp"
#include "sim/run/proof/check.hpp"

namespace warptwin::sim {

struct ReportContext {
  std::string scenario;  // "gemm (k=64 m=128 ...)"
  std::string schedule;  // "random:7"
  std::string replay;    // the whole line
  /// Of a PTX kernel: see ScenarioEntry.
  std::function<PtxLines(const SourceSite&)> lines_at{};
};

std::string text_of(const Finding& finding, const ReportContext& context);
/// Of a livelock the loop that it goes round in; of other findings empty.
std::string loop_of(const Finding& finding, const PtxLines& ptx);
/// A line for `count` reports of more findings than are kept; empty for none.
std::string text_of_not_kept(std::uint64_t count);
std::string text_of(const Comparison& comparison);
std::string text_of(const Budget& budget, const SmLimits& limits);

}  // namespace warptwin::sim
