// Accesses that no memory holds: local memory past its end, shared memory of no CTA.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "sim/ptx/text/parse.hpp"
#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::outside_memory_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What a run finds: its id, its object and its message, in one line.
std::string found_in(const OneKernel& kernel) {
  const OneRun run = run_of(kernel);
  std::string text;
  for (const Finding& finding : run.result.findings) {
    text += std::string{finding.info->id} + " of " + finding.object.name + ": " + finding.message;
  }
  return text;
}

OneKernel with_depot(const std::string& body) {
  return {.body = "  .local .align 8 .b8 depot[16];\n" + body};
}

TEST(PtxLocalMemory, EndsWithItsLastVariable) {
  expect_proved(with_depot("  st.local.u32 [depot+12], %r1;\n  ld.local.u32 %r5, [depot+12];\n"));
  const OneKernel wrong = with_depot("  st.local.u32 [depot+16], %r1;\n");
  expect_found(wrong, "WORD_OOB");
  EXPECT_THAT(
      found_in(wrong),
      AllOf(HasSubstr("WORD_OOB of cta 0 warp 0, lane 0: st.local.u32 of 4 bytes at byte 16"),
            HasSubstr("local memory, byte 16 of depot, which has 16")));
  // The last bytes of a wide access are outside, and so is what is in front.
  expect_found(with_depot("  ld.local.u64 %rd5, [depot+12];\n"), "WORD_OOB");
  EXPECT_THAT(found_in(with_depot("  ld.local.u32 %r5, [depot+-4];\n")),
              HasSubstr("at byte -4 of local memory"));
}

TEST(PtxLocalMemory, IsTheSameByAGenericAddress) {
  const auto generic = [](const std::string& offset) {
    return with_depot("  mov.u64 %rd5, depot;\n  cvta.local.u64 %rd5, %rd5;\n  st.u32 [%rd5+" +
                      offset + "], %r1;\n");
  };
  expect_proved(generic("12"));
  expect_found(generic("20"), "WORD_OOB");
}

TEST(PtxLocalMemory, TheLaneThatLeavesItIsNamed) {
  const auto indexed = [](const std::string& bound) {
    return with_depot("  and.b32 %r5, %r1, " + bound +
                      ";\n  mul.wide.u32 %rd5, %r5, 4;\n  mov.u64 %rd6, depot;\n"
                      "  add.u64 %rd6, %rd6, %rd5;\n  st.local.u32 [%rd6], %r1;\n");
  };
  expect_proved(indexed("3"));
  EXPECT_THAT(found_in(indexed("7")), HasSubstr("lane 4: st.local.u32 of 4 bytes at byte 16"));
}

TEST(PtxSharedMemory, IsOfACtaThatTheClusterHas) {
  const auto reading = [](const std::string& rank) {
    return OneKernel{.body =
                         "  mov.u32 %r4, tile;\n  shl.b32 %r5, %r1, 2;\n"
                         "  add.u32 %r4, %r4, %r5;\n  st.shared.u32 [%r4], %r1;\n"
                         "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n"
                         "  mapa.shared::cluster.u32 %r6, %r4, " +
                         rank +
                         ";\n  ld.shared::cluster.u32 %r7, [%r6];\n"
                         "  barrier.cluster.arrive.aligned;\n"
                         "  barrier.cluster.wait.aligned;\n",
                     .ctas = 2,
                     .cluster = 2};
  };
  expect_proved(reading("1"));
  expect_found(reading("2"), "WORD_OOB");
  EXPECT_THAT(found_in(reading("2")),
              AllOf(HasSubstr("ld.shared::cluster.u32 at 0x2000400"),
                    HasSubstr("which is in the shared memory of CTA rank 2 of a cluster of 2")));
}

TEST(PtxSharedMemory, HasAWindow) {
  const auto storing = [](const std::string& address) {
    return OneKernel{.body = "  mov.u64 %rd5, " + address +
                             ";\n  setp.eq.u32 %p1, %r1, 5;\n  @%p1 st.shared.u32 [%rd5], %r1;\n"};
  };
  expect_proved(storing("tile"));
  expect_found(storing("4294967296"), "WORD_OOB");
  EXPECT_THAT(found_in(storing("4294967296")),
              HasSubstr("lane 5: st.shared.u32 at 0x100000000, which is not in shared memory"));
}

TEST(PtxSharedMemory, OfACopyIsOfTheCluster) {
  const auto copying = [](const std::string& source) {
    return OneKernel{.body = "  mov.u32 %r5, " + source +
                             ";\n  st.shared.u32 [tile], %r1;\n  st.shared.u32 [tile+4], %r1;\n"
                             "  st.shared.u32 [tile+8], %r1;\n  st.shared.u32 [tile+12], %r1;\n"
                             "  fence.proxy.async.shared::cta;\n"
                             "  cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r5], 16;\n"
                             "  cp.async.bulk.commit_group;\n"
                             "  cp.async.bulk.wait_group 0;\n",
                     .threads = 1};
  };
  expect_proved(copying("tile"));
  expect_found(copying("83886080"), "BULK_OOB");
  expect_found(copying("512"), "BULK_OOB");
}

