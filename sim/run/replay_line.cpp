#include "sim/run/replay_line.hpp"

#include <cstdio>

namespace warptwin::sim {

std::string fingerprint(const ScenarioEntry& scenario, const ParameterSet& parameters) {
  // FNV-1a.
  std::uint32_t hash = 2166136261U;
  const std::string content =
      scenario.content == 0 ? std::string{} : " " + std::to_string(scenario.content);
  for (const char c : std::string{scenario.info->name} + " " + parameters.to_string() + content) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  char text[16];
  std::snprintf(text, sizeof text, "%08x", hash);
  return text;
}

std::string settings(const ScenarioEntry& scenario, const ParameterSet& parameters) {
  std::string text;
  for (const Parameter& parameter : scenario.parameters) {
    if (parameters[parameter.name] != parameter.standard) {
      text += " --set " + std::string{parameter.name} + "=" +
              std::to_string(parameters[parameter.name]);
    }
  }
  return text;
}

std::string replay_line(const ScenarioEntry& scenario,
                        const ParameterSet& parameters,
                        const ScheduleSpec& schedule,
                        const Rules& rules) {
  const std::string name =
      scenario.command_name.empty() ? scenario.info->name : scenario.command_name;
  return "warptwin replay " + name + settings(scenario, parameters) + rules.chosen +
         " --schedule " + fingerprint(scenario, parameters) + "-" + schedule.to_string();
}

ScheduleSpec parse_schedule_token(const ScenarioEntry& scenario,
                                  const ParameterSet& parameters,
                                  const std::string& token) {
  const std::string mine = fingerprint(scenario, parameters);
  if (token.size() < mine.size() + 2 || token[mine.size()] != '-') {
    throw ConfigError(
        "'" + token +
        "' is no schedule of a replay line; copy the whole line that a finding printed");
  }
  if (token.substr(0, mine.size()) != mine) {
    throw ConfigError(
        "this schedule belongs to another scenario or to other parameters (it starts with " +
        token.substr(0, mine.size()) + ", and '" + scenario.info->name +
        settings(scenario, parameters) + "' has " + mine +
        "); copy the whole line that a finding printed");
  }
  return ScheduleSpec::parse(token.substr(mine.size() + 1));
}

}  // namespace warptwin::sim
