// What PTX leaves open: results that it does not define, what a function has left in local memory,
// masks of nobody, barriers with results of two kinds. Each with what is defined beside it.

#include <string_view>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::left_open_test {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// `text` makes %r31, and where that is `number` nothing happens, else the kernel traps.
OneKernel deciding(const std::string& text, const std::string& number) {
  OneKernel kernel;
  kernel.body = "  mov.u32 %r20, tile;\n  setp.eq.u32 %p1, %r1, 0;\n" + text +
                "  setp.ne.u32 %p9, %r31, " + number + ";\n  @%p9 trap;\n";
  return kernel;
}

void expect_refused(const OneKernel& kernel, const char* why) {
  EXPECT_THAT([&] { proof_of(kernel); }, ThrowsMessage<ConfigError>(HasSubstr(why))) << kernel.body;
}

constexpr char kUnknown[] = "what is executed next depends on";

struct Result {
  const char* name;
  const char* open;
  const char* number;  // what an H100 gives, or what comes to mind
  const char* defined;
};
void PrintTo(const Result& result, std::ostream* out) {
  *out << result.open;
}

class ScalarResult : public testing::TestWithParam<Result> {};

TEST_P(ScalarResult, ThatIsOpenDecidesNothing) {
  expect_refused(deciding(GetParam().open, GetParam().number), kUnknown);
}

TEST_P(ScalarResult, ThatIsDefinedDoes) {
  expect_proved(deciding(GetParam().defined, GetParam().number));
}

INSTANTIATE_TEST_SUITE_P(
    Ptx,
    ScalarResult,
    testing::Values(
        Result{"QuotientByZero",
               "  mov.u32 %r4, 0;\n  div.u32 %r31, 7, %r4;\n",
               "0xffffffff",
               "  mov.u32 %r4, 1;\n  div.u32 %r31, 0xffffffff, %r4;\n"},
        Result{"RemainderByZero",
               "  mov.u64 %rd4, 0;\n  rem.s64 %rd5, %rd1, %rd4;\n  cvt.u32.u64 %r31, %rd5;\n",
               "0xffffffff",
               "  mov.s64 %rd4, 2;\n  mov.s64 %rd6, -7;\n  rem.s64 %rd5, %rd6, %rd4;\n"
               "  cvt.u32.u64 %r31, %rd5;\n"},
        Result{"FieldBehind255",
               "  mov.u32 %r4, 256;\n  bfe.u32 %r31, 7, 0, %r4;\n",
               "0",
               "  mov.u32 %r4, 255;\n  bfe.u32 %r31, 0, 0, %r4;\n"},
        Result{"PlaceBehind255",
               "  mov.u64 %rd4, 2;\n  mov.u32 %r4, 300;\n  bfi.b64 %rd5, %rd4, %rd4, %r4, 1;\n"
               "  cvt.u32.u64 %r31, %rd5;\n",
               "2",
               "  mov.u64 %rd4, 2;\n  mov.u32 %r4, 200;\n  bfi.b64 %rd5, %rd4, %rd4, %r4, 1;\n"
               "  cvt.u32.u64 %r31, %rd5;\n"},
        Result{"SetBitFrom40",
               "  mov.u32 %r4, 40;\n  fns.b32 %r31, 0xff, %r4, 1;\n",
               "0xffffffff",
               "  mov.u32 %r4, 31;\n  fns.b32 %r31, 0xff, %r4, 1;\n"},
        Result{"CarryOfNothing",
               "  addc.u32 %r31, 0, 0;\n",
               "0",
               "  add.cc.u32 %r4, 1, 2;\n  addc.u32 %r31, 0, 0;\n"},
        Result{"RankOfNoCta",
               "  mov.u32 %r4, 0x12000000;\n  getctarank.shared::cluster.u32 %r31, %r4;\n",
               "18",
               "  getctarank.shared::cluster.u32 %r31, %r20;\n  add.u32 %r31, %r31, 18;\n"},
        Result{"GlobalAddressInShared",
               "  cvta.to.shared.u64 %rd5, %rd1;\n  setp.ne.u64 %p3, %rd5, 0;\n"
               "  selp.u32 %r31, 1, 0, %p3;\n",
               "1",
               "  cvt.u64.u32 %rd4, %r20;\n  cvta.shared.u64 %rd4, %rd4;\n"
               "  cvta.to.shared.u64 %rd5, %rd4;\n  setp.ne.u64 %p3, %rd5, 0;\n"
               "  selp.u32 %r31, 1, 0, %p3;\n"},
        Result{"SharedAddressInGlobal",
               "  cvt.u64.u32 %rd4, %r20;\n  cvta.shared.u64 %rd4, %rd4;\n"
               "  cvta.to.global.u64 %rd5, %rd4;\n  setp.ne.u64 %p3, %rd5, 0;\n"
               "  selp.u32 %r31, 1, 0, %p3;\n",
               "1",
               "  cvta.to.global.u64 %rd5, %rd1;\n  setp.ne.u64 %p3, %rd5, 0;\n"
               "  selp.u32 %r31, 1, 0, %p3;\n"},
        Result{"GlobalAddressOfAnotherCta",
               "  mov.u32 %r4, 0;\n  mapa.u64 %rd5, %rd1, %r4;\n  setp.ne.u64 %p3, %rd5, 0;\n"
               "  selp.u32 %r31, 1, 0, %p3;\n",
               "1",
               "  mov.u32 %r4, 0;\n  cvt.u64.u32 %rd4, %r20;\n  cvta.shared.u64 %rd4, %rd4;\n"
               "  mapa.u64 %rd5, %rd4, %r4;\n  setp.ne.u64 %p3, %rd5, 0;\n"
               "  selp.u32 %r31, 1, 0, %p3;\n"}),
    [](const auto& result) { return std::string{result.param.name}; });

