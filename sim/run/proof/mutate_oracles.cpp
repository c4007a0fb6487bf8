#include "sim/run/proof/mutate_oracles.hpp"

#include <algorithm>
#include <memory>

#include "sim/oracle/relation.hpp"
#include "sim/oracle/values.hpp"
#include "sim/run/program_entry.hpp"
#include "sim/run/relation_run.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint64_t kStepsMax = 1'000'000;

bool asks_for_clusters(const Program& program) {
  return std::any_of(program.warps.begin(), program.warps.end(), [](const auto& warp) {
    return std::any_of(warp.begin(), warp.end(), [](const Instruction& line) {
      return line.operation.op == Op::kClcTryCancel;
    });
  });
}

std::size_t operations_of(const Program& program) {
  std::size_t operations = 0;
  for (const std::vector<Instruction>& warp : program.warps) {
    operations += warp.size();
  }
  return operations;
}

// Under any schedule, with its data, and with its tensor maps.
RelationInput input_of(const Program& program) {
  const ScenarioEntry entry = entry_of(std::make_shared<const Program>(program));
  RunOptions run;
  run.limits.steps_max = kStepsMax;
  return relation_input(entry, ParameterSet{entry.parameters}, run);
}

Opinion by_relation(const Program& program, const MutateOracleOptions& options) {
  if (asks_for_clusters(program)) {
    return {Opinion::Verdict::kNone, "clusters ask for tiles"};
  }
  RelationOptions relation = practical_relation();
  relation.interleavings = options.interleavings;
  relation.first_only = true;
  bool known = true;
  for (const RelationFinding& finding : judge_relation(input_of(program), relation)) {
    if (finding.kind != RelationKind::kIncomplete) {
      return {
          Opinion::Verdict::kWrong,
          std::string{name_of(finding.kind)} + ": " + finding.why + " [" + finding.schedule + "]"};
    }
    known = false;
  }
  return {known ? Opinion::Verdict::kRight : Opinion::Verdict::kNone, ""};
}

Opinion by_values(const Program& program, const MutateOracleOptions& options) {
  if (asks_for_clusters(program) || operations_of(program) > options.values_operations_max) {
    return {Opinion::Verdict::kNone, "too large"};
  }
  ValuesOptions values;
  values.states_max = options.values_states_max;
  const ValuesResult result = judge_values(program, values);
  switch (result.verdict) {
    case ValuesResult::kRight:
      return {Opinion::Verdict::kRight, ""};
    case ValuesResult::kWrong:
      return {Opinion::Verdict::kWrong, result.what};
    default:
      return {Opinion::Verdict::kNone, result.what};
  }
}

}  // namespace

std::vector<Oracle> mutate_oracles(const MutateOracleOptions& options) {
  return {
      {"memory order", [options](const Program& program) { return by_relation(program, options); }},
      {"values", [options](const Program& program) { return by_values(program, options); }}};
}

}  // namespace warptwin::sim
