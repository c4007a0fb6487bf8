#include "sim/run/proof/data_decides.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/prove/run_order.hpp"

namespace warptwin::sim {

// The work of every cluster, with data that is not there reading as `unknown`; where `order` names
// tiles, a cluster gets all these.
static std::uint64_t work_with(const ScenarioEntry& scenario,
                               const ParameterSet& parameters,
                               RunOptions run,
                               bool tries_fail,
                               UnknownData unknown,
                               const std::vector<std::uint32_t>& order) {
  run.schedule = ScheduleSpec{};
  run.schedule.order = order;
  run.schedule.tiles = static_cast<std::uint32_t>(order.size());
  run.schedule.strategy = Strategy::kInTurn;
  run.schedule.tries_fail = tries_fail;
  run.rules.machine.unknown_data = unknown;
  run.detect = false;
  RunOrder::Options work_only;
  work_only.work_only = true;
  RunOrder order_of{launch_config(scenario, parameters, run), work_only};
  run.observer = &order_of;
  simulate(scenario, parameters, run);
  return order_of.work().of_grid();
}

bool data_decides(const ScenarioEntry& scenario,
                  const ParameterSet& parameters,
                  const RunOptions& run,
                  const ProofResult& proved) {
  const auto decides = [&](const std::vector<std::uint32_t>& order) {
    const auto work = [&](UnknownData unknown) {
      return work_with(scenario, parameters, run, proved.schedule.tries_fail, unknown, order);
    };
    const std::uint64_t zero = work(UnknownData::kZero);
    return work(UnknownData::kOnes) != zero || work(UnknownData::kMixed) != zero;
  };
  // Of a cluster that claims tiles also where it has them all, upwards and downwards.
  std::vector<std::uint32_t> order;
  if (decides(order)) {
    return true;
  }
  if (!proved.claims.asked) {
    return false;
  }
  order.resize(scenario.workload(parameters).clusters);
  std::iota(order.begin(), order.end(), 0U);
  if (decides(order)) {
    return true;
  }
  std::reverse(order.begin(), order.end());
  return decides(order);
}

}  // namespace warptwin::sim
