#include "sim/sweep/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <unistd.h>

#include "sim/json/json_text.hpp"

namespace warptwin::sim {

namespace {

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() > end.size() && std::string_view{text}.ends_with(end);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string{c};
  }
  return quoted + "\"";
}

std::string cell_text(const Json& cell) {
  return cell.is_null()     ? ""
         : cell.is_string() ? cell.get<std::string>()
         : cell.is_number() ? text_of_number(cell.get<double>())
                            : text_of_json(cell);
}

// For people: five digits say enough.
std::string short_text(const Json& cell) {
  if (!cell.is_number_float()) {
    return cell_text(cell);
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.5g", cell.get<double>());
  return text;
}

std::string aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      row += line[i] + std::string(widths[i] - line[i].size() + 2, ' ');
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

}  // namespace

std::uint64_t SweepTable::count(SweepEnd end) const {
  return static_cast<std::uint64_t>(
      std::count_if(rows.begin(), rows.end(), [&](const SweepRow& row) { return row.end == end; }));
}

ExitCode exit_of(const SweepTable& table) {
  ExitCode code = ExitCode::kClean;
  for (const SweepRow& row : table.rows) {
    if (row.end == SweepEnd::kFailed) {
      code = worse(code, ExitCode::kInternal);
    } else if (row.end == SweepEnd::kStuck) {
      code = worse(code, ExitCode::kFinding);
    } else if (row.end == SweepEnd::kStopped) {
      code = worse(code, ExitCode::kIncomplete);
    }
    for (const Json& cell : row.cells) {
      const bool refuted = cell == name_of(ProofVerdict::kRefuted);
      const bool open = cell == name_of(ProofVerdict::kUndecided) ||
                        cell == name_of(ProofVerdict::kUnordered) ||
                        cell == name_of(ProofVerdict::kIncomplete);
      code = worse(code, refuted ? ExitCode::kFinding : open ? ExitCode::kIncomplete : code);
    }
  }
  return code;
}

std::string csv_of(const SweepTable& table) {
  std::string text;
  for (const Axis& axis : table.space.axes()) {
    text += axis.name + ",";
  }
  text += "end";
  for (const SweepColumn* column : table.columns) {
    text += "," + column->name;
  }
  text += ",why\r\n";
  for (const SweepRow& row : table.rows) {
    for (const double value : table.space.at(row.index)) {
      text += text_of_number(value) + ",";
    }
    text += name_of(row.end);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      text += "," + (row.cells.empty() ? "" : csv_cell(cell_text(row.cells[i])));
    }
    text += "," + csv_cell(row.why) + "\r\n";
  }
  return text;
}

Json json_of(const SweepTable& table, const SweepRow& row) {
  Json object = Json::object();
  const SweepPoint point = table.space.at(row.index);
  for (std::size_t i = 0; i < point.size(); ++i) {
    const bool whole = point[i] == std::floor(point[i]);
    object[table.space.axes()[i].name] =
        whole ? Json(static_cast<std::int64_t>(point[i])) : Json(point[i]);
  }
  object["end"] = name_of(row.end);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    object[table.columns[i]->name] = row.cells.empty() ? Json() : row.cells[i];
  }
  object["why"] = row.why;
  return object;
}

std::string json_lines_of(const SweepTable& table) {
  std::string text;
  for (const SweepRow& row : table.rows) {
    text += text_of_json(json_of(table, row)) + "\n";
  }
  return text;
}

void check_table_name(const std::string& path) {
  if (ends_with(path, ".parquet")) {
    throw ConfigError("--table " + path +
                      ": there is no Parquet: Debian does not package Apache Arrow; write .csv or "
                      ".jsonl, which any of its readers converts");
  }
  if (!ends_with(path, ".csv") && !ends_with(path, ".jsonl")) {
    throw ConfigError("--table takes FILE.csv or FILE.jsonl, not '" + path + "'");
  }
}

