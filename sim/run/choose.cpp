#include "sim/run/choose.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "common/machine/assert.hpp"
#include "common/machine/types.hpp"

namespace warptwin::sim {

namespace {

// Every name that the rule uses.
constexpr std::array<std::string_view, 20> kChosenNames = {"m",          "n",
                                                           "k",          "swap_ab",
                                                           "cta_group",  "tile_m",
                                                           "tile_n",     "tile_k",
                                                           "stages",     "in_flight",
                                                           "k_group",    "prefetch",
                                                           "swizzle",    "accum_stages",
                                                           "clc_stages", "source_stages",
                                                           "cluster_m",  "cluster_n",
                                                           "ctas",       "clusters"};

class Chooser {
 public:
  Chooser(const ScenarioEntry& scenario,
          const ParameterSet& given,
          const std::set<std::string>& fixed)
      : scenario_{scenario}, parameters_{given}, fixed_{fixed} {
    for (const char* name : {"m", "n", "k", "tile_n", "stages"}) {
      if (find(name) == nullptr) {
        throw ConfigError("'" + std::string{scenario.info->name} + "' has no parameter '" + name +
                          "': auto chooses for GEMMs with m, n, k, tile_n and stages; leave it "
                          "out, and set this scenario's parameters by hand");
      }
    }
  }

  ChosenConfig choose() {
    shape();
    tile_n();
    const std::uint32_t rows = value("tile_m", 128) / group_;
    const std::uint32_t area = rows * value("tile_n", 0);
    const std::uint32_t steps = ceil_div(value("k", 1), value("tile_k", 64));
    set("k_group", area <= 64 * 16 && steps >= 4 ? 4 : area <= 64 * 96 && steps >= 2 ? 2 : 1);
    set("accum_stages", std::min(2U, waves_));
    set("clc_stages", waves_ == 1 ? 0 : 2);
    set("swizzle", waves_ >= 4 ? strip(rows) : 0);
    for (const char* name : {"ctas", "clusters"}) {
      set(name, tiles_ > slots_ ? slots_ : 0);
    }
    const bool largest = value("tile_m", 0) == 256 && value("tile_n", 0) == 256;
    set("source_stages", largest ? 1 : 2);
    const std::uint32_t k_group = value("k_group", 1);
    deepest("stages", kChooserSlotsMax / k_group);
    if (!largest && value("stages", 0) * k_group >= 8) {
      raise_if_it_fits("source_stages", 4);
    }
    const std::uint32_t groups = ceil_div(steps, k_group);
    set("prefetch", value("m", 0) < 128 ? std::min({4U, groups, value("stages", 0)}) : 0);
    static_cast<void>(scenario_.workload(parameters_));  // throws what does not fit

    ChosenConfig chosen{parameters_, {}};
    for (const Parameter& parameter : scenario_.parameters) {
      if (chosen_.contains(parameter.name)) {
        chosen.values.emplace_back(parameter.name, parameters_[parameter.name]);
      }
    }
    return chosen;
  }

 private:
  const Parameter* find(const std::string& name) const {
    WARPTWIN_ASSERT(std::find(kChosenNames.begin(), kChosenNames.end(), name) !=
                    kChosenNames.end());
    const auto found = std::find_if(scenario_.parameters.begin(),
                                    scenario_.parameters.end(),
                                    [&](const Parameter& one) { return name == one.name; });
    return found == scenario_.parameters.end() ? nullptr : &*found;
  }
  std::uint32_t value(const char* name, std::uint32_t without) const {
    return find(name) == nullptr ? without : parameters_.u32(name);
  }
  // Sets what the scenario has and the user has not fixed, within its range.
  void set(const char* name, std::uint32_t wanted) {
    const Parameter* parameter = find(name);
    if (parameter == nullptr || fixed_.contains(name)) {
      return;
    }
    parameters_.set(name, std::clamp<std::int64_t>(wanted, parameter->minimum, parameter->maximum));
    chosen_.insert(name);
  }
  // The workload, if the machine can launch it.
  std::optional<Workload> fits() {
    try {
      return scenario_.workload(parameters_);
    } catch (const ConfigError& error) {
      refusal_ = error.what();
      return {};
    }
  }

