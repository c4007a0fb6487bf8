// --names: what a user calls barriers, tiles and warps of a kernel in PTX.

#include <cstdlib>
#include <optional>

#include "sim/run/launch_node.hpp"
#include "sim/run/ptx_entry.hpp"

namespace warptwin::sim {

namespace {

using nlohmann::json;

constexpr std::uint64_t kPlacesMax = 4096;  // of one name

// Where a shared variable of the module or of a function begins.
std::optional<std::uint32_t> place_of(const ptx::Kernel& kernel, const std::string& name) {
  for (const ptx::Variable* variable : kernel.shared_variables()) {
    if (variable->name == name) {
      return kernel.shared_offset(*variable);
    }
  }
  return std::nullopt;
}

/// Reads one file.
class NamesReader {
 public:
  NamesReader(const LaunchNode& root, const PtxLaunch& launch) : root_{root}, launch_{launch} {}

  PtxNames read() {
    root_.keys({"shared", "named_barriers", "roles"});
    each_of("shared", [&](const std::string& name, const LaunchNode& node) { region(name, node); });
    each_of("named_barriers",
            [&](const std::string& name, const LaunchNode& node) { named_barrier(name, node); });
    if (root_.has("roles")) {
      roles(root_["roles"]);
    }
    return std::move(names_);
  }

 private:
  // What stands by name at a key, if it is there.
  template <class Take>
  void each_of(const char* key, Take take) const {
    if (!root_.has(key)) {
      return;
    }
    const LaunchNode all = root_[key];
    if (!all.value().is_object()) {
      all.fail("an object is expected");
    }
    for (const auto& [name, value] : all.value().items()) {
      const LaunchNode node{value, std::string{key} + "." + name};
      if (name.empty() || name.size() > 64 || name.find_first_of(" \t\n[]") != std::string::npos) {
        node.fail("a name has 1 to 64 characters, and neither blanks nor brackets");
      }
      take(name, node);
    }
  }

  void named_barrier(const std::string& name, const LaunchNode& node) {
    Region region = called(name);
    region.address = static_cast<std::uint32_t>(node.number(kNamedBarriers - 1));
    region.count = 1;
    region.element_bytes = 1;
    take(std::move(region), node);
  }

  // "input.full": of a ring its part.
  static Region called(const std::string& name) {
    const std::size_t dot = name.find('.');
    Region region;
    region.owner = name.substr(0, dot);
    region.part = dot == std::string::npos ? "" : name.substr(dot + 1);
    return region;
  }

  void take(Region region, const LaunchNode& node) {
    for (const Region& other : names_.regions) {
      if (region.address < other.end() && other.address < region.end()) {
        node.fail("it overlaps '" + other.owner + (other.part.empty() ? "" : "." + other.part) +
                  "'");
      }
    }
    names_.regions.push_back(std::move(region));
  }

  // "shared+0x510", as reports have it, or a variable's name.
  std::uint32_t place(const LaunchNode& node) const {
    const std::string text = node.text();
    constexpr std::string_view kPlain = "shared+0x";
    if (text.starts_with(kPlain)) {
      const std::string digits = text.substr(kPlain.size());
      if (digits.empty() || digits.size() > 8 ||
          digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
        node.fail("an address as reports have it is expected: shared+0x510");
      }
      return static_cast<std::uint32_t>(std::strtoul(digits.c_str(), nullptr, 16));
    }
    const std::optional<std::uint32_t> found = place_of(*launch_.kernel, text);
    if (!found) {
      node.fail("the PTX has no shared variable '" + text +
                "'; give one, or an address as reports have it: shared+0x510");
    }
    return *found;
  }

  void region(const std::string& name, const LaunchNode& node) {
    node.keys({"at", "offset", "count", "bytes"});
    const auto number = [&](const char* key, std::uint64_t most, std::uint64_t otherwise) {
      return node.has(key) ? node[key].number(most) : otherwise;
    };
    constexpr std::uint64_t kBytesMax = 227 * 1024;
    Region region = called(name);
    region.count = static_cast<std::uint32_t>(number("count", kPlacesMax, 1));
    region.element_bytes = static_cast<std::uint32_t>(number("bytes", kBytesMax, 8));
    if (region.count == 0 || region.element_bytes == 0) {
      node.fail("neither count nor bytes is 0");
    }
    const std::uint64_t first = place(node["at"]) + number("offset", kBytesMax, 0);
    const std::uint64_t end = first + std::uint64_t{region.count} * region.element_bytes;
    const std::uint64_t last = launch_.kernel->shared_end() + launch_.shape.dynamic_shared_bytes;
    if (first < kSharedBase || end > last) {
      node.fail("it reaches beyond the CTA's shared memory, which ends at byte " +
                std::to_string(last));
    }
    region.address = static_cast<std::uint32_t>(first);
    take(std::move(region), node);
  }

  static Role role_of(const LaunchNode& node) {
    const std::string name = node.text();
    std::string known;
    for (unsigned i = 0; i < static_cast<unsigned>(Role::kCount); ++i) {
      if (name == name_of(Role{static_cast<std::uint8_t>(i)})) {
        return Role{static_cast<std::uint8_t>(i)};
      }
      known +=
          (known.empty() ? "" : ", ") + std::string{name_of(Role{static_cast<std::uint8_t>(i)})};
    }
    node.fail("'" + name + "' is no role; there are " + known);
  }

  // [{"role": "load", "warps": 1}, {"role": "mma", "warps": 4}], from warp 0 on.
  void roles(const LaunchNode& list) {
    const std::uint32_t warps = launch_.shape.warps();
    std::uint32_t named = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const LaunchNode node = list.at(i);
      node.keys({"role", "warps"});
      const auto count = static_cast<std::uint32_t>(node["warps"].number(warps));
      named += count;
      if (count == 0 || named > warps) {
        node["warps"].fail("a CTA has " + std::to_string(warps) + " warps, and each role one");
      }
      names_.roles.push_back({role_of(node["role"]), count});
    }
    if (named < warps && named != 0) {
      names_.roles.push_back({Role::kCount, warps - named});
    }
  }

  const LaunchNode& root_;
  const PtxLaunch& launch_;
  PtxNames names_;
};

}  // namespace

PtxNames read_names(const std::string& file, const PtxLaunch& launch) {
  std::string text;
  const json value = read_launch_json(file, text);
  const LaunchNode root{value, file};
  return NamesReader{root, launch}.read();
}

}  // namespace warptwin::sim
