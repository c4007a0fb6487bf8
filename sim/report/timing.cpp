#include "sim/report/timing.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace warptwin::sim {

namespace {

// Waits shorter than this share of a role's life are left out of the text.
constexpr double kShownShare = 0.005;

std::string percent(double share) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100.0 * share << " %";
  return text.str();
}

void add_role(std::ostringstream& text, const RoleTime& role) {
  const double alive = std::max(role.alive, 1.0);
  text << "  " << std::left << std::setw(16) << warptwin::name_of(role.role) << role.warps
       << (role.warps == 1 ? " warp, " : " warps, ") << std::fixed << std::setprecision(0)
       << role.alive << " cycles: issuing " << percent(role.issuing / alive);
  for (const WaitTime& wait : role.waits) {
    if (wait.cycles >= kShownShare * alive) {
      text << ", " << wait.what << " " << percent(wait.cycles / alive);
    }
  }
  text << "\n";
}

void add_path(std::ostringstream& text, const CriticalPath& path) {
  text << "critical path, " << std::setprecision(0) << path.cycles
       << " cycles: share, steps (slack of them all in cycles: least, mean)\n";
  std::vector<std::pair<const Slack*, const PathPart*>> lines;
  for (const Slack& slack : path.slack) {
    const auto part =
        std::find_if(path.parts.begin(), path.parts.end(), [&](const PathPart& candidate) {
          return candidate.kind == slack.kind && candidate.what == slack.what;
        });
    lines.emplace_back(&slack, part == path.parts.end() ? nullptr : &*part);
  }
  const auto cycles = [](const auto& line) { return line.second ? line.second->cycles : -1.0; };
  std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) {
    return cycles(a) > cycles(b);
  });
  for (const auto& [slack_of, part] : lines) {
    const Slack& slack = *slack_of;
    const bool passes = part != nullptr;
    text << "  " << std::left << std::setw(24) << slack.what << std::right << std::setw(8)
         << percent(passes ? part->cycles / std::max(path.cycles, 1.0) : 0.0) << std::setw(9)
         << (passes ? part->steps : 0) << "  (" << slack.least << ", " << slack.mean << ")\n";
  }
}

Json json_of(const CriticalPath& path) {
  static constexpr const char* kKinds[] = {"unit", "role", "barrier"};
  Json parts = Json::array();
  for (const PathPart& part : path.parts) {
    parts.push_back({{"kind", kKinds[static_cast<std::size_t>(part.kind)]},
                     {"what", part.what},
                     {"cycles", part.cycles},
                     {"share", part.cycles / std::max(path.cycles, 1.0)},
                     {"steps", part.steps}});
  }
  Json slacks = Json::array();
  for (const Slack& slack : path.slack) {
    slacks.push_back({{"kind", kKinds[static_cast<std::size_t>(slack.kind)]},
                      {"what", slack.what},
                      {"least_cycles", slack.least},
                      {"mean_cycles", slack.mean},
                      {"steps", slack.steps}});
  }
  return {{"cycles", path.cycles}, {"parts", parts}, {"slack", slacks}};
}

constexpr int kPlotSteps = 20;      // from -10 % to 10 %
constexpr double kPlotStep = 0.01;  // of the error, a column

// One column for each per cent of error; the outer ones also hold what lies beyond.
std::string plot_of(const std::vector<PredictedRow>& rows) {
  std::vector<int> columns(kPlotSteps + 1, 0);
  for (const PredictedRow& row : rows) {
    const long at = std::lround(row.error() / kPlotStep) + kPlotSteps / 2;
    ++columns[static_cast<std::size_t>(std::clamp<long>(at, 0, kPlotSteps))];
  }
  const int tallest = *std::max_element(columns.begin(), columns.end());
  constexpr int kHeight = 10;
  std::string text = "rows by error, predicted over measured:\n";
  for (int level = kHeight; level > 0; --level) {
    text += "  ";
    for (const int column : columns) {
      text += column * kHeight >= tallest * level && column > 0 ? " # " : "   ";
    }
    while (text.back() == ' ') {
      text.pop_back();
    }
    text += "\n";
  }
  text += "  ";
  for (int i = 0; i <= kPlotSteps; ++i) {
    std::ostringstream label;
    label << std::setw(3) << i - kPlotSteps / 2;
    text += label.str();
  }
  return text + " %\n";
}

