#include "sim/cli/programs.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>

#include "sim/json/json_text.hpp"
#include "sim/program/text.hpp"
#include "sim/report/json.hpp"
#include "sim/report/text.hpp"
#include "sim/run/extract.hpp"
#include "sim/run/proof/mutate_oracles.hpp"
#include "sim/run/smallest.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kTiles = 2;  // of a cluster that asks for them

/// What is mutated, and how it is proved.
struct Subject {
  Program program;
  std::string parameters;
  ProofOptions proof;
};

// Where each CTA has one tile, one CTA gets them all: else nothing comes round again.
void share_tiles(const ScenarioEntry& scenario,
                 const std::set<std::string>& fixed,
                 ParameterSet& parameters) {
  for (const Parameter& parameter : scenario.parameters) {
    const std::string_view name = parameter.name;
    if ((name == "ctas" || name == "clusters") && parameters[name] == 0 &&
        !fixed.contains(parameter.name)) {
      parameters.set(name, 1);
    }
  }
}

Subject subject_of(const ProgramRequest& request, bool smallest) {
  Subject subject;
  subject.proof.run = request.run;
  subject.proof.run.moves_data = false;
  subject.proof.witnesses = false;
  if (!request.program.empty()) {
    subject.program = read_program(request.program);
    return subject;
  }
  const ScenarioEntry& scenario = *request.scenario;
  ParameterSet parameters = *request.parameters;
  if (prove_run(scenario, parameters, subject.proof).claims.asked) {
    subject.proof.run.schedule.tiles = kTiles;
  }
  if (smallest) {
    share_tiles(scenario, request.fixed, parameters);
    parameters = smallest_parameters(scenario, parameters, request.fixed, subject.proof.run);
  }
  subject.program = extract(scenario, parameters, subject.proof.run);
  subject.parameters = parameters.to_string();
  return subject;
}

const Instruction& line_of(const Program& program, const Edit& edit) {
  const std::vector<Instruction>& lines = program.warps[edit.warp];
  return lines[std::min<std::size_t>(edit.index, lines.size() - 1)];
}

std::string warp_of(const Program& program, std::uint32_t warp) {
  const std::uint32_t of_cta = program.warps_per_cta();
  return "cta " + std::to_string(warp / of_cta) + " warp " + std::to_string(warp % of_cta);
}

Json json_of(const Program& program, const JudgedMutant& mutant) {
  return {{"mutant", mutant.number},
          {"edit", name_of(mutant.edit.kind)},
          {"what", describe(program, mutant.edit)},
          {"warp", warp_of(program, mutant.edit.warp)},
          {"line", text_of(line_of(program, mutant.edit).operation.site)},
          {"class", name_of(mutant.of)},
          {"verdict", name_of(mutant.verdict)},
          {"ids", mutant.ids},
          {"oracle", mutant.oracle}};
}

Json json_of(const Subject& subject, const MutateResult& result) {
  Json report = {{"scenario", subject.program.name},
                 {"parameters", subject.parameters},
                 {"edits", result.edits},
                 {"mutants", result.mutants.size()},
                 {"invalid", result.invalid},
                 {"found", result.count(MutantClass::kFound)},
                 {"harmless", result.count(MutantClass::kHarmless)},
                 {"missed", result.count(MutantClass::kMissed)},
                 {"unjudged", result.count(MutantClass::kUnjudged)},
                 {"oracles_left_out", result.oracles_left_out},
                 {"redundant", Json::array()},
                 {"all", Json::array()}};
  for (const JudgedMutant* mutant : result.redundant()) {
    report["redundant"].push_back(json_of(subject.program, *mutant));
  }
  for (const JudgedMutant& mutant : result.mutants) {
    report["all"].push_back(json_of(subject.program, mutant));
  }
  return report;
}

void print_table(const MutateResult& result, std::ostream& out) {
  std::map<EditKind, std::map<MutantClass, std::size_t>> table;
  for (const JudgedMutant& mutant : result.mutants) {
    ++table[mutant.edit.kind][mutant.of];
  }
  constexpr MutantClass kClasses[] = {
      MutantClass::kFound, MutantClass::kHarmless, MutantClass::kMissed, MutantClass::kUnjudged};
  out << "  " << std::left << std::setw(16) << "edit" << std::right;
  for (const MutantClass of : kClasses) {
    out << std::setw(10) << name_of(of);
  }
  out << "\n";
  for (auto& [kind, row] : table) {
    out << "  " << std::left << std::setw(16) << name_of(kind) << std::right;
    for (const MutantClass of : kClasses) {
      out << std::setw(10) << row[of];
    }
    out << "\n";
  }
}

std::string words_of(const Program& program, const JudgedMutant& mutant) {
  return "mutant " + std::to_string(mutant.number) + ", " + warp_of(program, mutant.edit.warp) +
         ": " + describe(program, mutant.edit) + " [" +
         text_of(line_of(program, mutant.edit).operation.site) + "]";
}

}  // namespace

void print_extracted(const ProgramRequest& request, std::ostream& out) {
  out << text_of(subject_of(request, false).program);
}

void print_mutant(const ProgramRequest& request, std::size_t number, std::ostream& out) {
  const Subject subject = subject_of(request, true);
  const std::vector<Edit> edits = edits_of(subject.program);
  if (number >= edits.size()) {
    throw ConfigError("there is no mutant " + std::to_string(number) + ": there are " +
                      std::to_string(edits.size()) + ", from 0");
  }
  out << "// " << describe(subject.program, edits[number]) << "\n"
      << text_of(apply(subject.program, edits[number]));
}

ExitCode mutate_and_print(const ProgramRequest& request,
                          std::uint32_t mutants_max,
                          std::ostream& out) {
  const Subject subject = subject_of(request, true);
  MutateOptions options;
  options.proof = subject.proof;
  options.mutants_max = mutants_max;
  options.oracles = mutate_oracles();
  const MutateResult result = mutate(subject.program, options);
  const ExitCode code = exit_of(result);
  if (request.json) {
    Json report = json_of(subject, result);
    report["exit"] = static_cast<int>(code);
    out << text_of_json(report, 2) << "\n";
    return code;
  }
  out << subject.program.name;
  if (!subject.parameters.empty()) {
    out << " (" << subject.parameters << ")";
  }
  out << ": " << result.mutants.size() << " mutants of " << result.edits;
  if (result.invalid != 0) {
    out << ", and " << result.invalid << " that are no program";
  }
  out << "\n";
  for (const std::string& oracle : result.oracles_left_out) {
    out << "not asked, for it finds fault with the program itself: " << oracle << "\n";
  }
  print_table(result, out);
  for (const JudgedMutant& mutant : result.mutants) {
    if (mutant.of == MutantClass::kMissed) {
      out << "missed: " << words_of(subject.program, mutant) << "\n  " << mutant.oracle << "\n";
    }
  }
  for (const JudgedMutant* mutant : result.redundant()) {
    out << "redundant synchronisation at this size (" << name_of(mutant->of)
        << "): " << words_of(subject.program, *mutant) << "\n";
  }
  out << result.count(MutantClass::kFound) << " found, " << result.count(MutantClass::kHarmless)
      << " harmless, " << result.count(MutantClass::kMissed) << " missed, "
      << result.count(MutantClass::kUnjudged) << " proved and judged by no oracle\n";
  return code;
}

}  // namespace warptwin::sim
