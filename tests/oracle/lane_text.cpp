#include <sstream>

#include "tests/oracle/lane_program.hpp"

namespace warptwin::lanes {

namespace {

constexpr std::uint32_t kBarriersAt = 256;  // bytes of `tile`
constexpr std::size_t kAnswersAt = 32;      // registers

// The words of `in` in front of what is copied.
std::uint32_t words_before(const LaneProgram& program) {
  const std::uint32_t words = program.flags + program.words - program.shared_words;
  return (words + 3) / 4 * 4;
}

class Text {
 public:
  explicit Text(const LaneProgram& program) : program_{program} {}

  std::string all() {
    text_ << "  mov.u32 %r20, tile;\n  and.b32 %r2, %r1, 31;\n  shr.u32 %r3, %r1, 5;\n"
             "  mov.u32 %r8, %ctaid.x;\n  mad.lo.u32 %r3, %r3, "
          << program_.ctas
          << ", %r8;\n  mov.u32 %r9, %ntid.x;\n  mad.lo.u32 %r8, %r8, %r9, %r1;\n"
             "  mul.wide.u32 %rd5, %r8, 4;\n  add.u64 %rd5, %rd2, %rd5;\n  mov.u32 %r11, 1;\n"
             "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra BEGUN;\n";
    for (std::size_t b = 0; b < program_.counts.size(); ++b) {
      text_ << "  mbarrier.init.shared::cta.b64 [%r20+" << kBarriersAt + 8 * b << "], "
            << program_.counts[b] << ";\n";
    }
    text_ << "BEGUN:\n  bar.sync 0;\n";
    skip_unless(program_.live, "END");
    for (std::uint32_t warp = 0; warp < program_.warps; ++warp) {
      text_ << "  setp.ne.u32 %p2, %r3, " << warp << ";\n  @%p2 bra WARP" << warp << ";\n";
      std::uint32_t asked = 0;  // lanes of which one goes on; `out` is not to say which
      for (std::size_t i = 0; i < program_.steps.size(); ++i) {
        const Step& one = program_.steps[i];
        if (one.warp == warp) {
          step(one, i, (one.lanes & ~asked) == 0);
          asked |= one.kind == Kind::kAskLast ? one.lanes : 0;
        }
      }
      text_ << "DONE" << warp << ":\n  st.global.u32 [%rd5], %r11;\n  bra END;\nWARP" << warp
            << ":\n";
    }
    text_ << "END:\n";
    return text_.str();
  }

 private:
  void skip_unless(std::uint32_t lanes, const std::string& label) {
    text_ << "  mov.u32 %r4, " << lanes << ";\n  shr.u32 %r4, %r4, %r2;\n"
          << "  and.b32 %r4, %r4, 1;\n  setp.eq.u32 %p4, %r4, 0;\n  @%p4 bra " << label << ";\n";
  }

  std::string word(std::uint32_t object) const {
    if (object < program_.shared_words) {
      return "[%r20+" + std::to_string((program_.copies ? kCopyBytes : 4) * object) + "]";
    }
    return "[%rd1+" + std::to_string(4 * (program_.flags + object - program_.shared_words)) + "]";
  }

  static const char* update(const Step& step) {
    constexpr const char* kWords[] = {".add.u32 ", ".max.u32 ", ".or.b32 "};
    return kWords[static_cast<std::size_t>(step.update)];
  }

  // Whether %r6 is not what is waited for: %p5.
  static std::string fails(const Step& step) {
    const std::string value = std::to_string(step.value);
    switch (step.test) {
      case Test::kEqual:
        return "  setp.ne.u32 %p5, %r6, " + value;
      case Test::kNotOneLess:
        return "  setp.eq.u32 %p5, %r6, " + std::to_string(step.value - 1);
      case Test::kAnyBit:
        return "  and.b32 %r6, %r6, " + value + ";\n  setp.eq.u32 %p5, %r6, 0";
      case Test::kAtLeast:
        break;
    }
    return "  setp.lt.u32 %p5, %r6, " + value;
  }