// What is not chosen is not used.
TEST(PtxQuotient, ByZeroMayBeLeftOut) {
  expect_proved(
      deciding("  mov.u32 %r4, 0;\n  div.u32 %r5, 7, %r4;\n  setp.eq.u32 %p3, %r4, 0;\n"
               "  selp.u32 %r31, 1, %r5, %p3;\n",
               "1"));
}

// --- Approximations ----------------------------------------------------------------------------

OneKernel approximating(const std::string& text) {
  return deciding("  mov.f32 %f1, 0f3E99999A;\n" + text, "1");
}

std::string notes_of(const ProofResult& proof) {
  std::string notes;
  for (const std::string& note : proof.notes) {
    notes += note + "\n";
  }
  return notes;
}

// The manual bounds their error, and gives no bits.
TEST(PtxApproximations, ThatDecideAreNamed) {
  for (const char* text :
       {"  ex2.approx.f32 %f2, %f1;\n",
        "  div.full.f32 %f2, %f1, %f1;\n",
        "  mov.b32 %r8, %f1;\n  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, "
        "%f5}, {%r8, %r8, %r8, %r8}, {%r8, %r8}, {%f1, %f1, %f1, %f1};\n"}) {
    const ProofResult proof =
        proof_of(approximating(std::string{text} + "  setp.gt.f32 %p3, %f2, 0f00000000;\n"
                                                   "  selp.u32 %r31, 1, 0, %p3;\n"));
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << text;
    EXPECT_TRUE(proof.data_decides) << text;
    EXPECT_THAT(notes_of(proof), HasSubstr("16 bits are as in this run")) << text;
  }
}

TEST(PtxApproximations, ThatAreStoredAreNot) {
  const ProofResult proof = proof_of(approximating(
      "  ex2.approx.f32 %f2, %f1;\n  @%p1 st.global.f32 [%rd2], %f2;\n  mov.u32 %r31, 1;\n"));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_FALSE(proof.data_decides);
  EXPECT_THAT(notes_of(proof), Not(HasSubstr("16 bits are as")));
}

// Which NaN a result of f64 or of 16 bits is; of f32 there is one.
TEST(PtxNans, WhoseBitsDecideAreNamed) {
  constexpr char kOfF64[] =
      "  mov.f64 %fd1, 0d7FF0000000000000;\n  sub.rn.f64 %fd2, %fd1, %fd1;\n"
      "  mov.b64 %rd5, %fd2;\n  and.b64 %rd5, %rd5, 1;\n  cvt.u32.u64 %r31, %rd5;\n";
  constexpr char kOfF16[] =
      "  mov.b16 %h1, 0x7C00;\n  sub.rn.f16 %h2, %h1, %h1;\n  cvt.u32.u16 %r31, %h2;\n";
  constexpr char kOfF32[] =
      "  mov.f32 %f1, 0f7F800000;\n  sub.rn.f32 %f2, %f1, %f1;\n  mov.b32 %r31, %f2;\n";
  for (const auto& [text, number, open] : {std::tuple{kOfF64, "0", true},
                                           std::tuple{kOfF16, "0x7fff", true},
                                           std::tuple{kOfF32, "0x7fffffff", false}}) {
    const ProofResult proof = proof_of(deciding(text, number));
    EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << text;
    EXPECT_EQ(notes_of(proof).find("16 bits are as in this run") != std::string::npos, open)
        << text;
  }
}

