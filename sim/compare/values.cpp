#include "sim/compare/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "common/machine/rounding.hpp"
#include "common/trace/words.hpp"

namespace warptwin::sim {

namespace {

bool multiplies(const Trace& trace) {
  for (const WarpTrace& warp : trace.warps) {
    for (const TraceOp& op : warp.ops) {
      if (op.op == Op::kTcgen05Mma || op.op == Op::kWgmma) {
        return true;
      }
    }
  }
  return false;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string bits(const TraceOutput& output, std::uint32_t row, std::uint32_t column) {
  char text[64];
  std::snprintf(text,
                sizeof text,
                "%s (0x%0*x)",
                number(static_cast<double>(output.at(row, column))).c_str(),
                static_cast<int>(2 * bytes_of(output.element)),
                encode(output.element, output.at(row, column)));
  return text;
}

// Which warp stored an element, by the traces that say so; empty: none does.
std::string writer_of(const Trace& trace,
                      const TraceOutput& output,
                      std::uint32_t row,
                      std::uint32_t column) {
  const std::uint32_t size = bytes_of(output.element);
  const std::uint64_t at = std::uint64_t{row} * output.pitch + std::uint64_t{column} * size;
  for (std::uint32_t warp = 0; warp < trace.warps.size(); ++warp) {
    for (const TraceBox& store : trace.warps[warp].boxes) {
      const std::uint64_t pitch = std::max(store.pitch, 1U);
      if (is_load(trace.warps[warp].ops[store.at].op) || trace.names[store.tensor] != output.name ||
          at < store.begin || (at - store.begin) / pitch >= store.rows ||
          (at - store.begin) % pitch >= store.row_bytes) {
        continue;
      }
      const std::uint64_t box_row = (at - store.begin) / pitch;
      const std::uint64_t box_column = (at - store.begin) % pitch / size;
      return "row " + std::to_string(box_row) + ", column " + std::to_string(box_column) +
             " of the box of " + std::to_string(store.rows) + " x " +
             std::to_string(store.row_bytes / size) + " that " + trace.warp_name(warp) + " " +
             line_of(trace, warp, trace.warps[warp].ops[store.at]);
    }
  }
  return "";
}

ValueComparison compare_output(const Trace& first,
                               const TraceOutput& a,
                               const Trace& second,
                               const TraceOutput& b) {
  ValueComparison result;
  result.name = a.name;
  result.elements = a.values.size();
  if (sums_may_differ(first, second)) {
    result.relative = unit_roundoff(a.element);
    result.absolute = 2.0 * std::max(a.terms, b.terms) * std::ldexp(1.0, -23) *
                      std::max(a.magnitude, b.magnitude);
    if (!is_integer(a.element)) {  // two roundings below the smallest normal number
      result.absolute += static_cast<double>(decode(a.element, 1));
    }
  }
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double x = static_cast<double>(a.values[i]);
    const double y = static_cast<double>(b.values[i]);
    if (std::bit_cast<std::uint32_t>(a.values[i]) == std::bit_cast<std::uint32_t>(b.values[i])) {
      ++result.same;
      continue;
    }
    const double bound = result.relative * (std::abs(x) + std::abs(y)) + result.absolute;
    const double apart = std::abs(x - y);
    // Not a number is beyond every bound; a zero of the other sign only where there is none.
    const double share = bound > 0 && !std::isnan(apart) ? apart / bound : HUGE_VAL;
    result.worst = std::max(result.worst, share);
    if (share <= 1) {
      continue;
    }
    if (result.beyond++ == 0) {
      const auto row = static_cast<std::uint32_t>(i / a.columns);
      const auto column = static_cast<std::uint32_t>(i % a.columns);
      const std::string here = writer_of(first, a, row, column);
      Mismatch mismatch;
      mismatch.where = a.name + "[" + std::to_string(row) + ", " + std::to_string(column) + "]";
      const std::string writer = here.empty() ? writer_of(second, b, row, column) : here;
      mismatch.where += writer.empty() ? "" : ", " + writer;
      mismatch.first = bits(a, row, column);
      mismatch.second =
          bits(b, row, column) +
          (bound > 0 ? ": " + number(apart) + " apart, at most " + number(bound) : "");
      mismatch.time = ~std::uint64_t{0};
      result.first.push_back(std::move(mismatch));
    }
  }
  return result;
}

}  // namespace

bool sums_may_differ(const Trace& first, const Trace& second) {
  const bool one_engine = first.source != "hardware" && second.source != "hardware";
  return !one_engine && multiplies(first);
}

std::vector<ValueComparison> compare_values(const Trace& first,
                                            const Trace& second,
                                            std::vector<std::string>& notes) {
  std::vector<ValueComparison> all;
  if (first.outputs.empty() != second.outputs.empty()) {
    notes.push_back("values are not compared: the trace of the " +
                    (first.outputs.empty() ? first : second).source +
                    " has none; record it with --values");
    return all;
  }
  if (!first.outputs.empty() && first.seed != second.seed) {
    notes.push_back("values are not compared: the inputs are of seeds " +
                    std::to_string(first.seed) + " and " + std::to_string(second.seed));
    return all;
  }
  for (const TraceOutput& a : first.outputs) {
    for (const TraceOutput& b : second.outputs) {
      if (a.name == b.name && a.values.size() == b.values.size() && a.columns == b.columns) {
        all.push_back(compare_output(first, a, second, b));
      }
    }
  }
  return all;
}

std::vector<Mismatch> compare_data(const Trace& first,
                                   const Trace& second,
                                   const Matching& matching,
                                   std::uint64_t& compared) {
  std::vector<Mismatch> all;
  for (std::uint32_t warp = 0; warp < first.warps.size() && first.seed == second.seed; ++warp) {
    const MatchedWarp& matched = matching.warps[warp];
    bool found = false;
    for (std::uint32_t at = 0; at < matched.same; ++at) {
      const TraceOp& a = first.warps[warp].ops[matched.first[at]];
      const TraceOp& b = second.warps[matched.other].ops[matched.second[at]];
      if (a.data == 0 || b.data == 0 || a.op == Op::kClcTryCancel) {
        continue;
      }
      ++compared;
      if (a.data == b.data || found) {
        continue;
      }
      found = true;
      char sums[2][32];
      std::snprintf(sums[0], sizeof sums[0], "bytes of checksum %08x", a.data);
      std::snprintf(sums[1], sizeof sums[1], "bytes of checksum %08x", b.data);
      Mismatch mismatch;
      mismatch.where = first.warp_name(warp) + ", operation " + std::to_string(at) + ", " +
                       line_of(first, warp, a);
      mismatch.first = sums[0];
      mismatch.second = sums[1];
      mismatch.time = a.time;
      mismatch.first_at = {warp, matched.first[at]};
      mismatch.second_at = {matched.other, matched.second[at]};
      all.push_back(std::move(mismatch));
    }
  }
  return all;
}

std::string text_of(const ValueComparison& values) {
  std::string text = values.name + ": " + plural(values.elements, "element") + ", " +
                     std::to_string(values.same) + " the same bit for bit";
  if (values.absolute == 0 || values.same == values.elements) {
    return text + (values.beyond == 0 ? "" : ", " + std::to_string(values.beyond) + " not");
  }
  text += ", the largest difference " + number(std::round(values.worst * 1000) / 10) +
          " % of the bound " + number(values.relative) + " (|x| + |y|) + " +
          number(values.absolute);
  return text + (values.beyond == 0 ? "" : ", " + std::to_string(values.beyond) + " beyond it");
}

}  // namespace warptwin::sim
