#include "sim/sweep/columns.hpp"

#include <algorithm>

#include "sim/run/nearest.hpp"

namespace warptwin::sim {

namespace {

constexpr const char* kStandard = "us,tflops,cycles,clock,bound_by";

Json busy(const SweepRun& run, const std::string& name) {
  for (const UnitUse& unit : run.timing.stats.units) {
    std::string key = unit.name;
    std::replace(key.begin(), key.end(), ' ', '_');
    std::replace(key.begin(), key.end(), '-', '_');
    if (key == name) {
      return unit.mean;
    }
  }
  return nullptr;
}

const std::vector<SweepColumn>& all() {
  static const std::vector<SweepColumn> columns = [] {
    using Run = const SweepRun&;
    using Name = const std::string&;
    std::vector<SweepColumn> list = {
        {"us",
         "us",
         "of the grid, at the clock it is held at",
         [](Run run, Name) -> Json { return run.timing.microseconds; }},
        {"tflops",
         "TFLOP/s",
         "useful operations in that time",
         [](Run run, Name) -> Json {
           return run.timing.flops > 0 ? Json(run.timing.tflops()) : Json();
         }},
        {"cycles",
         "cycle",
         "of the grid",
         [](Run run, Name) -> Json { return run.timing.stats.cycles; }},
        {"clock",
         "GHz",
         "under the power cap",
         [](Run run, Name) -> Json { return run.timing.clock_held; }},
        {"bound_by",
         "",
         "the unit that is full, or what the MMA waits for",
         [](Run run, Name) -> Json { return run.timing.binds; }},
        {"change",
         "",
         "what would make it shorter",
         [](Run run, Name) -> Json { return run.timing.change; },
         false,
         true},
        {"half_width",
         "1",
         "90 % of measured times are expected within this share of it",
         [](Run run, Name) -> Json { return run.timing.uncertainty.value().half_width(); },
         false,
         true},
        {"verdict",
         "",
         "of the proof of this launch",
         [](Run run, Name) -> Json { return name_of(run.verdict); },
         true},
        {"ctas_per_sm",
         "CTA",
         "at a time",
         [](Run run, Name) -> Json { return run.timing.occupancy.ctas_per_sm; }},
        {"limited_by",
         "",
         "what allows no more of them",
         [](Run run, Name) -> Json { return run.timing.occupancy.limited_by; }},
        {"resident_ctas",
         "CTA",
         "at a time on all SMs",
         [](Run run, Name) -> Json { return run.timing.resident_ctas; }},
        {"operations",
         "1",
         "machine operations of the run",
         [](Run run, Name) -> Json { return run.timing.stats.operations; }},
    };
    for (const char* unit : {"tensor_core",
                             "TMA_engine",
                             "shared_memory_read",
                             "shared_memory_write",
                             "mbarrier_unit",
                             "tensor_memory_port",
                             "issue_slot",
                             "converter",
                             "FMA",
                             "MUFU",
                             "cluster_network",
                             "link_of_the_halves",
                             "L2",
                             "DRAM"}) {
      list.push_back({unit, "1", "busy, on average over the SMs", busy});
    }
    return list;
  }();
  return columns;
}

}  // namespace

std::span<const SweepColumn> sweep_columns() {
  return all();
}

std::vector<const SweepColumn*> columns_of(const std::string& list) {
  std::vector<const SweepColumn*> columns;
  const std::string text = list.empty() ? kStandard : list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string name = text.substr(at, end - at);
    const auto found = std::find_if(
        all().begin(), all().end(), [&](const SweepColumn& c) { return c.name == name; });
    if (found == all().end()) {
      std::vector<std::string_view> names;
      std::string known;
      for (const SweepColumn& column : all()) {
        names.emplace_back(column.name);
        known += (known.empty() ? "" : ", ") + column.name;
      }
      throw ConfigError("there is no column '" + name + "'" + did_you_mean(name, names) +
                        "; there are: " + known);
    }
    if (std::find(columns.begin(), columns.end(), &*found) != columns.end()) {
      throw ConfigError("--columns: '" + name + "' is there twice");
    }
    columns.push_back(&*found);
    at = end + 1;
  }
  return columns;
}

}  // namespace warptwin::sim
