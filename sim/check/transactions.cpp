#include "sim/check/transactions.hpp"

#include <unordered_map>
#include <unordered_set>

namespace warptwin::sim {

namespace {

class Impl : public Detector {
 public:
  Impl(Reporter& reporter, Order&) : Detector{reporter} {}

  void on_event(const Event& event) override {
    const bool expects = event.op == Op::kMbarrierExpectTx ||
                         (event.op == Op::kMbarrierArrive && (event.flags & event_flag::kExpectTx) != 0);
    if (expects && event.step != Step::kIssued) {
      on_expect(event);
    } else if (event.op == Op::kMbarrierCompleteTx) {
      on_complete(event, event.address, true);
    } else if (event.op == Op::kTensorLoad || event.op == Op::kBulkLoad) {
      if (event.step == Step::kWritten) {
        on_complete(event, event.peer, false);
      } else if (event.step == Step::kIssued) {
        loads_[event.serial] = announced_phase(event);
      }
    }
  }

 private:
  struct Phase {
    std::uint32_t phase = 0;
    bool hardware = false;
    bool software = false;
  };
  static std::uint64_t key(std::uint32_t cta, std::uint32_t address) {
    return std::uint64_t{cta} << 32 | address;
  }

  void on_expect(const Event& event) {
    if (event.fault == Fault::kTxOverflow) {
      reporter().report("MBAR_TX_OVERFLOW", event, barrier_name(event),
                        "expect-tx of " + std::to_string(event.bytes) + " bytes on tx-count " +
                            std::to_string(event.tx));
      return;
    }
    if (event.bytes == 0) {
      reporter().report("MBAR_TX_ZERO", event, barrier_name(event), "0 bytes are announced");
    }
    if (event.lanes > 1) {
      reporter().report("MBAR_EXPECT_MULTI_LANE", event, barrier_name(event),
                        std::to_string(event.lanes) + " lanes announce " +
                            std::to_string(event.bytes / event.lanes) + " bytes each");
    }
    // The last kind of step that should complete a phase: all had arrived, early bytes held it open.
    if (event.op == Op::kMbarrierExpectTx && (event.flags & event_flag::kPhaseCompleted) != 0) {
      reporter().report("MBAR_EXPECT_AFTER_LAST_ARRIVE", event, barrier_name(event),
                        "phase " + std::to_string(event.phase) + " was held open only by bytes that came early");
    }
    last_expect_[key(event.cta, event.address)] = event.phase;
    expecting_.insert(key(event.cta, event.address));
  }

  // The phase the latest announcement on the copy's barrier was for; without one, unknown.
  std::int64_t announced_phase(const Event& event) const {
    const auto found = last_expect_.find(key(event.peer_cta, event.peer));
    return found == last_expect_.end() ? -1 : found->second;
  }

  void on_complete(const Event& event, std::uint32_t barrier, bool software) {
    const std::uint32_t cta = software ? event.cta : event.peer_cta;
    if (event.fault == Fault::kTxUnderflow) {
      reporter().report("MBAR_TX_UNDERFLOW", event, naming().barrier(cta, barrier),
                        "complete-tx of " + std::to_string(event.bytes) + " bytes on tx-count " +
                            std::to_string(event.tx));
      return;
    }
    Phase& phase = phases_[key(cta, barrier)];
    if (phase.phase != event.phase) {
      phase = {event.phase, false, false};
    }
    (software ? phase.software : phase.hardware) = true;
    if (phase.software && phase.hardware) {
      reporter().report("MBAR_SW_COMPLETE_WITH_HW", event, naming().barrier(cta, barrier),
                        "phase " + std::to_string(event.phase) + " is completed by software and by copies");
    }
    if (software) {
      return;
    }
    const auto load = loads_.find(event.serial);
    if (load == loads_.end()) {
      return;
    }
    const std::int64_t meant = load->second;
    loads_.erase(load);
    // Issued after the announcement of `meant`, counted later: that phase did not wait for it.
    if (meant >= 0 && event.phase > static_cast<std::uint64_t>(meant) && event.fault == Fault::kNone) {
      reporter().report("MBAR_TX_WRONG_PHASE", event, naming().barrier(cta, barrier),
                        std::to_string(event.bytes) + " bytes are counted in phase " +
                            std::to_string(event.phase) + "; they were announced for phase " +
                            std::to_string(meant));
    }
  }

  std::unordered_map<std::uint64_t, std::uint32_t> last_expect_;
  std::unordered_set<std::uint64_t> expecting_;
  std::unordered_map<std::uint64_t, Phase> phases_;
  std::unordered_map<std::uint32_t, std::int64_t> loads_;
};

}  // namespace

std::unique_ptr<Detector> make_transactions(Reporter& reporter, Order& order) {
  return std::make_unique<Impl>(reporter, order);
}

}  // namespace warptwin::sim