  // What follows from m alone: operands, group, rows, cluster; and the least of all depths.
  void shape() {
    const bool few = value("m", 0) < 32;
    set("swap_ab", few ? 1 : 0);
    set("cta_group", few ? 1 : 2);
    const Parameter* cluster_m = find("cluster_m");
    const bool pairs_only = cluster_m != nullptr && cluster_m->minimum == 2;
    group_ = value("cta_group", pairs_only ? 2 : 1);
    set("tile_m", 128 * group_);
    set("cluster_m", group_);
    set("cluster_n", 1);
    const Parameter* tile_k = find("tile_k");
    if (tile_k != nullptr) {
      set("tile_k", static_cast<std::uint32_t>(tile_k->maximum));  // 128 bytes
    }
    for (const char* name : {"k_group", "accum_stages", "source_stages"}) {
      set(name, 1);
    }
    set("stages", 1 + value("in_flight", 0));
    for (const char* name : {"prefetch", "clc_stages", "swizzle", "ctas", "clusters"}) {
      set(name, 0);
    }
  }

  // The tile with the fewest waves, and of those the smallest.
  void tile_n() {
    std::optional<std::uint32_t> best;
    const Parameter& parameter = *find("tile_n");
    const bool given = fixed_.contains("tile_n");
    for (std::uint32_t n = given ? value("tile_n", 0) : 16; n <= parameter.maximum; n += 16) {
      set("tile_n", n);
      if (const std::optional<Workload> workload = fits()) {
        const std::uint32_t slots = std::max(1U, kChooserSms / workload->cluster_size);
        const std::uint32_t waves = ceil_div(workload->clusters, slots);
        if (!best || waves < waves_) {
          best = n;
          waves_ = waves;
          tiles_ = workload->clusters;
          slots_ = slots;
        }
      }
      if (given) {
        break;
      }
    }
    if (!best) {
      throw ConfigError("auto finds no tile that fits: " + refusal_);
    }
    set("tile_n", *best);
  }

  // The strip for which a wave loads the fewest rows of A and of B, for tiles of `rows` rows a CTA.
  // A wave of more rows than the matrix goes on in the next strip.
  std::uint32_t strip(std::uint32_t rows) const {
    const std::uint32_t columns = value("tile_n", 0);
    const std::uint32_t matrix = ceil_div(value("m", 1), rows);  // of CTAs along M
    std::uint32_t best = 0;
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (const std::uint32_t width : {1U, 2U, 4U, 8U}) {
      const std::uint32_t along_m = ceil_div(kChooserSms, width);
      const std::uint32_t along_n = width * ceil_div(along_m, matrix);
      const std::uint32_t loaded = std::min(along_m, matrix) * rows + along_n * columns;
      if (loaded < least) {
        best = width;
        least = loaded;
      }
    }
    return best;
  }

  // The largest value up to `most` that fits.
  void deepest(const char* name, std::uint32_t most) {
    std::uint32_t depth = most;
    do {
      set(name, depth);
    } while (!fits() && --depth != 0);
  }
  void raise_if_it_fits(const char* name, std::uint32_t to) {
    const std::uint32_t before = value(name, 0);
    set(name, to);
    if (!fits()) {
      set(name, before);
    }
  }

  const ScenarioEntry& scenario_;
  ParameterSet parameters_;
  const std::set<std::string>& fixed_;
  std::set<std::string> chosen_;
  std::string refusal_;
  std::uint32_t group_ = 1;  // CTAs of an MMA
  std::uint32_t waves_ = 1;
  std::uint32_t tiles_ = 1;  // of a cluster
  std::uint32_t slots_ = 1;  // clusters at a time
};

}  // namespace

std::span<const std::string_view> chooser_parameters() {
  return kChosenNames;
}

ChosenConfig choose_config(const ScenarioEntry& scenario,
                           const ParameterSet& given,
                           const std::set<std::string>& fixed) {
  return Chooser{scenario, given, fixed}.choose();
}

}  // namespace warptwin::sim
