/// The bytes a phase announces are the bytes its copies deliver, in that phase.

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class TransactionsDetector : public Detector {
 public:
  TransactionsDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kClcTryCancel,
                  Op::kMbarrierArrive,
                  Op::kMbarrierCompleteTx,
                  Op::kMbarrierExpectTx,
                  Op::kTcgen05Commit,
                  Op::kTensorLoad}} {
    narrow({Op::kBulkLoad, Op::kClcTryCancel, Op::kTensorLoad}, {Step::kWritten, Step::kCounted});
  }

  void on_event(const Event& event) override {
    const bool expects =
        event.op == Op::kMbarrierExpectTx ||
        (event.op == Op::kMbarrierArrive && (event.flags & event_flag::kExpectTx) != 0);
    if (expects && event.step != Step::kIssued) {
      on_expect(event);
    } else if (event.op == Op::kMbarrierCompleteTx) {
      if (event.step != Step::kIssued) {
        on_complete(event, event.address, true);
      }
    } else if (is_load(event.op)) {
      if (event.step == Step::kWritten || event.step == Step::kCounted) {
        on_complete(event, event.signal().barrier, false);
      }
    }
    if ((event.flags & event_flag::kPhaseCompleted) != 0 && event.op != Op::kBarSync &&
        event.op != Op::kBarArrive) {
      const bool copy = is_load(event.op);
      on_phase(event,
               copy ? event.signal().barrier_cta : event.cta,
               copy ? event.signal().barrier : event.address);
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
    const bool copies = (event.flags & event_flag::kOfCopies) != 0;  // no bytes, but arrivals
    if (event.fault == Fault::kTxOverflow) {
      reporter().report("MBAR_TX_OVERFLOW",
                        event,
                        barrier_of(event),
                        "expect-tx of " + std::to_string(event.bytes) + " bytes on tx-count " +
                            std::to_string(event.state().tx));
      return;
    }
    if (event.bytes == 0) {
      reporter().report("MBAR_TX_ZERO", event, barrier_of(event), "0 bytes are announced");
    }
    if (event.lanes > 1 && !copies) {
      reporter().report("MBAR_EXPECT_MULTI_LANE",
                        event,
                        barrier_of(event),
                        std::to_string(event.lanes) + " lanes announce " +
                            std::to_string(event.bytes / event.lanes) + " bytes each");
    }
    // The last kind of step that should complete a phase: all had arrived, early bytes held it
    // open.
    if (event.op == Op::kMbarrierExpectTx && (event.flags & event_flag::kPhaseCompleted) != 0) {
      reporter().report(
          "MBAR_EXPECT_AFTER_LAST_ARRIVE",
          event,
          barrier_of(event),
          "phase " + std::to_string(event.phase) + " was held open only by bytes that came early");
    }
    announced_[key(event.cta, event.address)] += event.bytes;
  }

  void on_complete(const Event& event, std::uint32_t barrier, bool software) {
    const std::uint32_t cta = software ? event.cta : event.signal().barrier_cta;
    if (event.fault == Fault::kTxUnderflow) {
      reporter().report("MBAR_TX_UNDERFLOW",
                        event,
                        naming().barrier(cta, barrier),
                        "complete-tx of " + std::to_string(event.bytes) + " bytes on tx-count " +
                            std::to_string(event.state().tx));
      return;
    }
    Phase& phase = phases_[key(cta, barrier)];
    if (phase.phase != event.phase) {
      phase = {event.phase, false, false};
    }
    const bool copies = (event.flags & event_flag::kOfCopies) != 0;
    (software && !copies ? phase.software : phase.hardware) = true;
    if (event.state().tx < 0) {
      reporter().report(
          "MBAR_TX_NEGATIVE",
          event,
          naming().barrier(cta, barrier),
          std::to_string(-event.state().tx) + " bytes have come that are not announced yet");
    }
    if (phase.software && phase.hardware) {
      reporter().report(
          "MBAR_SW_COMPLETE_WITH_HW",
          event,
          naming().barrier(cta, barrier),
          "phase " + std::to_string(event.phase) + " is completed by software and by copies");
    }
  }

  // A phase of a barrier that was declared to carry bytes is complete.
  void on_phase(const Event& event, std::uint32_t cta, std::uint32_t address) {
    const Region* region = naming().symbols().find(address);
    const auto found = announced_.find(key(cta, address));
    const std::uint64_t bytes = found == announced_.end() ? 0 : found->second;
    if (region != nullptr && region->kind == RegionKind::kBarriers &&
        bytes < region->contract.bytes) {
      reporter().report("MBAR_TX_WRONG_PHASE",
                        event,
                        naming().barrier(cta, address),
                        "phase " + std::to_string(event.phase) + " is complete with " +
                            std::to_string(bytes) + " of its " +
                            std::to_string(region->contract.bytes) + " bytes announced",
                        {"who waits for it passes before the data; what is announced later counts "
                         "in the next phase"});
    }
    if (found != announced_.end()) {
      found->second = 0;
    }
  }

  HashMap<std::uint64_t, std::uint64_t> announced_;  // bytes, in the current phase
  HashMap<std::uint64_t, Phase> phases_;
};

}  // namespace

std::unique_ptr<Detector> make_transactions(Reporter& reporter, Order& order) {
  return std::make_unique<TransactionsDetector>(reporter, order);
}

}  // namespace warptwin::sim
