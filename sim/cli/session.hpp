/// What the commands share: the options as they were given, read and checked.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/program_options.hpp>

#include "sim/report/json.hpp"
#include "sim/report/judged.hpp"
#include "sim/run/simulate.hpp"
#include "sim/run/suppressions.hpp"
#include "sim/verdict/exit_code.hpp"

namespace warptwin::sim::cli {

namespace po = boost::program_options;

/// What a command works on.
struct Session {
  const std::vector<ScenarioEntry>& scenarios;
  po::variables_map options;
  std::ostream& out;
  std::ostream& err;
  Json chosen = nullptr;  // by auto: {parameter: value}
  Judgement judgement{};  // for reports that other programs read
  bool json() const { return options.count("json") != 0; }
};

/// A program may have a loop without an end.
inline constexpr std::uint64_t kProgramStepsMax = 2'000'000;
inline constexpr std::uint64_t kAnySeed = std::uint64_t{1} << 62;

std::pair<std::string, std::string> name_and_value(const std::string& text, const char* option);
std::vector<std::string_view> scenario_names(const Session& session);
/// Whether what it works on stands in a file: a program, or a launch of PTX.
bool of_file(const Session& session);
std::int64_t integer(const std::string& text, const std::string& what);
const ScenarioEntry& find_scenario(const Session& session);
std::string text_option(const Session& session, const char* option);
std::vector<std::string> strings(const Session& session, const char* option);
/// The parameters that were set by hand: their values are not ours to vary.
std::set<std::string> set_by_hand(const Session& session);
/// With auto=1 the rest is chosen, and told.
ParameterSet parameters_of(Session& session, const ScenarioEntry& scenario);
/// Writes a report as JSON, with what auto chose.
void write_json(Session& session, Json report);
std::uint64_t unsigned_option(const po::variables_map& options,
                              const char* option,
                              std::uint64_t least,
                              std::uint64_t most);
std::uint64_t unsigned_option(const Session& session,
                              const char* option,
                              std::uint64_t least,
                              std::uint64_t most);
RunOptions run_options(const Session& session,
                       const ScenarioEntry& scenario,
                       const ParameterSet& parameters);
void read_inputs(const Session& session,
                 const ScenarioEntry& scenario,
                 const ParameterSet& parameters,
                 RunOptions& run);
void write_outputs(const Session& session, const RunResult& result);
void check_output_names(const Session& session,
                        const ScenarioEntry& scenario,
                        const ParameterSet& parameters);
Suppressions suppressions_of(const Session& session);
std::string text_of_suppressed(const std::vector<const Suppression*>& rows);
std::string text_of_unused(const std::vector<const Suppression*>& rows);
Json json_of_suppressed(const std::vector<const Suppression*>& rows);

}  // namespace warptwin::sim::cli
