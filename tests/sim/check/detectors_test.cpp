/// What the detectors see, all together.

#include "sim/check/detectors/detectors.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warptwin::sim::detectors_test {
namespace {

using ::testing::ElementsAre;

// Of an operation that touches memory and that no detector of data sees, a race is found by nobody.
TEST(DetectorsTest, EveryOperationTouchesNoMemoryOrADetectorOfDataSeesIt) {
  const LaunchConfig config;
  const Symbols symbols;
  const Naming naming{config, symbols};
  Reporter reporter{Rules{}, naming};
  Order order{config};
  std::vector<std::unique_ptr<Detector>> of_data;
  of_data.push_back(make_shared_data(reporter, order));
  of_data.push_back(make_global_data(reporter, order));
  of_data.push_back(make_tensor_memory_data(reporter, order));
  of_data.push_back(make_tensor_maps(reporter, order));
  of_data.push_back(make_barrier_order(reporter, order));
  std::vector<std::string> unseen;
  for (unsigned op = 0; op < static_cast<unsigned>(Op::kCount); ++op) {
    const auto sees = [&](const auto& detector) {
      return detector->sees(static_cast<Op>(op), Step::kDone, true);
    };
    if (std::none_of(of_data.begin(), of_data.end(), sees)) {
      unseen.emplace_back(name_of(static_cast<Op>(op)));
    }
  }
  EXPECT_THAT(unseen,
              ElementsAre("fence",
                          "fence.mbarrier_init",
                          "tcgen05.fence::before_thread_sync",
                          "tcgen05.fence::after_thread_sync",
                          "bar.sync",
                          "bar.arrive",
                          "barrier.cluster.arrive",
                          "barrier.cluster.wait",
                          "bar.warp.sync",
                          "cp.async.bulk.commit_group",
                          "tcgen05.relinquish_alloc_permit",
                          "wgmma.fence",
                          "wgmma.commit_group",
                          "wgmma.wait_group",
                          "griddepcontrol.wait",
                          "griddepcontrol.launch_dependents",
                          "setmaxnreg",
                          "stage note",
                          "exit",
                          "trap",
                          "elect.sync"));
}

}  // namespace
}  // namespace warptwin::sim::detectors_test
