// Tensor maps that lie in memory: used there, and changed there.

#include <cstring>
#include <numeric>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/kernel/scenario.hpp"

#include "sim/ptx/machine/tensor_map.hpp"
#include "tests/sim/ptx/machine/one_kernel.hpp"

namespace warptwin::sim::maps_in_memory_test {

using testing::IsEmpty;

constexpr std::uint64_t kIn = 1U << 20;  // where `in` stands
constexpr std::uint32_t kFirst = 1024;   // bytes from there: what the map is over
constexpr std::uint32_t kSecond = 2048;  // what it is over when it has changed

std::string with(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), by);
}

// 4 rows of 16 words; the map is at the beginning of `in`.
OneKernel using_map(const std::string& body) {
  OneKernel kernel;
  kernel.in.resize(1024);
  std::iota(kernel.in.begin(), kernel.in.end(), 0);
  TensorMapState map;
  map.address = kIn + kFirst;
  map.element_bytes = 4;
  map.stride_bytes[0] = 4;
  map.stride_bytes[1] = 64;
  map.extent[0] = map.box[0] = 16;
  map.extent[1] = map.box[1] = 4;
  const auto bytes = ptx::encode_tensor_map(map);
  std::memcpy(kernel.in.data(), bytes.data(), bytes.size());
  kernel.body = body;
  return kernel;
}

// %rd3: the map. Lane 0 copies a box, all wait for it.
constexpr char kCopy[] =
    "  mov.u32 %r20, tile;\n  add.u32 %r30, %r20, 8192;\n  mad.lo.u32 %r21, %r1, 4, %r20;\n"
    "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd5, %rd2, %rd4;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra MEET;\n  mbarrier.init.shared.b64 [%r30], 1;\n"
    "  mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r30], 256;\n"
    "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[%r20], [%rd3, {0, 0}], [%r30];\n"
    "MEET:\n  bar.warp.sync -1;\n"
    "WAIT:\n  mbarrier.try_wait.parity.shared.b64 %p3, [%r30], 0;\n  @!%p3 bra WAIT;\n"
    "  ld.shared.u32 %r2, [%r21];\n  st.global.u32 [%rd5], %r2;\n";

// The map in shared memory, with another address; then in a workspace of global memory.
constexpr char kChange[] =
    "  mov.u32 %r31, tile;\n  add.u32 %r31, %r31, 4096;\n  mad.lo.u32 %r32, %r1, 4, %r31;\n"
    "  mul.wide.u32 %rd6, %r1, 4;\n  add.u64 %rd7, %rd1, %rd6;\n  ld.global.u32 %r3, [%rd7];\n"
    "  st.shared.u32 [%r32], %r3;\n  add.u64 %rd8, %rd1, 2048;\n  add.u64 %rd3, %rd1, 512;\n"
    "  bar.warp.sync -1;\n  setp.ne.u32 %p2, %r1, 0;\n  @%p2 bra CHANGED;\n"
    "  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r31], %rd8;\n"
    "  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r31], 1, 3;\n"
    "CHANGED:\n  bar.warp.sync -1;\n"
    "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%rd3], [%r31], 128;\n"
    "  fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;\n";

TEST(PtxMapsInMemory, AreUsedWhereTheyLie) {
  const OneKernel kernel = using_map(std::string{"  mov.u64 %rd3, %rd1;\n"} + kCopy);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_EQ(run.out[5], kFirst / 4 + 5);
  expect_proved(kernel);
  EXPECT_THROW(proof_of(using_map(std::string{"  add.u64 %rd3, %rd1, 64;\n"} + kCopy)),
               ConfigError);
}

TEST(PtxMapsInMemory, AreNotWrittenByPlainStores) {
  const std::string store = "  st.global.u32 [%rd1+8], %r1;\n";
  const std::string uses = std::string{"  mov.u64 %rd3, %rd1;\n"} + kCopy;
  EXPECT_THROW(proof_of(using_map(store + uses)), ConfigError);
  EXPECT_THROW(proof_of(using_map(uses + store)), ConfigError);
}

