// What no proof without data may know: data by every scalar instruction, by lanes of a warp, calls,
// spaces of memory, copies, and operands of barriers. And what is known beside data.

#include <gtest/gtest.h>

#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::unknown_ways_test {

/// %r4 and %h1 are words of data, %r10 a lane's own 16 bytes of `tile`, whose address is %r5, %rd10
/// its own of `out`; %r31 decides.
struct Way {
  const char* name;
  const char* body;
  const char* functions = "";  // and variables, of the module
  std::uint32_t cluster = 1;
};
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.body;
}

ProofResult proof_by(const Way& way) {
  OneKernel kernel;
  kernel.in.resize(1024, 3);
  kernel.control = false;
  kernel.out_words = 512;
  kernel.variables = way.functions;
  kernel.ctas = kernel.cluster = way.cluster;
  kernel.body =
      "  ld.global.u32 %r4, [%rd1];\n  cvt.u16.u32 %h1, %r4;\n  mov.u32 %r5, tile;\n"
      "  shl.b32 %r6, %r1, 4;\n  add.u32 %r10, %r5, %r6;\n"
      "  cvt.u64.u32 %rd9, %r6;\n  add.u64 %rd10, %rd2, %rd9;\n" +
      std::string{way.body} +
      "  setp.eq.u32 %p9, %r31, 5;\n  @%p9 bra NEXT;\n  mov.u32 %r32, 1;\nNEXT:\n";
  return proof_of(kernel);
}

class DataBy : public testing::TestWithParam<Way> {};

TEST_P(DataBy, Decides) {
  EXPECT_TRUE(proof_by(GetParam()).data_decides) << GetParam().body;
}

