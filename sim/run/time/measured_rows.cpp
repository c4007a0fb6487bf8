#include "sim/run/time/measured_rows.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "common/kernel/scenario.hpp"

#include "sim/json/json_text.hpp"
#include "sim/run/pattern.hpp"

namespace warptwin::sim {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMost = 1 << 24;

/// Where a message points to, and the object it speaks of.
struct Place {
  const Json& object;
  std::string where;

  [[noreturn]] void refuse(const std::string& what) const {
    throw ConfigError(where + ": " + what);
  }
  const Json* find(const char* key) const {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }
  std::string text(const char* key, const std::string& otherwise) const {
    const Json* value = find(key);
    if (value == nullptr) {
      return otherwise;
    }
    if (!value->is_string()) {
      refuse(std::string{"'"} + key + "' is a text");
    }
    return value->get<std::string>();
  }
  double number(const char* key, double least, double most) const {
    const Json* value = find(key);
    if (value == nullptr || !value->is_number()) {
      refuse(std::string{"'"} + key + "' is a number that a row must have");
    }
    const double got = value->get<double>();
    if (!(got >= least && got <= most)) {
      refuse(std::string{"'"} + key + "' is out of range");
    }
    return got;
  }
  std::int64_t count(const char* key) const {
    return static_cast<std::int64_t>(number(key, 1, static_cast<double>(kMost)));
  }
  std::int64_t count(const char* key, std::int64_t otherwise) const {
    return find(key) == nullptr ? otherwise : count(key);
  }
  bool flag(const char* key, bool otherwise) const {
    const Json* value = find(key);
    if (value != nullptr && !value->is_boolean()) {
      refuse(std::string{"'"} + key + "' is true or false");
    }
    return value == nullptr ? otherwise : value->get<bool>();
  }
};

std::string small(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

// The main-loop scenario of an element type; empty where there is none.
std::string mainloop_of(const std::string& dtype) {
  const std::string name = small(dtype);
  if (name == "bf16" || name == "fp16" || name == "f16") {
    return "mainloop";
  }
  return name.rfind("fp8", 0) == 0 || name.rfind("e4m3", 0) == 0 || name.rfind("e5m2", 0) == 0
             ? "mainloop_fp8"
             : "";
}

// What a row says itself of how it is to be predicted: "scenario", and "set", parameters of it.
void read_scenario(const Place& place, MeasuredRow& row) {
  if (place.find("scenario") != nullptr) {
    row.scenario = place.text("scenario", "");
    row.names_scenario = true;
    row.reason.clear();
    row.parameters.erase("row");  // which its scenario need not have: it may be in "set"
    row.parameters.erase("accum_stages");
  }
  const Json* set = place.find("set");
  if (set == nullptr) {
    return;
  }
  if (!set->is_object()) {
    place.refuse("'set' is an object: parameters of the scenario");
  }
  const Place inner{*set, place.where + ": set"};
  for (const auto& [name, value] : set->items()) {
    row.parameters[name] =
        static_cast<std::int64_t>(inner.number(name.c_str(), 0, static_cast<double>(kMost)));
    row.fills_chip = row.fills_chip && name != "ctas" && name != "clusters";
  }
}

void read_sweep(const Place& config, MeasuredRow& row) {
  const std::string dtype = config.text("dtype", "BF16");
  row.scenario = mainloop_of(dtype);
  row.reason = row.scenario.empty() ? "there is no main loop of " + dtype : "";
  if (config.find("clock_ghz") != nullptr) {
    row.clock = config.number("clock_ghz", 0.1, 10);
  }
  const std::int64_t k = config.count("K", 131072);
  const std::int64_t tile_k = config.count("tile_k");
  row.order = config.count("stages");
  row.parameters = {{"tile_m", config.count("tile_m")},
                    {"tile_n", config.count("tile_n")},
                    {"tile_k", tile_k},
                    {"stages", row.order},
                    {"k", k}};
  row.steps = static_cast<std::uint64_t>((k + tile_k - 1) / tile_k);
  std::ostringstream family;
  family << dtype << " " << row.parameters["tile_m"] << "x" << row.parameters["tile_n"] << "x"
         << tile_k << " " << k << " " << row.clock;
  row.family = family.str();
  if (config.count("ctas", 1) != 1) {
    row.scenario.clear();
    row.reason = "a main loop in more than one CTA";
  }
}

// "128x256": rows and columns of a tile.
std::pair<std::int64_t, std::int64_t> tile_of(const Place& config) {
  const std::string tile = config.text("tile", "");
  std::int64_t m = 0;
  std::int64_t n = 0;
  char x = 0;
  std::istringstream in{tile};
  if (!(in >> m >> x >> n) || x != 'x' || m < 1 || n < 1 || m > kMost || n > kMost) {
    config.refuse("'tile' is ROWSxCOLUMNS, as in 128x256, not '" + tile + "'");
  }
  return {m, n};
}

// Elements of bf16 in a row that TMA moves, from a text such as "2D, 16 B rows" or "128 B swizzle";
// 0: it does not say.
std::int64_t row_elements(const Place& config) {
  const std::string tma = config.text("tma", "128 B");
  const auto found = groups_of("\\b([0-9]{1,4}) B\\b", tma);
  return found.empty() ? 0 : std::stoi(found[1]) / 2;
}

void read_kernel(const Place& place, const Place& config, MeasuredRow& row) {
  const auto [tile_m, tile_n] = tile_of(config);
  const bool pair = config.count("sm", 1) == 2;
  const bool persistent = config.flag("persistent", false);
  if (config.find("clock_ghz") != nullptr) {
    row.clock = config.number("clock_ghz", 0.1, 10);
  }
  row.parameters = {{"m", place.count("M")},
                    {"n", place.count("N")},
                    {"k", place.count("K")},
                    {"tile_m", tile_m},
                    {"tile_n", tile_n},
                    {"tile_k", config.count("bk")},
                    {"stages", config.count("stages")},
                    {"accum_stages", config.count("acc_buffers", 1)}};
  row.repeated = config.flag("repeated", false);
  const std::string units = pair ? "clusters" : "ctas";
  row.fills_chip = persistent && config.find("ctas") == nullptr;
  row.parameters[units] = persistent && !row.fills_chip ? config.count("ctas") / (pair ? 2 : 1) : 0;
  row.scenario = pair ? "gemm_2sm" : "gemm";
  row.family = "kernel";
  if (!config.flag("ws", true)) {
    row.scenario = pair ? "" : "gemm_serial";
    row.reason = pair ? "no scenario is a GEMM of pairs without warp specialisation" : "";
    row.parameters["row"] = row_elements(config);
    if (row.parameters["row"] == 0) {
      row.scenario.clear();
      row.reason = "its 'tma' does not say how long a row is, as in \"16 B rows\"";
    }
  }
  if (small(place.text("dtype", "bf16")) != "bf16") {
    row.scenario.clear();
    row.reason = "no scenario is a GEMM of " + place.text("dtype", "");
  }
}

void read_row(const Place& place, MeasuredRow& row) {
  const std::string& kind = row.kind;
  row.chip = small(place.text("chip", ""));
  row.value = place.number("value", 1e-12, 1e12);
  row.unit = place.text("unit", kind == "sweep" ? "ns per k-iteration" : "TFLOP/s");
  const Json* config = place.find("config");
  if (config == nullptr || !config->is_object()) {
    place.refuse("'config' is an object that a row must have");
  }
  const Place inner{*config, place.where + ": config"};
  kind == "sweep" ? read_sweep(inner, row) : read_kernel(place, inner, row);
  read_scenario(place, row);
}

// Nothing for a row of another kind. One that cannot be read has the reason, and no scenario.
std::optional<MeasuredRow> row_at(const Place& place) {
  MeasuredRow row;
  row.name = place.where;
  try {
    if (!place.object.is_object()) {
      place.refuse("is not an object");
    }
    row.kind = place.text("kind", "");
    if (row.kind != "sweep" && row.kind != "kernel") {
      return {};
    }
    row.name = place.text("name", place.where);
    row.split = place.text("split", "");
    read_row(place, row);
  } catch (const ConfigError& error) {
    row.scenario.clear();
    row.reason = error.what();
  }
  return row;
}

}  // namespace

std::vector<MeasuredRow> parse_measured_rows(const std::string& text, const std::string& origin) {
  if (nests_too_deep(text)) {
    throw ConfigError(origin + ": " + kNestsTooDeep);
  }
  Json root;
  try {
    root = parsed_json<Json>(text);
  } catch (const Json::exception& error) {
    throw ConfigError(origin + ": is not JSON: " + words_of_json_error(error.what()));
  }
  const Json& list = root.is_object() && root.contains("rows") ? root["rows"] : root;
  if (!list.is_array()) {
    throw ConfigError(origin + ": is neither a list of rows nor an object with 'rows'");
  }
  std::vector<MeasuredRow> rows;
  std::map<std::string, std::int64_t> kernels;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Place place{list[i], origin + ": row " + std::to_string(i + 1)};
    if (std::optional<MeasuredRow> row = row_at(place)) {
      if (row->kind == "kernel") {
        row->order = ++kernels[row->family];
      }
      rows.push_back(*std::move(row));
    }
  }
  return rows;
}

std::vector<MeasuredRow> read_measured_rows(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw ConfigError(path + ": cannot be read");
  }
  return parse_measured_rows(text.str(), path);
}

}  // namespace warptwin::sim