TEST(PtxMapsInMemory, AreChangedAndCopied) {
  const OneKernel kernel = using_map(std::string{kChange} + kCopy);
  const OneRun run = run_of(kernel);
  EXPECT_THAT(ids_in(run.result), IsEmpty());
  EXPECT_EQ(run.out[5], kSecond / 4 + 5);
  expect_proved(kernel);
}

// What decides by the bytes of a map decides by this model's own form of it.
TEST(PtxMapsInMemory, AreNoNumbersThatAKernelKnows) {
  OneKernel kernel;
  TensorMapSpec map;
  map.box_rows = 4;
  map.box_columns = 8;
  kernel.maps = {map};
  kernel.columns = 16;
  kernel.in.resize(64);
  kernel.body =
      "  ld.b32 %r2, [%rd20+8];\n  setp.eq.u32 %p1, %r2, 0;\n  @%p1 st.global.u32 [%rd2], %r2;\n";
  const ProofResult proof = proof_of(kernel);
  EXPECT_THAT(proof.notes, testing::Contains(testing::HasSubstr("bytes of a tensor map")));
  kernel.body = "  prefetch.tensormap [%rd20];\n";
  EXPECT_THAT(proof_of(kernel).notes, IsEmpty());
}

TEST(PtxMapsInMemory, WithoutTheirFencesAreFound) {
  const std::string change = kChange;
  const std::string acquire = "  fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;\n";
  expect_found(using_map(with(change, acquire, "") + kCopy), "TENSORMAP_FENCE_MISSING");
  expect_found(using_map(with(change, "CHANGED:\n  bar.warp.sync -1;\n", "CHANGED:\n") + kCopy),
               "WARP_LANE_RACE");
  // It changes again while the copy may read it.
  const std::string again =
      "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%rd3], [%r31], 128;\n";
  expect_found(using_map(change + with(kCopy, "WAIT:\n", again + "WAIT:\n")),
               "TENSORMAP_MODIFIED_IN_FLIGHT");
  expect_proved(using_map(change + kCopy + "  bar.warp.sync -1;\n" + again));
}

// The bytes are stored by lanes, and released.
TEST(PtxMapsInMemory, AreStoredAndReleased) {
  const std::string copy =
      "  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%rd3], [%r31], 128;\n";
  const std::string release =
      "  fence.proxy.tensormap::generic.release.gpu;\n  bar.warp.sync -1;\n";
  const std::string store =
      "  ld.shared.u32 %r4, [%r32];\n  add.u64 %rd10, %rd3, %rd6;\n"
      "  st.global.u32 [%rd10], %r4;\n";
  const OneKernel kernel = using_map(with(kChange, copy, store + release) + kCopy);
  EXPECT_EQ(run_of(kernel).out[5], kSecond / 4 + 5);
  expect_proved(kernel);
  EXPECT_THROW(proof_of(using_map(with(kChange, copy, store) + kCopy)), ConfigError);
}

// CTA 0 changes the map, CTA 1 uses it.
OneKernel handed_on(const std::string& release, const std::string& acquire) {
  const std::string last = "  fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;\n";
  const std::string change = with(with(kChange, last, ""), "release.gpu", "release." + release);
  OneKernel kernel = using_map(
      "  mov.u32 %r40, %ctaid.x;\n  setp.ne.u32 %p5, %r40, 0;\n  add.u64 %rd11, %rd1, 3072;\n"
      "  add.u64 %rd3, %rd1, 512;\n  @%p5 bra OTHER;\n" +
      change +
      "  bar.warp.sync -1;\n  setp.eq.u32 %p6, %r1, 0;\n"
      "  @%p6 st.release.gpu.global.u32 [%rd11], 1;\n  bra END;\n"
      "OTHER:\n  ld.acquire.gpu.global.u32 %r41, [%rd11];\n  setp.ne.u32 %p6, %r41, 1;\n"
      "  @%p6 bra OTHER;\n  fence.proxy.tensormap::generic.acquire." +
      acquire + " [%rd3], 128;\n" + kCopy + "END:\n");
  kernel.ctas = 2;
  return kernel;
}

