/// How a run is judged: a profile, and by name what the manual leaves open or production code takes
/// for granted.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "common/report/catalogue.hpp"

#include "sim/model/gpu.hpp"

namespace warptwin::sim {

enum class Profile : std::uint8_t { kPractical, kStrict };

/// Which phase a wait means that names only a parity.
enum class PhaseIntent : std::uint8_t {
  kApi,        // what the layer says; a bare parity means what the proof finds it to mean
  kPerThread,  // the phase after the last that this warp observed on the object
  kPerRole,    // the same, of all warps of its role
  kNone,       // it is not judged
};

struct Rules {
  Profile profile = Profile::kPractical;
  std::map<std::string, Severity> severities;  // by id; others are the profile's
  std::set<std::string> without;               // detectors that are left out
  PhaseIntent phase_intent = PhaseIntent::kApi;
  bool reinit_idle_warns = false;
  bool commit_tells_copies = true;
  bool arrivals_reach = false;  // at another CTA's mbarrier, whatever their scope
  MachineRules machine{};
  std::string chosen;  // as options of a command line, each with a blank before it

  Severity severity_of(const DiagnosticInfo& info) const;
};

/// A rule that can be chosen, the values it takes, and what the two profiles choose.
struct RuleInfo {
  const char* name;
  const char* values;  // "off warn error"
  const char* practical;
  const char* strict;
  const char* means;
};

std::span<const RuleInfo> rule_table();

/// Chooses a profile by its name. Throws ConfigError.
void choose_profile(Rules& rules, const std::string& name);

/// Chooses `text`, "name=value". Throws ConfigError that lists what there is.
void choose_rule(Rules& rules, const std::string& text);

}  // namespace warptwin::sim
