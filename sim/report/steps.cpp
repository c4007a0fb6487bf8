#include "sim/report/steps.hpp"

#include <deque>

namespace warptwin::sim {

namespace {

class LastSteps : public EventSink {
 public:
  LastSteps(const LaunchConfig& config,
            const Symbols& symbols,
            std::uint64_t until,
            std::size_t kept)
      : naming_{config, symbols}, until_{until}, kept_{kept} {}

  void on_event(const Event& event) override {
    const bool of_warp =
        event.step == Step::kDone || event.step == Step::kIssued || event.step == Step::kBlocked;
    if (!of_warp || event.op == Op::kStageNote || event.site.line == 0 ||
        (until_ != 0 && event.time > until_)) {
      return;
    }
    steps_.push_back({naming_.warp(event.warp), words_of(event), place_of(event.site), event.time});
    if (steps_.size() > kept_) {
      steps_.pop_front();
    }
  }

  std::vector<JudgedStep> all() const { return {steps_.begin(), steps_.end()}; }

 private:
  std::string words_of(const Event& event) const {
    const std::string name = warptwin::name_of(event.op);
    const bool mbarrier = event.op <= Op::kMbarrierTryWait;
    return name + (mbarrier ? " " + text_of(naming_.barrier(event.cta, event.address)) : "") +
           (event.step == Step::kBlocked ? " waits" : "");
  }

  Naming naming_;
  std::uint64_t until_;
  std::size_t kept_;
  std::deque<JudgedStep> steps_;
};

}  // namespace

std::vector<JudgedStep> steps_to(const ScenarioEntry& scenario,
                                 const ParameterSet& parameters,
                                 RunOptions run,
                                 const Finding& finding,
                                 std::size_t kept) {
  const LaunchConfig config = launch_config(scenario, parameters, run);
  run.detect = false;
  const auto execute = [&](EventSink& sink) {
    run.observer = &sink;
    simulate(scenario, parameters, run);
  };
  return steps_to(config, scenario.symbols(parameters), execute, finding, kept);
}

std::vector<JudgedStep> steps_to(const LaunchConfig& config,
                                 const Symbols& symbols,
                                 const std::function<void(EventSink&)>& execute,
                                 const Finding& finding,
                                 std::size_t kept) {
  LastSteps last{config, symbols, finding.step, kept};
  execute(last);
  std::vector<JudgedStep> steps = last.all();
  steps.push_back({text_of(finding.agent),
                   std::string{finding.info->id} + ": " + finding.message,
                   place_of(finding.site),
                   finding.step});
  return steps;
}

}  // namespace warptwin::sim
