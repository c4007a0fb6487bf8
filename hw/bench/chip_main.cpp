// Measures this machine's GPU, and writes a chip file of the timing model.
//
//   warptwin-measure-chip [FROM.json TO.json]
//
// On Hopper and on sm_100a. The chip of FROM, with every constant that was measured in the place of
// what stood there; others are kept as they are, and named. Without files the table alone. Exit
// codes: 0, 2 usage, 4 no device.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
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

// What the device cannot execute, and what is therefore not measured on it.
constexpr const char* kLeftOutOnHopper[] = {
    "tensor memory and tcgen05: mma_issue, mma_batch, commit_latency, tcgen05_cp, tmem_rate,",
    "tmem_latency, tmem_busy_latency, tmem_alloc, the forms of pairs and those with scale factors",
    "cluster launch control: clc_latency"};
constexpr const char* kLeftOutOnBlackwell[] = {
    "wgmma: wgmma_fence, wgmma_issue, wgmma_issue_per_column",
    "what is measured beside wgmma: smem_conflict, l2_latency_ns, tma_latency",
    "the forms with scale factors, and of every form the read port beside operands"};

template <std::size_t kLines>
void print_left_out(const char* const (&lines)[kLines], const char* device) {
  std::printf("\nleft out, for want of it on %s or of a measurement:\n", device);
  for (const char* line : lines) {
    std::printf("  %s\n", line);
  }
}

// The constants of the file that are as before.
void print_kept(const Json& chip, const Report& report) {
  std::set<std::string> measured;
  for (const Constant& constant : report.constants()) {
    measured.insert(constant.key);
  }
  std::puts("\nkept as they were in the file:");
  for (const auto& [key, value] : chip["constants"].items()) {
    if (measured.count(key) == 0) {
      std::printf("  %s: %s\n", key.c_str(), value.value("source", "").c_str());
    }
  }
}

void replace(Json& chip, const Report& report, const std::string& device, const char* products) {
  const std::string source = std::string{kSource} + ", " + device;
  for (const Constant& constant : report.constants()) {
    chip["constants"][constant.key] = {
        {"value", number(constant.value)}, {"unit", constant.unit}, {"source", source}};
  }
  for (const Form& form : report.forms()) {
    Json& entry = chip["tensor_core"][form.key];
    Json values = Json::array();
    for (std::size_t i = 0; i < form.values.size(); ++i) {
      const bool kept = std::isinf(form.values[i]);
      const Json before = entry.is_object() ? entry["value"][i] : Json(0);
      values.push_back(kept ? before : number(form.values[i]));
    }
    entry = {{"value", values}, {"unit", kFormUnit}, {"source", source + ", " + products}};
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
      std::isinf(value) ? std::printf(" -") : std::printf(" %.4g", value);
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
  if (!gpu_is_here()) {
    return 4;
  }
  cudaDeviceProp device{};
  require_cuda(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties", "check the driver");
  if (device.major != 9 && device.major != 10) {
    std::cerr << device.name << " has compute capability " << device.major << '.' << device.minor
              << ": use a GPU of 9.0 (Hopper) or 10.0 (Blackwell)\n";
    return 4;
  }
  const bool hopper = device.major == 9;
  Report report;
  measure_device(report);
  measure_barriers(report);
  measure_memory(report);
  measure_copies(report);
  measure_gemm_loads(report);
  if (hopper) {
    measure_tensor_core(report);
  } else {
    measure_tensor_memory(report);
  }
  print(report);
  hopper ? print_left_out(kLeftOutOnHopper, device.name)
         : print_left_out(kLeftOutOnBlackwell, device.name);
  if (!files.empty()) {
    print_kept(chip, report);
    replace(chip, report, device.name, hopper ? "wgmma" : "tcgen05");
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
