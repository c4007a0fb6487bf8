/// Cluster launch control: requests while the CTA has seen none fail, responses that are all read.
/// Source: PTX ISA, "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel".

#include <map>

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class LaunchControlDetector : public Detector {
 public:
  LaunchControlDetector(Reporter& reporter, Order& order)
      : Detector{reporter, {Op::kClcQuery, Op::kClcTryCancel, Op::kCtaExit}}, order_{order} {}

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kClcTryCancel:
        on_request(event);
        break;
      case Op::kClcQuery:
        on_query(event);
        break;
      default:
        on_exit(event);
        break;
    }
  }

 private:
  struct Request {
    Event issued;
    bool landed = false;
    bool asked = false;  // somebody of the CTA has read what it says
  };

  static Object slot(std::uint32_t cta, std::uint32_t address) {
    return {ObjectKind::kOther,
            "response at shared+" + std::to_string(address),
            cta,
            address,
            kClcResponseBytes};
  }

  void on_request(const Event& event) {
    const bool refused = event.step == Step::kDone && event.fault != Fault::kNone;
    if (refused && event.fault == Fault::kExitedCta) {
      reporter().report("CLC_MULTICAST_PEER_EXITED",
                        event,
                        slot(event.cta, event.address),
                        "a request for the whole cluster, of which a CTA has ended");
    } else if (refused) {
      reporter().report("CLC_RESP_ALIGN",
                        event,
                        slot(event.cta, event.address),
                        "a response takes 16 bytes, aligned to 16, of the CTA's shared memory");
    } else if (event.step == Step::kIssued) {
      check_failure(event);
      check_issuer(event);
      requests_[{event.cta, event.address}] = {event, false, false};
    } else if (event.step == Step::kWritten) {
      requests_[{event.cta, event.address}].landed = true;
    }
  }

  // Who has seen a request fail asks no more.
  void check_failure(const Event& event) {
    const auto failure = failures_.find(naming().cta_of_warp(event.warp));
    if (failure == failures_.end()) {
      return;
    }
    const Point& seen = failure->second;
    if (order_.after(event.warp, seen)) {
      reporter().report("CLC_AFTER_FAIL",
                        event,
                        slot(event.cta, event.address),
                        "a request after the CTA has seen one fail: " + naming().warp(seen.warp) +
                            " at " + naming().site(seen.site));
    }
  }

  void check_issuer(const Event& event) {
    if (event.signal().mask == 0) {
      return;
    }
    const auto last = requests_.find({event.cta, event.address});
    if (last != requests_.end() && last->second.issued.warp != event.warp &&
        last->second.issued.signal().mask != 0) {
      reporter().report("CLC_MULTI_REQUEST",
                        event,
                        slot(event.cta, event.address),
                        "requested for the whole cluster by " + naming().warp(event.warp) +
                            " and by " + naming().warp(last->second.issued.warp),
                        {"one thread of the cluster asks for all"});
    }
  }

  void on_query(const Event& event) {
    const auto request = requests_.find({event.cta, event.address});
    if (event.fault == Fault::kFailedResponse) {
      reporter().report("CLC_CTAID_ON_FAIL",
                        event,
                        slot(event.cta, event.address),
                        "asked for a CTA although the request failed",
                        {mend("a test of is_canceled")});
    } else if (event.fault != Fault::kNone) {
      reporter().report("CLC_RESP_ALIGN",
                        event,
                        slot(event.cta, event.address),
                        "a response is read from 16 aligned bytes of shared memory");
    }
    if (request == requests_.end()) {
      return;
    }
    request->second.asked = true;
    const auto& query = event.as<payload::ClcQuery>();
    if (query.word == 0 && query.answer == 0 && request->second.landed) {
      failures_.try_emplace(event.cta, order_.here(event));
    }
  }

  void on_exit(const Event& exit) {
    for (auto request = requests_.lower_bound({exit.cta, 0});
         request != requests_.end() && request->first.first == exit.cta;
         request = requests_.erase(request)) {
      Event at = request->second.issued;
      at.time = exit.time;
      const Object object = slot(exit.cta, request->first.second);
      if (!request->second.landed) {
        reporter().report("CLC_OUTSTANDING_AT_EXIT",
                          at,
                          object,
                          "the CTA ends while the request is on its way",
                          {mend("a wait for the response before the last warp ends")});
      } else if (const auto got = at.as<payload::ClcRequest>().got;
                 got != 0 && !request->second.asked) {
        reporter().report("CLC_WORK_LOST",
                          at,
                          object,
                          "the request got cluster " + std::to_string(got - 1) +
                              ", and the CTA ends without having read that");
      }
    }
    failures_.erase(exit.cta);
  }

  Order& order_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Request> requests_;  // last, by CTA and slot
  std::map<std::uint32_t, Point> failures_;  // the first that a CTA has seen
};

}  // namespace

std::unique_ptr<Detector> make_launch_control(Reporter& reporter, Order& order) {
  return std::make_unique<LaunchControlDetector>(reporter, order);
}

}  // namespace warptwin::sim
