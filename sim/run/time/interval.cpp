#include "sim/run/time/interval.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace warptwin::sim {

namespace {

// A constant, and the cycles that one of it stands for in a step of its unit.
struct Term {
  const char* key;
  double cycles = 1;
};

// The constants of a part of the path. Where there are several the step's time is their sum.
std::vector<Term> terms_of(const PathPart& part, double clock) {
  constexpr double kRowBytes = 128;  // of a usual copy
  constexpr double kColumns = 128;   // of a usual product
  const double ns = clock;           // in cycles
  const double us = 1e3 * clock;
  if (part.kind == StepKind::kRole) {
    return {{"issue"}, {"mma_issue"}, {"wgmma_issue"}, {"wgmma_issue_per_column", kColumns}};
  }
  if (part.kind == StepKind::kBarrier) {
    return {{"mbarrier_test"}, {"mbarrier_wake"}};
  }
  switch (static_cast<Unit>(part.id)) {
    case Unit::kCopyLatency:
      return {{"tma_latency"}, {"tma_latency_per_row_byte", kRowBytes}, {"l2_latency_ns", ns}};
    case Unit::kSharedRead:
      return {{"smem_read"}};
    case Unit::kSharedWrite:
      return {{"smem_write"}};
    case Unit::kTmemPort:
      return {{"tmem_rate"}};
    case Unit::kTmemLatency:
      return {{"tmem_latency"}, {"tmem_busy_latency"}};
    case Unit::kL2:
      return {{"l2_rate"}};
    case Unit::kL2Far:
      return {{"l2_far_latency"}};
    case Unit::kL2Link:
      return {{"l2_link_rate"}};
    case Unit::kDram:
      return {{"dram_rate"}};
    case Unit::kDramLatency:
      return {{"dram_latency_ns"}};
    case Unit::kNetwork:
      return {{"dsmem_latency"}};
    case Unit::kFma:
      return {{"fma_rate"}};
    case Unit::kMufu:
      return {{"mufu_rate"}};
    case Unit::kClusterLaunchControl:
      return {{"clc_latency"}};
    case Unit::kCtaStart:
      return {{"cta_start_us", us},
              {"cta_gap_us", us},
              {"cluster_start"},
              {"tensor_map_fetch"},
              {"cluster_barrier"}};
    default:
      return {};
  }
}

double value_of(const Chip& chip, std::string_view key) {
  for (const ChipField& field : chip_fields()) {
    if (key == field.key) {
      return chip.*field.member;
    }
  }
  return 0;
}

// Of the forms of MMAs that the chip has.
double spread_of_forms(const Chip& chip) {
  double most = 0;
  for (const auto& [name, form] : chip.mma) {
    most = std::max(most, spread_of(chip, name));
  }
  return most;
}

double spread_of_part(const PathPart& part, const Chip& chip, double clock) {
  if (part.kind == StepKind::kUnit) {
    const auto unit = static_cast<Unit>(part.id);
    if (unit == Unit::kTensorCore || unit == Unit::kTensorCoreLatency) {
      return spread_of_forms(chip);
    }
    if (unit == Unit::kTmaEngine) {  // bound by one of the two
      return std::max(spread_of(chip, "tma_row"), spread_of(chip, "tma_instruction"));
    }
  }
  const std::vector<Term> terms = terms_of(part, clock);
  double sum = 0;
  double squares = 0;
  for (const Term& term : terms) {
    const double cycles = terms.size() == 1 ? 1 : term.cycles * value_of(chip, term.key);
    const double off = cycles * spread_of(chip, term.key);
    sum += cycles;
    squares += off * off;
  }
  return sum > 0 ? std::sqrt(squares) / sum : 0;
}

}  // namespace

double Uncertainty::both() const {
  return std::hypot(constants, model);
}

Uncertainty uncertainty_of(const CriticalPath& path,
                           const Chip& chip,
                           double clock,
                           double clock_spread) {
  Uncertainty result{clock_spread, chip.model_spread, "the clock"};
  double squares = clock_spread * clock_spread;
  double most = clock_spread;
  for (const PathPart& part : path.parts) {
    const double share = part.cycles / std::max(path.cycles, 1.0);
    const double off = share * spread_of_part(part, chip, clock);
    squares += off * off;
    if (off > most) {
      most = off;
      result.most = part.what;
    }
  }
  result.constants = std::sqrt(squares);
  return result;
}

Uncertainty with_launch(Uncertainty run, double share, double launch_spread) {
  run.constants = std::hypot((1 - share) * run.constants, share * launch_spread);
  run.model *= 1 - share;
  return run;
}

}  // namespace warptwin::sim