constexpr Way kOfData[] = {
    {"Mapa",
     "  and.b32 %r7, %r4, 1;\n"
     "  mapa.shared::cluster.u32 %r8, %r5, %r7;\n"
     "  shr.u32 %r31, %r8, 24;\n",
     "",
     2},
    {"Getctarank",
     "  shl.b32 %r7, %r4, 24;\n"
     "  or.b32 %r7, %r7, 0x400;\n"
     "  and.b32 %r7, %r7, 0x1000400;\n"
     "  getctarank.shared::cluster.u32 %r31, %r7;\n"
     "  and.b32 %r31, %r31, 255;\n",
     "",
     2},
    {"Isspacep",
     "  cvt.u64.u32 %rd5, %r4;\n"
     "  shl.b64 %rd5, %rd5, 40;\n"
     "  isspacep.shared %p5, %rd5;\n"
     "  selp.u32 %r31, 1, 5, %p5;\n",
     "",
     1},
    {"CvtaHigh",
     "  cvt.u64.u32 %rd5, %r4;\n"
     "  shl.b64 %rd5, %rd5, 40;\n"
     "  add.u64 %rd5, %rd5, 77;\n"
     "  cvta.to.global.u64 %rd6, %rd5;\n"
     "  shr.u64 %rd7, %rd6, 32;\n"
     "  and.b64 %rd7, %rd7, 255;\n"
     "  cvt.u32.u64 %r31, %rd7;\n",
     "",
     1},
    {"PrmtSel", "  prmt.b32 %r31, %r1, %r6, %r4;\n", "", 1},
    {"PrmtSign", "  prmt.b32 %r31, %r4, 0, 0x888c;\n", "", 1},
    {"PrmtF4e", "  prmt.b32.f4e %r31, %r1, %r6, %r4;\n", "", 1},
    {"BfePos", "  bfe.u32 %r31, %r1, %r4, 3;\n", "", 1},
    {"BfeLen", "  bfe.s32 %r31, 0x80, 7, %r4;\n", "", 1},
    {"BfiPos", "  bfi.b32 %r31, 7, %r1, %r4, 2;\n", "", 1},
    {"BfiVal",
     "  bfi.b32 %r7, %r4, 0, 24, 8;\n"
     "  shr.u32 %r31, %r7, 24;\n",
     "",
     1},
    {"Lop3", "  lop3.b32 %r31, %r4, %r1, 5, 0x96;\n", "", 1},
    {"Lop3Pred",
     "  lop3.or.b32 %r7|%p5, %r4, %r1, 5, 0x96, 0;\n"
     "  selp.u32 %r31, 5, 4, %p5;\n",
     "",
     1},
    {"Popc", "  popc.b32 %r31, %r4;\n", "", 1},
    {"Clz", "  clz.b32 %r31, %r4;\n", "", 1},
    {"Bfind", "  bfind.u32 %r31, %r4;\n", "", 1},
    {"Brev",
     "  brev.b32 %r7, %r4;\n"
     "  shr.u32 %r31, %r7, 24;\n",
     "",
     1},
    {"Fns", "  fns.b32 %r31, %r4, 0, 1;\n", "", 1},
    {"Shf", "  shf.l.wrap.b32 %r31, %r1, %r6, %r4;\n", "", 1},
    {"ShfHi", "  shf.r.clamp.b32 %r31, 0, %r4, 24;\n", "", 1},
    {"ShlAmount", "  shl.b32 %r31, 1, %r4;\n", "", 1},
    {"ShrS",
     "  shl.b32 %r7, %r4, 24;\n"
     "  shr.s32 %r31, %r7, 31;\n",
     "",
     1},
    {"Szext", "  szext.wrap.s32 %r31, %r1, %r4;\n", "", 1},
    {"Bmsk", "  bmsk.clamp.b32 %r31, %r4, 3;\n", "", 1},
    {"Dp4a", "  dp4a.u32.u32 %r31, %r4, 0x01010101, 0;\n", "", 1},
    {"Dp2a", "  dp2a.lo.u32.u32 %r31, %r4, 0x01010101, 0;\n", "", 1},
    {"Sad", "  sad.u32 %r31, %r4, 3, 0;\n", "", 1},
    {"Slct", "  slct.u32.s32 %r31, 5, 4, %r4;\n", "", 1},
    {"Set", "  set.eq.u32.u32 %r31, %r4, 3;\n", "", 1},
    {"SetpBool",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  setp.eq.and.u32 %p5|%p6, %r1, %r1, %p4;\n"
     "  selp.u32 %r31, 5, 4, %p6;\n",
     "",
     1},
    {"Mulhi", "  mul.hi.u32 %r31, %r4, 0x80000000;\n", "", 1},
    {"Mad24", "  mad24.lo.u32 %r31, %r4, 3, 1;\n", "", 1},
    {"Madc",
     "  mad.lo.cc.u32 %r7, %r4, 0xffffffff, 1;\n"
     "  madc.hi.u32 %r31, 0, 0, 0;\n",
     "",
     1},
    {"Subc",
     "  sub.cc.u32 %r7, %r4, 9;\n"
     "  subc.u32 %r31, 6, 0;\n",
     "",
     1},
    {"Addc64",
     "  cvt.u64.u32 %rd5, %r4;\n"
     "  add.cc.u64 %rd6, %rd5, -1;\n"
     "  addc.u64 %rd7, 0, 0;\n"
     "  cvt.u32.u64 %r31, %rd7;\n",
     "",
     1},
    {"Min0",
     "  min.u32 %r7, %r4, 6;\n"
     "  max.u32 %r31, %r7, 2;\n",
     "",
     1},
    {"Abs", "  abs.s32 %r31, %r4;\n", "", 1},
    {"CvtSat", "  cvt.sat.u8.u32 %r31, %r4;\n", "", 1},
    {"CvtSext",
     "  cvt.s64.s32 %rd5, %r4;\n"
     "  shr.u64 %rd5, %rd5, 32;\n"
     "  cvt.u32.u64 %r31, %rd5;\n",
     "",
     1},
    {"CvtSext8",
     "  cvt.s32.s8 %r7, %r4;\n"
     "  shr.u32 %r31, %r7, 24;\n",
     "",
     1},
    {"CvtF16",
     "  cvt.rn.f32.u32 %f1, %r4;\n"
     "  cvt.rzi.u32.f32 %r31, %f1;\n",
     "",
     1},
    {"CvtPack",
     "  cvt.pack.sat.s16.s32 %r7, %r4, 5;\n"
     "  shr.u32 %r31, %r7, 16;\n",
     "",
     1},
    {"F16x2Half",
     "  mov.b32 %r7, {%h1, %h1};\n"
     "  add.rn.f16x2 %r31, %r7, 0;\n",
     "",
     1},
    {"Testp",
     "  mov.b32 %f1, %r4;\n"
     "  testp.finite.f32 %p4, %f1;\n"
     "  selp.u32 %r31, 5, 4, %p4;\n",
     "",
     1},
    {"Copysign",
     "  mov.b32 %f1, %r4;\n"
     "  mov.f32 %f2, 0f3F800000;\n"
     "  copysign.f32 %f3, %f1, %f2;\n"
     "  mov.b32 %r31, %f3;\n",
     "",
     1},
    {"VoteAny",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  vote.sync.any.pred %p5, %p4, -1;\n"
     "  selp.u32 %r31, 5, 4, %p5;\n",
     "",
     1},
    {"VoteUni",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  vote.sync.uni.pred %p5, %p4, -1;\n"
     "  selp.u32 %r31, 5, 4, %p5;\n",
     "",
     1},
    {"ReduxAdd", "  redux.sync.add.u32 %r31, %r4, -1;\n", "", 1},
    {"ReduxOne",
     "  setp.eq.u32 %p4, %r1, 9;\n"
     "  mov.u32 %r7, 2;\n"
     "  @%p4 mov.u32 %r7, %r4;\n"
     "  redux.sync.min.u32 %r31, %r7, -1;\n",
     "",
     1},
    {"MatchAny", "  match.any.sync.b32 %r31, %r4, -1;\n", "", 1},
    {"MatchOne",
     "  setp.eq.u32 %p4, %r1, 9;\n"
     "  mov.u32 %r7, 2;\n"
     "  @%p4 mov.u32 %r7, %r4;\n"
     "  match.any.sync.b32 %r31, %r7, -1;\n",
     "",
     1},
    {"ShflVal",
     "  setp.eq.u32 %p4, %r1, 9;\n"
     "  mov.u32 %r7, 2;\n"
     "  @%p4 mov.u32 %r7, %r4;\n"
     "  shfl.sync.idx.b32 %r31, %r7, 9, 31, -1;\n",
     "",
     1},
    {"ShflClamp",
     "  and.b32 %r7, %r4, 31;\n"
     "  shfl.sync.down.b32 %r31, %r1, 1, %r7, -1;\n",
     "",
     1},
    {"AtomSharedExch",
     "  st.shared.u32 [%r10], 5;\n"
     "  atom.shared.exch.b32 %r31, [%r10], %r4;\n",
     "",
     1},
    {"AtomSharedExch2",
     "  st.shared.u32 [%r10], %r4;\n"
     "  atom.shared.exch.b32 %r31, [%r10], 5;\n",
     "",
     1},
    {"AtomSharedCas",
     "  st.shared.u32 [%r10], 5;\n"
     "  atom.shared.cas.b32 %r31, [%r10], %r4, 6;\n"
     "  ld.shared.u32 %r31, [%r10];\n",
     "",
     1},
    {"AtomGlobalAdd",
     "  st.global.u32 [%rd10], 5;\n"
     "  atom.global.add.u32 %r31, [%rd10], %r4;\n"
     "  ld.global.u32 %r31, [%rd10];\n",
     "",
     1},
    {"AtomCas64",
     "  cvt.u64.u32 %rd5, %r4;\n"
     "  st.global.u64 [%rd10], 5;\n"
     "  atom.global.cas.b64 %rd6, [%rd10], %rd5, 6;\n"
     "  ld.global.u32 %r31, [%rd10];\n",
     "",
     1},
    {"RedMin",
     "  st.shared.u32 [%r10], 5;\n"
     "  red.shared.min.u32 [%r10], %r4;\n"
     "  ld.shared.u32 %r31, [%r10];\n",
     "",
     1},
    {"GenericGlobal",
     "  st.u32 [%rd10], %r4;\n"
     "  ld.u32 %r31, [%rd10];\n",
     "",
     1},
    {"GenericShared",
     "  cvt.u64.u32 %rd5, %r10;\n"
     "  cvta.shared.u64 %rd6, %rd5;\n"
     "  st.u32 [%rd6], %r4;\n"
     "  ld.shared.u16 %r31, [%r10];\n",
     "",
     1},
    {"GenericLocal",
     "  .local .align 8 .b8 own[32];\n"
     "  mov.u64 %rd5, own;\n"
     "  cvta.local.u64 %rd6, %rd5;\n"
     "  st.u32 [%rd6+8], %r4;\n"
     "  st.u8 [%rd6+8], 5;\n"
     "  ld.local.u32 %r31, [own+8];\n",
     "",
     1},
    {"LocalV2",
     "  .local .align 8 .b8 own[32];\n"
     "  st.local.v2.u32 [own], {%r1, %r4};\n"
     "  ld.local.u64 %rd5, [own];\n"
     "  mov.b64 {%r7, %r31}, %rd5;\n",
     "",
     1},
    {"CallParam",
     "  { .param .b32 p0; .param .b32 r0;\n"
     "  st.param.b32 [p0], %r4;\n"
     "  call (r0), f, (p0);\n"
     "  ld.param.b32 %r31, [r0]; }\n",
     ".func (.param .b32 out) f(.param .b32 x) { .reg .b32 %q; ld.param.b32 %q, [x]; add.u32 %q, "
     "%q, 1; st.param.b32 [out], %q; ret; }\n",
     1},
    {"CallStruct",
     "  { .param .align 8 .b8 p0[16]; .param .b32 r0;\n"
     "  st.param.v2.b32 [p0], {%r4, %r1};\n"
     "  st.param.b64 [p0+8], 5;\n"
     "  call (r0), f, (p0);\n"
     "  ld.param.b32 %r31, [r0]; }\n",
     ".func (.param .b32 out) f(.param .align 8 .b8 x[16]) { .reg .b32 %q; .reg .b64 %w; "
     "ld.param.b64 %w, [x]; cvt.u32.u64 %q, %w; st.param.b32 [out], %q; ret; }\n",
     1},
    {"Brx",
     "  and.b32 %r7, %r4, 1;\n"
     "  TS: .branchtargets A0, A1;\n"
     "  brx.idx %r7, TS;\n"
     "A0:\n"
     "  mov.u32 %r31, 5;\n"
     "A1:\n"
     "  mov.u32 %r31, 5;\n",
     "",
     1},
    {"Icall",
     "  and.b32 %r7, %r4, 1;\n"
     "  mul.wide.u32 %rd5, %r7, 8;\n"
     "  mov.u64 %rd6, table;\n"
     "  add.u64 %rd6, %rd6, %rd5;\n"
     "  ld.const.u64 %rd7, [%rd6];\n"
     "  { .param .b32 p0; .param .b32 r0;\n"
     "  st.param.b32 [p0], %r1;\n"
     "  PR: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
     "  call (r0), %rd7, (p0), PR;\n"
     "  ld.param.b32 %r31, [r0]; }\n",
     ".func (.param .b32 out) f(.param .b32 x) { .reg .b32 %q; mov.u32 %q, 5; st.param.b32 [out], "
     "%q; ret; }\n.func (.param .b32 out) g(.param .b32 x) { .reg .b32 %q; mov.u32 %q, 5; "
     "st.param.b32 [out], %q; ret; }\n.const .u64 table[2] = {f, g};\n",
     1},
    {"LdAddr",
     "  and.b32 %r7, %r4, 4;\n"
     "  st.shared.u64 [%r10], 5;\n"
     "  add.u32 %r7, %r10, %r7;\n"
     "  ld.shared.u32 %r31, [%r7];\n",
     "",
     1},
    {"CpasyncSize",
     "  cvt.u64.u32 %rd5, %r6;\n"
     "  add.u64 %rd6, %rd1, %rd5;\n"
     "  cp.async.ca.shared.global [%r10], [%rd6], 16, %r4;\n"
     "  cp.async.wait_all;\n"
     "  ld.shared.u32 %r31, [%r10+12];\n",
     "",
     1},
    {"CpasyncData",
     "  cvt.u64.u32 %rd5, %r6;\n"
     "  add.u64 %rd6, %rd1, %rd5;\n"
     "  st.shared.u32 [%r10+4], 5;\n"
     "  cp.async.ca.shared.global [%r10], [%rd6], 16, 8;\n"
     "  cp.async.wait_all;\n"
     "  ld.shared.u32 %r31, [%r10+4];\n",
     "",
     1},
    {"ExpectBytes",
     "  .shared .align 8 .b64 bar;\n"
     "  setp.eq.u32 %p1, %r1, 0;\n"
     "  @%p1 mbarrier.init.shared.b64 [bar], 1;\n"
     "  bar.sync 0;\n"
     "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r4;\n"
     "  mov.u32 %r31, 5;\n",
     "",
     1},
    {"BarId",
     "  and.b32 %r7, %r4, 1;\n"
     "  bar.sync %r7, 32;\n"
     "  mov.u32 %r31, 5;\n",
     "",
     1},
    {"BulkWord",
     "  .shared .align 8 .b64 bar;\n"
     "  setp.eq.u32 %p1, %r1, 0;\n"
     "  @%p1 mbarrier.init.shared.b64 [bar], 1;\n"
     "  @%p1 st.shared.u32 [tile], 5;\n"
     "  fence.proxy.async;\n"
     "  bar.sync 0;\n"
     "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;\n"
     "  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 48, "
     "[bar];\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [bar], 0;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r31, [tile];\n",
     "",
     1},
    {"GuardArrive",
     "  .shared .align 8 .b64 bar;\n"
     "  setp.eq.u32 %p1, %r1, 0;\n"
     "  @%p1 mbarrier.init.shared.b64 [bar], 32;\n"
     "  bar.sync 0;\n"
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  @%p4 mbarrier.arrive.shared.b64 _, [bar];\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [bar], 0;\n"
     "  @!%p10 bra L1;\n"
     "  mov.u32 %r31, 5;\n",
     "",
     1},
    {"GuardExit",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  @%p4 exit;\n"
     "  mov.u32 %r31, 5;\n",
     "",
     1},
    {"GuardBar",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  @%p4 bar.sync 0;\n"
     "  mov.u32 %r31, 5;\n",
     "",
     1},
    {"GuardStore",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  st.shared.u32 [%r10], 5;\n"
     "  @%p4 st.shared.u32 [%r10], 6;\n"
     "  ld.shared.u32 %r31, [%r10];\n",
     "",
     1},
    {"BarRedAnd",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  bar.red.and.pred %p5, 0, %p4;\n"
     "  selp.u32 %r31, 6, 5, %p5;\n",
     "",
     1},
    {"BarRedPopc",
     "  setp.eq.u32 %p4, %r4, 3;\n"
     "  barrier.red.popc.u32 %r31, 0, %p4;\n",
     "",
     1},
    {"Ldmatrix",
     "  st.shared.v4.u32 [%r10], {%r4, %r4, %r4, %r4};\n"
     "  bar.warp.sync -1;\n"
     "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r31}, [%r10];\n",
     "",
     1},
    {"Stmatrix",
     "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r10], {%r4};\n"
     "  bar.warp.sync -1;\n"
     "  ld.shared.u32 %r31, [tile];\n",
     "",
     1},
    {"Movmatrix", "  movmatrix.sync.aligned.m8n8.trans.b16 %r31, %r4;\n", "", 1},
    {"Mma",
     "  mov.f32 %f1, 0f00000000;\n"
     "  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r4,%r4}, {%r4}, "
     "{%f1,%f1,%f1,%f1};\n"
     "  mov.b32 %r31, %f2;\n",
     "",
     1},
    {"Mov128",
     "  mov.b64 %rd5, {%r1, %r4};\n"
     "  .reg .b128 %q1;\n"
     "  mov.b128 %q1, {%rd5, %rd5};\n"
     "  mov.b128 {%rd6, %rd7}, %q1;\n"
     "  shr.u64 %rd7, %rd7, 32;\n"
     "  cvt.u32.u64 %r31, %rd7;\n",
     "",
     1},
    {"UnpackHalf",
     "  mov.b32 {%h2, %h3}, %r4;\n"
     "  cvt.u32.u16 %r31, %h3;\n",
     "",
     1},
    {"UnpackBytes",
     "  mov.b32 %r7, {%h1, %h1};\n"
     "  prmt.b32 %r31, %r7, 0, 0x4443;\n",
     "",
     1},
    {"Ldv4",
     "  st.shared.v4.u32 [%r10], {%r1, %r4, 5, %r4};\n"
     "  ld.shared.v4.u32 {%r7, %r8, %r9, %r31}, [%r10];\n",
     "",
     1},
    {"StU64",
     "  mov.b64 %rd5, {%r1, %r4};\n"
     "  st.shared.u64 [%r10], %rd5;\n"
     "  ld.shared.u8 %r31, [%r10+5];\n",
     "",
     1},
    {"Stas",
     "  .shared .align 8 .b64 bar;\n"
     "  setp.eq.u32 %p1, %r1, 0;\n"
     "  @%p1 mbarrier.init.shared.b64 [bar], 1;\n"
     "  @%p1 st.shared.u32 [tile], 5;\n"
     "  barrier.cluster.arrive.aligned;\n"
     "  barrier.cluster.wait.aligned;\n"
     "  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;\n"
     "  mov.u32 %r7, bar;\n"
     "  @%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r4, [%r7];\n"
     "L1:\n"
     "  mbarrier.try_wait.parity.shared.b64 %p10, [bar], 0;\n"
     "  @!%p10 bra L1;\n"
     "  ld.shared.u32 %r31, [tile];\n",
     "",
     1},
};
INSTANTIATE_TEST_SUITE_P(PtxUnknownWays, DataBy, testing::ValuesIn(kOfData), [](const auto& way) {
  return std::string{way.param.name};
});