void write_table(const SweepTable& table, const std::string& path) {
  check_table_name(path);
  const std::string beside = path + ".new";
  {
    std::ofstream file{beside, std::ios::binary};
    file << (ends_with(path, ".csv") ? csv_of(table) : json_lines_of(table));
    if (!file.flush()) {
      unlink(beside.c_str());
      throw ConfigError(path + ": cannot be written");
    }
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) {
    unlink(beside.c_str());
    throw ConfigError(path + ": cannot be written");
  }
}

std::vector<const SweepRow*> ranked(const SweepTable& table, const SweepColumn& by) {
  const auto at = std::find(table.columns.begin(), table.columns.end(), &by);
  const auto column = static_cast<std::size_t>(at - table.columns.begin());
  const std::string_view unit = by.unit;
  const bool greatest = unit == "TFLOP/s" || unit == "1";
  std::vector<const SweepRow*> rows;
  for (const SweepRow& row : table.rows) {
    if (row.end == SweepEnd::kRun && row.cells[column].is_number()) {
      rows.push_back(&row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const SweepRow* a, const SweepRow* b) {
    const double left = a->cells[column].get<double>();
    const double right = b->cells[column].get<double>();
    return greatest ? left > right : left < right;
  });
  return rows;
}

std::string text_of(const SweepTable& table, const SweepColumn& by, std::size_t top) {
  const std::vector<const SweepRow*> best = ranked(table, by);
  std::vector<std::vector<std::string>> lines(1);
  // A value that is the same in all rows is said once.
  std::string fixed;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.space.axes().size(); ++i) {
    const Axis& axis = table.space.axes()[i];
    if (axis.values.size() == 1) {
      fixed += " " + axis.name + "=" + text_of_number(axis.values.front());
    } else {
      shown.push_back(i);
      lines[0].push_back(axis.name);
    }
  }
  for (const SweepColumn* column : table.columns) {
    lines[0].push_back(column->name);
  }
  for (std::size_t i = 0; i < best.size() && i < top; ++i) {
    auto& line = lines.emplace_back();
    const SweepPoint point = table.space.at(best[i]->index);
    for (const std::size_t axis : shown) {
      line.push_back(text_of_number(point[axis]));
    }
    for (const Json& cell : best[i]->cells) {
      line.push_back(short_text(cell));
    }
  }
  std::string text = std::string{table.space.scenario().info->name} + fixed + "\n";
  text += best.empty() ? "" : aligned(lines);
  text += best.size() > top ? "the best " + std::to_string(top) + " by " + by.name + " of " +
                                  std::to_string(best.size()) + "\n"
                            : "";
  std::string counts = std::to_string(table.count(SweepEnd::kRun)) + " run";
  for (const SweepEnd end :
       {SweepEnd::kNoFit, SweepEnd::kStuck, SweepEnd::kStopped, SweepEnd::kFailed}) {
    const std::uint64_t count = table.count(end);
    counts += count == 0 ? "" : ", " + std::to_string(count) + " " + name_of(end);
  }
  counts +=
      table.left_out == 0 ? "" : ", " + std::to_string(table.left_out) + " left out by --where";
  text += counts + "\n";
  for (const SweepEnd end :
       {SweepEnd::kNoFit, SweepEnd::kStuck, SweepEnd::kStopped, SweepEnd::kFailed}) {
    const auto first = std::find_if(
        table.rows.begin(), table.rows.end(), [&](const SweepRow& row) { return row.end == end; });
    if (first != table.rows.end()) {
      const std::string at = text_of(table.space.axes(), table.space.at(first->index));
      text += std::string{"the first that "} +
              (end == SweepEnd::kNoFit   ? ""
               : end == SweepEnd::kStuck ? "is "
                                         : "has ") +
              name_of(end) + ": " + (at.empty() ? "" : at + ": ") + first->why + "\n";
    }
  }
  return text;
}

}  // namespace warptwin::sim
