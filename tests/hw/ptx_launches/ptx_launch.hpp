// The launch file of a scenario's PTX: the bytes of its argument, as the host lays it out, and
// where in them maps and addresses stand. No GPU is needed.

#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <string>
#include <vector>

#include "hw/cuda/machine.hpp"

namespace warptwin::hw {

// Stands for the address of tensor `index`; what is added to it keeps below the next.
inline constexpr std::uint64_t kTensorWindow = std::uint64_t{1} << 40;
constexpr std::uint64_t address_of_tensor(std::size_t index) {
  return (0x5A00 + index) * kTensorWindow;
}

template <class Scenario>
void write_ptx_launch(const std::string& folder) {
  using Extents = typename Scenario::StaticExtents;
  using Kernel = typename Scenario::template Kernel<CudaMachine, Extents>;
  const ParameterSet parameters{Scenario::parameters()};
  const Workload workload = Scenario::workload(parameters);
  std::vector<CUtensorMap> maps(workload.maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    std::memset(&maps[i], static_cast<int>(0xA0 + i), sizeof maps[i]);
  }
  std::vector<GlobalAddress> tensors;
  for (std::size_t i = 0; i < workload.tensors.size(); ++i) {
    tensors.push_back({address_of_tensor(i)});
  }
  const auto problem = Kernel::problem(parameters, Extents{}, maps, tensors);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&problem);

  std::ofstream out{folder + "/" + Scenario::kInfo.name + ".json"};
  out << "{\"scenario\": \"" << Scenario::kInfo.name << "\", \"parameters\": [{\"bytes\": \""
      << std::hex << std::setfill('0');
  for (std::size_t i = 0; i < sizeof problem; ++i) {
    out << std::setw(2) << static_cast<unsigned>(bytes[i]);
  }
  out << std::dec << "\", \"at\": [";
  const char* separator = "";
  for (std::size_t at = 0; at + 8 <= sizeof problem; at += 8) {
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const bool fits = at % 64 == 0 && at + sizeof maps[i] <= sizeof problem;
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
