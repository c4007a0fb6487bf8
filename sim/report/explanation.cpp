#include "sim/report/explanation.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace warptwin::sim {

namespace {

constexpr std::size_t kLinesMax = 12;  // of one warp; longer ones show what is around the fault
constexpr std::size_t kAround = 3;
constexpr std::size_t kColumns = 100;
constexpr std::size_t kIndent = 11;

// "  name     words ...", broken at blanks.
std::string field(const std::string& name, const std::string& words) {
  std::string text;
  std::string line = "  " + name + std::string(kIndent - 2 - name.size(), ' ');
  bool empty = true;
  std::istringstream rest{words};
  for (std::string word; rest >> word; empty = false) {
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      text += line + "\n";
      line = std::string(kIndent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::string text_of(const DiagnosticInfo& info) {
  const std::string practical = warptwin::name_of(info.practical);
  const std::string strict = warptwin::name_of(info.strict);
  return field("means", info.meaning) + field("trigger", info.trigger) +
         field("severity",
               practical + (practical == strict ? "" : "; with --profile strict " + strict)) +
         field("hardware", info.hardware) + field("source", info.source);
}

std::string line_of(const ListedOperation& operation, char mark, const char* id) {
  return std::string{"    "} + (operation.differs ? mark : ' ') + " " + operation.text +
         (operation.found ? std::string{"   <-- "} + id : "") + "\n";
}

// Whether a line of a long listing is near one that matters.
bool shown(const std::vector<ListedOperation>& operations, std::size_t at) {
  const std::size_t first = at < kAround ? 0 : at - kAround;
  const std::size_t last = std::min(at + kAround + 1, operations.size());
  return operations.size() <= kLinesMax ||
         std::any_of(operations.begin() + static_cast<std::ptrdiff_t>(first),
                     operations.begin() + static_cast<std::ptrdiff_t>(last),
                     [](const ListedOperation& one) { return one.found || one.differs; });
}

std::string text_of(const WarpListing& listing, char mark, const char* id) {
  std::string text = "  " + listing.warp + (listing.operations.empty() ? ": nothing\n" : "\n");
  std::size_t left_out = 0;
  const auto elision = [&] {
    const std::string said = "      ... " + std::to_string(left_out) + " more\n";
    return std::exchange(left_out, 0) == 0 ? std::string{} : said;
  };
  for (std::size_t i = 0; i < listing.operations.size(); ++i) {
    if (shown(listing.operations, i)) {
      text += elision() + line_of(listing.operations[i], mark, id);
    } else {
      ++left_out;
    }
  }
  return text + elision();
}

std::string text_of(const MicroListing& programs, const char* id) {
  std::string text = "wrong, as the simulator runs it:\n";
  for (const WarpListing& warp : programs.wrong) {
    text += text_of(warp, '-', id);
  }
  text += "right, '+' what it does instead:\n";
  for (const WarpListing& warp : programs.right) {
    text += text_of(warp, '+', id);
  }
  return text;
}

Json json_of(const std::vector<WarpListing>& listings) {
  Json warps = Json::array();
  for (const WarpListing& listing : listings) {
    Json operations = Json::array();
    for (const ListedOperation& one : listing.operations) {
      operations.push_back({{"text", one.text}, {"found", one.found}, {"differs", one.differs}});
    }
    warps.push_back({{"warp", listing.warp}, {"operations", operations}});
  }
  return warps;
}

}  // namespace

Explanation explain(const DiagnosticInfo& info, const std::vector<ScenarioEntry>& scenarios) {
  Explanation explanation{&info, {}, {}};
  for (const ScenarioEntry& scenario : scenarios) {
    if (scenario.info->kind == ScenarioKind::kBroken &&
        std::string_view{scenario.info->expected} == info.id) {
      explanation.shown_by.emplace_back(scenario.info->name);
    }
  }
  if (const MicroProgram* micro = find_micro(info.id)) {
    explanation.programs = list_micro(*micro);
  }
  return explanation;
}

std::string text_of(const Explanation& explanation) {
  std::string text = std::string{explanation.info->id} + "\n" + text_of(*explanation.info);
  for (const std::string& name : explanation.shown_by) {
    text += field("shown by", "warptwin check " + name);
  }
  return text + (explanation.programs
                     ? text_of(*explanation.programs, explanation.info->id)
                     : field("programs", "no small one: it takes a kernel to show it"));
}

Json json_of(const Explanation& explanation) {
  const DiagnosticInfo& info = *explanation.info;
  const auto& programs = explanation.programs;
  return {{"id", info.id},
          {"practical", warptwin::name_of(info.practical)},
          {"strict", warptwin::name_of(info.strict)},
          {"means", info.meaning},
          {"trigger", info.trigger},
          {"on_hardware", info.hardware},
          {"source", info.source},
          {"shown_by", explanation.shown_by},
          {"wrong", programs ? json_of(programs->wrong) : Json(nullptr)},
          {"right", programs ? json_of(programs->right) : Json(nullptr)}};
}

}  // namespace warptwin::sim