// What IEEE 754 rounds is known.
TEST(PtxApproximations, AreNoRoundedResults) {
  const ProofResult proof =
      proof_of(approximating("  div.rn.f32 %f2, %f1, %f1;\n  setp.eq.f32 %p3, %f2, 0f3F800000;\n"
                             "  selp.u32 %r31, 1, 0, %p3;\n"));
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved);
  EXPECT_FALSE(proof.data_decides);
}

// --- Functions ---------------------------------------------------------------------------------

// Calls `g` twice, with 5 and then with `second`; what comes back last is %r31.
OneKernel calling(const std::string& function, const std::string& second) {
  std::string calls;
  for (const std::string& given : {std::string{"5"}, second}) {
    calls += "  {\n  .param .b32 a;\n  .param .b32 b;\n  st.param.b32 [a], " + given +
             ";\n  call (b), g, (a);\n  ld.param.b32 %r31, [b];\n  }\n";
  }
  OneKernel kernel = deciding(calls, "5");
  kernel.variables =
      ".func (.param .b32 b) g(.param .b32 a)\n{\n  .reg .b32 %r<8>;\n"
      "  .reg .pred %p<2>;\n  .local .align 4 .b8 own[16];\n"
      "  ld.param.b32 %r1, [a];\n" +
      function + "  st.param.b32 [b], %r2;\n  ret;\n}\n";
  return kernel;
}

constexpr char kStoresAnythingButZero[] =
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 st.local.u32 [own], %r1;\n  ld.local.u32 %r2, [own];\n";

TEST(PtxFunctions, LeaveNothingInLocalMemory) {
  expect_refused(calling(kStoresAnythingButZero, "0"), kUnknown);
  expect_proved(calling(kStoresAnythingButZero, "5"));
}

TEST(PtxFunctions, TheirVariablesEndWithThem) {
  const auto pointing = [](const std::string& load) {
    OneKernel kernel = deciding(
        "  {\n  .param .b64 b;\n  call (b), g, ();\n  ld.param.b64 %rd5, [b];\n  }\n" + load, "5");
    kernel.variables =
        ".func (.param .b64 b) g()\n{\n  .reg .b64 %rd<2>;\n  .local .align 4 .b8 own[16];\n"
        "  st.local.u32 [own], 5;\n  mov.u64 %rd1, own;\n  cvta.local.u64 %rd1, %rd1;\n"
        "  st.param.b64 [b], %rd1;\n  ret;\n}\n";
    return kernel;
  };
  expect_refused(pointing("  ld.u32 %r31, [%rd5];\n"), kUnknown);
  expect_proved(pointing("  mov.u32 %r31, 5;\n"));
}

TEST(PtxFunctions, WithLocalMemoryDoNotCallThemselves) {
  const auto recursive = [](const std::string& local) {
    return calling(local +
                       "  mov.u32 %r2, %r1;\n  setp.eq.u32 %p1, %r1, 5;\n  @%p1 bra END;\n"
                       "  {\n  .param .b32 c;\n  .param .b32 d;\n  st.param.b32 [c], 5;\n"
                       "  call (d), g, (c);\n  ld.param.b32 %r2, [d];\n  }\nEND:\n",
                   "6");
  };
  expect_refused(recursive(""), "calls itself");
  OneKernel without = recursive("");
  const std::string local = "  .local .align 4 .b8 own[16];\n";
  without.variables.erase(without.variables.find(local), local.size());
  expect_proved(without);
}