class BesideData : public testing::TestWithParam<Way> {};

TEST_P(BesideData, IsKnown) {
  const ProofResult proof = proof_by(GetParam());
  EXPECT_EQ(proof.verdict, ProofVerdict::kProved) << proof.strength();
  EXPECT_FALSE(proof.data_decides) << GetParam().body;
}

constexpr Way kBeside[] = {
    {"ShflOther",
     "  setp.eq.u32 %p4, %r1, 9;\n"
     "  mov.u32 %r7, 2;\n"
     "  @%p4 mov.u32 %r7, %r4;\n"
     "  shfl.sync.idx.b32 %r31, %r7, 8, 31, -1;\n",
     "",
     1},
    {"LocalV2Other",
     "  .local .align 8 .b8 own[32];\n"
     "  st.local.v2.u32 [own], {%r1, %r4};\n"
     "  ld.local.u64 %rd5, [own];\n"
     "  mov.b64 {%r31, %r7}, %rd5;\n",
     "",
     1},
    {"CpasyncZero",
     "  cvt.u64.u32 %rd5, %r6;\n"
     "  add.u64 %rd6, %rd1, %rd5;\n"
     "  cp.async.ca.shared.global [%r10], [%rd6], 16, 8;\n"
     "  cp.async.wait_all;\n"
     "  ld.shared.u32 %r31, [%r10+12];\n",
     "",
     1},
    {"Nanosleep",
     "  nanosleep.u32 %r4;\n"
     "  mov.u32 %r31, 5;\n",
     "",
     1},
    {"Ldv4Other",
     "  st.shared.v4.u32 [%r10], {%r1, %r4, 5, %r4};\n"
     "  ld.shared.v4.u32 {%r7, %r8, %r31, %r9}, [%r10];\n",
     "",
     1},
};
INSTANTIATE_TEST_SUITE_P(PtxUnknownWays,
                         BesideData,
                         testing::ValuesIn(kBeside),
                         [](const auto& way) { return std::string{way.param.name}; });

}  // namespace warptwin::sim::unknown_ways_test
