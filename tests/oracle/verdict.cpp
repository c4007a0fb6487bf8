#include "tests/oracle/verdict.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <string_view>

#include "sim/check/rules.hpp"
#include "sim/oracle/values.hpp"
#include "sim/run/program_entry.hpp"
#include "sim/run/proof/prove.hpp"
#include "sim/run/relation_run.hpp"
#include "tests/oracle/program_edits.hpp"

namespace warptwin::sim {

namespace {

ProofOptions proof_options(const VerdictOptions& options) {
  ProofOptions proof;
  if (options.strict) {
    choose_profile(proof.run.rules, "strict");
  }
  choose_rule(proof.run.rules, "tmem_lane=exact");  // the oracles know no other
  proof.run.limits.steps_max = options.steps_max;
  return proof;
}

RelationOptions relation_options(const VerdictOptions& options) {
  RelationOptions relation = options.strict ? RelationOptions{} : practical_relation();
  relation.interleavings = options.interleavings;
  relation.tries_fail = options.tries_fail;
  relation.first_only = true;
  relation.fences_of_met = options.fences_of_met;
  relation.elections_meet = options.elections_meet;
  return relation;
}

void add(const Finding& finding, ToolAnswer& answer) {
  if (answer.id.empty()) {
    answer.id = finding.info->id;
    answer.text = finding.message + " (" + finding.object.name + ")";
  }
  if (std::find(answer.ids.begin(), answer.ids.end(), finding.info->id) == answer.ids.end()) {
    answer.ids.emplace_back(finding.info->id);
  }
}

// The errors of a run's findings, and of the conditions that are shown; the first decides.
void decide(const ProofResult& result, ToolAnswer& answer) {
  for (const RunResult* run : {&result.run, &result.second}) {
    for (const Finding& finding : run->findings) {
      if (finding.severity >= Severity::kError) {
        add(finding, answer);
      }
    }
  }
  for (const Refutation& refutation : result.refutations) {
    add(refutation.finding, answer);
  }
  if (answer.id.empty() && result.run.end != Ending::kDone) {
    answer.id = "END";
  }
}

}  // namespace

const char* name_of(Verdict verdict) {
  constexpr const char* kNames[] = {
      "proved", "defect", "unordered", "undecided", "incomplete", "internal"};
  return kNames[static_cast<unsigned>(verdict)];
}

const char* name_of(Agreement agreement) {
  constexpr const char* kNames[] = {
      "agrees", "wrong proof", "wrong refusal", "not proved", "internal error"};
  return kNames[static_cast<unsigned>(agreement)];
}

ToolAnswer ask_tool(const Program& program, const VerdictOptions& options) {
  ToolAnswer answer;
  try {
    const ScenarioEntry entry = entry_of(std::make_shared<const Program>(program));
    const ProofResult result = prove(entry, ParameterSet{entry.parameters}, proof_options(options));
    switch (result.verdict) {
      case ProofVerdict::kProved:
        answer.verdict = Verdict::kProved;
        break;
      case ProofVerdict::kRefuted:
      case ProofVerdict::kAccepted:
        answer.verdict = Verdict::kDefect;
        break;
      case ProofVerdict::kUnordered:
        answer.verdict = Verdict::kUnordered;
        break;
      case ProofVerdict::kUndecided:
        answer.verdict = Verdict::kUndecided;
        break;
      case ProofVerdict::kIncomplete:
        answer.verdict = Verdict::kIncomplete;
        break;
    }
    decide(result, answer);
    // Of all runs that the proof has made, as the verdict has them.
    const auto rests_on = [&](std::string_view words) {
      return std::any_of(result.notes.begin(), result.notes.end(), [&](const std::string& note) {
        return note.starts_with(words);
      });
    };
    answer.across_fences = rests_on("fences hold for threads");
    answer.elections_meet = rests_on("a collective brings the lanes");
    if (answer.verdict == Verdict::kUndecided && !result.undecided.empty()) {
      answer.id = answer.text = result.undecided.front().reason;
    }
    if (result.internal_error) {
      answer.verdict = Verdict::kInternal;
      for (const Refutation& refutation : result.refutations) {
        if (!refutation.witness.internal_error.empty()) {
          answer.text = refutation.witness.internal_error;
        }
      }
    }
  } catch (const std::exception& error) {
    answer = {Verdict::kInternal, "exception", error.what()};
  }
  return answer;
}

namespace {

// Tensor maps are what only a scenario's host makes.
RelationInput executions_of(const Program& program, const VerdictOptions& options) {
  if (program.workload.maps.empty()) {
    return relation_input(program, options.steps_max);
  }
  const ScenarioEntry entry = entry_of(std::make_shared<const Program>(program));
  RunOptions run;
  run.limits.steps_max = options.steps_max;
  return relation_input(entry, ParameterSet{entry.parameters}, run);
}

void ask_relation(const Program& program, const VerdictOptions& options, OracleAnswer& answer) {
  for (const RelationFinding& finding :
       judge_relation(executions_of(program, options), relation_options(options))) {
    if (finding.kind == RelationKind::kIncomplete) {
      answer.known = false;
      continue;
    }
    answer.wrong = true;
    answer.text += std::string{"R "} + name_of(finding.kind) + ": " + finding.why + " [" +
                   finding.schedule + "]\n";
  }
}

// Whether an operation leaves nothing on its way.
bool looks_only(const Instruction& instruction) {
  if (instruction.kind == Instruction::Kind::kJump) {
    return true;
  }
  switch (instruction.operation.op) {
    case Op::kMbarrierTryWait:
    case Op::kMbarrierWait:
    case Op::kGlobalLoadAcquire:
    case Op::kSyncWarp:
    case Op::kElectSync:
      return true;
    default:
      return false;
  }
}

// A loop can make ever more operations that are on their way, and each state of V's dearer. One
// that only looks comes back to the states that it has been in.
bool loops(const Program& program) {
  for (const std::vector<Instruction>& warp : program.warps) {
    for (std::size_t i = 0; i < warp.size(); ++i) {
      const bool back = warp[i].kind == Instruction::Kind::kJump && warp[i].target <= i;
      if (back && !std::all_of(warp.begin() + static_cast<std::ptrdiff_t>(warp[i].target),
                               warp.begin() + static_cast<std::ptrdiff_t>(i),
                               looks_only)) {
        return true;
      }
    }
  }
  return false;
}

void ask_values(const Program& program, const VerdictOptions& options, OracleAnswer& answer) {
  if (loops(program)) {
    return;
  }
  ValuesOptions values;
  values.states_max = options.states_max;
  values.stores_need_their_cta = options.strict;
  const ValuesResult result = judge_values(program, values);
  answer.states += result.states;
  switch (result.verdict) {
    case ValuesResult::kRight:
      answer.every = true;
      return;
    case ValuesResult::kWrong:
      answer.wrong = true;
      answer.text += "V: " + result.what + "\n";
      return;
    case ValuesResult::kIncomplete:
    case ValuesResult::kUnsupported:
      answer.text += "";
      return;
  }
}

}  // namespace

OracleAnswer ask_oracles(const Program& program, const VerdictOptions& options) {
  OracleAnswer answer;
  if (options.relation) {
    ask_relation(program, options, answer);
  }
  if (options.values) {
    ask_values(program, options, answer);
  }
  return answer;
}

OracleAnswer ask_oracles_of(const Program& program,
                            const ToolAnswer& tool,
                            const VerdictOptions& options) {
  OracleAnswer answer = ask_oracles(program, options);
  const bool rests = tool.across_fences || tool.elections_meet;
  if (tool.verdict == Verdict::kProved && rests && answer.wrong) {
    VerdictOptions more = options;
    more.fences_of_met = tool.across_fences;
    more.elections_meet = tool.elections_meet;
    answer = ask_oracles(program, more);
  }
  if (tool.verdict == Verdict::kDefect && options.relation && !answer.wrong &&
      not_an_oracles(tool, answer.every) == nullptr) {
    constexpr std::uint32_t kPatience = 30;
    VerdictOptions more = options;
    more.interleavings *= kPatience;
    answer = ask_oracles(program, more);
    if (!answer.wrong) {
      more.interleavings = options.interleavings;
      more.tries_fail = true;
      answer = ask_oracles(program, more);
    }
  }
  return answer;
}

std::span<const NotDrawn> not_drawn() {
  static constexpr NotDrawn kIds[] = {
      {"ASSERTION_FAILED", "a program as text has no assertions: PTX's tests do"},
      {"GMEM_READ_ONLY_WRITTEN", "a program as text has no ld.global.nc: PTX's tests do"},
      {"KERNEL_TRAP", "a program as text has no trap: PTX's tests do"},
      {"RESULT_WRONG", "a program has no reference to compare its values with"},
      {"STREAM_RACE", "a program as text is one launch: those of CUDA programs do"},
  };
  return kIds;
}

const char* not_an_oracles(const ToolAnswer& tool, bool values_answered) {
  struct Reason {
    const char* id;
    const char* text;  // part of the finding's
    const char* why;
    bool values = false;  // oracle V knows
  };
  constexpr const char* kLanes =
      "the lanes of one operation are in no order with what one of them does next: R takes them as "
      "one";
  constexpr const char* kRegisters = "registers: R knows memory";
  constexpr const char* kLayout =
      "what an operand's descriptor means: R knows which bytes it reads";
  constexpr const char* kDeclared =
      "what the program declares of itself: what it does may be right all the same";
  constexpr const char* kOfUse = "a rule of use, where nobody reads what it leaves";
  constexpr const char* kFactors =
      "of which rows scale factors are: the oracles know that they are written";
  static constexpr Reason kReasons[] = {
      {"WARP_SYNC_MISSING", "", "lanes: right by the memory model, seen to hang on a GPU"},
      {"WARP_LANE_RACE", "global memory", "lanes: R compares those of one warp in shared memory"},
      {"TENSORMAP_MODIFIED_IN_FLIGHT", " lanes of ", kLanes},
      {"TCGEN05_IDESC", "scale factors of a row", kFactors},
      {"MBAR_TX_WRONG_PHASE", "bytes announced", kDeclared},
      {"MBAR_TX_MISMATCH", "", "where nobody waits for the phase: a rule of use"},
      {"MBAR_WAIT_PHASE_ALIASED",
       "says 'incomplete'",
       "a try that is made too late, and whose 'no' does no harm: a rule of use"},
      {"SETMAXNREG_NOT_WARPGROUP", "", "a rule of use: nothing is ordered by it"},
      {"TMEM_ALLOC_PEER_MISMATCH",
       "the address goes to",
       "a rule of use: each CTA finds its address where it asked for it"},
      {"SETMAXNREG_NO_SYNC", "", "a rule of use: nothing is ordered by it"},
      {"TCGEN05_CTA_GROUP_MIX", "", "a rule of use: one cta_group in a kernel"},
      {"NAMED_BARRIER_COUNT_MISMATCH",
       "without a count",
       "right while no warp has ended, and that is judged by the memory order"},
      {"NAMED_BARRIER_OVERSUBSCRIBED",
       "",
       "judged by the memory order: that a warp has ended, or a relaxed arrival, does not count"},
      {"MBAR_SURPLUS_ARRIVAL", "", kDeclared},
      {"PIPELINE_COUNT_MISMATCH", "", kDeclared},
      {"PIPELINE_ROLE_MISMATCH", "", kDeclared},
      {"PIPELINE_STAGE_OOB", "", kDeclared},
      {"PIPELINE_STATE_DESYNC", "", kDeclared},
      {"STAGE_DOUBLE_RELEASE", "", kDeclared},
      {"STAGE_LEAK", "", kDeclared},
      {"STAGE_USE_AFTER_RELEASE", "", kDeclared},
      {"STAGE_USE_BEFORE_ACQUIRE", "", kDeclared},
      {"CLC_WORK_LOST",
       "",
       "what is to be done for a cluster that was granted: the oracles have no reference"},
      {"ORDER_PASS",
       "",
       "a wait that may pass in a later phase than it means, and nothing depends on which: a rule "
       "of use"},
      {"WGMMA_UNFINISHED_AT_EXIT",
       "",
       "of a warp, where another of its warpgroup has waited: R takes their wgmma as one"},
      {"LAYOUT_SCALES", "", kFactors},
      {"LAYOUT_START",
       "multiple of 32 bytes along K",
       "bytes of a row side by side, of two slices of K: the oracles take them for a row"},
      {"LAYOUT_SWIZZLE",
       "with a swizzle of 64 bytes; written with a swizzle of 32",
       "every second row, each whole: the oracles do not know which rows are meant"},
      {"LAYOUT_ALIGN", "a tile with a swizzle", kOfUse},
      {"TCGEN05_D_ALIGN", "begins at lane", kOfUse},
      {"TCGEN05_SCALE_OVERLAP", "", kFactors},
      {"TCGEN05_SCALE_REPLICA", "", kFactors},
      {"LAYOUT_ALIGN", "", kLayout, true},
      {"LAYOUT_MAJOR", "", kLayout, true},
      {"LAYOUT_START", "", kLayout, true},
      {"LAYOUT_STRIDE", "", kLayout, true},
      {"LAYOUT_SWIZZLE", "", kLayout, true},
      {"TCGEN05_D_ALIGN", "", kLayout, true},
      {"TCGEN05_IDESC", "", kLayout, true},
      {"TMEM_LD_NO_WAIT", "", kRegisters, true},
      {"WGMMA_FENCE_MISSING", "", kRegisters, true},
  };
  for (const Reason& reason : kReasons) {
    if (tool.id == reason.id && !(reason.values && values_answered) &&
        tool.text.find(reason.text) != std::string::npos) {
      return reason.why;
    }
  }
  return nullptr;
}

Agreement agreement_of(const ToolAnswer& tool, const OracleAnswer& oracle) {
  switch (tool.verdict) {
    case Verdict::kInternal:
      return Agreement::kInternal;
    case Verdict::kProved:
      return oracle.wrong ? Agreement::kWrongProof : Agreement::kAgrees;
    case Verdict::kDefect:
      return oracle.wrong || !oracle.known || not_an_oracles(tool, oracle.every) != nullptr
                 ? Agreement::kAgrees
                 : Agreement::kWrongRefusal;
    default:
      return oracle.wrong || !oracle.known ? Agreement::kAgrees : Agreement::kNotProved;
  }
}

std::string class_of(Agreement agreement, const ToolAnswer& tool, const OracleAnswer& oracle) {
  std::string words = name_of(agreement);
  if (agreement == Agreement::kWrongProof) {
    // The operations that the first finding names, without their places.
    const std::string line = oracle.text.substr(0, oracle.text.find('\n'));
    std::string plain;
    for (std::size_t i = 0; i < line.size() && line[i] != '['; ++i) {
      if (line[i] < '0' || line[i] > '9' || (i > 0 && plain.ends_with("tcgen"))) {
        plain += line[i];
      }
    }
    return words + ": " + plain;
  }
  return words + ": " + tool.id + (agreement == Agreement::kInternal ? " " + tool.text : "");
}

Program shrunk(const Program& program, const std::string& failure, const VerdictOptions& options) {
  Program smallest = program;
  const auto fails = [&](const Program& candidate) {
    const ToolAnswer tool = ask_tool(candidate, options);
    const OracleAnswer oracle = ask_oracles_of(candidate, tool, options);
    const Agreement agreement = agreement_of(tool, oracle);
    return agreement != Agreement::kAgrees && class_of(agreement, tool, oracle) == failure;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t warp = 0; warp < smallest.warps.size(); ++warp) {
      for (std::size_t at = smallest.warps[warp].size(); at-- > 0;) {
        Program candidate = smallest;
        drop_instruction(candidate, warp, at);
        if (!spins(candidate) && fails(candidate)) {
          smallest = std::move(candidate);
          smaller = true;
        }
      }
    }
  }
  return smallest;
}

}  // namespace warptwin::sim
