// What nobody knows among the operands of an MMA in shared memory: each sum that it is in is
// unknown, and no other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::unknown_operands_test {

using testing::HasSubstr;

constexpr std::uint32_t kAddressOfA = 4096;
constexpr std::uint32_t kAddressOfB = 8192;
constexpr char kSum[] = "0x42000000";  // 32 products of ones

/// What is stored over the first word of A or of B, and which sum decides.
struct Kernel {
  std::string value = "0x38383838";  // four times 1 of e4m3
  std::uint32_t address = kAddressOfA;
  std::uint32_t lane = 0;  // the row of D, of a wgmma eight of them for each 4 lanes
  std::string sum = "%r40";
  std::string number = kSum;
};

std::string ones(std::uint32_t address, std::uint32_t bytes) {
  std::string text;
  for (std::uint32_t at = 0; at < bytes; at += 16 * 128) {
    text += "  setp.lt.u32 %p4, %r1, " + std::to_string(std::min(128U, (bytes - at) / 16)) +
            ";\n  @%p4 st.shared.v4.u32 [%r5+" + std::to_string(address + at) +
            "], {%r4, %r4, %r4, %r4};\n";
  }
  return text;
}

std::string descriptor(const char* name, std::uint32_t address, const char* bits) {
  return "  add.u32 %r22, %r20, " + std::to_string(address) +
         ";\n  and.b32 %r22, %r22, 0x3ffff;\n  shr.u32 %r22, %r22, 4;\n  cvt.u64.u32 " + name +
         ", %r22;\n  or.b64 " + name + ", " + name + ", " + bits + ";\n";
}

OneKernel begun(const Kernel& kernel, std::uint32_t bytes_of_a, std::uint32_t bytes_of_b) {
  OneKernel made;
  made.threads = 128;
  made.body =
      "  mov.u32 %r20, tile;\n  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r4, 0x38383838;\n"
      "  mad.lo.u32 %r5, %r1, 16, %r20;\n" +
      ones(kAddressOfA, bytes_of_a) + ones(kAddressOfB, bytes_of_b) + "  mov.u32 %r8, " +
      kernel.value + ";\n  @%p1 st.shared.u32 [tile+" + std::to_string(kernel.address) +
      "], %r8;\n";
  return made;
}

std::string decides(const Kernel& kernel) {
  return "  setp.eq.u32 %p7, %r1, " + std::to_string(kernel.lane) + ";\n  selp.b32 %r50, " +
         kernel.sum + ", " + kernel.number + ", %p7;\n  setp.ne.u32 %p9, %r50, " + kernel.number +
         ";\n  @%p9 trap;\n";
}

enum class Through : std::uint8_t { kMma, kCopied, kCopiedOperand };

// 128 x 16 x 32 of e4m3 by tcgen05.mma, a copy of A to tensor memory, or a product with that.
OneKernel tensor_core(const Kernel& kernel, Through through = Through::kMma) {
  constexpr std::uint32_t kInstruction = 1U << 4 | 16 / 8 << 17 | 128 / 16 << 24;
  OneKernel made = begun(kernel, 4096, 512);
  const std::string copy = "  @%p1 tcgen05.cp.cta_group::1.128x256b [" +
                           std::string{through == Through::kCopied ? "%r21" : "%r23"} +
                           "], %rd7;\n";
  made.body +=
      "  setp.lt.u32 %p2, %r1, 32;\n  @!%p2 bra ALLOCATED;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], 32;\nALLOCATED:\n"
      "  @%p1 mbarrier.init.shared.b64 [tile+16], 1;\n  fence.proxy.async;\n  bar.sync 0;\n"
      "  ld.shared.u32 %r21, [tile];\n  add.u32 %r23, %r21, 16;\n  setp.ne.u32 %p3, 0, 0;\n" +
      descriptor("%rd7", kAddressOfA, "0x0000401000080000") +
      descriptor("%rd8", kAddressOfB, "0x0000401000080000") +
      (through == Through::kMma ? "" : copy) +
      (through == Through::kCopied ? ""
                                   : "  @%p1 tcgen05.mma.cta_group::1.kind::f8f6f4 [%r21], " +
                                         std::string{through == Through::kMma ? "%rd7" : "[%r23]"} +
                                         ", %rd8, " + std::to_string(kInstruction) + ", %p3;\n") +
      "  @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [tile+16];\n"
      "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p6, [tile+16], 0;\n  @!%p6 bra WAIT;\n"
      "  tcgen05.fence::after_thread_sync;\n  shr.u32 %r6, %r1, 5;\n  shl.b32 %r6, %r6, 21;\n"
      "  add.u32 %r6, %r6, %r21;\n"
      "  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r40, %r41, %r42, %r43}, [%r6];\n"
      "  tcgen05.wait::ld.sync.aligned;\n" +
      decides(kernel) +
      "  tcgen05.fence::before_thread_sync;\n  bar.sync 0;\n  @!%p2 bra FREED;\n"
      "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\nFREED:\n";
  return made;
}

