// A wait observes what the phases before its own were told: each operation on an mbarrier goes on
// from the one before (PTX ISA, "Observation order").

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::phases_before_test {

// A makes both arrivals of phase 0. B and C look at it relaxed, and make one each of phase 1. C
// waits for that as `c_waits` says and reads what A has written.
struct Threads {
  std::string a;
  std::string c_waits;
};

constexpr char kRelaxed0[] =
    "  mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p3, [%r30], 0;\n";
constexpr char kRelaxed1[] =
    "  mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p3, [%r30], 1;\n";
constexpr char kAcquire1[] = "  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r30], 1;\n";
constexpr char kStore[] = "  st.shared.u32 [%r20], 7;\n";
constexpr char kArrive[] = "  mbarrier.arrive.shared::cta.b64 %rd9, [%r30];\n";
constexpr char kBoth[] = "  mbarrier.arrive.shared::cta.b64 %rd9, [%r30], 2;\n";
constexpr char kBothRelaxed[] = "  mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd9, [%r30], 2;\n";
constexpr char kCopy[] =
    "  mbarrier.arrive.expect_tx.shared::cta.b64 %rd9, [%r30], 16;\n"
    "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd1], 16, "
    "[%r30];\n  mbarrier.arrive.shared::cta.b64 %rd9, [%r30];\n";

OneKernel kernel_of(const Threads& threads) {
  OneKernel kernel;
  kernel.threads = 96;
  kernel.in.resize(4);
  std::iota(kernel.in.begin(), kernel.in.end(), 7);
  const auto wait = [](const std::string& name, const std::string& tried) {
    return name + ":\n" + tried + "  @!%p3 bra " + name + ";\n";
  };
  kernel.body =
      "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 4096;\n  setp.ne.u32 %p1, %r1, 0;\n"
      "  @%p1 bra MEET;\n  mbarrier.init.shared::cta.b64 [%r30], 2;\nMEET:\n  bar.sync 0;\n"
      "  and.b32 %r9, %r1, 31;\n  setp.ne.u32 %p1, %r9, 0;\n  @%p1 bra LAST;\n"
      "  setp.eq.u32 %p1, %r1, 32;\n  @%p1 bra B;\n  setp.eq.u32 %p1, %r1, 64;\n  @%p1 bra C;\n" +
      threads.a + "  bra LAST;\nB:\n" + wait("B0", kRelaxed0) + kArrive + "  bra LAST;\nC:\n" +
      wait("C0", kRelaxed0) + kArrive + wait("C1", threads.c_waits) +
      "  ld.shared.u32 %r2, [%r20];\n  st.global.u32 [%rd2], %r2;\nLAST:\n";
  return kernel;
}

TEST(PtxPhasesBefore, AreObservedByAWaitForALaterOne) {
  for (const std::string& a : {std::string{kStore} + kBoth, std::string{kCopy}}) {
    const OneKernel kernel = kernel_of({a, kAcquire1});
    EXPECT_EQ(run_of(kernel).out[0], 7U) << a;
    expect_proved(kernel);
  }
}

TEST(PtxPhasesBefore, AreNotObservedByRelaxedWaits) {
  expect_found(kernel_of({std::string{kStore} + kBoth, kRelaxed1}), "MBAR_RELAXED_NO_FENCE");
  expect_found(kernel_of({kCopy, kRelaxed1}), "SMEM_RAW_NO_WAIT");
}

TEST(PtxPhasesBefore, AreToldWhatIsReleasedInThem) {
  for (const std::string& a : {std::string{kStore} + kBothRelaxed, std::string{kBoth} + kStore}) {
    expect_found(kernel_of({a, kAcquire1}), "MBAR_RELAXED_NO_FENCE");
  }
}

}  // namespace warptwin::sim::phases_before_test