TEST(PtxMapsInMemory, AreHandedOnByFencesWhoseScopesHaveBoth) {
  expect_proved(handed_on("gpu", "gpu"));
  expect_proved(handed_on("sys", "sys"));
  expect_found(handed_on("cta", "gpu"), "TENSORMAP_FENCE_MISSING");
  expect_found(handed_on("gpu", "cta"), "TENSORMAP_FENCE_MISSING");
  expect_found(handed_on("cluster", "gpu"), "TENSORMAP_FENCE_MISSING");
  // Of one cluster that scope is enough, and of a thread's own change any.
  for (const auto& [release, acquire, right] : {std::tuple{"cluster", "cluster", true},
                                                std::tuple{"gpu", "cluster", true},
                                                std::tuple{"cluster", "cta", false}}) {
    OneKernel kernel = handed_on(release, acquire);
    kernel.cluster = 2;
    right ? expect_proved(kernel) : expect_found(kernel, "TENSORMAP_FENCE_MISSING");
  }
  const std::string change = with(kChange, "release.gpu", "release.cta");
  expect_proved(using_map(with(change, "acquire.gpu", "acquire.cta") + kCopy));
}

// Which the driver would not make: where rows do not lie at multiples of 16 bytes, or have more
// than a swizzle spans.
TEST(PtxMapsInMemory, AreOfATensorThatTheDriverTakes) {
  const auto at = [](const std::string& address) {
    return using_map(with(kChange, "add.u64 %rd8, %rd1, 2048", "add.u64 %rd8, %rd1, " + address) +
                     kCopy);
  };
  expect_proved(at("2064"));
  expect_found(at("2056"), "TMA_COORD");
  const auto replacing = [](const std::string& field) {
    const std::string next = "  tensormap.replace.tile.global_dim";
    return using_map(with(kChange, next, "  tensormap.replace.tile." + field + ";\n" + next) +
                     kCopy);
  };
  const std::string stride = "global_stride.shared::cta.b1024.b64 [%r31], 0, ";
  expect_proved(replacing(stride + "80"));
  expect_found(replacing(stride + "72"), "TMA_COORD");
  const auto expect_refused = [](const OneKernel& kernel, const char* why) {
    EXPECT_THAT([&] { proof_of(kernel); },
                testing::ThrowsMessage<ConfigError>(testing::HasSubstr(why)))
        << kernel.body;
  };
  // 40 bits of a stride are there, and a tensor has an element.
  expect_refused(replacing(stride + "0x10000000000"), "of this field is not there");
  const auto of_rows = [](const char* rows) {
    return using_map(with(kChange, "[%r31], 1, 3", std::string{"[%r31], 1, "} + rows) + kCopy);
  };
  expect_found(of_rows("0"), "TMA_COORD");
  expect_proved(of_rows("1"));
  // A map has 128 bytes, all of which a fence is of.
  expect_refused(using_map(with(kChange, "gpu [%rd3], 128", "gpu [%rd3], 64") + kCopy),
                 "128 bytes of a tensor map");
  const std::string swizzle = "swizzle_mode.shared::cta.b1024.b32 [%r31], ";
  expect_proved(replacing(swizzle + "2"));
  expect_found(replacing(swizzle + "1"), "TMA_COORD");
}

TEST(PtxMapsInMemory, LieOverMemoryThatIsThere) {
  expect_found(
      using_map(with(kChange, "add.u64 %rd8, %rd1, 2048", "add.u64 %rd8, %rd1, 4064") + kCopy),
      "BULK_OOB");
}

}  // namespace warptwin::sim::maps_in_memory_test