std::string text_of_score(const Score& score) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << "error: mean " << score.mean << " %, p90 "
       << score.p90 << " %, worst " << score.worst << " %; within 10 %: " << score.within_10
       << " % of rows\n"
       << "90 % intervals: " << score.inside << " % of rows are inside; +-" << score.half_width
       << " % in the mean\n"
       << "ratio of neighbouring steps: mean error " << score.ratio_mean << " %, worst "
       << score.ratio_worst << " %, of " << score.ratios << "\n"
       << "order: " << 100.0 * score.rank_agreement << " % of pairs agree\n";
  return text.str();
}

std::string list_of(const MmaForm& form) {
  std::ostringstream text;
  text << form.interval_per_column << ", " << form.interval_least << ", " << form.read_extra << ", "
       << form.latency << ", " << form.latency_per_column;
  return text.str();
}

std::string text_of_occupancy(const TimingResult& timing) {
  const std::uint32_t ctas = timing.occupancy.ctas_per_sm;
  return "occupancy: " + std::to_string(ctas) + (ctas == 1 ? " CTA" : " CTAs") +
         " an SM, limited by " + timing.occupancy.limited_by +
         (timing.registers_counted ? "\n" : "; the scenario does not say its registers\n");
}

std::string text_of_interval(const TimingResult& timing) {
  if (!timing.uncertainty) {
    return "";
  }
  const Uncertainty& how = *timing.uncertainty;
  std::ostringstream text;
  text << std::fixed << std::setprecision(2)
       << "90 % interval: " << timing.microseconds / (1 + how.half_width()) << " to "
       << timing.microseconds * (1 + how.half_width()) << " us; standard deviation of the model "
       << percent(how.model) << ", of the constants " << percent(how.constants) << ", most by "
       << how.most << "\n";
  return text.str();
}

}  // namespace

std::string text_of(const Chip& chip) {
  std::ostringstream text;
  text << chip.name << ": " << chip.summary << "\n";
  for (const ChipField& field : chip_fields()) {
    std::ostringstream value;
    value << std::setprecision(10) << chip.*field.member << " " << field.unit;
    text << "  " << std::left << std::setw(26) << field.key << std::setw(20) << value.str()
         << field.meaning << "\n"
         << std::setw(28) << ""
         << "+-" << percent(spread_of(chip, field.key)) << ": " << chip.sources.at(field.key)
         << "\n";
  }
  text << "tensor core (" << kMmaFormUnit << ")\n";
  for (const auto& [name, form] : chip.mma) {
    text << "  " << std::left << std::setw(26) << name << std::setw(28) << list_of(form)
         << chip.sources.at(name) << "\n";
  }
  if (!chip.places.empty()) {
    text << "places, in the order in which clusters are dealt out (" << kPlacesUnit << ")\n  ";
    for (const SmGroup& group : chip.places) {
      text << group.sms << " " << group.gpc << " " << group.half << "; ";
    }
    text << "\n" << std::setw(28) << "" << chip.sources.at(kPlaces) << "\n";
  }
  return text.str();
}

