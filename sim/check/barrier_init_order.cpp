#include "sim/check/barrier_init_order.hpp"

#include <vector>

namespace warptwin::sim {

namespace {

class Impl : public Detector {
 public:
  Impl(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kClcTryCancel,
                  Op::kCtaExit,
                  Op::kMbarrierArrive,
                  Op::kMbarrierCompleteTx,
                  Op::kMbarrierExpectTx,
                  Op::kMbarrierInit,
                  Op::kMbarrierTryWait,
                  Op::kMbarrierWait,
                  Op::kTcgen05Commit,
                  Op::kTensorLoad,
                  Op::kWarpStart}},
        order_{order} {}

  void on_event(const Event& event) override {
    const std::uint32_t cluster = naming().cluster_of_warp(event.warp);
    switch (event.op) {
      case Op::kWarpStart:
        states_.start(cluster);
        break;
      case Op::kMbarrierInit:
        if (State* state = states_.find(cluster); state != nullptr && event.fault == Fault::kNone) {
          state->inits[key(event.cta, event.address)] = {event.warp, order_.now(event.warp), {}};
        }
        break;
      case Op::kMbarrierArrive:
      case Op::kMbarrierExpectTx:
      case Op::kMbarrierCompleteTx:
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
      case Op::kTcgen05Commit:
        if (event.step == Step::kDone || event.step == Step::kIssued) {
          check(cluster, event, event.cta, event.address);
        }
        break;
      case Op::kTensorLoad:
      case Op::kBulkLoad:
      case Op::kClcTryCancel:
        if (event.step == Step::kIssued) {
          check(cluster, event, event.peer_cta, event.peer);
        }
        break;
      case Op::kCtaExit:
        if (State* state = states_.find(cluster);
            state != nullptr && ++state->exited == naming().config().cluster_size) {
          states_.end(cluster);
        }
        break;
      default:
        break;
    }
  }

  void on_blocked(const Event& event) override {
    if (event.op == Op::kMbarrierWait) {
      check(naming().cluster_of_warp(event.warp), event, event.cta, event.address);
    }
  }

 private:
  struct Init {
    std::uint32_t warp;
    std::uint32_t time;
    std::vector<bool> known;  // by warp of the cluster: found to be in order
  };
  struct State {
    HashMap<std::uint64_t, Init> inits;
    std::uint32_t exited = 0;
  };
  static std::uint64_t key(std::uint32_t cta, std::uint32_t address) {
    return std::uint64_t{cta} << 32 | address;
  }

  void check(std::uint32_t cluster, const Event& event, std::uint32_t cta, std::uint32_t address) {
    State* state = states_.find(cluster);
    if (state == nullptr || event.fault != Fault::kNone) {
      return;
    }
    const auto found = state->inits.find(key(cta, address));
    if (found == state->inits.end() || found->second.warp == event.warp) {
      return;
    }
    // Order is monotone: once ordered, always.
    Init& init = found->second;
    const std::uint32_t warps = naming().config().cluster_size * naming().config().warps_per_cta;
    init.known.resize(warps);
    if (init.known[event.warp % warps]) {
      return;
    }
    if (order_.init_ordered(init.warp, init.time, event.warp)) {
      init.known[event.warp % warps] = true;
      return;
    }
    const bool own = naming().cta_of_warp(event.warp) == cta;
    reporter().report(own ? "MBAR_INIT_RACE" : "MBAR_INIT_NOT_CLUSTER_VISIBLE",
                      event,
                      naming().barrier(cta, address),
                      std::string{name_of(event.op)} +
                          " is not ordered after the initialisation by " + naming().warp(init.warp),
                      {own ? "missing: a CTA or cluster barrier between mbarrier.init and this"
                           : "missing: fence.mbarrier_init and a cluster barrier between "
                             "mbarrier.init and this"});
  }

  Order& order_;
  ByCluster<State> states_;
};

}  // namespace

std::unique_ptr<Detector> make_barrier_init_order(Reporter& reporter, Order& order) {
  return std::make_unique<Impl>(reporter, order);
}

}  // namespace warptwin::sim
