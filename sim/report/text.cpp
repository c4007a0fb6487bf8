#include "sim/report/text.hpp"

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "common/trace/words.hpp"

namespace warptwin::sim {

namespace {

std::string field(const char* name, const std::string& value) {
  char head[16];
  std::snprintf(head, sizeof head, "  %-8s ", name);
  return value.empty() ? "" : head + value + "\n";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// A schedule of many steps stands in full in the replay line, and only there.
std::string shortened(const std::string& schedule) {
  constexpr std::size_t kShown = 60;
  return schedule.size() <= kShown ? schedule
                                   : schedule.substr(0, schedule.rfind('.', kShown)) +
                                         "... (all of it in the replay line)";
}

// The first of them, and how many more there are.
std::string some_of(const std::map<std::string, Object>& objects) {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, object] : objects) {
    if (shown == kShown) {
      return text + " and " + std::to_string(objects.size() - kShown) + " more";
    }
    text += (shown++ == 0 ? "" : ", ") + name;
  }
  return text;
}

// "45, 47, 52 and 3 more"
std::string first_of(const std::vector<std::string>& all, const char* between) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < all.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : between) + all[i];
  }
  return all.size() <= kShown ? text
                              : text + " and " + std::to_string(all.size() - kShown) + " more";
}

// Where a line of the user's source stands in the PTX. Of one source line PTX has several: which of
// them it was is not said.
std::string text_of(const PtxLines& ptx) {
  std::vector<std::string> lines;
  for (const std::uint32_t line : ptx.lines) {
    lines.push_back(lines.empty() ? short_site(ptx.file, line) : std::to_string(line));
  }
  const std::string inlined = first_of(ptx.inlined_at, "; or at ");
  return field("ptx", first_of(lines, ", ")) +
         field("inlined", inlined.empty() ? "" : "at " + inlined);
}

}  // namespace

std::string loop_of(const Finding& finding, const PtxLines& ptx) {
  return std::string_view{finding.info->id} == "LIVELOCK_SPIN" ? ptx.loop : "";
}

std::string text_of(const Finding& finding, const ReportContext& context) {
  const bool warning = finding.severity == Severity::kWarning;
  std::string text = std::string{warning ? "warning" : "defect"} + ": " + finding.info->id + ": " +
                     finding.message + "\n";
  text += field("in",
                context.scenario + ", schedule " + shortened(context.schedule) +
                    (finding.step == 0 ? "" : ", step " + std::to_string(finding.step)));
  text += field("object", text_of(finding.object));
  text += field("agent", text_of(finding.agent));
  text += field("line", text_of(finding.site));
  if (context.lines_at) {
    const PtxLines ptx = context.lines_at(finding.site);
    text += text_of(ptx);
    text += field("loop", loop_of(finding, ptx));
  }
  for (const std::string& line : lines_of(finding)) {
    text += "  " + line + "\n";
  }
  if (finding.repeated != 0) {
    text += field("repeated",
                  std::to_string(finding.repeated) + " more at this line" +
                      (finding.others.empty() ? "" : ", also of " + some_of(finding.others)));
  }
  text += field("means", finding.info->meaning);
  text += field("replay", context.replay);
  return text;
}

std::string text_of_not_kept(std::uint64_t count) {
  return count == 0 ? ""
                    : "not kept: " + plural(count, "report") +
                          " of further findings; mend these first, or suppress them\n";
}

std::string text_of(const Comparison& comparison) {
  return "output " + comparison.tensor + ": " + (comparison.agrees() ? "agrees" : "DIFFERS") +
         " with the double-precision reference; largest error " + number(comparison.error) + " = " +
         number(comparison.worst) + " of its bound, at (" + std::to_string(comparison.row) + ", " +
         std::to_string(comparison.column) + "): " + number(comparison.got) + " for " +
         number(comparison.expected) + "  [bound " + number(comparison.tolerance.relative) +
         " * |expected| + " + number(comparison.tolerance.absolute) + "]";
}

std::string text_of(const Budget& budget, const SmLimits& limits) {
  std::string text = "shared memory   " + std::to_string(budget.shared_bytes) + " of " +
                     std::to_string(kSharedBytesPerCtaMax) + " bytes a CTA\n";
  char line[128];
  for (const Budget::RegionUse& region : budget.regions) {
    std::snprintf(line,
                  sizeof line,
                  "  %-22s %6u x %-8u %9u\n",
                  region.name.c_str(),
                  region.count,
                  region.count == 0 ? 0 : region.bytes / region.count,
                  region.bytes);
    text += line;
  }
  text += "tensor memory   " + std::to_string(budget.tmem_columns) + " of " +
          std::to_string(kTmemColumns) + " columns\n";
  text += "threads         " + std::to_string(budget.threads) + " a CTA, " +
          std::to_string(budget.threads / kWarpLanes) + " warps\n";
  text +=
      "registers       " + std::to_string(budget.registers) + " a CTA, of " +
      std::to_string(limits.registers) + " an SM (" + (budget.registers_known ? "" : "assumed ") +
      std::to_string(budget.threads == 0 ? 0 : budget.registers / budget.threads) + " a thread)\n";
  text += "named barriers ";
  for (const std::uint32_t id : budget.named_barriers) {
    text += " " + std::to_string(id);
  }
  text += std::string{budget.named_barriers.empty() ? " none" : ""} + ", of " +
          std::to_string(kNamedBarriers) + "\n";
  text += "grid            " + std::to_string(budget.ctas) + " CTAs in clusters of " +
          std::to_string(budget.cluster_size) + "\n";
  text += "occupancy       " + std::to_string(budget.ctas_per_sm) + " CTAs an SM, limited by " +
          budget.limited_by + "; " + std::to_string(budget.waves) + " waves on " +
          std::to_string(limits.sms) + " SMs\n";
  if (budget.stages_fitting != 0) {
    text += "would fit       stages=" + std::to_string(budget.stages_fitting) + "\n";
  }
  return text;
}

}  // namespace warptwin::sim
