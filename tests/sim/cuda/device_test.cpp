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

TEST(Device, AGridThatCountsClustersIsRefused) {
  std::string text = kText;
  text.insert(text.find("\n{\n  .reg"), "\n.reqntid 1\n.reqnctapercluster 2\n.blocksareclusters");
  Device device{"sm_90a"};
  LaunchRequest request;
  request.module = device.load(bytes_of(text.c_str()));
  request.kernel = "store";
  EXPECT_THAT([&] { device.launch_of(request); },
              ThrowsMessage<ConfigError>(HasSubstr(".blocksareclusters")));
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

// A service without launches, and what it says of the program.
struct Asked {
  std::vector<std::string> heard;
  Service service{{{"name", "chip"}},
                  "sm_90a",
                  [](Device&, const LaunchRequest&) { return LaunchResult{}; },
                  {[this](const std::string& why) { heard.push_back(why); },
                   [this](const std::string& race) { heard.push_back(race); }}};

  nlohmann::json ask(const nlohmann::json& header, std::span<const std::byte> bytes = {}) {
    return service.answer({header, {bytes.begin(), bytes.end()}}).header;
  }
};

nlohmann::json row(std::uint64_t address, std::uint64_t bytes) {
  return {address, bytes, 1, 0, 1, 0};
}

TEST(Service, AnswersEachRequestAndNoOther) {
  Asked asked;
  const auto ask = [&](const nlohmann::json& header) { return asked.ask(header); };
  EXPECT_EQ(ask({{"do", "hello"}, {"version", kWireVersion}})["chip"]["name"], "chip");
  EXPECT_FALSE(ask({{"do", "hello"}, {"version", kWireVersion + 1}}).contains("chip"));
  const std::uint64_t address = ask({{"do", "allocate"}, {"bytes", 64}})["address"];
  const nlohmann::json fill = {{"do", "fill"}, {"value", 7}, {"element", 4}};
  const auto filled = [&](std::uint64_t bytes) {
    nlohmann::json request = fill;
    request["to"] = row(address, bytes);
    return ask(request)["error"];
  };
  EXPECT_EQ(filled(64), 0);
  EXPECT_EQ(filled(68), 1);
  EXPECT_EQ(filled(6), 1);
  EXPECT_EQ(asked.service.answer({{{"do", "read"}, {"from", row(address, 4)}}, {}}).bytes[0],
            std::byte{7});
  EXPECT_EQ(ask({{"do", "read"}, {"from", row(address + 62, 4)}})["error"], 1);
  EXPECT_EQ(ask({{"do", "kernel"}, {"module", 3}, {"name", "x"}})["why"], "there is no module 3");
  EXPECT_TRUE(ask({{"do", "perhaps"}}).contains("why"));
  EXPECT_TRUE(ask({{"do", "read"}}).contains("why"));
  EXPECT_TRUE(ask({{"do", "order"}, {"what", "perhaps"}}).contains("why"));
  ask({{"do", "give_up"}, {"why", "so"}});
  EXPECT_EQ(asked.heard, std::vector<std::string>{"so"});
}

TEST(Service, CopiesPlanesOfRows) {
  Asked asked;
  const std::uint64_t address = asked.ask({{"do", "allocate"}, {"bytes", 64}})["address"];
  // Two planes of two rows of three bytes, 8 and 32 apart.
  const nlohmann::json box = {address, 3, 2, 8, 2, 32};
  std::vector<std::byte> bytes;
  for (int i = 0; i < 12; ++i) {
    bytes.push_back(std::byte(i));
  }
  EXPECT_EQ(asked.ask({{"do", "write"}, {"to", box}}, bytes)["error"], 0);
  EXPECT_EQ(asked.service.answer({{{"do", "read"}, {"from", box}}, {}}).bytes, bytes);
  EXPECT_EQ(asked.service.answer({{{"do", "read"}, {"from", row(address + 40, 3)}}, {}}).bytes,
            (std::vector<std::byte>{std::byte{9}, std::byte{10}, std::byte{11}}));
  bytes.pop_back();
  EXPECT_EQ(asked.ask({{"do", "write"}, {"to", box}}, bytes)["error"], 1);
  const nlohmann::json beyond = {address, 3, 2, 8, 3, 32};
  EXPECT_EQ(asked.ask({{"do", "read"}, {"from", beyond}})["error"], 1);
  const std::uint64_t huge = std::uint64_t{1} << 63;
  EXPECT_EQ(asked.ask({{"do", "read"}, {"from", {address, 1, huge, 0, 2, 0}}})["error"], 1);
  EXPECT_EQ(asked.ask({{"do", "read"}, {"from", {address, huge, 1, 0, 1, 0}}})["error"], 1);
}

TEST(Service, TellsOfWorkThatNothingOrders) {
  Asked asked;
  const std::uint64_t address = asked.ask({{"do", "allocate"}, {"bytes", 64}})["address"];
  asked.ask({{"do", "attach"}, {"address", 4096}, {"bytes", 16}});
  for (const int stream : {100, 200}) {
    asked.ask({{"do", "order"}, {"what", "create"}, {"stream", stream}, {"blocking", false}});
  }
  const std::vector<std::byte> bytes(16);
  const nlohmann::json reply = asked.ask({{"do", "write"},
                                          {"to", row(address, 16)},
                                          {"host", row(4096, 16)},
                                          {"stream", 100},
                                          {"waits", false}},
                                         bytes);
  const nlohmann::json watch = nlohmann::json::array({{1, 4096, 16}});
  EXPECT_EQ(reply["watch"], watch);
  asked.ask({{"do", "fill"},
             {"to", row(address + 8, 4)},
             {"value", 0},
             {"element", 4},
             {"stream", 200},
             {"waits", false}});
  const nlohmann::json waited =
      asked.ask({{"do", "order"}, {"what", "host_stream"}, {"stream", 100}});
  EXPECT_EQ(waited["settled"], nlohmann::json::array({1}));
  asked.ask({{"do", "order"}, {"what", "watched"}, {"number", 1}, {"changed", true}});
  EXPECT_EQ(
      asked.heard,
      (std::vector<std::string>{
          "copy 2 (a fill) in stream 2 writes bytes 8 to 11 of allocation_1, which copy 1 "
          "(to the device) in stream 1 writes; no stream, no event and no wait of the host "
          "orders the two",
          "the host writes bytes 0 to 15 of host_2, which copy 1 (to the device) uses, before "
          "it has waited for it"}));
}

}  // namespace warptwin::cuda::device_test
