// The launch file to begin with, as a kernel's signature says.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/json/json_text.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

std::string first_launch_of(const std::string& ptx, const std::string& name) {
  const ptx::Kernel kernel{ptx::read_module(ptx), name};
  const ptx::Function& function = kernel.function();
  const ptx::Directives& directives = function.directives;
  nlohmann::ordered_json launch;
  launch["kernel"] = std::string{kernel.name()};
  launch["grid"] = {1, 1, 1};
  const auto* threads = directives.required_threads[0] != 0 ? directives.required_threads
                                                            : directives.maximal_threads;
  launch["block"] = {std::max(threads[0], 1U), std::max(threads[1], 1U), std::max(threads[2], 1U)};
  if (threads[0] == 0) {
    launch["block"] = {128, 1, 1};
  }
  if (directives.cluster[0] != 0) {
    launch["cluster"] = {directives.cluster[0],
                         std::max(directives.cluster[1], 1U),
                         std::max(directives.cluster[2], 1U)};
    launch["grid"] = launch["cluster"];
  } else if (directives.explicit_cluster) {
    launch["cluster"] = {1, 1, 1};
  }
  launch["dynamic_shared_bytes"] = 0;
  nlohmann::ordered_json buffers = nlohmann::ordered_json::object();
  nlohmann::ordered_json maps = nlohmann::ordered_json::object();
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (const ptx::Variable& variable : function.prototype.parameters) {
    const std::string number = std::to_string(parameters.size());
    const std::uint64_t bytes = variable.bytes();
    if (bytes == ptx::kTensorMapBytes && variable.aligned_to() >= 64) {
      buffers["data" + number] = {{"type", "bf16"}, {"shape", {128, 64}}, {"use", "input"}};
      maps["map" + number] = {{"buffer", "data" + number}, {"box", {64, 64}}, {"swizzle", 128}};
      parameters.push_back({{"map", "map" + number}});
    } else if (bytes == 8 && !ptx::is_float(variable.type)) {
      buffers["buffer" + number] = {{"type", "f32"}, {"shape", {1, 1024}}, {"use", "control"}};
      parameters.push_back({{"buffer", "buffer" + number}});
    } else if (bytes <= 8) {
      parameters.push_back({{"value", 0}});
    } else {
      parameters.push_back({{"bytes", std::string(2 * bytes, '0')}});
    }
  }
  if (!buffers.empty()) {
    launch["buffers"] = buffers;
  }
  if (!maps.empty()) {
    launch["maps"] = maps;
  }
  launch["parameters"] = parameters;
  return text_of_json(launch, 2) + "\n";
}

}  // namespace warptwin::sim
