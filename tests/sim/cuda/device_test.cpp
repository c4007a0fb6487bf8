// The device of a program: addresses, variables of modules, what a request gets as its answer.

#include "sim/cuda/device.hpp"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cuda/service.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::cuda::device_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 first[3] = {1, 2, 3};
.visible .global .align 8 .u64 second = first;
.visible .entry store(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  st.global.u32 [first+4], %r1;
  ret;
}
)";

std::span<const std::byte> bytes_of(const char* text) {
  return {reinterpret_cast<const std::byte*>(text), std::strlen(text)};
}

std::uint64_t word(Device& device, std::uint64_t address, std::size_t size) {
  std::uint64_t value = 0;
  const std::byte* at = device.at(address, size);
  EXPECT_NE(at, nullptr);
  std::memcpy(&value, at, at == nullptr ? 0 : size);
  return value;
}

TEST(Device, AddressesAreNeverGivenAgain) {
  Device device{"sm_90a"};
  const std::uint64_t first = device.allocate(100);
  EXPECT_NE(device.at(first + 99, 1), nullptr);
  EXPECT_EQ(device.at(first + 99, 2), nullptr);
  EXPECT_EQ(device.at(first - 1, 1), nullptr);
  EXPECT_EQ(word(device, first, 1), 0xffU);  // fresh memory is not zero
  EXPECT_TRUE(device.free(first));
  EXPECT_FALSE(device.free(first));
  EXPECT_EQ(device.at(first, 1), nullptr);
  EXPECT_GT(device.allocate(100), first);
  EXPECT_EQ(device.allocate(0), 0U);
  EXPECT_EQ(device.allocate(std::uint64_t{1} << 40), 0U);
}

TEST(Device, VariablesOfAModuleBeginAsItSays) {
  Device device{"sm_90a"};
  const Module& module = device.module(device.load(bytes_of(kText)));
  const std::uint64_t first = module.variables.at("first");
  EXPECT_EQ(word(device, first + 8, 4), 3U);
  EXPECT_EQ(word(device, module.variables.at("second"), 8), first);
  EXPECT_FALSE(device.free(first));
}

TEST(Device, ALaunchWritesWhatTheProgramReads) {
  Device device{"sm_90a"};
  LaunchRequest request;
  request.module = device.load(bytes_of(kText));
  request.kernel = "store";
  request.shape.block = {1, 1, 1};
  const std::uint64_t to = device.allocate(16);
  const std::uint32_t value = 77;
  request.parameters.resize(12);
  std::memcpy(request.parameters.data(), &to, sizeof to);
  std::memcpy(request.parameters.data() + 8, &value, sizeof value);
  const sim::ScenarioEntry entry = sim::entry_of(device.launch_of(request));
  sim::RunOptions options;
  options.at_end = [&](sim::GlobalMemory& memory, std::span<const GlobalAddress>) {
    device.take(memory);
  };
  const sim::RunResult result = simulate(entry, ParameterSet{entry.parameters}, options);
  EXPECT_EQ(result.end, sim::Ending::kDone);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(word(device, to, 4), 77U);
  EXPECT_EQ(word(device, to + 4, 4), 0xffffffffU);
  EXPECT_EQ(word(device, device.module(request.module).variables.at("first") + 4, 4), 77U);
}

TEST(Device, WhatIsNoModuleIsRefused) {
  Device device{"sm_90a"};
  EXPECT_THAT([&] { device.load(bytes_of("nonsense")); },
              ThrowsMessage<ConfigError>(HasSubstr("cannot be read")));
  EXPECT_THAT(
      [&] {
        device.load(
            bytes_of("\x7f"
                     "ELF machine code"));
      },
      ThrowsMessage<ConfigError>(HasSubstr("PTX of it is needed")));
}

TEST(Service, AnswersEachRequestAndNoOther) {
  std::string heard;
  Service service{{{"name", "chip"}},
                  "sm_90a",
                  [](Device&, const LaunchRequest&) { return LaunchResult{}; },
                  [&](const std::string& why) { heard = why; }};
  const auto ask = [&](const nlohmann::json& header) {
    return service.answer({header, {}}).header;
  };
  EXPECT_EQ(ask({{"do", "hello"}, {"version", kWireVersion}})["chip"]["name"], "chip");
  EXPECT_FALSE(ask({{"do", "hello"}, {"version", kWireVersion + 1}}).contains("chip"));
  const std::uint64_t address = ask({{"do", "allocate"}, {"bytes", 64}})["address"];
  EXPECT_EQ(ask({{"do", "fill"}, {"address", address}, {"value", 7}, {"width", 4}, {"count", 16}}),
            (nlohmann::json{{"error", 0}}));
  EXPECT_EQ(ask({{"do", "fill"}, {"address", address}, {"value", 7}, {"width", 4}, {"count", 17}}),
            (nlohmann::json{{"error", 1}}));
  EXPECT_EQ(service.answer({{{"do", "read"}, {"address", address}, {"bytes", 4}}, {}}).bytes[0],
            std::byte{7});
  EXPECT_EQ(ask({{"do", "read"}, {"address", address + 62}, {"bytes", 4}})["error"], 1);
  EXPECT_EQ(ask({{"do", "kernel"}, {"module", 3}, {"name", "x"}})["why"], "there is no module 3");
  EXPECT_TRUE(ask({{"do", "perhaps"}}).contains("why"));
  EXPECT_TRUE(ask({{"do", "read"}}).contains("why"));
  ask({{"do", "give_up"}, {"why", "so"}});
  EXPECT_EQ(heard, "so");
}

}  // namespace warptwin::cuda::device_test