// 64 x 8 x 32 of e4m3. Of a thread's four sums the first is of row lane / 4, the third eight below.
OneKernel warpgroup(const Kernel& kernel) {
  OneKernel made = begun(kernel, 2048, 256);
  made.body += descriptor("%rd7", kAddressOfA, "0x0000001000080000") +
               descriptor("%rd8", kAddressOfB, "0x0000001000080000") +
               "  fence.proxy.async;\n  bar.sync 0;\n" +
               repeated("  mov.f32 %f$, 0f00000000;\n", 4) +
               "  wgmma.fence.sync.aligned;\n"
               "  wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%f0, %f1, %f2, %f3}, %rd7, "
               "%rd8, 0, 1, 1;\n  wgmma.commit_group.sync.aligned;\n"
               "  wgmma.wait_group.sync.aligned 0;\n" +
               repeated("  mov.b32 %r4$, %f$;\n", 4) + decides(kernel);
  return made;
}

void expect_refused(const OneKernel& kernel) {
  EXPECT_THAT([&] { proof_of(kernel); },
              ThrowsMessage<ConfigError>(HasSubstr("what is executed next depends on")))
      << kernel.body;
}

// Which number the run would take for it, no kernel is proved by: any of these.
constexpr const char* kNumbers[] = {kSum, "0x41e00000"};

TEST(PtxUnknownOperands, OfAnMmaDecideNothing) {
  for (const char* value : {"%clock", "%r77"}) {
    for (const char* number : kNumbers) {
      expect_refused(tensor_core({.value = value, .number = number}));
      expect_refused(tensor_core({.value = value, .address = kAddressOfB, .number = number}));
      expect_refused(warpgroup({.value = value, .number = number}));
      expect_refused(warpgroup({.value = value, .address = kAddressOfB, .number = number}));
    }
  }
}

TEST(PtxUnknownOperands, OfAnMmaAreKnownNumbersElsewhere) {
  expect_proved(tensor_core({}));
  expect_proved(warpgroup({}));
  // Another row of D, and another column.
  expect_proved(tensor_core({.value = "%clock", .lane = 1}));
  expect_proved(
      tensor_core({.value = "%clock", .address = kAddressOfB, .lane = 77, .sum = "%r41"}));
  expect_proved(warpgroup({.value = "%clock", .sum = "%r42"}));
  expect_proved(warpgroup({.value = "%clock", .lane = 4}));
  expect_proved(warpgroup({.value = "%clock", .address = kAddressOfB, .sum = "%r41"}));
}

TEST(PtxUnknownOperands, StayUnknownInTensorMemory) {
  for (const char* number : {"0x38383838", "0"}) {
    expect_refused(tensor_core({.value = "%clock", .number = number}, Through::kCopied));
  }
  expect_proved(tensor_core({.number = "0x38383838"}, Through::kCopied));
  expect_proved(
      tensor_core({.value = "%clock", .sum = "%r41", .number = "0x38383838"}, Through::kCopied));
  for (const char* number : kNumbers) {
    expect_refused(tensor_core({.value = "%clock", .number = number}, Through::kCopiedOperand));
  }
  expect_proved(tensor_core({}, Through::kCopiedOperand));
  expect_proved(tensor_core({.value = "%clock", .lane = 1}, Through::kCopiedOperand));
}

}  // namespace warptwin::sim::unknown_operands_test