// In front of a CTA's shared memory is the system's, in each CTA of the cluster.
TEST(PtxSharedMemory, BeginsBehindTheSystems) {
  const auto storing = [](const std::string& address) {
    return OneKernel{.body = "  mov.u32 %r5, " + address +
                             ";\n  setp.eq.u32 %p1, %r1, 5;\n  @%p1 st.shared.u32 [%r5], %r1;\n"};
  };
  expect_proved(storing("1024"));
  expect_found(storing("1020"), "WORD_OOB");
  EXPECT_THAT(found_in(storing("0")),
              HasSubstr("st.shared.u32 at 0x0, which is in front of the CTA's shared memory"));
  const auto of_peer = [](const std::string& offset) {
    return OneKernel{.body = "  mov.u32 %r5, " + offset +
                             ";\n  mapa.shared::cluster.u32 %r6, %r5, 1;\n"
                             "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n"
                             "  setp.eq.u32 %p1, %r1, 5;\n"
                             "  mov.u32 %r7, %cluster_ctarank;\n"
                             "  setp.eq.and.u32 %p1, %r7, 0, %p1;\n"
                             "  @%p1 st.shared::cluster.u32 [%r6], %r1;\n"
                             "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n",
                     .ctas = 2,
                     .cluster = 2};
  };
  expect_proved(of_peer("1024"));
  expect_found(of_peer("1020"), "WORD_OOB");
  // An mbarrier's bytes, too.
  expect_found(
      {.body = "  mov.u32 %r5, 512;\n  mbarrier.init.shared::cta.b64 [%r5], 1;\n", .threads = 1},
      "WORD_OOB");
}

// A variable of the module ends with its last byte.
TEST(PtxModuleVariables, EndWithTheirLastByte) {
  const auto storing = [](const std::string& place) {
    return OneKernel{.body = "  st.global.u32 [" + place + "], %r1;\n",
                     .threads = 1,
                     .variables = ".global .align 4 .u32 one[3];\n.global .align 4 .u32 other;\n"};
  };
  expect_proved(storing("one+8"));
  expect_found(storing("one+12"), "WORD_OOB");
  expect_found(storing("other+4"), "WORD_OOB");
}

// PTX ISA, "st": "Stores to const memory are illegal."
TEST(PtxConstantMemory, IsReadAndNotWritten) {
  const auto at_constant = [](const std::string& instructions, const char* variable = "known") {
    return OneKernel{.body = "  mov.u64 %rd5, " + std::string{variable} +
                             ";\n  cvta.const.u64 %rd6, %rd5;\n" + instructions,
                     .threads = 1,
                     .variables =
                         ".const .align 4 .u32 known[3] = {5, 6, 7};\n"
                         ".global .align 4 .u32 changed = 8;\n"};
  };
  const std::string store = "  st.global.u32 [%rd2], %r5;\n";
  for (const char* load : {"  ld.const.u32 %r5, [known+4];\n",
                           "  ld.const.u32 %r5, [%rd5+4];\n",
                           "  ld.u32 %r5, [%rd6+4];\n"}) {
    expect_proved(at_constant(load + store));
    EXPECT_EQ(run_of(at_constant(load + store)).out[0], 6U) << load;
  }
  expect_found(at_constant("  st.u32 [%rd6], %r1;\n"), "WORD_OOB");
  expect_found(at_constant("  red.add.u32 [%rd6], 1;\n"), "WORD_OOB");
  expect_found(at_constant("  ld.const.u32 %r5, [known+12];\n" + store), "WORD_OOB");
  expect_found(at_constant("  ld.const.u32 %r5, [%rd5];\n" + store, "changed"), "WORD_OOB");
  EXPECT_THAT(found_in(at_constant("  st.u32 [%rd6], %r1;\n")),
              HasSubstr("which is in constant memory, and that is not written"));
  const std::string asks =
      "  isspacep.const %p1, %rd6;\n  isspacep.global %p2, %rd6;\n"
      "  selp.u32 %r5, 1, 0, %p1;\n  selp.u32 %r6, 2, 0, %p2;\n  or.b32 %r5, %r5, %r6;\n";
  EXPECT_EQ(run_of(at_constant(asks + store)).out[0], 1U);
  EXPECT_EQ(run_of(at_constant(asks + store, "changed")).out[0], 2U);
}

