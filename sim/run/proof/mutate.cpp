#include "sim/run/proof/mutate.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "sim/run/program_entry.hpp"

namespace warptwin::sim {

namespace {

ProofResult prove_program(const Program& program, const ProofOptions& options) {
  const ScenarioEntry entry = entry_of(std::make_shared<const Program>(program));
  const ParameterSet none{entry.parameters};
  return options.run.schedule.tiles != 0 ? prove_run(entry, none, options)
                                         : prove(entry, none, options);
}

std::vector<std::string> ids_of(const ProofResult& result) {
  std::set<std::string> ids;
  for (const RunResult* run : {&result.run, &result.second}) {
    for (const Finding& finding : run->findings) {
      if (finding.severity >= Severity::kError) {
        ids.insert(finding.info->id);
      }
    }
  }
  for (const Refutation& refutation : result.refutations) {
    ids.insert(refutation.finding.info->id);
  }
  for (const Undecided& undecided : result.undecided) {
    ids.insert("undecided: " + undecided.reason);
  }
  if (ids.empty() && result.verdict != ProofVerdict::kProved) {
    ids.insert(name_of(result.verdict));
  }
  return {ids.begin(), ids.end()};
}

std::set<std::string> warnings_of(const ProofResult& result) {
  std::set<std::string> ids;
  for (const Finding& finding : result.run.findings) {
    ids.insert(finding.info->id);
  }
  return ids;
}

void ask(const Program& mutant, const std::vector<Oracle>& oracles, JudgedMutant& judged) {
  judged.of = MutantClass::kUnjudged;
  for (const Oracle& oracle : oracles) {
    const Opinion opinion = oracle.judge(mutant);
    if (opinion.verdict == Opinion::Verdict::kWrong) {
      judged.of = MutantClass::kMissed;
      judged.oracle = oracle.name + ": " + opinion.what;
      return;
    }
    if (opinion.verdict == Opinion::Verdict::kRight) {
      judged.of = MutantClass::kHarmless;
      judged.oracle += (judged.oracle.empty() ? "" : ", ") + oracle.name;
    }
  }
}

}  // namespace

const char* name_of(MutantClass of) {
  constexpr const char* kNames[] = {"found", "harmless", "missed", "unjudged"};
  return kNames[static_cast<unsigned>(of)];
}

std::size_t MutateResult::count(MutantClass of) const {
  return static_cast<std::size_t>(std::count_if(
      mutants.begin(), mutants.end(), [&](const JudgedMutant& mutant) { return mutant.of == of; }));
}

std::vector<const JudgedMutant*> MutateResult::redundant() const {
  std::vector<const JudgedMutant*> lines;
  for (const JudgedMutant& mutant : mutants) {
    if (mutant.edit.kind == EditKind::kDropLine &&
        (mutant.of == MutantClass::kHarmless || mutant.of == MutantClass::kUnjudged)) {
      lines.push_back(&mutant);
    }
  }
  return lines;
}

MutateResult mutate(const Program& program, const MutateOptions& options) {
  ProofOptions proof = options.proof;
  proof.run.moves_data = false;
  proof.witnesses = false;
  const ProofResult own = prove_program(program, proof);
  if (own.verdict != ProofVerdict::kProved) {
    std::string why;
    for (const std::string& id : ids_of(own)) {
      why += (why.empty() ? " (" : ", ") + id;
    }
    throw ConfigError(program.name + " is not proved itself" + why + "); mutants say nothing then");
  }
  // No mutant needs many more steps, but one with a loop may have no end.
  proof.run.limits.steps_max =
      std::min(proof.run.limits.steps_max, 20 * own.run.stats.steps + 10'000);
  const std::set<std::string> known = warnings_of(own);
  const std::vector<Edit> edits = edits_of(program);
  MutateResult result;
  result.edits = edits.size();
  std::vector<Oracle> oracles;
  for (const Oracle& oracle : options.oracles) {
    const Opinion opinion = oracle.judge(program);
    if (opinion.verdict == Opinion::Verdict::kWrong) {
      result.oracles_left_out.push_back(oracle.name + ": " + opinion.what);
    } else {
      oracles.push_back(oracle);
    }
  }
  const std::size_t wanted = options.mutants_max == 0
                                 ? edits.size()
                                 : std::min<std::size_t>(options.mutants_max, edits.size());
  for (std::size_t i = 0; i < wanted; ++i) {
    JudgedMutant judged;
    judged.number = i * edits.size() / wanted;
    judged.edit = edits[judged.number];
    const Program mutant = apply(program, judged.edit);
    try {
      const ProofResult proved = prove_program(mutant, proof);
      judged.verdict = proved.verdict;
      judged.ids = ids_of(proved);
      if (proved.verdict == ProofVerdict::kProved) {
        for (const std::string& id : warnings_of(proved)) {
          if (!known.contains(id)) {
            judged.ids.push_back("warning: " + id);
          }
        }
      }
    } catch (const ConfigError&) {
      ++result.invalid;
      continue;
    }
    if (judged.verdict == ProofVerdict::kProved && judged.ids.empty()) {
      ask(mutant, oracles, judged);
    }
    result.mutants.push_back(std::move(judged));
  }
  return result;
}

}  // namespace warptwin::sim