// "st.param ... must immediately precede the corresponding call", and "ld.param ... follow" it.
TEST(PtxFunctions, AreGivenAnewWhatTheyTake) {
  const auto twice = [](const std::string& store, const std::string& call) {
    OneKernel kernel = deciding(
        "  mov.u32 %r5, 0;\nAGAIN:\n  {\n  .param .b32 a;\n  .param .b32 b;\n"
        "  setp.ne.u32 %p4, %r5, 0;\n  " +
            store + "  st.param.b32 [a], 5;\nGIVEN:\n  " + call +
            "  call (b), g, (a);\nCALLED:\n  ld.param.b32 %r31, [b];\n  }\n"
            "  add.u32 %r5, %r5, 1;\n  setp.lt.u32 %p3, %r5, 2;\n  @%p3 bra AGAIN;\n",
        "5");
    kernel.variables =
        ".func (.param .b32 b) g(.param .b32 a)\n{\n  .reg .b32 %r<2>;\n"
        "  ld.param.b32 %r1, [a];\n  st.param.b32 [b], %r1;\n  ret;\n}\n";
    return kernel;
  };
  expect_refused(twice("@%p4 bra GIVEN;\n", ""), kUnknown);
  expect_refused(twice("", "@%p4 bra CALLED;\n"), "no branch between");
  OneKernel right = twice("", "");
  right.body.erase(right.body.find("CALLED:\n"), 8);
  expect_proved(right);
}

// "If a function that doesn't match the prototype is called, the behavior is undefined."
TEST(PtxFunctions, AreCalledByAPrototypeOfTheirs) {
  const auto calling_by = [](const std::string& takes, const std::string& returns) {
    OneKernel kernel = deciding("  P: .callprototype (.param ." + returns + " _) _ (.param ." +
                                    takes + " _);\n  {\n  .param ." + takes + " a;\n  .param ." +
                                    returns + " b;\n  st.param." + takes +
                                    " [a], 5;\n  mov.u64 %rd5, g;\n"
                                    "  call (b), %rd5, (a), P;\n  ld.param.b32 %r31, [b];\n  }\n",
                                "5");
    kernel.variables =
        ".func (.param .b32 b) g(.param .b64 a)\n{\n  .reg .b32 %r<2>;\n"
        "  ld.param.b32 %r1, [a];\n  st.param.b32 [b], %r1;\n  ret;\n}\n";
    return kernel;
  };
  expect_refused(calling_by("b32", "b32"), "another size");
  expect_refused(calling_by("b64", "b64"), "another size");
  expect_proved(calling_by("b64", "b32"));
}

TEST(PtxFunctions, AreThoseThatTheCallNames) {
  const auto calling_one = [](const char* of) {
    OneKernel kernel;
    kernel.body =
        "  T: .calltargets " + std::string{of} + ";\n  mov.u64 %rd5, g;\n  call %rd5, (), T;\n";
    kernel.variables = ".func g()\n{\n  ret;\n}\n.func h()\n{\n  ret;\n}\n";
    return kernel;
  };
  expect_refused(calling_one("h"), "g is not among");
  expect_proved(calling_one("h, g"));
}

TEST(PtxFunctions, ThatDoNotReturnEndTheThread) {
  const auto ending = [](const char* by) {
    OneKernel kernel;
    kernel.body = "  call g, ();\n";
    kernel.variables = ".func g() .noreturn\n{\n  " + std::string{by} + ";\n}\n";
    return kernel;
  };
  expect_refused(ending("ret"), "is .noreturn");
  expect_proved(ending("exit"));
}

TEST(PtxFunctions, TheCarryEndsAtACall) {
  const auto carrying = [](const std::string& between) {
    OneKernel kernel =
        deciding("  add.cc.u32 %r4, 1, 2;\n" + between + "  addc.u32 %r31, 0, 0;\n", "0");
    kernel.variables = ".func g()\n{\n  ret;\n}\n";
    return kernel;
  };
  expect_refused(carrying("  call g, ();\n"), kUnknown);
  expect_proved(carrying(""));
}

// Where one variable lies beside another is not the program's to know.
TEST(PtxLocalVariables, AreNotOneBehindTheOther) {
  const auto reading = [](const char* from) {
    return deciding(
        "  .local .align 4 .b8 one[16];\n  .local .align 4 .b8 other[16];\n"
        "  st.local.u32 [other], 5;\n  ld.local.u32 %r31, [" +
            std::string{from} + "];\n",
        "5");
  };
  expect_found(reading("one+16"), "WORD_OOB");
  expect_found(reading("other+-4"), "WORD_OOB");
  expect_proved(reading("other"));
}

