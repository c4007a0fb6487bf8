// Measures this machine's GPU, and writes a chip file of the timing model.
//
//   warptwin-measure-chip [FROM.json TO.json]
//
// The chip of FROM, with every constant that was measured in the place of what stood there; others
// are kept as they are. Without files the table alone. Exit codes: 0, 2 usage, 4 no device.

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hw/bench/report.hpp"
#include "hw/launch/error.hpp"

namespace warptwin::hw::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSource = "measured: warptwin-measure-chip";
// As sim/timed reads it.
constexpr const char* kFormUnit =
    "cycle: interval per column, least interval, read port beside operands, latency, "
    "latency per column";

// Four significant digits; counts are whole. By text, so that no digits of the binary form follow.
Json number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1e4 ? "%.0f" : "%.4g", value);
  return Json::parse(text);
}

// `entry` on one line, as chip files are written.
std::string in_a_line(const Json& entry) {
  std::string text = "{";
  for (const auto& [key, value] : entry.items()) {
    text += (text.size() > 1 ? ", \"" : "\"") + key + "\": " + value.dump();
  }
  return text + "}";
}

// One constant a line.
std::string written(const Json& chip) {
  std::ostringstream out;
  out << "{\n";
  std::size_t left = chip.size();
  for (const auto& [key, value] : chip.items()) {
    --left;
    out << "  " << Json(key) << ": ";
    if (value.is_object()) {
      out << "{\n";
      std::size_t entries = value.size();
      for (const auto& [name, entry] : value.items()) {
        out << "    " << Json(name) << ": " << in_a_line(entry) << (--entries > 0 ? ",\n" : "\n");
      }
      out << "  }";
    } else {
      out << value;
    }
    out << (left > 0 ? ",\n" : "\n");
  }
  out << "}\n";
  return out.str();
}

void replace(Json& chip, const Report& report, const std::string& device) {
  const std::string source = std::string{kSource} + ", " + device;
  for (const Constant& constant : report.constants()) {
    chip["constants"][constant.key] = {
        {"value", number(constant.value)}, {"unit", constant.unit}, {"source", source}};
  }
  for (const Form& form : report.forms()) {
    Json values = Json::array();
    for (const double value : form.values) {
      values.push_back(number(value));
    }
    chip["tensor_core"][form.key] = {
        {"value", values}, {"unit", kFormUnit}, {"source", source + ", wgmma"}};
  }
}

void print(const Report& report) {
  std::puts("| constant | value | unit |\n|---|---|---|");
  for (const Constant& constant : report.constants()) {
    std::printf(
        "| `%s` | %.4g | %s |\n", constant.key.c_str(), constant.value, constant.unit.c_str());
  }
  for (const Form& form : report.forms()) {
    std::printf("| `%s` |", form.key.c_str());
    for (const double value : form.values) {
      std::printf(" %.4g", value);
    }
    std::puts(" | cycle |");
  }
  std::puts("\n| measured | value | unit |\n|---|---|---|");
  for (const Constant& figure : report.figures()) {
    std::printf("| %s | %.4g | %s |\n", figure.key.c_str(), figure.value, figure.unit.c_str());
  }
}

int run(const std::vector<std::string>& files) {
  if (!files.empty() && files.size() != 2) {
    std::cerr << "usage: warptwin-measure-chip [FROM.json TO.json]\n";
    return 2;
  }
  Json chip;
  if (!files.empty()) {
    std::ifstream in{files[0]};
    chip = Json::parse(in, nullptr, false);
    if (!in || chip.is_discarded() || !chip.is_object()) {
      std::cerr << files[0] << ": is no chip file that can be read\n";
      return 2;
    }
  }
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) {
    std::cerr << "no GPU of compute capability 9.0 here\n";
    return 4;
  }
  Report report;
  measure_device(report);
  measure_barriers(report);
  measure_memory(report);
  measure_copies(report);
  measure_gemm_loads(report);
  measure_tensor_core(report);
  print(report);
  if (!files.empty()) {
    replace(chip, report, device.name);
    std::ofstream out{files[1]};
    out << written(chip);
    if (!out.flush()) {
      std::cerr << files[1] << ": cannot be written\n";
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace warptwin::hw::bench

int main(int count, char** arguments) {
  try {
    return warptwin::hw::bench::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 4;
  }
}