  void copy(const Step& step) {
    const std::string barrier = "[%r20+" + std::to_string(kBarriersAt + 8 * step.value) + "]";
    const std::string source = "[%rd1+" + std::to_string(4 * words_before(program_)) + "]";
    const char* const counts = ".shared::cluster.mbarrier::complete_tx::bytes";
    switch (step.copy) {
      case Copy::kBulk:
        text_ << "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
              << word(step.object) << ", " << source << ", " << kCopyBytes << ", " << barrier
              << ";\n";
        break;
      case Copy::kStore:
        text_ << "  mov.u32 %r5, " << step.data << ";\n  st.async" << counts << ".u32 "
              << word(step.object) << ", %r5, " << barrier << ";\n";
        break;
      case Copy::kReduce:
        text_ << "  mov.u32 %r5, " << step.data << ";\n  red.async.relaxed.cluster" << counts
              << ".add.u32 " << word(step.object) << ", %r5, " << barrier << ";\n";
        break;
      case Copy::kCounted:
      case Copy::kPending:
        text_ << "  cp.async.ca.shared.global " << word(step.object) << ", " << source << ", "
              << kWordBytes << ";\n  cp.async.mbarrier.arrive"
              << (step.copy == Copy::kCounted ? ".noinc" : "") << ".shared::cta.b64 " << barrier
              << ";\n";
        break;
    }
  }

  void step(const Step& step, std::size_t number, bool unsaid) {
    const std::string end = "STEP" + std::to_string(number);
    const bool parts = step.lanes != program_.live;
    if (parts) {
      skip_unless(step.lanes, end);
    }
    const char* space = step.object < program_.shared_words ? "shared" : "global";
    const std::string barrier = "[%r20+" + std::to_string(kBarriersAt + 8 * step.object) + "]";
    const std::string flag = "[%rd1+" + std::to_string(4 * step.object) + "]";
    const std::string scope = step.near ? ".cta" : ".gpu";
    const std::string gives = (step.relaxed ? ".relaxed" : ".release") + scope;
    const std::string takes = (step.relaxed ? ".relaxed" : ".acquire") + scope;
    const std::string weak = step.relaxed ? ".relaxed.cta" : "";
    switch (step.kind) {
      case Kind::kStore:
        text_ << "  mov.u32 %r5, " << step.value << ";\n  st." << space << ".u32 "
              << word(step.object) << ", %r5;\n";
        break;
      case Kind::kLoad:
        text_ << "  ld." << space << ".u32 %r10, " << word(step.object)
              << (unsaid ? ";\n" : ";\n  mad.lo.u32 %r11, %r11, 31, %r10;\n");
        break;
      case Kind::kAdd:
        text_ << "  red.relaxed" << scope << "." << space << update(step) << word(step.object)
              << ", " << step.value << ";\n";
        break;
      case Kind::kArrive:
        text_ << "  mbarrier.arrive" << weak << ".shared::cta.b64 %rd9, " << barrier << ";\n";
        break;
      case Kind::kWait:
        text_ << "LOOK" << number << ":\n  mbarrier.try_wait.parity" << weak
              << ".shared::cta.b64 %p5, " << barrier << ", " << step.value << ";\n  @!%p5 bra LOOK"
              << number << ";\n";
        break;
      case Kind::kSet:
        text_ << "  mov.u32 %r5, " << step.value << ";\n  st" << gives << ".global.u32 " << flag
              << ", %r5;\n";
        break;
      case Kind::kBump:
        text_ << "  red" << gives << ".global" << update(step) << flag << ", "
              << (step.update == Update::kAdds ? 1 : step.value) << ";\n";
        break;
      case Kind::kAskLast:
        text_ << "  atom" << (step.relaxed ? ".relaxed" : ".acq_rel") << scope
              << ".global.add.u32 %r" << kAnswersAt + number % 64 << ", " << flag
              << ", 1;\n  setp.ne.u32 %p5, %r" << kAnswersAt + number % 64 << ", " << step.value - 1
              << ";\n  @%p5 bra DONE" << step.warp << ";\n";
        break;
      case Kind::kAwait:
        text_ << "LOOK" << number << ":\n  ld" << takes << ".global.u32 %r6, " << flag << ";\n"
              << fails(step) << ";\n  @%p5 bra LOOK" << number << ";\n";
        break;
      case Kind::kSync:
        text_ << "  bar.warp.sync " << step.lanes << ";\n";
        break;
      case Kind::kShuffle:
        text_ << "  shfl.sync.idx.b32 %r7, %r2, 0, 31, " << step.lanes << ";\n";
        break;
      case Kind::kFence:
        text_ << "  fence.acq_rel" << scope << ";\n";
        break;
      case Kind::kExpect:
        text_ << "  mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, " << barrier << ", "
              << step.value << ";\n";
        break;
      case Kind::kCopy:
        copy(step);
        break;
    }
    const bool accesses =
        step.kind == Kind::kStore || step.kind == Kind::kLoad || step.kind == Kind::kAdd;
    if (program_.copies && accesses && step.object < program_.shared_words) {
      text_ << "  fence.proxy.async.shared::cta;\n";
    }
    if (parts) {
      text_ << end << ":\n";
    }
  }

