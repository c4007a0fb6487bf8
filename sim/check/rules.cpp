#include "sim/check/rules.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim {

namespace {

// A rule of the table, and what choosing its value number `value` does.
struct Rule {
  RuleInfo info;
  void (*choose)(Rules& rules, std::size_t value);
};

// The severities of a rule with the values off, warn and error.
constexpr Severity kLevels[] = {Severity::kOff, Severity::kWarning, Severity::kError};

constexpr Rule kRules[] = {
    {{"tcgen05_fence",
      "off warn error",
      "warn",
      "error",
      "tcgen05.fence beside a barrier that already orders the warps (TMEM_FENCE_MISSING)"},
     [](Rules& rules, std::size_t value) {
       rules.severities["TMEM_FENCE_MISSING"] = kLevels[value];
     }},
    {{"tcgen05_pipe",
      "in_order_per_thread_and_group isa_pairs",
      "in_order_per_thread_and_group",
      "isa_pairs",
      "operations of one thread that the manual does not list as executing in order "
      "(TMEM_PIPE_ORDER): a warning, or an error"},
     [](Rules& rules, std::size_t value) {
       rules.severities["TMEM_PIPE_ORDER"] = kLevels[1 + value];
     }},
    {{"proxy_war",
      "off warn error",
      "error",
      "error",
      "a proxy fence between an ordinary read and a copy into the same bytes "
      "(PROXY_FENCE_MISSING_WAR)"},
     [](Rules& rules, std::size_t value) {
       rules.severities["PROXY_FENCE_MISSING_WAR"] = kLevels[value];
     }},
    {{"wgmma_fence",
      "off warn error",
      "error",
      "error",
      "registers that are touched between wgmma.fence and a wgmma (WGMMA_FENCE_MISSING); ptxas "
      "12.9 "
      "and 13.0 put the fence in there, and say so (C7519)"},
     [](Rules& rules, std::size_t value) {
       rules.severities["WGMMA_FENCE_MISSING"] = kLevels[value];
     }},
    {{"phase_intent",
      "api per_thread per_role none",
      "api",
      "api",
      "which phase a wait means that names only a parity; api: the one that the proof finds it to "
      "wait for in every interleaving"},
     [](Rules& rules, std::size_t value) { rules.phase_intent = static_cast<PhaseIntent>(value); }},
    {{"expect_completes",
      "0 1",
      "1",
      "1",
      "whether an expect-tx can complete a phase, as it does on an H200"},
     [](Rules& rules, std::size_t value) { rules.machine.expect_completes = value == 1; }},
    {{"tx_negative",
      "allow warn",
      "allow",
      "warn",
      "bytes that arrive before they are announced (MBAR_TX_NEGATIVE)"},
     [](Rules& rules, std::size_t value) {
       rules.severities["MBAR_TX_NEGATIVE"] = kLevels[value];
     }},
    {{"wait_scope",
      "lenient strict",
      "lenient",
      "strict",
      "a wait at cta scope for what another CTA's copies, MMAs and commits signal; its warps' "
      "arrivals need cluster scope (MBAR_WAIT_NO_ACQUIRE_SCOPE)"},
     [](Rules& rules, std::size_t value) {
       rules.severities["MBAR_WAIT_NO_ACQUIRE_SCOPE"] = kLevels[value];
     }},
    {{"arrive_scope",
      "said cluster",
      "said",
      "said",
      "how far an arrival of CTA scope at another CTA's mbarrier releases, and a wait of CTA scope "
      "acquires what other CTAs' warps released: as said, or in the cluster"},
     [](Rules& rules, std::size_t value) { rules.arrivals_reach = value == 1; }},
    {{"named_exit",
      "block release",
      "block",
      "block",
      "whether a named barrier with a thread count waits for warps that have ended"},
     [](Rules& rules, std::size_t value) { rules.machine.named_exit_releases = value == 1; }},
    {{"reinit_idle",
      "warn error",
      "error",
      "error",
      "mbarrier.init of a live object in the middle of nothing (MBAR_REINIT_LIVE)"},
     [](Rules& rules, std::size_t value) { rules.reinit_idle_warns = value == 0; }},
    {{"commit_copies",
      "published private",
      "published",
      "private",
      "whether a tcgen05.commit tells of the copies its warp has waited for, whose bytes the MMAs "
      "read, which the manual does not say (SMEM_RAW_NO_WAIT)"},
     [](Rules& rules, std::size_t value) { rules.commit_tells_copies = value == 0; }},
    {{"init_tmem",
      "poison zero",
      "poison",
      "poison",
      "what tensor memory holds before it is written"},
     [](Rules& rules, std::size_t value) { rules.machine.tmem_starts_zero = value == 1; }},
    {{"elect_lane",
      "lowest highest hash either",
      "lowest",
      "either",
      "which lane elect.sync elects, which the manual does not say; hash: one between, by the "
      "warp's number; either: all three are proved; lowest: a proof that does not hold with the "
      "others says so"},
     [](Rules& rules, std::size_t value) {
       rules.machine.elect_lane = static_cast<ElectLane>(value);
     }},
    {{"active_lanes",
      "together alone either",
      "together",
      "either",
      "of which lanes activemask tells where lanes have parted, which the manual does not say: of "
      "all that came the same way, or of each alone; either: both are proved; together: a proof "
      "that does not hold of each alone says so"},
     [](Rules& rules, std::size_t value) {
       rules.machine.active_lanes = static_cast<ActiveLanes>(value);
     }},
    {{"tmem_lane",
      "own_quarter exact",
      "own_quarter",
      "exact",
      "the lane of a tcgen05.ld or .st whose address names one of the first 32: the same of the "
      "warp's own quarter (TMEM_LANE_OMITTED), or that one (TMEM_LANE_VIOLATION)"},
     [](Rules& rules, std::size_t value) { rules.machine.tmem_quarter_of_warp = value == 0; }},
    {{"tmem_base",
      "any lowest",
      "any",
      "any",
      "which columns a tcgen05.alloc of PTX gets in a proof: any, and nothing but tensor memory "
      "may "
      "depend on it; or the lowest that are free"},
     [](Rules& rules, std::size_t value) { rules.machine.tmem_base_lowest = value == 1; }},
    {{"tx_chunks", "1 many", "1", "1", "in how many steps a copy counts its bytes on its mbarrier"},
     [](Rules& rules, std::size_t value) { rules.machine.tx_in_chunks = value == 1; }},
    {{"ctas_per_sm",
      "1 2",
      "1",
      "1",
      "CTAs that share an SM's tensor memory, and the permit to allocate it"},
     [](Rules& rules, std::size_t value) {
       rules.machine.ctas_per_sm = static_cast<std::uint32_t>(value) + 1;
     }},
    {{"pair_dealloc",
      "alone together either",
      "either",
      "either",
      "whether tcgen05.dealloc of a pair waits for the peer; either: the proof is of both, a run's "
      "seed chooses"},
     [](Rules& rules, std::size_t value) {
       rules.machine.pair_dealloc = static_cast<PairMeeting>(value);
     }},
    {{"pair_alloc",
      "alone together either",
      "either",
      "either",
      "whether tcgen05.alloc of a pair waits for the peer, and so brings the two CTAs together, "
      "which the manual does not say; either: the proof is of both, a run's seed chooses"},
     [](Rules& rules, std::size_t value) {
       rules.machine.pair_alloc = static_cast<PairMeeting>(value);
     }},
    {{"unknown_data",
      "zero ones mixed",
      "zero",
      "zero",
      "what data reads as where none moves, and what `any` says of registers without contents: 0 "
      "and yes, all bits and no, something else for each address and yes and no in turn"},
     [](Rules& rules, std::size_t value) {
       rules.machine.unknown_data = static_cast<UnknownData>(value);
     }},
    {{"clc_failure",
      "no_work_left early",
      "no_work_left",
      "no_work_left",
      "when a request for another cluster fails: when none is left, or every second one already "
      "before"},
     [](Rules& rules, std::size_t value) { rules.machine.clc_fails_early = value == 1; }},
};

std::vector<std::string> words(const char* text) {
  std::istringstream in{text};
  return {std::istream_iterator<std::string>{in}, {}};
}

// The number of a rule's value; how many there are, if it has no such value.
std::size_t value_of(const Rule& rule, const std::string& value) {
  const std::vector<std::string> values = words(rule.info.values);
  return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
}

}  // namespace

