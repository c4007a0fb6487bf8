/// The tensor core is used by the rules: descriptors, one cta_group, who issues for a pair, and
/// commits that cover what was issued. Source: PTX ISA, "tcgen05.mma", "tcgen05.commit".

#include <map>
#include <optional>

#include "common/machine/umma_descriptor.hpp"

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

class TensorCoreDetector : public Detector {
 public:
  TensorCoreDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kTcgen05Alloc,
                  Op::kTcgen05Commit,
                  Op::kTcgen05Cp,
                  Op::kTcgen05Dealloc,
                  Op::kTcgen05Mma,
                  Op::kTcgen05Relinquish,
                  Op::kWarpExit}},
        order_{order} {
    narrow({Op::kTcgen05Commit, Op::kTcgen05Cp, Op::kTcgen05Mma}, kBegins);
  }

  void on_event(const Event& event) override {
    if (event.op == Op::kWarpExit) {
      on_exit(event);
      return;
    }
    if (event.step != Step::kIssued && event.step != Step::kDone) {
      return;
    }
    check_group(event);
    const bool issued = event.step == Step::kIssued &&
                        (event.fault == Fault::kNone || event.fault == Fault::kOtherLane);
    if (event.op == Op::kTcgen05Commit) {
      on_commit(event, issued);
    } else if (issued && (event.op == Op::kTcgen05Mma || event.op == Op::kTcgen05Cp)) {
      uncommitted_[event.warp] = {event.op, event.warp, event.site};
    }
    if (issued && event.op == Op::kTcgen05Mma) {
      check_mma(event);
    }
  }

 private:
  struct Issue {
    Op op = Op::kCount;
    std::uint32_t warp = 0;
    SourceSite site{};
  };

  static bool pair(const Event& event) { return (event.flags & event_flag::kPair) != 0; }

  // A kernel has one cta_group.
  void check_group(const Event& event) {
    if (!first_group_) {
      first_group_ = event;
    } else if (pair(*first_group_) != pair(event)) {
      reporter().report("TCGEN05_CTA_GROUP_MIX",
                        event,
                        naming().warp_object(event.warp),
                        std::string{name_of(event.op)} +
                            " with cta_group::" + (pair(event) ? "2" : "1") +
                            " in a kernel whose " + name_of(first_group_->op) + " at " +
                            naming().site(first_group_->site) + " has the other");
    }
  }

  void check_mma(const Event& event) {
    const payload::Product& product = event.product();
    const UmmaInstructionDescriptor instruction{product.instruction, product.kind};
    if ((event.flags & event_flag::kBlockScale) != 0) {
      check_block_scale(event, instruction);
    } else {
      // The fields of the kinds without scale factors.
      const std::uint32_t known = 0x1F7F9FB0U | (instruction.sparse_a() ? 7U : 0U);
      const bool whole = instruction.kind == MmaKind::kI8;
      if ((product.instruction & ~known) != 0 ||
          (product.instruction >> 4 & 3U) != (whole ? 2U : 1U)) {
        report_descriptor(event,
                          std::string{"reserved bits, or a type of D that is not "} +
                              (whole ? "s32: " : "f32: ") + std::to_string(product.instruction));
      }
    }
    const std::uint32_t lane = TmemAddress{event.address}.lane();
    const bool half = instruction.m() == 64 && !pair(event);
    if (lane != 0 && !(half && lane == 16)) {
      reporter().report("TCGEN05_D_ALIGN",
                        event,
                        Object::other("D of the MMA"),
                        "begins at lane " + std::to_string(lane) + "; M " +
                            std::to_string(instruction.m()) +
                            (half ? " begins at lane 0 or 16" : " begins at lane 0"));
    }
    if (pair(event)) {
      check_issuer(event);
    }
  }

  void report_descriptor(const Event& event, const std::string& what) {
    reporter().report(
        "TCGEN05_IDESC", event, Object::other("instruction descriptor of the MMA"), what);
  }

  void check_block_scale(const Event& event, UmmaInstructionDescriptor instruction) {
    constexpr std::uint32_t kMajors = 3U << 15;
    constexpr std::uint32_t kSparse = 1U << 2;
    const std::uint32_t known = 0x7FFE1FB0U |
                                (instruction.kind == MmaKind::kMxf8f6f4 ? kMajors : 0U) |
                                (instruction.sparse_a() ? kSparse : 0U);
    const std::uint32_t vector = scale_vector(instruction.kind);
    if ((instruction.bits & ~known) != 0) {
      report_descriptor(event, "reserved bits: " + std::to_string(instruction.bits));
    }
    if (instruction.kind != MmaKind::kMxf4nvf4 && instruction.scale_type() != ElementType::kUE8M0) {
      report_descriptor(event, "scale factors that are not ue8m0, which this kind has not");
    }
    for (const std::uint32_t byte : {instruction.scale_byte_a(), instruction.scale_byte_b()}) {
      if (byte % vector != 0) {
        report_descriptor(event,
                          std::to_string(vector) + " scale factors of a row from byte " +
                              std::to_string(byte) + " of a cell on; they begin at a multiple of " +
                              std::to_string(vector));
      }
    }
  }

  // One CTA of a pair issues for both.
  void check_issuer(const Event& event) {
    const std::uint32_t cta = naming().cta_of_warp(event.warp);
    const auto known = issuers_.try_emplace(cta / 2, event).first;
    const Event& first = known->second;
    if (naming().cta_of_warp(first.warp) != cta && first.address == event.address &&
        order_.tensor_complete(first.warp, event.warp) == 0) {
      reporter().report(
          "TCGEN05_DOUBLE_PAIR_ISSUE",
          event,
          Object::other("ctas " + std::to_string(cta & ~1U) + " and " + std::to_string(cta | 1U)),
          "both issue the pair's MMA on the same accumulator: " + naming().warp(first.warp) +
              " at " + naming().site(first.site) + " does, too",
          {mend("a test for the leader, the CTA of even rank")});
    }
  }

  void on_commit(const Event& event, bool issued) {
    if (event.fault == Fault::kBadMask || event.fault == Fault::kExitedCta) {
      reporter().report("TCGEN05_COMMIT_MASK",
                        event,
                        Object::other("mask " + std::to_string(event.as<payload::Mbarrier>().mask) +
                                      " of the commit"),
                        event.fault == Fault::kBadMask ? "names CTAs the cluster does not have"
                                                       : "names a CTA that has ended");
      return;
    }
    if (!issued) {
      return;
    }
    if (event.fault == Fault::kOtherLane) {
      reporter().report("TCGEN05_COMMIT_WRONG_THREAD",
                        event,
                        naming().barrier(event.cta, event.address),
                        "another lane of the warp has issued what is to be committed",
                        {"a commit covers what its own thread has issued, and nothing else"});
    }
    const bool nothing =
        order_.tensor_complete(event.warp, event.warp) >= order_.tensor_issued(event.warp);
    const auto own = uncommitted_.find(event.warp);
    if (nothing) {
      const Issue* other = uncommitted_of_cta(event);
      reporter().report(other != nullptr ? "TCGEN05_COMMIT_WRONG_THREAD" : "TCGEN05_COMMIT_EMPTY",
                        event,
                        naming().barrier(event.cta, event.address),
                        other != nullptr ? "the committing warp has nothing outstanding, and " +
                                               naming().warp(other->warp) + " has, since " +
                                               naming().site(other->site)
                                         : "nothing is outstanding: it arrives at once",
                        {"a commit covers what its own thread has issued, and nothing else"});
    }
    if (own != uncommitted_.end()) {
      uncommitted_.erase(own);
    }
  }

  const Issue* uncommitted_of_cta(const Event& event) const {
    for (const auto& [warp, issue] : uncommitted_) {
      if (warp != event.warp && naming().cta_of_warp(warp) == naming().cta_of_warp(event.warp)) {
        return &issue;
      }
    }
    return nullptr;
  }

  void on_exit(const Event& event) {
    const auto open = uncommitted_.find(event.warp);
    if (open == uncommitted_.end()) {
      return;
    }
    Event at = event;
    at.site = open->second.site;
    reporter().report("TCGEN05_COMMIT_MISSING",
                      at,
                      naming().warp_object(event.warp),
                      std::string{name_of(open->second.op)} +
                          " is never committed: nobody can know that it is complete",
                      {mend("tcgen05.commit after it, by the same thread")});
    uncommitted_.erase(open);
  }

  Order& order_;
  std::optional<Event> first_group_;
  std::map<std::uint32_t, Issue> uncommitted_;  // a warp's last issue that no commit follows
  std::map<std::uint32_t, Event> issuers_;      // first MMA of each pair
};

}  // namespace

std::unique_ptr<Detector> make_tensor_core(Reporter& reporter, Order& order) {
  return std::make_unique<TensorCoreDetector>(reporter, order);
}

}  // namespace warptwin::sim