Json json_of(const Chip& chip) {
  Json constants = Json::object();
  for (const ChipField& field : chip_fields()) {
    constants[field.key] = {{"value", chip.*field.member},
                            {"unit", field.unit},
                            {"source", chip.sources.at(field.key)},
                            {"spread", spread_of(chip, field.key)}};
  }
  Json forms = Json::object();
  for (const auto& [name, form] : chip.mma) {
    forms[name] = {{"value",
                    {form.interval_per_column,
                     form.interval_least,
                     form.read_extra,
                     form.latency,
                     form.latency_per_column}},
                   {"unit", kMmaFormUnit},
                   {"source", chip.sources.at(name)},
                   {"spread", spread_of(chip, name)}};
  }
  Json json = {{"name", chip.name},
               {"summary", chip.summary},
               {"constants", constants},
               {"tensor_core", forms}};
  if (!chip.places.empty()) {
    Json groups = Json::array();
    for (const SmGroup& group : chip.places) {
      groups.push_back({group.sms, group.gpc, group.half});
    }
    json["places"][kPlaces] = {
        {"value", groups}, {"unit", kPlacesUnit}, {"source", chip.sources.at(kPlaces)}};
  }
  return json;
}

std::string text_of(const TimingResult& timing) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << timing.stats.cycles << " cycles, "
       << std::setprecision(2) << timing.microseconds << " us at " << std::setprecision(3)
       << timing.clock_held << " GHz";
  if (timing.clock_held < timing.stats.clock) {
    text << " (power cap; asked for " << timing.stats.clock << ")";
  }
  if (timing.flops > 0) {
    text << ", " << std::setprecision(1) << timing.tflops() << " TFLOP/s";
  }
  text << "; the launch before it takes " << std::setprecision(2) << timing.launch_microseconds
       << " us more\n"
       << text_of_interval(timing) << text_of_occupancy(timing) << "bound by " << timing.binds
       << "\nroles, a warp on average:\n";
  for (const RoleTime& role : timing.stats.roles) {
    add_role(text, role);
  }
  text << "units, busy on average (the busiest):\n";
  for (const UnitUse& unit : timing.stats.units) {
    text << "  " << std::left << std::setw(20) << unit.name << percent(unit.mean) << " ("
         << percent(unit.most) << ")\n";
  }
  if (timing.stats.path) {
    add_path(text, *timing.stats.path);
    text << "what would change it: " << timing.change << "\n";
  }
  return text.str();
}

Json json_of(const TimingResult& timing) {
  Json roles = Json::array();
  for (const RoleTime& role : timing.stats.roles) {
    Json waits = Json::array();
    for (const WaitTime& wait : role.waits) {
      waits.push_back({{"for", wait.what}, {"cycles", wait.cycles}});
    }
    roles.push_back({{"role", warptwin::name_of(role.role)},
                     {"warps", role.warps},
                     {"cycles", role.alive},
                     {"issuing", role.issuing},
                     {"waits", waits}});
  }
  Json units = Json::array();
  for (const UnitUse& unit : timing.stats.units) {
    units.push_back({{"unit", unit.name}, {"busy", unit.mean}, {"busiest", unit.most}});
  }
  Json report = {{"cycles", timing.stats.cycles},
                 {"clock_ghz", timing.clock_held},
                 {"microseconds", timing.microseconds},
                 {"launch_microseconds", timing.launch_microseconds},
                 {"tflops", timing.flops > 0 ? Json(timing.tflops()) : Json()},
                 {"occupancy",
                  {{"ctas_per_sm", timing.occupancy.ctas_per_sm},
                   {"limited_by", timing.occupancy.limited_by},
                   {"registers_counted", timing.registers_counted}}},
                 {"bound_by", timing.binds},
                 {"operations", timing.stats.operations},
                 {"roles", roles},
                 {"units", units}};
  if (timing.uncertainty) {
    const Uncertainty& how = *timing.uncertainty;
    report["interval_90"] = {{"low_microseconds", timing.microseconds / (1 + how.half_width())},
                             {"high_microseconds", timing.microseconds * (1 + how.half_width())},
                             {"constants", how.constants},
                             {"model", how.model},
                             {"least_known", how.most}};
  }
  if (timing.stats.path) {
    report["critical_path"] = json_of(*timing.stats.path);
    report["what_would_change_it"] = timing.change;
  }
  return report;
}

