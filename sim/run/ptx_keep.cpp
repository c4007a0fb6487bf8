// A launch with fixed places, as files that a command line takes.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/json/json_text.hpp"
#include "sim/run/npy.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

namespace {

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out{path, std::ios::binary};
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
  if (!out) {
    throw ConfigError(path.string() + ": cannot be written");
  }
}

bool is_among(const std::vector<std::uint32_t>& tensors, std::size_t tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

}  // namespace

std::string launch_text_of(const PtxLaunch& launch) {
  nlohmann::ordered_json json;
  json["kernel"] = std::string{launch.kernel->name()};
  json["grid"] = launch.shape.grid;
  json["block"] = launch.shape.block;
  if (launch.shape.explicit_cluster || launch.shape.cluster_size() > 1) {
    json["cluster"] = launch.shape.cluster;
  }
  json["dynamic_shared_bytes"] = launch.shape.dynamic_shared_bytes;
  if (launch.shape.cooperative) {
    json["cooperative"] = true;
  }
  nlohmann::ordered_json buffers = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < launch.places.size(); ++i) {
    const TensorSpec& tensor = launch.workload.tensors[i];
    buffers[tensor.name] = {{"type", name_of(tensor.element)},
                            {"shape", {tensor.rows, tensor.columns}},
                            {"use", "control"},
                            {"from_grid_before", is_among(launch.workload.from_grid_before, i)},
                            {"read_by_grid_before", is_among(launch.read_by_grid_before, i)},
                            {"address", launch.places[i]},
                            {"contents", std::string{tensor.name} + ".npy"}};
  }
  json["buffers"] = buffers;
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();
  for (const auto& [name, address] : launch.variables) {
    variables[name] = address;
  }
  json["variables"] = variables;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  const std::span<const std::byte> bytes{launch.parameters.bytes};
  for (const ptx::Variable& variable : launch.kernel->function().prototype.parameters) {
    const std::uint64_t offset = launch.kernel->parameter_offset(variable);
    parameters.push_back({{"bytes", hexadecimal(bytes.subspan(offset, variable.bytes()))}});
  }
  json["parameters"] = parameters;
  return text_of_json(json, 2) + "\n";
}

// FNV-1a over both texts.
std::uint64_t content_of(std::string_view launch_text, std::string_view ptx_text) {
  std::uint64_t content = 14695981039346656037ULL;
  for (const std::string_view part : {launch_text, ptx_text}) {
    for (const char c : part) {
      content = (content ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
  }
  return content;
}

void keep_launch(const PtxLaunch& launch, const std::string& ptx, const std::string& folder) {
  const std::filesystem::path to{folder};
  std::error_code error;
  std::filesystem::create_directories(to, error);
  if (error) {
    throw ConfigError(folder + ": cannot be made: " + error.message());
  }
  write_file(to / "kernel.ptx", ptx);
  write_file(to / "launch.json", launch_text_of(launch));
  for (std::size_t i = 0; i < launch.places.size(); ++i) {
    const std::string name = std::string{launch.workload.tensors[i].name} + ".npy";
    write_npy_bytes((to / name).string(), launch.contents[i]);
  }
}

}  // namespace warptwin::sim