TEST(PtxConstantMemory, IsNotWrittenByCopies) {
  for (const char* copy : {"cp.async.bulk.global.shared::cta.bulk_group",
                           "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"}) {
    const auto to = [&](const std::string& space) {
      return OneKernel{.body =
                           "  mov.u32 %r5, tile;\n  st.shared.v4.u32 [%r5], {1, 2, 3, 4};\n"
                           "  fence.proxy.async.shared::cta;\n  mov.u64 %rd5, there;\n"
                           "  cvta." +
                           space + ".u64 %rd6, %rd5;\n  " + copy +
                           " [%rd6], [%r5], 16;\n  cp.async.bulk.commit_group;\n"
                           "  cp.async.bulk.wait_group 0;\n",
                       .threads = 1,
                       .variables = "." + space + " .align 16 .u32 there[4] = {5, 6, 7, 8};\n"};
    };
    expect_found(to("const"), "BULK_OOB");
    expect_proved(to("global"));
  }
}

// Another kernel of the module has memory, which is no part of this one's launch.
OneKernel beside_another(const std::string& body) {
  return {.body = "  .local .align 8 .b8 depot[16];\n" + body,
          .threads = 1,
          .variables =
              ".shared .align 4 .b8 shared_by_other[4096];\n"
              ".visible .entry other()\n{\n  .reg .b32 %r<3>;\n"
              "  .shared .align 4 .b8 big[4096];\n  .local .align 8 .b8 wide[64];\n"
              "  mov.u32 %r1, big;\n  mov.u32 %r2, shared_by_other;\n  ret;\n}\n"};
}

TEST(PtxOtherKernels, HaveNoMemoryInALaunchOfThisOne) {
  expect_proved(beside_another("  st.shared.u32 [tile], 1;\n  st.local.u32 [depot+12], 1;\n"));
  expect_found(beside_another("  st.shared.u32 [tile+-4], 1;\n"), "WORD_OOB");
  expect_found(beside_another("  st.local.u32 [depot+16], 1;\n"), "WORD_OOB");
}

// The end of shared memory, and the bytes of local memory, of kernel `k` with this in its body.
std::pair<std::uint64_t, std::uint64_t> memory_of(const std::string& body) {
  const std::string text =
      ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 4 .b8 common[256];\n"
      ".func called()\n{\n  .shared .align 4 .b8 its[1024];\n  .local .align 8 .b8 wide[64];\n"
      "  ret;\n}\n"
      ".func caller()\n{\n  call.uni called;\n  ret;\n}\n"
      ".visible .entry other()\n{\n  .reg .b32 %r1;\n  .shared .align 4 .b8 big[4096];\n"
      "  mov.u32 %r1, common;\n  ret;\n}\n"
      ".visible .entry k()\n{\n  .reg .b32 %r1;\n  .reg .b64 %rd1;\n"
      "  .shared .align 4 .b8 own[64];\n" +
      body + "  ret;\n}\n";
  const ptx::Kernel kernel{ptx::parse_module(text, "k.ptx"), "k"};
  return {kernel.shared_end() - kSharedBase, kernel.local_bytes()};
}

TEST(PtxOtherKernels, WhatAKernelCallsHasMemoryInItsLaunch) {
  EXPECT_THAT(memory_of(""), testing::Pair(64, 0));
  EXPECT_THAT(memory_of("  mov.u32 %r1, common;\n"), testing::Pair(256 + 64, 0));
  EXPECT_THAT(memory_of("  call.uni caller;\n"), testing::Pair(64 + 1024, 64));
  EXPECT_THAT(memory_of("  mov.u64 %rd1, caller;\n"), testing::Pair(64 + 1024, 64));
  // Which function a register holds may be decided elsewhere: any.
  EXPECT_THAT(memory_of("  mov.u64 %rd1, 0;\n  proto: .callprototype _ ();\n"
                        "  call %rd1, (), proto;\n"),
              testing::Pair(64 + 1024, 64));
}

// To ask for an address's space is no access.
TEST(PtxAddressSpaces, OfAnAddressOfNoCtaAreAnswered) {
  OneKernel asking{.body =
                       "  mov.u64 %rd5, 139640107433984;\n"  // the window, and rank 127
                       "  isspacep.shared::cta %p1, %rd5;\n"
                       "  isspacep.shared::cluster %p2, %rd5;\n"
                       "  isspacep.global %p3, %rd5;\n"
                       "  selp.b32 %r5, 1, 0, %p1;\n  selp.b32 %r6, 2, 0, %p2;\n"
                       "  selp.b32 %r7, 4, 0, %p3;\n  or.b32 %r5, %r5, %r6;\n"
                       "  or.b32 %r5, %r5, %r7;\n  st.global.u32 [%rd2], %r5;\n",
                   .out_words = 1,
                   .threads = 1};
  const OneRun run = run_of(asking);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_THAT(run.out, ElementsAre(2));
}

