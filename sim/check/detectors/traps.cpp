/// Kernels that end themselves: by trap, by an assertion that fails, or by an access that no memory
/// holds, which who executes the kernel finds and makes a trap of.

#include "common/trace/texts.hpp"

#include "sim/check/detectors/detectors.hpp"
#include "sim/model/trap_cause.hpp"

namespace warptwin::sim {

namespace {

class TrapsDetector : public Detector {
 public:
  TrapsDetector(Reporter& reporter, Order&) : Detector{reporter, {Op::kTrap}} {}

  void on_event(const Event& event) override {
    const auto& said = event.as<payload::Trap>();
    Object who = naming().warp_object(event.warp);
    who.name += event.lanes == 1 ? ", lane " + std::to_string(event.lane) : "";
    if (event.fault == Fault::kOutOfRange) {
      reporter().report(TrapCause{said.cause} == TrapCause::kCopyOutside ? "BULK_OOB" : "WORD_OOB",
                        event,
                        who,
                        text_of_number(said.says - 1));
    } else if (said.says == 0) {
      reporter().report("KERNEL_TRAP",
                        event,
                        who,
                        "the kernel executes trap, or brkpt, at which a launch ends, too");
    } else {
      reporter().report("ASSERTION_FAILED", event, who, text_of_number(said.says - 1));
    }
  }
};

}  // namespace

std::unique_ptr<Detector> make_traps(Reporter& reporter, Order& order) {
  return std::make_unique<TrapsDetector>(reporter, order);
}

}  // namespace warptwin::sim
