// One lane of a warp waits alone, and its warp goes on. All lanes have caught up with it when they
// have acquired what it released behind its wait.

#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::lone_waits_test {

// A loop that waits for the barrier at `at` bytes.
std::string wait(const std::string& label,
                 const std::string& at,
                 const std::string& parity = "0",
                 const std::string& how = "") {
  return label + ":\n  mbarrier.try_wait.parity" + how + ".shared::cta.b64 %p7, [%r2+" + at +
         "], " + parity + ";\n  @!%p7 bra " + label + ";\n";
}
std::string arrive(const std::string& at, const std::string& how = "") {
  return "  mbarrier.arrive" + how + ".shared::cta.b64 %rd3, [%r2+" + at + "];\n";
}

// All of warp 0 do `before`, then its lane 0 does `lane`, and all do `all`; lane 0 of warp 1 does
// `other`.
struct Lone {
  std::string lane;
  std::string all;
  std::string other{};
  std::string before{};
};

// Four barriers, of one arrival each, the last of two. All threads have stored to `tile`, of which
// %r4 is the word of the thread's lane.
// If it `gathers`, all lanes come to one place behind `lane`, without an order of memory.
OneKernel kernel_of(const Lone& lone, bool gathers) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body =
      "  .shared .align 8 .b64 bar[4];\n  mov.u32 %r2, bar;\n  mov.u32 %r3, tile;\n"
      "  and.b32 %r5, %r1, 31;\n  mad.lo.u32 %r4, %r5, 4, %r3;\n"
      "  mad.lo.u32 %r7, %r1, 4, %r3;\n  st.shared.u32 [%r7], %r1;\n"
      "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra READY;\n  mbarrier.init.shared.b64 [%r2], 1;\n"
      "  mbarrier.init.shared.b64 [%r2+8], 1;\n  mbarrier.init.shared.b64 [%r2+16], 1;\n"
      "  mbarrier.init.shared.b64 [%r2+24], 2;\nREADY:\n"
      "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n"
      "  setp.ge.u32 %p2, %r1, 32;\n  @%p2 bra OTHER;\n" +
      lone.before + "  @%p1 bra ALL;\n" + lone.lane + "ALL:\n" +
      (gathers ? "  shfl.sync.idx.b32 %r9, %r5, 0, 31, -1;\n" : "") + lone.all +
      "  bra LAST;\nOTHER:\n  setp.ne.u32 %p4, %r1, 32;\n  @%p4 bra LAST;\n" + lone.other +
      "LAST:\n";
  return kernel;
}

void expect_right(const Lone& lone) {
  expect_proved(kernel_of(lone, false));
  expect_proved(kernel_of(lone, true));
}

// Where lanes come one by one, it is what they touch that is named.
void expect_missing(const Lone& lone, const char* touched = "SMEM_RACE") {
  expect_found(kernel_of(lone, false), touched);
  expect_found(kernel_of(lone, true), "WARP_SYNC_MISSING");
}

constexpr char kStore[] =
    "  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 128;\n"
    "  cp.async.bulk.commit_group;\n";
constexpr char kStored[] = "  cp.async.bulk.wait_group.read 0;\n";
constexpr char kReuse[] = "  st.shared.u32 [%r4], %r5;\n";
constexpr char kRead[] = "  ld.shared.u32 %r6, [%r4+2048];\n";
// What kRead reads, by lane 0 of the other warp.
std::string filled() {
  std::string stores;
  for (int word = 0; word < 32; ++word) {
    stores += "  st.shared.u32 [%r3+" + std::to_string(2048 + 4 * word) + "], %r1;\n";
  }
  return stores;
}

// As FlashAttention-3 hands its tile of O from a store to the next one.
TEST(PtxLoneWaits, ForABulkStoreAreHandedOnByABarrier) {
  const std::string lane = std::string{kStore} + kStored + arrive("0");
  expect_right({lane, wait("W", "0") + kReuse});
  expect_missing({lane, kReuse}, "WARP_SYNC_MISSING");
  // It has told before it waited.
  expect_missing({kStore + arrive("0") + kStored, wait("W", "0") + kReuse}, "WARP_SYNC_MISSING");
}

// As FlashAttention-3 stores its P for the next tile of O.
TEST(PtxLoneWaits, ForABulkStoreConcernWhatItReadsAlone) {
  const std::string lane = std::string{kStore} + kStored;
  expect_right({lane, "  st.shared.u32 [%r4+2048], %r5;\n"});
  expect_right({lane, "  st.shared.u32 [%r4+128], %r5;\n"});
  expect_missing({lane, "  st.shared.u32 [%r4+64], %r5;\n"}, "WARP_SYNC_MISSING");
  expect_missing({lane, "  st.shared.u32 [%r4+2048], %r5;\n" + std::string{kReuse}},
                 "WARP_SYNC_MISSING");
  // Of two stores the second is waited for, and with it the first.
  const std::string further =
      "  cp.async.bulk.global.shared::cta.bulk_group [%rd2+1024], [%r3+1024], 128;\n"
      "  cp.async.bulk.commit_group;\n";
  expect_missing({kStore + further + kStored, kReuse}, "WARP_SYNC_MISSING");
}

