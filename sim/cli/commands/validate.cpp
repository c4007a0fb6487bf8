// Validate and calibrate.

#include <fstream>
#include <optional>
#include <ostream>

#include "sim/cli/commands/commands.hpp"
#include "sim/cli/engines.hpp"
#include "sim/cli/traces.hpp"
#include "sim/json/json_text.hpp"
#include "sim/report/explanation.hpp"
#include "sim/report/json.hpp"
#include "sim/report/proof.hpp"
#include "sim/report/text.hpp"
#include "sim/report/timing.hpp"
#include "sim/run/suppressions.hpp"

namespace warptwin::sim::cli {

// The rows of all files that are named; with --split those of it alone.
static std::vector<MeasuredRow> rows_of(const Session& session) {
  const std::vector<std::string> paths = strings(session, "data");
  if (paths.empty()) {
    throw ConfigError("name a file of measurements, as in --data rows.json");
  }
  std::vector<MeasuredRow> rows;
  for (const std::string& path : paths) {
    for (MeasuredRow& row : read_measured_rows(path)) {
      rows.push_back(std::move(row));
    }
  }
  if (session.options.count("split") != 0) {
    const auto wanted = session.options["split"].as<std::string>();
    std::erase_if(rows, [&](const MeasuredRow& row) { return row.split != wanted; });
    if (rows.empty()) {
      throw ConfigError("no row has the split '" + wanted + "'");
    }
  }
  return rows;
}

static std::string source_of_fit(const Session& session) {
  std::string source = "fitted by 'warptwin calibrate' to";
  for (const std::string& path : strings(session, "data")) {
    source += " " + path;
  }
  return session.options.count("split") == 0
             ? source
             : source + ", split " + session.options["split"].as<std::string>();
}

// Rows run on the chip they name, unless one is named here.
ExitCode validate_command(Session& session) {
  const std::vector<MeasuredRow> rows = rows_of(session);
  std::optional<Chip> chip;
  if (!session.options["chip"].defaulted()) {
    chip = chip_of(session.options["chip"].as<std::string>());
  }
  const Validation result = validate(rows, session.scenarios, chip ? &*chip : nullptr);
  session.out << (session.json() ? text_of_json(json_of(result), 2) + "\n" : text_of(result));
  return exit_of(result);
}

ExitCode calibrate_command(Session& session) {
  const std::vector<MeasuredRow> rows = rows_of(session);
  const Chip chip = chip_of(session.options["chip"].as<std::string>());
  std::vector<std::string> keys = strings(session, "free");
  if (keys.empty()) {
    keys = free_constants(chip);
  }
  Calibration result = calibrate(rows, session.scenarios, chip, keys);
  for (const FittedConstant& constant : result.constants) {
    result.chip.sources[constant.key] = source_of_fit(session);
  }
  session.out << (session.json() ? text_of_json(json_of(result), 2) + "\n" : text_of(result));
  if (session.options.count("write-chip") != 0) {
    const auto path = session.options["write-chip"].as<std::string>();
    std::ofstream file{path};
    if (!(file << text_of_json(json_of(result.chip), 2) << "\n")) {
      throw ConfigError(path + ": cannot be written");
    }
  }
  return exit_of(result.after);
}

}  // namespace warptwin::sim::cli
