#include "sim/run/suppressions.hpp"

#include <algorithm>
#include <fnmatch.h>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>

#include "common/kernel/scenario.hpp"

#include "sim/run/nearest.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kLineMax = 1000;
constexpr const char* kForm = "; a line is: scenario object-or-line ID reason";

// Names of objects are full of brackets: they stand for themselves.
bool matches(const std::string& pattern, const std::string& text) {
  std::string escaped;
  for (const char c : pattern) {
    escaped += c == '[' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return fnmatch(escaped.c_str(), text.c_str(), 0) == 0;
}

// Why a line cannot be read at all; empty where it can.
std::string unreadable(std::string_view line) {
  if (line.size() > kLineMax) {
    return "is longer than " + std::to_string(kLineMax) + " characters; shorten it";
  }
  const bool plain = std::all_of(
      line.begin(), line.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
  return plain ? "" : "holds a character that is not plain ASCII text; replace it";
}

Suppression row_of(const std::string& line,
                   const std::string& place,
                   const std::vector<std::string_view>& scenarios) {
  const auto refuse = [&](const std::string& why) { throw ConfigError(place + ": " + why); };
  Suppression row;
  row.place = place;
  std::istringstream fields{line};
  fields >> row.scenario >> std::quoted(row.pattern) >> row.id >> std::ws;
  std::getline(fields, row.reason);
  row.reason.erase(row.reason.find_last_not_of(" \t") + 1);
  if (row.id.empty() || row.pattern.empty()) {
    refuse(std::string{"is not complete"} + kForm);
  }
  if (std::find(scenarios.begin(), scenarios.end(), row.scenario) == scenarios.end()) {
    refuse("there is no scenario '" + row.scenario + "'" + did_you_mean(row.scenario, scenarios) +
           " 'warptwin list' shows all");
  }
  if (find_diagnostic(row.id) == nullptr && row.id != kProtocolWrong) {
    std::vector<std::string_view> ids = {kProtocolWrong};
    for (const DiagnosticInfo& info : catalogue()) {
      ids.emplace_back(info.id);
    }
    refuse("there is no diagnostic '" + row.id + "'" + did_you_mean(row.id, ids) + kForm);
  }
  if (row.reason.empty()) {
    refuse("has no reason: say why the finding is accepted" + std::string{kForm});
  }
  return row;
}

}  // namespace

Suppressions::Suppressions(std::string_view text,
                           const std::string& name,
                           const std::vector<std::string_view>& scenarios) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    const std::string place = name + ":" + std::to_string(number);
    if (const std::string why = unreadable(line); !why.empty()) {
      throw ConfigError(place + ": " + why);
    }
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && line[first] != '#') {
      rows_.push_back(row_of(std::string{line}, place, scenarios));
    }
  }
}

bool Suppressions::accepts(std::string_view scenario,
                           const Finding& finding,
                           const std::string& site) {
  std::set<std::string> objects{text_of(finding.object)};
  for (const auto& [name, object] : finding.others) {
    objects.insert(name);
  }
  const auto accepts_one = [&](const std::string& object) {
    bool accepted = false;
    for (Suppression& row : rows_) {
      if (row.scenario == scenario && row.id == finding.info->id &&
          (matches(row.pattern, object) || matches(row.pattern, site))) {
        row.accepted.insert(object + " at " + site);
        accepted = true;
      }
    }
    return accepted;
  };
  // All are looked at: each row is to note what it accepts.
  return std::count_if(objects.begin(), objects.end(), accepts_one) ==
         static_cast<std::ptrdiff_t>(objects.size());
}

const Suppression* Suppressions::accepts_protocol(std::string_view scenario,
                                                  const std::string& what,
                                                  const std::string& site) {
  for (Suppression& row : rows_) {
    if (row.scenario == scenario && row.id == kProtocolWrong &&
        (matches(row.pattern, what) || matches(row.pattern, site))) {
      row.accepted.insert(what + " at " + site);
      return &row;
    }
  }
  return nullptr;
}

std::vector<const Suppression*> Suppressions::of(std::string_view scenario) const {
  std::vector<const Suppression*> rows;
  for (const Suppression& row : rows_) {
    if (row.scenario == scenario) {
      rows.push_back(&row);
    }
  }
  return rows;
}

Suppressions read_suppressions(const std::string& path,
                               const std::vector<std::string_view>& scenarios) {
  std::ifstream file{path, std::ios::binary};
  file.peek();  // of a folder, fails
  if (!file.is_open() || file.bad()) {
    throw ConfigError(path + ": cannot be read as a file of suppressions");
  }
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  return {text, path, scenarios};
}

}  // namespace warptwin::sim