std::string text_of(const Validation& validation) {
  std::ostringstream text;
  for (const PredictedRow& row : validation.rows) {
    text << std::left << std::setw(34) << row.measured.name << std::right << std::fixed
         << std::setprecision(2) << std::setw(10) << row.measured.value << std::setw(10)
         << row.predicted << std::showpos << std::setw(9) << 100.0 * row.error() << " %"
         << std::noshowpos << "  " << row.low() << " to " << row.high()
         << (row.inside() ? "  " : " ! ") << row.measured.unit << "\n";
  }
  for (const MeasuredRow& row : validation.skipped) {
    text << row.name << ": not predicted: " << row.reason << "\n";
  }
  text << validation.rows.size() << " rows predicted, " << validation.skipped.size() << " not\n";
  if (!validation.rows.empty()) {
    text << plot_of(validation.rows) << text_of_score(validation.score);
  }
  for (const ProblemOrder& one : validation.problems) {
    text << one.problem << ": " << one.rows << " rows, rank correlation " << std::setprecision(3)
         << one.rank_correlation << "; the choice is " << std::setprecision(1) << one.behind
         << " % behind the best\n";
  }
  return text.str();
}

Json json_of(const Validation& validation) {
  Json rows = Json::array();
  for (const PredictedRow& row : validation.rows) {
    rows.push_back({{"name", row.measured.name},
                    {"kind", row.measured.kind},
                    {"unit", row.measured.unit},
                    {"measured", row.measured.value},
                    {"predicted", row.predicted},
                    {"low", row.low()},
                    {"high", row.high()},
                    {"constants_percent", 100.0 * row.uncertainty.constants},
                    {"model_percent", 100.0 * row.uncertainty.model},
                    {"least_known", row.uncertainty.most},
                    {"error_percent", 100.0 * row.error()}});
  }
  Json skipped = Json::array();
  for (const MeasuredRow& row : validation.skipped) {
    skipped.push_back({{"name", row.name}, {"reason", row.reason}});
  }
  Json problems = Json::array();
  for (const ProblemOrder& one : validation.problems) {
    problems.push_back({{"problem", one.problem},
                        {"rows", one.rows},
                        {"rank_correlation", one.rank_correlation},
                        {"behind_percent", one.behind}});
  }
  const Score& score = validation.score;
  return {{"rows", rows},
          {"not_predicted", skipped},
          {"mean_error_percent", score.mean},
          {"p90_error_percent", score.p90},
          {"worst_error_percent", score.worst},
          {"within_10_percent", score.within_10},
          {"inside_90_percent_interval", score.inside},
          {"interval_mean_percent", score.half_width},
          {"ratio_mean_error_percent", score.ratio_mean},
          {"ratio_worst_error_percent", score.ratio_worst},
          {"rank_agreement", score.rank_agreement},
          {"problems", problems}};
}

std::string text_of(const Calibration& calibration) {
  std::ostringstream text;
  text << text_of(calibration.after)
       << "before the fit: " << text_of_score(calibration.before.score) << "constants, after "
       << calibration.runs << " runs of all rows:\n";
  for (const FittedConstant& constant : calibration.constants) {
    text << "  " << std::left << std::setw(28) << constant.key << constant.before << " -> "
         << constant.after << "\n";
  }
  return text.str();
}

Json json_of(const Calibration& calibration) {
  Json json = json_of(calibration.after);
  json["mean_error_percent_before"] = calibration.before.score.mean;
  json["runs"] = calibration.runs;
  json["constants"] = Json::object();
  for (const FittedConstant& constant : calibration.constants) {
    json["constants"][constant.key] = {{"before", constant.before}, {"after", constant.after}};
  }
  return json;
}

}  // namespace warptwin::sim