// --- .uni --------------------------------------------------------------------------------------

struct Uniform {
  const char* name;
  const char* text;  // lanes below %r9 go one way
};
void PrintTo(const Uniform& uniform, std::ostream* out) {
  *out << uniform.text;
}

class UniformControl : public testing::TestWithParam<Uniform> {};

TEST_P(UniformControl, IsOfAllLanesThatComeToIt) {
  const auto going = [](const char* below) {
    OneKernel kernel;
    kernel.body = std::string{"  mov.u32 %r9, "} + below +
                  ";\n  setp.lt.u32 %p2, %r1, %r9;\n  selp.u32 %r10, 1, 0, %p2;\n"
                  "  mov.u64 %rd5, g;\n  mov.u64 %rd6, h;\n  selp.u64 %rd5, %rd5, %rd6, %p2;\n" +
                  GetParam().text + "  bra.uni END;\nTHERE:\n  mov.u32 %r2, 0;\nEND:\n";
    kernel.variables = ".func g()\n{\n  ret;\n}\n.func h()\n{\n  ret;\n}\n";
    return kernel;
  };
  expect_refused(going("16"), ".uni says that none does");
  expect_proved(going("32"));
  expect_proved(going("0"));
}

INSTANTIATE_TEST_SUITE_P(
    Ptx,
    UniformControl,
    testing::Values(Uniform{"Branch", "  @%p2 bra.uni THERE;\n"},
                    Uniform{"Switch", "  T: .branchtargets END, THERE;\n  brx.idx.uni %r10, T;\n"},
                    Uniform{"Call", "  @%p2 call.uni g, ();\n"},
                    Uniform{"CallByRegister",
                            "  P: .callprototype _ ();\n  call.uni %rd5, (), P;\n"},
                    Uniform{"Return", "  @%p2 ret.uni;\n"}),
    [](const auto& result) { return std::string{result.param.name}; });

// --- Masks, ranks, counts ----------------------------------------------------------------------

constexpr char kInit[] =
    "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n  fence.mbarrier_init.release.cluster;\n"
    "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
constexpr char kWait[] =
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p10, [tile], 0;\n  @!%p10 bra WAIT;\n";

OneKernel of_cluster(const std::string& body, std::uint32_t ctas) {
  OneKernel kernel;
  kernel.ctas = kernel.cluster = ctas;
  kernel.in.resize(64, 3);
  kernel.body =
      "  mov.u32 %r20, tile;\n  setp.eq.u32 %p1, %r1, 0;\n  mov.u32 %r6, %cluster_ctarank;\n" +
      body + "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  return kernel;
}

TEST(PtxMulticast, OfACopyNamesSomebody) {
  const auto copying = [](const char* mask) {
    return of_cluster(std::string{kInit} + "  @!%p1 bra MEET;\n  mov.u16 %h1, " + mask +
                          ";\n  mbarrier.arrive.expect_tx.shared.b64 %rd9, [tile], 16;\n"
                          "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                          ".multicast::cluster [tile+64], [%rd1], 16, [tile], %h1;\n" +
                          kWait + "MEET:\n",
                      1);
  };
  expect_refused(copying("0"), "the mask of the multicast names no CTA");
  expect_proved(copying("1"));
}

TEST(PtxMulticast, OfACommitNamesSomebody) {
  const auto committing = [](const char* mask) {
    OneKernel kernel;
    kernel.body =
        "  mov.u32 %r20, tile;\n  setp.eq.u32 %p1, %r1, 0;\n  mad.lo.u32 %r4, %r1, 128, %r20;\n";
    for (std::uint32_t at = 4096; at < 4096 + 128; at += 16) {
      kernel.body += "  st.shared.v4.u32 [%r4+" + std::to_string(at) + "], {%r1, %r1, %r1, %r1};\n";
    }
    kernel.body +=
        "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile+8], 32;\n"
        "  @%p1 mbarrier.init.shared.b64 [tile], 1;\n  fence.proxy.async;\n  bar.sync 0;\n"
        "  ld.shared.u32 %r21, [tile+8];\n  add.u32 %r22, %r20, 4096;\n  shr.u32 %r22, %r22, 4;\n"
        "  cvt.u64.u32 %rd7, %r22;\n  or.b64 %rd7, %rd7, 0x0000401000080000;\n"
        "  @%p1 tcgen05.cp.cta_group::1.128x256b [%r21], %rd7;\n  mov.u16 %h1, " +
        std::string{mask} +
        ";\n  @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
        ".multicast::cluster.b64 [tile], %h1;\n" +
        kWait + "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n";
    return kernel;
  };
  expect_refused(committing("0"), "the mask of the multicast names no CTA");
  expect_proved(committing("1"));
}

