#include "sim/oracle/relation.hpp"

#include <algorithm>
#include <map>

#include "sim/oracle/program_run.hpp"
#include "sim/oracle/relation_judge.hpp"
#include "sim/oracle/relation_record.hpp"
#include "sim/oracle/relation_words.hpp"

namespace warptwin::sim {

namespace {

using relation::PhaseAt;
using relation::PhaseKey;
using relation::Record;

// The schedule of execution `number`: in turn, then random ones of two kinds. A try whose phase is
// complete says yes in all of them, as it does on hardware.
ScheduleSpec schedule_of(std::uint32_t number, const RelationOptions& options) {
  constexpr std::uint64_t kStepsOfChanges = 200;
  ScheduleSpec spec;
  spec.strategy = number == 0       ? Strategy::kInTurn
                  : number % 2 == 0 ? Strategy::kPct
                                    : Strategy::kRandom;
  spec.seed = options.seed * 1000 + number;
  spec.length = kStepsOfChanges;
  return spec;
}

const char* words_of(Ending ending) {
  switch (ending) {
    case Ending::kDone:
      return "ends";
    case Ending::kDeadlock:
      return "deadlock";
    case Ending::kLivelock:
      return "livelock";
    case Ending::kTrapped:
      return "trap";
    case Ending::kStepBound:
    case Ending::kRefused:
      break;
  }
  return "the bound on steps was hit";
}

class Judgement {
 public:
  Judgement(const RelationInput& input, const RelationOptions& options)
      : input_{input}, options_{options} {}

  std::vector<RelationFinding> run() {
    for (std::uint32_t number = 0; number <= options_.interleavings; ++number) {
      ScheduleSpec schedule = schedule_of(number, options_);
      schedule.tries_fail = options_.tries_fail;
      if (claims_) {
        // How many clusters a request gets is nobody's to say, nor which.
        const std::uint32_t clusters = input_.launch.clusters;
        schedule.tiles = number % (clusters + 1);
        const std::uint32_t round = number / (clusters + 1);
        for (std::uint32_t i = 0; round % 2 != 0 && i < schedule.tiles; ++i) {
          schedule.order.push_back((2 * clusters - 1 - i - round / 2 % clusters) % clusters);
        }
      }
      execution(schedule);
      if (options_.first_only && !findings_.empty()) {
        break;
      }
    }
    return std::move(findings_);
  }

 private:
  // Once more where lanes have turned out to act alone, each of which then has its own way from the
  // begin on.
  void execution(const ScheduleSpec& schedule) {
    while (!execution_with_lanes(schedule)) {
    }
  }

  bool execution_with_lanes(const ScheduleSpec& schedule) {
    Record record{input_.launch, options_, alone_};
    const Ending ending = input_.run(schedule, record);
    if (record.alone != alone_) {
      alone_ = record.alone;
      return false;
    }
    judge(schedule, record, ending);
    return true;
  }

  void judge(const ScheduleSpec& schedule, const Record& record, Ending ending) {
    schedule_ = schedule.to_string();
    claims_ = claims_ || record.claims;
    for (const RelationFinding& fault : record.faults) {
      add(fault);
    }
    if (ending != Ending::kDone) {
      add({ending == Ending::kStepBound ? RelationKind::kIncomplete : RelationKind::kEnding,
           words_of(ending),
           {},
           {},
           {}});
      return;
    }
    for (const RelationFinding& finding : relation::judge_record(record, input_.launch, options_)) {
      add(finding);
    }
    if (!record.claims) {
      compare_phases(record.phases);
    }
  }

  void compare_phases(const std::map<PhaseKey, PhaseAt>& phases) {
    for (const auto& [key, at] : phases) {
      const auto [known, is_new] = phases_.emplace(key, at);
      if (!is_new && known->second.phase != at.phase) {
        add({RelationKind::kPhase,
             relation::in_words(at.who) + " acts in phase " + std::to_string(at.phase) +
                 ", and elsewhere in phase " + std::to_string(known->second.phase),
             {},
             at.who.site,
             {}});
      }
    }
  }

  void add(RelationFinding finding) {
    const bool known =
        std::any_of(findings_.begin(), findings_.end(), [&](const RelationFinding& other) {
          return other.kind == finding.kind && other.first.line == finding.first.line &&
                 other.second.line == finding.second.line &&
                 (finding.kind != RelationKind::kEnding || other.why == finding.why);
        });
    if (!known) {
      finding.schedule = schedule_;
      findings_.push_back(std::move(finding));
    }
  }

  const RelationInput& input_;
  const RelationOptions& options_;
  std::string schedule_;
  bool claims_ = false;
  relation::LanesAlone alone_;
  std::map<PhaseKey, PhaseAt> phases_;
  std::vector<RelationFinding> findings_;
};

}  // namespace

RelationOptions practical_relation() {
  RelationOptions options;
  options.commit_copies = true;
  options.tensor_in_order = true;
  options.tensor_fences = false;
  options.strict_wait_scope = false;
  options.stores_end_with_cta = false;
  options.unsettled_registers = false;
  return options;
}

const char* name_of(RelationKind kind) {
  constexpr const char* kNames[] = {"ending",
                                    "fault",
                                    "phase",
                                    "race",
                                    "proxy",
                                    "tensor fence",
                                    "unwritten",
                                    "barrier life",
                                    "barrier bytes",
                                    "allocation",
                                    "exit",
                                    "tensor map",
                                    "grid before",
                                    "incomplete"};
  return kNames[static_cast<unsigned>(kind)];
}

RelationInput relation_input(const Program& program, std::uint64_t steps_max) {
  return {launch_of(program), [&program, steps_max](const ScheduleSpec& schedule, EventSink& sink) {
            return run_program(program, schedule, &sink, steps_max).ending;
          }};
}

std::vector<RelationFinding> judge_relation(const RelationInput& input,
                                            const RelationOptions& options) {
  return Judgement{input, options}.run();
}

}  // namespace warptwin::sim
