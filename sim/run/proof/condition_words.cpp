#include "sim/run/proof/condition_words.hpp"

namespace warptwin::sim {

namespace {

// The words for one condition.
struct ConditionText {
  const char* broken;   // "<node> <broken> <other>"
  const char* outcome;  // in the bad order
  const char* mend;
};

const ConditionText& text_of(Condition condition) {
  static constexpr ConditionText kTexts[] = {
      {"is not ordered after",
       "it counts in the phase before its own, which then completes early",
       "a wait for the phase before, on the way from one to the other"},
      {"need not have passed when the next phase completes",
       "the barrier goes on by two phases: the parity it waits for comes round again",
       "an arrival in the next phase that comes after this wait"},
      {"may look before",
       "the parity of two phases back lets it pass a phase early",
       "a wait for the phase before, on the way to this wait"},
      {"is not ordered before an arrival of its phase",
       "the phase can complete before its bytes are announced",
       "arrive.expect_tx, or the expect-tx before the arrival in the same warp"},
      {"may end before",
       "it acts on shared memory that is no longer there",
       "a wait for it before the CTA ends: the producer's drain, or a cluster barrier"},
  };
  return kTexts[static_cast<unsigned>(condition)];
}

std::string describe(const ProofNode& node, const Naming& naming) {
  return std::string{name_of(node.op)} + " of " + naming.warp(node.warp) + " at " +
         naming.site(node.site);
}

Act act_of(const ProofNode& node, const Naming& naming, bool second) {
  return {second, node.op, naming.agent(node.warp), node.site};
}

Object object_of(const ProofBarrier& barrier, const Naming& naming) {
  const auto address = static_cast<std::uint32_t>(barrier.address);
  switch (barrier.kind) {
    case ProofBarrier::Kind::kMbarrier:
      return naming.barrier(barrier.cta, address);
    case ProofBarrier::Kind::kNamed:
      return naming.named_barrier(barrier.cta, address);
    case ProofBarrier::Kind::kCluster:
      return {ObjectKind::kClusterBarrier, "the cluster barrier"};
    case ProofBarrier::Kind::kFlag:
      break;
  }
  return {ObjectKind::kGlobalMemory,
          "global word " + std::to_string(barrier.address),
          Object::kNoCta,
          barrier.address};
}

}  // namespace

Finding in_words(const RunOrder::Finding& broken, const Naming& naming) {
  const Violation& violation = broken.violation;
  const ConditionText& text = text_of(violation.condition);
  Finding finding;
  finding.info = find_diagnostic(diagnostic_of(violation.condition));
  finding.severity = finding.info->practical;
  const bool exit = violation.condition == Condition::kLifetime;
  finding.object = exit ? Object::cta_of(naming.cta_of_warp(violation.node.warp))
                        : object_of(broken.barrier, naming);
  finding.agent = naming.agent(violation.node.warp);
  finding.site = exit ? violation.other.site : violation.node.site;
  finding.step = violation.node.time;
  finding.message = (exit ? text_of(finding.object)
                          : std::string{name_of(violation.node.op)} +
                                (violation.condition == Condition::kPassBeforeNext ||
                                         violation.condition == Condition::kLookInTime
                                     ? " for phase "
                                     : " in phase ") +
                                std::to_string(violation.phase)) +
                    " " + text.broken +
                    (violation.condition == Condition::kBytesAnnounced ||
                             violation.condition == Condition::kPassBeforeNext
                         ? std::string{}
                         : " " + describe(violation.other, naming));
  if (!exit) {
    finding.details.push_back(act_of(violation.node, naming, false));
    finding.details.push_back(act_of(violation.other, naming, true));
  }
  finding.details.push_back(Said{Said::Kind::kThen, text.outcome});
  if (broken.of_lanes) {
    finding.details.push_back(
        "other lanes of its warp went on from there: lanes that have not met need not keep up");
  }
  finding.details.push_back(mend(
      broken.of_lanes ? "bar.warp.sync behind the first, before its warp goes on" : text.mend));
  return finding;
}

}  // namespace warptwin::sim