// 256 in the upper bits of an address is 0.
TEST(PtxMapa, OfARankThatNoClusterHasLeadsNowhere) {
  const auto storing = [](const char* rank) {
    return of_cluster("  setp.eq.and.u32 %p2, %r6, 0, %p1;\n  mov.u32 %r4, " + std::string{rank} +
                          ";\n  mapa.shared::cluster.u32 %r5, %r20, %r4;\n"
                          "  @%p2 st.shared::cluster.u32 [%r5], 7;\n",
                      2);
  };
  expect_found(storing("256"), "WORD_OOB");
  expect_proved(storing("0"));
}

// "mbarrier.arrive" in another CTA cannot return a value.
TEST(PtxRemoteStates, AreNotOfAnotherCta) {
  const auto arriving = [](const char* rank) {
    return of_cluster(std::string{kInit} + "  xor.b32 %r7, %r6, " + rank +
                          ";\n  mapa.shared::cluster.u32 %r8, %r20, %r7;\n  @!%p1 bra MEET;\n"
                          "  mbarrier.arrive.release.cluster.shared::cluster.b64 %rd9, [%r8];\n"
                          "STATE:\n  mbarrier.test_wait.acquire.cluster.shared.b64 %p10, [tile], "
                          "%rd9;\n  @!%p10 bra STATE;\nMEET:\n",
                      2);
  };
  expect_refused(arriving("1"), "is no state");
  expect_proved(arriving("0"));
}

// Each adds one to the count of those that are pending.
TEST(PtxPendingCounts, CountNoFurtherThanAnMbarrierDoes) {
  const auto counting = [](const char* count) {
    OneKernel kernel;
    kernel.in.resize(64, 3);
    kernel.body = "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 mbarrier.init.shared.b64 [tile], " +
                  std::string{count} +
                  ";\n  bar.sync 0;\n  @!%p1 bra END;\n"
                  "  cp.async.ca.shared.global [tile+64], [%rd1], 4;\n"
                  "  cp.async.mbarrier.arrive.shared.b64 [tile];\n"
                  "  mbarrier.arrive.shared.b64 %rd9, [tile], " +
                  count + ";\n" + kWait + "END:\n";
    return kernel;
  };
  expect_found(counting("1048575"), "MBAR_TX_OVERFLOW");
  expect_proved(counting("1048574"));
}

// --- Barriers with a result --------------------------------------------------------------------

OneKernel of_two_warps(const std::string& first, const std::string& second) {
  OneKernel kernel;
  kernel.threads = 64;
  kernel.body = "  setp.ge.u32 %p2, %r1, 32;\n  setp.ne.u32 %p3, %r1, 999;\n  @%p2 bra SECOND;\n" +
                first + "  bra END;\nSECOND:\n" + second + "END:\n";
  return kernel;
}

constexpr char kCounts[] = "  bar.red.popc.u32 %r5, 1, 64, %p3;\n";

TEST(PtxBarrierResults, AreOfOneKind) {
  expect_refused(of_two_warps(kCounts, "  bar.red.and.pred %p4, 1, 64, %p3;\n"), "of two kinds");
  expect_proved(of_two_warps(kCounts, kCounts));
}

TEST(PtxBarrierResults, AreOfOneGeneration) {
  const std::string meets = "  bar.sync 1, 64;\n";
  expect_refused(of_two_warps(kCounts + meets, meets + kCounts), "is shared with bar.sync");
  expect_refused(of_two_warps(meets + kCounts, kCounts + meets), "is shared with bar.sync");
  expect_proved(of_two_warps(kCounts + meets, kCounts + meets));
}

// --- Lanes that have ended ---------------------------------------------------------------------

