#include "sim/check/named_barriers.hpp"

namespace warptwin::sim {

namespace {

class Impl : public Detector {
 public:
  Impl(Reporter& reporter, Order&)
      : Detector{reporter, {Op::kBarArrive, Op::kBarSync, Op::kClusterArrive, Op::kClusterWait}} {}

  void on_event(const Event& event) override {
    if (event.fault == Fault::kNone) {
      return;
    }
    const std::string object =
        "named barrier " + std::to_string(event.address) + " of cta " + std::to_string(event.cta);
    if (event.op == Op::kBarSync || event.op == Op::kBarArrive) {
      if (event.fault == Fault::kOutOfRange) {
        reporter().report("NAMED_BARRIER_ID", event, object, "ids are 0 to 15");
      } else if (event.fault == Fault::kBadCount) {
        reporter().report("NAMED_BARRIER_COUNT",
                          event,
                          object,
                          std::to_string(event.count) +
                              " threads: not a multiple of 32, none, or more than the CTA has");
      } else if (event.fault == Fault::kCountMismatch) {
        reporter().report("NAMED_BARRIER_COUNT_MISMATCH",
                          event,
                          object,
                          "met with another thread count than the " + std::to_string(event.count) +
                              " of this generation's first arrival");
      } else if (event.fault == Fault::kDoubleArrive) {
        reporter().report("NAMED_BARRIER_DOUBLE_ARRIVE",
                          event,
                          object,
                          "the warp has already come to this generation");
      }
    } else if (event.op == Op::kClusterArrive && event.fault == Fault::kDoubleArrive) {
      reporter().report(
          "CLUSTER_BARRIER_DOUBLE_ARRIVE",
          event,
          "cluster barrier",
          "the warp has already arrived in generation " + std::to_string(event.phase));
    } else if (event.op == Op::kClusterWait && event.fault == Fault::kNoArrive) {
      reporter().report("CLUSTER_BARRIER_WAIT_NO_ARRIVE",
                        event,
                        "cluster barrier",
                        "the warp waits in generation " + std::to_string(event.phase) +
                            " without having arrived");
    }
  }
};

}  // namespace

std::unique_ptr<Detector> make_named_barriers(Reporter& reporter, Order& order) {
  return std::make_unique<Impl>(reporter, order);
}

}  // namespace warptwin::sim
