#include "sim/report/timing.hpp"

#include <algorithm>
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

std::string list_of(const MmaForm& form) {
  std::ostringstream text;
  text << form.interval_per_column << ", " << form.interval_least << ", " << form.read_extra << ", "
       << form.latency << ", " << form.latency_per_column;
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
         << std::setw(28) << "" << chip.sources.at(field.key) << "\n";
  }
  text << "tensor core (" << kMmaFormUnit << ")\n";
  for (const auto& [name, form] : chip.mma) {
    text << "  " << std::left << std::setw(26) << name << std::setw(28) << list_of(form)
         << chip.sources.at(name) << "\n";
  }
  return text.str();
}

Json json_of(const Chip& chip) {
  Json constants = Json::object();
  for (const ChipField& field : chip_fields()) {
    constants[field.key] = {{"value", chip.*field.member},
                            {"unit", field.unit},
                            {"source", chip.sources.at(field.key)}};
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
                   {"source", chip.sources.at(name)}};
  }
  return {{"name", chip.name},
          {"summary", chip.summary},
          {"constants", constants},
          {"tensor_core", forms}};
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
       << " us more\nbound by " << timing.binds << "\nroles, a warp on average:\n";
  for (const RoleTime& role : timing.stats.roles) {
    add_role(text, role);
  }
  text << "units, busy on average (the busiest):\n";
  for (const UnitUse& unit : timing.stats.units) {
    text << "  " << std::left << std::setw(20) << unit.name << percent(unit.mean) << " ("
         << percent(unit.most) << ")\n";
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
  return {{"cycles", timing.stats.cycles},
          {"clock_ghz", timing.clock_held},
          {"microseconds", timing.microseconds},
          {"launch_microseconds", timing.launch_microseconds},
          {"tflops", timing.flops > 0 ? Json(timing.tflops()) : Json()},
          {"bound_by", timing.binds},
          {"operations", timing.stats.operations},
          {"roles", roles},
          {"units", units}};
}

}  // namespace warptwin::sim