TEST(PtxLoneWaits, ForABarrierAreHandedOnByAnother) {
  const std::string other = filled() + arrive("8");
  const std::string lane = wait("X", "8") + arrive("0");
  expect_right({lane, wait("W", "0") + kRead, other});
  expect_missing({lane, kRead + wait("W", "0"), other});
  expect_missing({arrive("0") + wait("X", "8"), wait("W", "0") + kRead, other});
  // By way of the other warp.
  const std::string there_and_back = other + wait("Y", "16") + arrive("0");
  expect_right({wait("X", "8") + arrive("16"), wait("W", "0") + kRead, there_and_back});
}

// A try that says no lets nobody go on, and the wait behind it does what is needed.
TEST(PtxLoneWaits, MayBeFollowedByATry) {
  const std::string other = filled() + arrive("8");
  const std::string peek =
      "  mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2], 0;\n  @%p5 bra GO;\n" +
      wait("W", "0") + "GO:\n" + kRead;
  expect_right({wait("X", "8") + arrive("16"), peek, other + wait("Y", "16") + arrive("0")});
  expect_missing({wait("X", "8"), peek, arrive("0") + other});
}

// Lane 0 arrives in phase 1 when it has waited for its store; phase 0 was before. The other warp
// completes phase 1 when lane 0 has waited, or when warp 0 has no more to do.
TEST(PtxLoneWaits, AreNotHandedOnByAnEarlierPhase) {
  const auto waiting_for = [](const std::string& parity, const std::string& completes) {
    Lone lone;
    lone.before = "  @!%p1 mbarrier.arrive.shared::cta.b64 %rd3, [%r2+24];\n" + wait("Z", "24") +
                  "  bar.warp.sync -1;\n";
    lone.lane = kStore + std::string{kStored} + arrive("24") + arrive("0");
    lone.all = wait("W", "24", parity) + kReuse +
               "  bar.warp.sync -1;\n  @!%p1 mbarrier.arrive.shared::cta.b64 %rd3, [%r2+16];\n";
    lone.other = arrive("24") + wait("Y", "24") + wait("V", completes) + arrive("24");
    return lone;
  };
  expect_right(waiting_for("1", "0"));
  expect_missing(waiting_for("0", "16"), "WARP_LANES_NOT_RELEASED");
}

TEST(PtxLoneWaits, AreNotHandedOnToSomeLanes) {
  const std::string lane = wait("X", "8") + arrive("0");
  const std::string some = "  setp.ge.u32 %p5, %r1, 16;\n  @%p5 bra REST;\n" + wait("W", "0");
  const std::string other = filled() + arrive("8");
  for (const bool gathers : {false, true}) {
    expect_found(kernel_of({lane, some + "REST:\n" + kRead, other}, gathers), "SMEM_RACE");
  }
  // The rest waits as well.
  expect_right({lane, some + "  bra MET;\nREST:\n" + wait("R", "0") + "MET:\n" + kRead, other});
}

TEST(PtxLoneWaits, AreNotHandedOnByWhatIsRelaxed) {
  const std::string other = filled() + arrive("8");
  const std::string relaxed = ".relaxed.cta";
  expect_missing({wait("X", "8") + arrive("0", relaxed), wait("W", "0") + kRead, other});
  expect_missing({wait("X", "8") + arrive("0"), wait("W", "0", "0", relaxed) + kRead, other},
                 "MBAR_RELAXED_NO_FENCE");
}

// What the lane learns behind its release the others do not know.
TEST(PtxLoneWaits, AreEachHandedOn) {
  const std::string other = arrive("16") + filled() + arrive("8");
  const std::string again = wait("X", "16") + arrive("0") + wait("Y", "8");
  expect_missing({again, wait("W", "0") + kRead, other});
  // A fence makes an acquire of the wait.
  const std::string relaxed = wait("X", "8", "0", ".relaxed.cta");
  const std::string acquires = "  fence.acq_rel.cta;\n";
  const std::string from = filled() + arrive("8");
  expect_missing({relaxed + arrive("0") + acquires, wait("W", "0") + kRead, from});
  expect_right({relaxed + acquires + arrive("0"), wait("W", "0") + kRead, from});
}

}  // namespace warptwin::sim::lone_waits_test