Severity Rules::severity_of(const DiagnosticInfo& info) const {
  const auto level = severities.find(info.id);
  if (level != severities.end()) {
    return level->second;
  }
  return profile == Profile::kStrict ? info.strict : info.practical;
}

std::span<const RuleInfo> rule_table() {
  static const std::vector<RuleInfo> kTable = [] {
    std::vector<RuleInfo> table;
    for (const Rule& rule : kRules) {
      table.push_back(rule.info);
    }
    return table;
  }();
  return kTable;
}

void choose_profile(Rules& rules, const std::string& name) {
  if (name != "practical" && name != "strict") {
    throw ConfigError("--profile is practical or strict, not '" + name + "'");
  }
  rules.profile = name == "strict" ? Profile::kStrict : Profile::kPractical;
  const bool strict = rules.profile == Profile::kStrict;
  for (const Rule& rule : kRules) {
    rule.choose(rules, value_of(rule, strict ? rule.info.strict : rule.info.practical));
  }
  rules.chosen += strict ? " --profile strict" : "";
}

void choose_rule(Rules& rules, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const auto* rule = std::find_if(
      std::begin(kRules), std::end(kRules), [&](const Rule& one) { return name == one.info.name; });
  if (rule == std::end(kRules)) {
    std::string known;
    for (const Rule& one : kRules) {
      known += (known.empty() ? "" : ", ") + std::string{one.info.name};
    }
    throw ConfigError("there is no rule '" + name + "'; there are: " + known);
  }
  const std::size_t count = words(rule->info.values).size();
  const std::size_t value =
      equals == std::string::npos ? count : value_of(*rule, text.substr(equals + 1));
  if (value == count) {
    throw ConfigError("rule '" + text + "': use " + name + "=" + "one of " + rule->info.values);
  }
  rule->choose(rules, value);
  rules.chosen += " --rule " + text;
}

}  // namespace warptwin::sim
