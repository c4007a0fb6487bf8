/// An mbarrier is used only while it is one: initialised, aligned, in its own memory, not
/// clobbered.

#include <iterator>
#include <map>

#include "sim/check/detectors/detectors.hpp"
#include "sim/check/footprint.hpp"

namespace warptwin::sim {

namespace {

class BarrierLifeDetector : public Detector {
 public:
  BarrierLifeDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kClcTryCancel,
                  Op::kCtaExit,
                  Op::kMbarrierArrive,
                  Op::kMbarrierCompleteTx,
                  Op::kMbarrierExpectTx,
                  Op::kMbarrierInit,
                  Op::kMbarrierInval,
                  Op::kMbarrierTryWait,
                  Op::kMbarrierWait,
                  Op::kSharedLoad,
                  Op::kSharedStore,
                  Op::kTcgen05Commit,
                  Op::kTensorLoad}} {
    narrow({Op::kSharedLoad}, {});
  }

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kMbarrierInit:
        on_init(event);
        break;
      case Op::kMbarrierInval:
        if (event.fault == Fault::kInUse) {
          const payload::BarrierState& state = event.state();
          reporter().report("MBAR_INVAL_IN_USE",
                            event,
                            barrier_of(event),
                            "invalidated in phase " + std::to_string(event.phase) + " with " +
                                std::to_string(state.expected - state.pending) +
                                " arrivals and tx-count " + std::to_string(state.tx));
        }
        live_.erase({event.cta, event.address});
        on_access(event, event.address);
        break;
      case Op::kCtaExit:
        on_exit(event);
        break;
      case Op::kMbarrierArrive:
      case Op::kMbarrierExpectTx:
      case Op::kMbarrierCompleteTx:
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        on_access(event, event.address);
        break;
      case Op::kTcgen05Commit:
        on_access(event, event.address);
        break;
      case Op::kTensorLoad:
      case Op::kBulkLoad:
      case Op::kClcTryCancel:
        if (event.step == Step::kIssued) {
          on_write(event, event.address, event.bytes);
        } else if (event.step == Step::kWritten) {
          on_access(event, event.signal().barrier);
        }
        break;
      case Op::kSharedLoad:
      case Op::kSharedStore:
        if (event.fault == Fault::kOverlap) {
          reporter().report("MBAR_MEM_CLOBBER",
                            event,
                            naming().barrier(event.cta, event.address & ~7U),
                            std::string{name_of(event.op)} + " on the bytes of a live mbarrier");
        } else if (event.op == Op::kSharedStore && event.rows() != nullptr) {
          on_rows(event, *event.rows());
        }
        break;
      default:
        break;
    }
  }

 private:
  using Live = std::map<std::pair<std::uint32_t, std::uint32_t>, SourceSite>;  // by CTA and address

  void on_exit(const Event& event) {
    const auto first = live_.lower_bound({event.cta, 0});
    const auto end = live_.lower_bound({event.cta + 1, 0});
    if (first != end) {
      Event at = event;
      at.site = first->second;
      reporter().report(
          "MBAR_NOT_INVALIDATED",
          at,
          naming().barrier(event.cta, first->first.second),
          std::to_string(std::distance(first, end)) + " mbarriers are valid when the CTA ends");
    }
    live_.erase(first, end);
  }

  void on_init(const Event& event) {
    const auto& said = event.as<payload::Mbarrier>();
    live_[{event.cta, event.address}] = event.site;
    if (event.fault == Fault::kBadCount) {
      reporter().report(
          "MBAR_INIT_COUNT",
          event,
          barrier_of(event),
          "initialised with count " + std::to_string(said.arrivals) + "; legal are 1 to 1048575");
    } else if (event.fault == Fault::kAlreadyInitialised) {
      Finding finding = reporter().make(
          "MBAR_REINIT_LIVE",
          event,
          barrier_of(event),
          "initialised again in phase " + std::to_string(event.phase) + " without mbarrier.inval");
      if (said.was_idle && reporter().rules().reinit_idle_warns) {
        finding.severity = Severity::kWarning;
      }
      reporter().report(std::move(finding));
    } else {
      on_access(event, event.address);
    }
  }

  // The first live mbarrier of the CTA that `bytes` from `begin` on meet, or none.
  Live::const_iterator met(std::uint32_t cta, std::uint32_t begin, std::uint32_t bytes) const {
    constexpr std::uint32_t kBefore = kMbarrierBytes - 1;
    const auto first = live_.lower_bound({cta, begin < kBefore ? 0 : begin - kBefore});
    const bool meets = first != live_.end() && first->first < std::pair{cta, begin + bytes};
    return meets ? first : live_.end();
  }

  void on_write(const Event& event, std::uint32_t begin, std::uint32_t bytes) {
    const auto barrier = met(event.cta, begin, bytes);
    if (barrier != live_.end()) {
      reporter().report("MBAR_MEM_CLOBBER",
                        event,
                        naming().barrier(event.cta, barrier->first.second),
                        std::string{name_of(event.op)} + " writes " + std::to_string(bytes) +
                            " bytes from " + std::to_string(begin) + " on, over a live mbarrier");
    }
  }

  // A warp's rows of a tile.
  void on_rows(const Event& event, const payload::Rows& rows) {
    const std::uint32_t begin = first_byte(event, rows);
    if (met(event.cta, begin, (rows.rows - 1) * rows.pitch + event.bytes) == live_.end()) {
      return;
    }
    for (std::uint32_t row = 0; row < rows.rows; ++row) {
      on_write(event, begin + row * rows.pitch, event.bytes);
    }
  }

  void on_access(const Event& event, std::uint32_t address) {
    if (event.fault == Fault::kNone) {
      return;
    }
    const Object object = naming().barrier(event.cta, address);
    if (event.fault == Fault::kUninitialised) {
      reporter().report("MBAR_UNINIT",
                        event,
                        object,
                        std::string{name_of(event.op)} + " where no mbarrier has been initialised");
    } else if (event.fault == Fault::kMisaligned) {
      reporter().report("MBAR_MISALIGNED", event, object, "the address is not a multiple of 8");
    } else if (event.fault == Fault::kOutOfRange) {
      const bool wait = event.op == Op::kMbarrierWait || event.op == Op::kMbarrierTryWait;
      reporter().report(wait ? "MBAR_WAIT_REMOTE" : "MBAR_SPACE",
                        event,
                        object,
                        wait ? "a wait works on the own CTA's mbarriers only"
                             : "the address is outside the shared memory it must be in");
    }
  }

  Live live_;
};

}  // namespace

std::unique_ptr<Detector> make_barrier_life(Reporter& reporter, Order& order) {
  return std::make_unique<BarrierLifeDetector>(reporter, order);
}

}  // namespace warptwin::sim
