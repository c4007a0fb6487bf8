#include "sim/sweep/tune_report.hpp"

#include <algorithm>
#include <cstdio>

namespace warptwin::sim {

namespace {

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The values that the space leaves open.
std::string open_values(const Space& space, std::uint64_t index) {
  std::string text;
  const SweepPoint point = space.at(index);
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (space.axes()[i].values.size() > 1) {
      text += (text.empty() ? "" : " ") + space.axes()[i].name + "=" + text_of_number(point[i]);
    }
  }
  return text.empty() ? "the only configuration" : text;
}

std::string line_of(const Space& space, const Tuned& tuned) {
  return open_values(space, tuned.index) + ": " + printed("%.2f", tuned.microseconds) + " us" +
         (tuned.tflops > 0 ? printed(", %.1f TFLOP/s", tuned.tflops) : "") + ", bound by " +
         tuned.binds;
}

double over(const Tuned& tuned, const Tuned& best) {
  return tuned.microseconds / best.microseconds - 1;
}

// Others that the model cannot tell from the best.
std::vector<const Tuned*> ties(const TuneResult& result) {
  std::vector<const Tuned*> ties;
  for (std::size_t i = result.best + 1; i < result.runs.size(); ++i) {
    if (tied(result.runs[result.best], result.runs[i])) {
      ties.push_back(&result.runs[i]);
    }
  }
  return ties;
}

std::string interval_of(const Tuned& run) {
  return printed("90 %% interval %.2f", run.microseconds / (1 + run.half_width)) + " to " +
         printed("%.2f us", run.microseconds * (1 + run.half_width));
}

}  // namespace

std::string text_of(const Space& space, const TuneResult& result) {
  std::string fixed;
  for (const Axis& axis : space.axes()) {
    if (axis.values.size() == 1) {
      fixed += " " + axis.name + "=" + text_of_number(axis.values.front());
    }
  }
  std::string text = std::string{space.scenario().info->name} + fixed + "\n";
  for (const auto& [at, verdict] : result.refused) {
    text += "not proved (" + verdict + "): " + line_of(space, result.runs[at]) + "\n";
  }
  if (!result.proved) {
    return text + "no configuration that was run is proved\n";
  }
  const Tuned& best = result.runs[result.best];
  text += "best: " + line_of(space, best) + "; proved\n";
  if (best.bound > 0) {
    text += "  " + printed("%.1f %%", 100 * best.bound / best.microseconds) +
            " of what the tensor cores could do: " + printed("%.2f", best.bound) + " us\n";
  }
  if (!best.change.empty()) {
    text += "  would be faster with " + best.change + "\n";
  }
  if (result.best + 1 < result.runs.size()) {
    const Tuned& next = result.runs[result.best + 1];
    text += "next: " + line_of(space, next) + "; " + printed("%.2f %%", 100 * over(next, best)) +
            " longer\n";
  }
  const std::vector<const Tuned*> tied = ties(result);
  text += interval_of(best) + "; the model cannot tell from it " +
          (tied.empty() ? "no other that was run" : std::to_string(tied.size()) + " others") + "\n";
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < tied.size() && i < kShown; ++i) {
    text += "  " + printed("+%.2f %%  ", 100 * over(*tied[i], best)) +
            open_values(space, tied[i]->index) + "\n";
  }
  text += tied.size() > kShown ? "  ...\n" : "";
  text += std::to_string(result.runs.size()) + " of " +
          std::to_string(result.points + (result.points == 0 ? result.no_fit : 0)) +
          " configurations run";
  const auto say = [&](std::uint64_t count, const char* what) {
    text += count == 0 ? "" : "; " + std::to_string(count) + what;
  };
  say(result.no_fit, " do not fit");
  say(result.bounded, " cannot be faster, by their bound");
  say(result.unlikely, " not run, for little is expected of them");
  say(result.failed, " came to no end");
  text += "\n";
  if (result.unlikely != 0) {
    text += "one of those not run is more than 1 % faster with a probability of " +
            printed("%.2g", result.doubt) + ", at the likeliest, by what the runs tell\n";
  }
  return text;
}

Json json_of(const Space& space, const TuneResult& result) {
  Json report;
  report["scenario"] = space.scenario().info->name;
  report["proved"] = result.proved;
  report["best"] = nullptr;
  report["runs"] = Json::array();
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const Tuned& run = result.runs[i];
    Json one;
    const SweepPoint point = space.at(run.index);
    for (std::size_t axis = 0; axis < point.size(); ++axis) {
      one["configuration"][space.axes()[axis].name] = point[axis];
    }
    one["us"] = run.microseconds;
    one["bound_us"] = run.bound;
    one["tflops"] = run.tflops;
    one["half_width"] = run.half_width;
    one["bound_by"] = run.binds;
    one["change"] = run.change;
    for (const auto& [at, verdict] : result.refused) {
      if (at == i) {
        one["verdict"] = verdict;
      }
    }
    if (result.proved && i == result.best) {
      one["verdict"] = "proved";
      report["best"] = one;
    }
    report["runs"].push_back(one);
  }
  report["ties"] = result.proved ? ties(result).size() : 0;
  report["configurations"] = result.points;
  report["do_not_fit"] = result.no_fit;
  report["excluded_by_bound"] = result.bounded;
  report["not_run"] = result.unlikely;
  report["no_end"] = result.failed;
  report["doubt"] = result.doubt;
  return report;
}

std::string header_of(const std::vector<TunedProblem>& problems,
                      const Space& space,
                      const std::string& what) {
  std::string fields;
  std::string arguments;
  std::string matches;
  std::vector<std::string> keys;
  for (const auto& [name, value] : problems.front().problem) {
    keys.push_back(name);
    arguments += (arguments.empty() ? "" : ", ") + std::string{"long long "} + name;
    matches += (matches.empty() ? "" : " && ") + std::string{"row."} + name + " == " + name;
  }
  for (const Parameter& parameter : space.scenario().parameters) {
    fields += std::string{"  long long "} + parameter.name + ";\n";
  }
  std::string rows;
  for (const TunedProblem& problem : problems) {
    std::string row;
    for (const Parameter& parameter : space.scenario().parameters) {
      row += (row.empty() ? "" : ", ") + std::to_string(problem.parameters[parameter.name]);
    }
    rows += "    {" + row + "},  // " + printed("%.2f", problem.microseconds) + " us\n";
  }
  const std::string space_name = std::string{space.scenario().info->name} + "_tuned";
  return "// Made by warptwin tune: " + what +
         ".\n// Each configuration is the fastest by the timing model, and proved.\n#pragma "
         "once\n\n"
         "namespace " +
         space_name + " {\n\nstruct Configuration {\n" + fields +
         "};\n\ninline constexpr Configuration kTable[] = {\n" + rows +
         "};\n\n/// The configuration of a problem; null for one that was not tuned.\n"
         "constexpr const Configuration* find(" +
         arguments + ") {\n  for (const Configuration& row : kTable) {\n    if (" + matches +
         ") {\n      return &row;\n    }\n  }\n  return nullptr;\n}\n\n}  // namespace " +
         space_name + "\n";
}

}  // namespace warptwin::sim