  const LaneProgram& program_;
  std::ostringstream text_;
};

}  // namespace

std::string ptx_of(const LaneProgram& program) {
  return Text{program}.all();
}

std::string listing_of(const LaneProgram& program) {
  constexpr const char* kNames[] = {"store",
                                    "load",
                                    "add",
                                    "arrive",
                                    "wait",
                                    "set",
                                    "bump",
                                    "await",
                                    "bar.warp.sync",
                                    "shuffle",
                                    "fence",
                                    "arrive/expect",
                                    "copy",
                                    "ask"};
  std::ostringstream text;
  for (std::size_t b = 0; b < program.counts.size(); ++b) {
    text << "mbarrier " << b << ": " << program.counts[b] << " arrivals\n";
  }
  for (const Step& step : program.steps) {
    text << "warp " << step.warp << ", lanes";
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if ((step.lanes >> lane & 1U) != 0) {
        text << " " << lane;
      }
    }
    text << ": " << kNames[static_cast<std::size_t>(step.kind)];
    switch (step.kind) {
      case Kind::kStore:
      case Kind::kLoad:
      case Kind::kAdd:
        text << (step.object < program.shared_words ? " shared word " : " global word ")
             << step.object;
        break;
      case Kind::kArrive:
      case Kind::kExpect:
        text << " at mbarrier " << step.object;
        break;
      case Kind::kCopy:
        text << (step.copy == Copy::kStore     ? " st.async"
                 : step.copy == Copy::kReduce  ? " red.async"
                 : step.copy == Copy::kCounted ? " cp.async .noinc"
                 : step.copy == Copy::kPending ? " cp.async"
                                               : "")
             << " to shared word " << step.object << ", by mbarrier " << step.value;
        break;
      case Kind::kWait:
        text << " for mbarrier " << step.object << ", parity " << step.value;
        break;
      case Kind::kSet:
        text << " flag " << step.object << " to " << step.value;
        break;
      case Kind::kBump:
        text << " flag " << step.object;
        break;
      case Kind::kAwait:
        text << " flag " << step.object
             << (step.test == Test::kEqual        ? " at exactly "
                 : step.test == Test::kNotOneLess ? " at not one less than "
                 : step.test == Test::kAnyBit     ? " at any bit of "
                                                  : " at ")
             << step.value;
        break;
      case Kind::kAskLast:
        text << " flag " << step.object << " whether it is the last of " << step.value;
        break;
      case Kind::kSync:
      case Kind::kShuffle:
      case Kind::kFence:
        break;
    }
    text << (step.update == Update::kMax ? ", max" : step.update == Update::kOr ? ", or" : "");
    text << (step.relaxed ? ", relaxed" : "") << (step.near ? ", of the CTA" : "") << "\n";
  }
  return text.str();
}

std::uint32_t input_words(const LaneProgram& program) {
  return words_before(program) + kCopyBytes / 4;
}

}  // namespace warptwin::lanes