// PTX ISA, "Addresses as Operands": an address is a multiple of the size of the access.
TEST(PtxLocalMemory, IsAccessedAtMultiplesOfTheSize) {
  const std::string store = "  st.local.v4.u32 [depot], {%r1, %r1, %r1, %r1};\n";
  expect_proved(with_depot(store + "  ld.local.u64 %rd5, [depot+8];\n"));
  EXPECT_THROW(proof_of(with_depot(store + "  ld.local.u64 %rd5, [depot+4];\n")), ConfigError);
  EXPECT_THROW(proof_of(with_depot("  st.local.u32 [depot+2], %r1;\n")), ConfigError);
  EXPECT_THROW(proof_of(with_depot(store + "  mov.u64 %rd6, depot;\n  cvta.local.u64 %rd6, %rd6;\n"
                                           "  ld.v2.u32 {%r5, %r6}, [%rd6+4];\n")),
               ConfigError);
}

TEST(PtxParameters, AreReadAtMultiplesOfTheSize) {
  expect_proved({.body = "  ld.param.u64 %rd5, [first+8];\n"});
  EXPECT_THROW(proof_of({.body = "  ld.param.u64 %rd5, [first+4];\n"}), ConfigError);
}

// Vectors of 32 bytes, too.
TEST(PtxGlobalMemory, IsAccessedAtMultiplesOfTheSize) {
  const auto loading = [](const std::string& place) {
    return OneKernel{.body = "  ld.global.v4.u64 {%rd10, %rd11, %rd12, %rd13}, [" + place + "];\n",
                     .in = std::vector<std::uint32_t>(64)};
  };
  expect_proved(loading("%rd1+32"));
  expect_found(loading("%rd1+16"), "WORD_MISALIGNED");
}

// PTX ISA, "ldu": read-only data, from an address that is the same for the warp.
TEST(PtxUniformLoads, AreOfOneAddressThatTheGridDoesNotWrite) {
  const auto loading = [](const std::string& before, const std::string& place) {
    return OneKernel{.body = before + "  ldu.global.u32 %r5, [" + place + "];\n",
                     .in = {1, 2, 3, 4}};
  };
  const std::string store = "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 st.global.u32 [%rd1], %r1;\n";
  expect_proved(loading("", "%rd1"));
  expect_proved(loading(store, "%rd1+4"));
  expect_found(loading(store, "%rd1"), "GMEM_READ_ONLY_WRITTEN");
  const std::string address =
      "  and.b32 %r6, %r1, 1;\n  mul.wide.u32 %rd6, %r6, 4;\n  add.u64 %rd6, %rd1, %rd6;\n";
  EXPECT_THROW(proof_of(loading(address, "%rd6")), ConfigError);
}

TEST(PtxBulkPrefetches, AreOfMultiplesOf16Bytes) {
  const auto prefetching = [](const std::string& place, const std::string& bytes) {
    return OneKernel{.body = "  cp.async.bulk.prefetch.L2.global [" + place + "], " + bytes + ";\n",
                     .in = std::vector<std::uint32_t>(64),
                     .threads = 1};
  };
  expect_proved(prefetching("%rd1+16", "64"));
  EXPECT_THROW(proof_of(prefetching("%rd1+8", "64")), ConfigError);
  EXPECT_THROW(proof_of(prefetching("%rd1", "24")), ConfigError);
}

TEST(PtxPrintf, OfArgumentsOutsideOfLocalMemoryPrintsAQuestionMark) {
  OneKernel printing{.body =
                         "  .local .align 8 .b8 packed[8];\n  st.local.u32 [packed], 7;\n"
                         "  {\n  .param .b64 a;\n  .param .b64 b;\n  .param .b32 r;\n"
                         "  mov.u64 %rd6, format;\n  cvta.global.u64 %rd6, %rd6;\n"
                         "  mov.u64 %rd7, packed;\n  cvta.local.u64 %rd7, %rd7;\n"
                         "  add.s64 %rd7, %rd7, OFFSET;\n"
                         "  st.param.b64 [a], %rd6;\n  st.param.b64 [b], %rd7;\n"
                         "  call.uni (r), vprintf, (a, b);\n  }\n",
                     .threads = 1,
                     .variables =
                         ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 "
                         "b);\n.global .align 1 .b8 format[3] = {37, 100, 0};\n"};
  for (const auto& [offset, said] : {std::pair{"0", "7"}, {"8", "?"}, {"-4", "?"}}) {
    OneKernel kernel = printing;
    kernel.body.replace(kernel.body.find("OFFSET"), 6, offset);
    EXPECT_EQ(run_of(kernel).printed, said) << offset;
  }
}

}  // namespace warptwin::sim::outside_memory_test
