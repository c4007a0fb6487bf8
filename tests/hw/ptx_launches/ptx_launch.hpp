// The launch file of a scenario's PTX: the bytes of its argument, as the host lays it out, and
// where in them maps and addresses stand. No GPU is needed.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hw/cuda/machine.hpp"

namespace warptwin::hw {

// Stands for the address of tensor `index`; what is added to it keeps below the next.
inline constexpr std::uint64_t kTensorWindow = std::uint64_t{1} << 40;
constexpr std::uint64_t address_of_tensor(std::size_t index) {
  return (0x5A00 + index) * kTensorWindow;
}

// A value for each scenario that has such a parameter.
struct PtxSetting {
  std::string name;
  std::int64_t value = 0;
};

// "m=8192", from the command line.
inline std::vector<PtxSetting> settings_of(int count, char** words) {
  std::vector<PtxSetting> settings;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t equals = word.find('=');
    settings.push_back({word.substr(0, equals), std::stoll(word.substr(equals + 1))});
  }
  return settings;
}

// Of the parameters that may be constants of the PTX, those that are: 0 is none.
template <class Extents>
std::vector<PtxSetting> constants_of() {
  std::vector<PtxSetting> constants;
  const auto add = [&](const char* name, std::uint32_t value) {
    if (value != 0) {
      constants.push_back({name, value});
    }
  };
  if constexpr (requires { Extents{}.stages; }) {
    add("stages", static_cast<std::uint32_t>(Extents{}.stages));
  }
  if constexpr (requires { Extents{}.tile_n; }) {
    add("tile_n", static_cast<std::uint32_t>(Extents{}.tile_n));
  }
  if constexpr (requires { Extents{}.tile_k; }) {
    add("tile_k", static_cast<std::uint32_t>(Extents{}.tile_k));
  }
  if constexpr (requires { Extents{}.accum_stages; }) {
    add("accum_stages", static_cast<std::uint32_t>(Extents{}.accum_stages));
  }
  if constexpr (requires { Extents{}.source_stages; }) {
    add("source_stages", static_cast<std::uint32_t>(Extents{}.source_stages));
  }
  if constexpr (requires { Extents{}.head_dim; }) {
    add("head_dim", static_cast<std::uint32_t>(Extents{}.head_dim));
  }
  return constants;
}

template <class Scenario>
bool has_parameter(const std::string& name) {
  const auto parameters = Scenario::parameters();
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
    return name == parameter.name;
  });
}

// Extents that are known when a kernel is launched.
template <class Scenario>
using RuntimeExtents =
    std::remove_const_t<decltype(Scenario::extents(std::declval<const ParameterSet&>()))>;

// `Extents`: those of the PTX.
template <class Scenario, class Extents = typename Scenario::StaticExtents>
void write_ptx_launch(const std::string& folder, const std::vector<PtxSetting>& settings) {
  constexpr bool kIsStatic = !std::is_same_v<Extents, RuntimeExtents<Scenario>>;
  using Kernel = typename Scenario::template Kernel<CudaMachine, Extents>;
  // The constants of the PTX may be others than the parameters' defaults: the depth of the ring is.
  ParameterSet parameters{Scenario::parameters()};
  std::string set;
  for (const PtxSetting& constant :
       kIsStatic ? constants_of<Extents>() : std::vector<PtxSetting>{}) {
    if (!has_parameter<Scenario>(constant.name)) {
      continue;
    }
    const bool other = parameters[constant.name] != constant.value;
    if (other) {
      parameters.set(constant.name, constant.value);
    }
    if (other || constant.name == "stages") {
      set += ", \"" + constant.name + "\": " + std::to_string(constant.value);
    }
  }
  for (const PtxSetting& setting : settings) {
    for (const Parameter& parameter : Scenario::parameters()) {
      if (setting.name == parameter.name) {
        parameters.set(parameter.name, setting.value);
        set += ", \"" + setting.name + "\": " + std::to_string(setting.value);
      }
    }
  }
  const Workload workload = Scenario::workload(parameters);
  std::vector<CUtensorMap> maps(workload.maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    std::memset(&maps[i], static_cast<int>(0xA0 + i), sizeof maps[i]);
  }
  std::vector<GlobalAddress> tensors;
  for (std::size_t i = 0; i < workload.tensors.size(); ++i) {
    tensors.push_back({address_of_tensor(i)});
  }
  // Made in place, so that what the argument does not use is zero, and not what the stack held.
  using Problem = typename Kernel::Problem;
  alignas(Problem) unsigned char bytes[sizeof(Problem)] = {};
  Extents extents{};
  if constexpr (!kIsStatic) {
    extents = Scenario::extents(parameters);
  }
  new (bytes) Problem(Kernel::problem(parameters, extents, maps, tensors));

  std::ofstream out{folder + "/" + Scenario::kInfo.name + ".json"};
  out << "{\"scenario\": \"" << Scenario::kInfo.name << "\", \"set\": {"
      << set.substr(std::min<std::size_t>(set.size(), 2)) << "}, \"parameters\": [{\"bytes\": \""
      << std::hex << std::setfill('0');
  for (std::size_t i = 0; i < sizeof bytes; ++i) {
    out << std::setw(2) << static_cast<unsigned>(bytes[i]);
  }
  out << std::dec << "\", \"at\": [";
  const char* separator = "";
  for (std::size_t at = 0; at + 8 <= sizeof bytes; at += 8) {
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const bool fits = at % 64 == 0 && at + sizeof maps[i] <= sizeof bytes;
      if (fits && std::memcmp(bytes + at, &maps[i], sizeof maps[i]) == 0) {
        out << separator << "{\"offset\": " << at << ", \"map\": \"" << i << "\"}";
        separator = ", ";
      }
    }
    std::uint64_t value = 0;
    std::memcpy(&value, bytes + at, sizeof value);
    const std::uint64_t index = value / kTensorWindow - address_of_tensor(0) / kTensorWindow;
    if (index < workload.tensors.size()) {
      out << separator << "{\"offset\": " << at << ", \"buffer\": \""
          << workload.tensors[index].name << "\", \"added\": " << value % kTensorWindow << "}";
      separator = ", ";
    }
  }
  // The second parameter is what emulation works in; machine code of an architecture needs none.
  out << "]}, {\"value\": 0}]}\n";
}

}  // namespace warptwin::hw
