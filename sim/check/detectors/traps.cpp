/// Kernels that end themselves: by trap, or by an assertion that fails.

#include "common/trace/texts.hpp"

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class TrapsDetector : public Detector {
 public:
  TrapsDetector(Reporter& reporter, Order&) : Detector{reporter, {Op::kTrap}} {}

  void on_event(const Event& event) override {
    Object who = naming().warp_object(event.warp);
    who.name += ", lane " + std::to_string(event.lane);
    if (event.wanted == 0) {
      reporter().report("KERNEL_TRAP", event, who, "the kernel executes trap");
    } else {
      reporter().report("ASSERTION_FAILED", event, who, text_of_number(event.wanted - 1));
    }
  }
};

}  // namespace

std::unique_ptr<Detector> make_traps(Reporter& reporter, Order& order) {
  return std::make_unique<TrapsDetector>(reporter, order);
}

}  // namespace warptwin::sim
