// Runs scenarios on this machine's GPU as they are in production, and compares with their
// references. Where there is no GPU of compute capability 9.0 or 10.0 it says so and is skipped
// (exit code 77).

#include <cstdio>
#include <initializer_list>

#include "hw/launch/device_run.hpp"
#include "hw/launch/instantiate.cuh"
#include "scenarios/attention.hpp"
#include "scenarios/gemm.hpp"
#include "scenarios/gemm_2sm.hpp"
#include "scenarios/gemm_block_scaled.hpp"
#include "scenarios/gemm_epilogue_load.hpp"
#include "scenarios/gemm_persistent.hpp"
#include "scenarios/multicast_ring.hpp"
#include "scenarios/producer_consumer.hpp"

namespace warptwin::hw {
namespace {

constexpr int kSkipped = 77;

struct Setting {
  const char* name;
  std::int64_t value;
};

template <class Scenario>
bool run(std::initializer_list<Setting> settings) {
  ParameterSet parameters{Scenario::parameters()};
  for (const Setting& setting : settings) {
    parameters.set(setting.name, setting.value);
  }
  const DeviceRun run = run_on_device(instantiate_plain<Scenario>(), parameters, {});
  const bool right = run.end == DeviceEnd::kDone && run.wrong.empty();
  std::printf("%s %s: %s, %.1f ms\n",
              Scenario::kInfo.name,
              parameters.to_string().c_str(),
              right                         ? "right"
              : run.end == DeviceEnd::kDone ? "WRONG"
                                            : "NO END",
              run.milliseconds);
  for (const WrongOutput& wrong : run.wrong) {
    std::printf("  %zu elements of %s, the first [%u, %u]: %g, should be %g\n",
                wrong.elements,
                wrong.tensor.c_str(),
                wrong.row,
                wrong.column,
                wrong.got,
                wrong.expected);
  }
  return right;
}

int run_all() {
  std::string why;
  const std::string device = device_name(why);
  if (device.empty()) {
    std::printf("skipped: %s\n", why.c_str());
    return kSkipped;
  }
  std::puts(device.c_str());
  bool right = run<scenarios::ProducerConsumer>({});
  right = run<scenarios::MulticastRing>({}) && right;
  right = run<scenarios::Gemm>({}) && right;
  right = run<scenarios::Gemm>({{"ctas", 3}}) && right;                        // persistent
  right = run<scenarios::Gemm>({{"m", 200}, {"n", 136}, {"k", 72}}) && right;  // cut tiles
  right =
      run<scenarios::Gemm>({{"m", 1}, {"n", 8}, {"k", 8}, {"ctas", 2}}) && right;  // an idle CTA
  right = run<scenarios::GemmEpilogueLoad>({}) && right;
  right = run<scenarios::GemmEpilogueLoad>({{"ctas", 3}, {"beta", -3}}) && right;
  right = run<scenarios::GemmEpilogueLoad>({{"m", 200}, {"n", 136}, {"k", 72}}) && right;
  right = run<scenarios::Attention>({{"kv", 200}}) && right;
  right = run<scenarios::GemmBlockScaled>({{"k", 160}}) && right;
  right = run<scenarios::Gemm2sm>({}) && right;
  right = run<scenarios::Gemm2sm>({{"clusters", 3}}) && right;
  right = run<scenarios::Gemm2sm>({{"m", 300}, {"n", 136}, {"k", 72}}) && right;
  right = run<scenarios::GemmPersistent>({{"resident", 1}}) && right;  // claims, where emulated
  return right ? 0 : 1;
}

}  // namespace
}  // namespace warptwin::hw

int main() {
  try {
    return warptwin::hw::run_all();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