// "If any thread in the warp has exited" it is undefined ("tcgen05.alloc, tcgen05.dealloc,
// tcgen05.relinquish_alloc_permit").
TEST(PtxAllocations, AreOfWarpsOfWhichNoLaneHasEnded) {
  constexpr std::string_view kEnd = "  @%p4 exit;\n";
  const auto allocating = [&](int ends) {
    OneKernel kernel;
    kernel.body = "  setp.eq.u32 %p4, %r1, 31;\n";
    const char* const parts[] = {
        "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tile], 32;\n"
        "  ld.shared.u32 %r21, [tile];\n",
        "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r21, 32;\n",
        "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n",
        ""};
    for (int part = 0; part < 4; ++part) {
      kernel.body += std::string{part == ends ? kEnd : ""} + parts[part];
    }
    return kernel;
  };
  for (int ends = 0; ends < 3; ++ends) {
    expect_refused(allocating(ends), "have ended");
  }
  expect_proved(allocating(3));
}

// --- Lines of L2 -------------------------------------------------------------------------------

TEST(PtxLines, AreDiscardedAndKeptWhole) {
  const auto hinting = [](const std::string& hint, const std::string& number) {
    OneKernel kernel = deciding("  @%p1 st.global.u32 [%rd1], 5;\n  " + hint +
                                    "  bar.warp.sync -1;\n  ld.global.u32 %r31, [%rd1];\n",
                                number);
    kernel.in.resize(64);
    return kernel;
  };
  expect_refused(hinting("@%p1 discard.global.L2 [%rd1], 128;\n", "5"), kUnknown);
  expect_refused(hinting("discard.global.L2 [%rd1+64], 128;\n", "5"), "a multiple of 128");
  expect_refused(hinting("applypriority.global.L2::evict_normal [%rd1+64], 128;\n", "5"),
                 "a multiple of 128");
  expect_proved(hinting("@%p1 discard.global.L2 [%rd1+128], 128;\n", "5"));
  expect_proved(hinting("applypriority.global.L2::evict_normal [%rd1], 128;\n", "5"));
}

TEST(PtxBulkZeros, AreAStoreOfEachLane) {
  const auto storing = [](const std::string& store) {
    return deciding("  @%p1 st.shared.u32 [tile+2040], 5;\n  bar.warp.sync -1;\n  " + store +
                        "  bar.warp.sync -1;\n  ld.shared.u32 %r31, [tile+2040];\n",
                    "0");
  };
  expect_proved(storing("@%p1 st.bulk.weak.shared::cta [tile], 2048, 0;\n"));
  expect_found(storing("@%p1 st.bulk.weak.shared::cta [tile], 2040, 0;\n"), "KERNEL_TRAP");
  expect_refused(storing("@%p1 st.bulk.weak.shared::cta [tile], 2044, 0;\n"), "multiple of 8");
  expect_found(storing("@%p1 st.bulk.weak.shared::cta [tile], 2048, 0;\n"
                       "  ld.shared.u32 %r4, [tile+8];\n"),
               "WARP_LANE_RACE");
}

// --- Atomics of two sizes ----------------------------------------------------------------------

// They are not atomic to each other, be it in one warp; those of one lane are in order.
TEST(PtxAtomicSizes, OfTwoLanesAreTheSame) {
  const auto adding = [](const char* size, const char* lane) {
    return deciding(
        "  @%p1 st.shared.v2.u32 [tile], {%r1, %r1};\n  bar.warp.sync -1;\n"
        "  setp.eq.u32 %p3, %r1, " +
            std::string{lane} +
            ";\n  @%p1 red.shared.add.u32 [tile], 1;\n  @%p3 red"
            ".shared.add." +
            size + " [tile], 1;\n  mov.u32 %r31, 1;\n",
        "1");
  };
  expect_found(adding("u64", "1"), "WARP_LANE_RACE");
  expect_proved(adding("u64", "0"));
  expect_proved(adding("u32", "1"));
}

// --- Grids -------------------------------------------------------------------------------------

// As grid.sync() does.
TEST(PtxWorkspace, IsOfCooperativeGridsAlone) {
  OneKernel kernel = deciding(
      "  mov.u32 %r4, %envreg2;\n  mov.u32 %r5, %envreg1;\n"
      "  or.b32 %r4, %r4, %r5;\n  setp.ne.u32 %p3, %r4, 0;\n"
      "  selp.u32 %r31, 1, 0, %p3;\n",
      "1");
  expect_found(kernel, "KERNEL_TRAP");
  kernel.cooperative = true;
  expect_proved(kernel);
}

}  // namespace warptwin::sim::left_open_test
