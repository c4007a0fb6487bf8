/// What microbenchmarks found: constants of the timing model, and figures that are none.

#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace warptwin::hw::bench {

/// A constant of a chip file, in its unit there.
struct Constant {
  std::string key;
  double value;
  std::string unit;
};

/// In the place of a value of a form that nothing here measures: a chip file keeps what it has.
inline constexpr double kNotMeasured = std::numeric_limits<double>::infinity();

/// A form of the tensor core: interval per column, least interval, read port beside operands,
/// latency, latency per column.
struct Form {
  std::string key;
  std::vector<double> values;
};

class Report {
 public:
  void constant(std::string key, double value, std::string unit) {
    constants_.push_back({std::move(key), value, std::move(unit)});
  }
  void form(std::string key, std::vector<double> values) {
    forms_.push_back({std::move(key), std::move(values)});
  }
  /// A line of the table: what, how much, in which unit.
  void figure(std::string what, double value, std::string unit) {
    figures_.push_back({std::move(what), value, std::move(unit)});
  }
  /// The constant or figure measured earlier. Requires: there is one.
  double value(const std::string& key) const {
    for (const auto* measured : {&constants_, &figures_}) {
      for (const Constant& each : *measured) {
        if (each.key == key) {
          return each.value;
        }
      }
    }
    return 0;
  }

  const std::vector<Constant>& constants() const { return constants_; }
  const std::vector<Form>& forms() const { return forms_; }
  const std::vector<Constant>& figures() const { return figures_; }

 private:
  std::vector<Constant> constants_;
  std::vector<Form> forms_;
  std::vector<Constant> figures_;
};

/// A figure of the copies: what of it is the way to L2, the load beside all tensor cores tells.
inline constexpr const char* kWholeTmaLatency = "TMA latency beside rows, from L2";

// In this order: later ones use what earlier ones found.

/// Clock, SMs, L2; launches and the gap between CTAs.
void measure_device(Report& report);
/// mbarriers, named and cluster barriers, fences, registers, other CTAs' shared memory.
void measure_barriers(Report& report);
/// Loads and stores of shared memory, latency of L2, conversions.
void measure_memory(Report& report);
/// TMA: latency, rows, instructions, L2 and DRAM, one SM and all, multicast, stores.
void measure_copies(Report& report);
/// L2 to all SMs, by tile, in the order of a GEMM.
void measure_gemm_loads(Report& report);
/// wgmma: interval and latency by shape and operand source, beside TMA, the clock under its load.
void measure_tensor_core(Report& report);
/// tcgen05 in its place, on sm_100a: tensor memory, MMAs by form, copies, cluster launch control,
/// the clock under the load of all tensor cores.
void measure_tensor_memory(Report& report);

}  // namespace warptwin::hw::bench
