#include "sim/program/program.hpp"

#include "sim/model/global_memory.hpp"

namespace warptwin::sim {

std::uint64_t Program::buffer_address(std::size_t index) const {
  GlobalMemory memory;
  std::uint64_t address = 0;
  for (std::size_t i = 0; i <= index; ++i) {
    address = memory.add(workload.tensors[i].name, workload.tensors[i].bytes(), false);
  }
  return address;
}

const char* Program::keep(std::string text) {
  if (strings == nullptr) {
    strings = std::make_shared<std::deque<std::string>>();
  }
  return strings->emplace_back(std::move(text)).c_str();
}

}  // namespace warptwin::sim
