#include "sim/cli/launch_state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/kernel/tensor_bytes.hpp"

#include "sim/json/json_text.hpp"
#include "sim/ptx/text/demangled.hpp"
#include "sim/run/simulate.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kShown = 4;  // of a buffer's values

std::string shared_at(std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "shared+0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Little-endian bytes as a whole number.
std::string whole_number(const std::byte* at, std::uint32_t bytes, bool is_signed) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  const std::uint32_t spare = 64 - 8 * bytes;
  return is_signed ? std::to_string(static_cast<std::int64_t>(bits << spare) >> spare)
                   : std::to_string(bits);
}

std::string hexadecimal(const std::byte* at, std::uint64_t bytes) {
  constexpr std::uint64_t kBytes = 16;
  std::string text;
  for (std::uint64_t i = 0; i < bytes && i < kBytes; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(at[i]));
    text += digits;
  }
  return text + (bytes > kBytes ? "..." : "");
}

std::string name_of_buffer(const ReadLaunch& read, const ptx::ParameterPlace& place) {
  return "the address of " + std::string{read.launch.workload.tensors[place.index].name} +
         (place.added == 0 ? "" : " + " + std::to_string(place.added));
}

// What stands in a parameter, in words.
std::string value_of(const ReadLaunch& read,
                     const ptx::Variable& variable,
                     std::uint64_t offset,
                     std::uint64_t bytes) {
  const ptx::Parameters& parameters = read.launch.parameters;
  std::string placed;
  const auto add = [&](std::uint32_t at, const std::string& what) {
    if (at >= offset && at < offset + bytes) {
      const bool whole = at == offset && (bytes == 8 || bytes == ptx::kTensorMapBytes);
      placed += placed.empty() ? "" : "; ";
      placed += (whole ? "" : "at +" + std::to_string(at - offset) + " ") + what;
    }
  };
  for (const ptx::ParameterPlace& place : parameters.pointers) {
    add(place.offset, name_of_buffer(read, place));
  }
  for (const ptx::ParameterPlace& place : parameters.maps) {
    add(place.offset, "the map " + read.map_names[place.index]);
  }
  const std::byte* at = parameters.bytes.data() + offset;
  if (!placed.empty()) {
    return bytes == 8 || bytes == ptx::kTensorMapBytes ? placed
                                                       : hexadecimal(at, bytes) + "; " + placed;
  }
  if (ptx::is_float(variable.type) && bytes == 4) {
    float number = 0;
    std::memcpy(&number, at, sizeof number);
    return short_number(number);
  }
  if (ptx::is_float(variable.type) && bytes == 8) {
    double number = 0;
    std::memcpy(&number, at, sizeof number);
    return short_number(number);
  }
  return bytes <= 8
             ? whole_number(at, static_cast<std::uint32_t>(bytes), ptx::is_signed(variable.type))
             : hexadecimal(at, bytes);
}

// "1, 2, 3, 4, ...": what bytes of a tensor begin with.
std::string first_values(const TensorSpec& spec, const std::vector<std::byte>& bytes) {
  std::string text;
  const std::uint32_t columns = std::min(spec.columns, kShown);
  for (std::uint32_t i = 0; i < columns; ++i) {
    text += i == 0 ? "" : ", ";
    text += is_integer(spec.element)
                ? whole_number(bytes.data() + std::size_t{i} * bytes_of(spec.element),
                               bytes_of(spec.element),
                               is_signed(spec.element))
                : short_number(read_element(spec, bytes.data(), i));
  }
  return text + (spec.rows > 1 || spec.columns > kShown ? ", ..." : "");
}

const char* word_of(TensorUse use) {
  return use == TensorUse::kInput ? "input" : use == TensorUse::kOutput ? "output" : "control";
}

Json json_of_buffer(const ReadLaunch& read, std::size_t index) {
  const PtxLaunch& launch = read.launch;
  const TensorSpec& spec = launch.workload.tensors[index];
  Json one = {{"name", spec.name},
              {"type", name_of(spec.element)},
              {"shape", {spec.rows, spec.columns}},
              {"bytes", spec.bytes()},
              {"use", word_of(spec.use)}};
  const bool given = index < launch.contents.size() && !launch.contents[index].empty();
  one["contents"] = given                           ? first_values(spec, launch.contents[index])
                    : spec.use == TensorUse::kInput ? "drawn"
                                                    : "zeros";
  if (index < launch.expected.size() && !launch.expected[index].bytes.empty()) {
    one["expected"] = first_values(spec, launch.expected[index].bytes);
  }
  if (index < launch.places.size() && launch.places[index] != 0) {
    one["address"] = launch.places[index];
  }
  const auto& before = launch.workload.from_grid_before;
  if (std::find(before.begin(), before.end(), index) != before.end()) {
    one["from_grid_before"] = true;
  }
  const auto& also = launch.read_by_grid_before;
  if (std::find(also.begin(), also.end(), index) != also.end()) {
    one["read_by_grid_before"] = true;
  }
  return one;
}

Json json_of_map(const ReadLaunch& read, std::size_t index) {
  const Workload& workload = read.launch.workload;
  const TensorMapSpec& map = workload.maps[index];
  const TensorSpec& spec = workload.tensors[map.tensor];
  Json extents = Json::array();
  Json box = Json::array();
  const std::vector<MapDimension> outer = outer_dimensions(map, spec);
  for (auto each = outer.rbegin(); each != outer.rend(); ++each) {
    extents.push_back(each->extent);
    box.push_back(each->box);
  }
  const TensorMapState state = decode_map(map, spec, GlobalAddress{});
  extents.push_back(state.extent[0]);
  box.push_back(map.box_columns);
  Json one = {{"name", read.map_names[index]},
              {"buffer", spec.name},
              {"extents", extents},
              {"mode", map.im2col.pixels == 0 ? "tile" : "im2col"}};
  if (map.im2col.pixels == 0) {
    one["box"] = box;
  } else {
    one["channels"] = map.box_columns;
    one["pixels"] = map.im2col.pixels;
  }
  one["swizzle"] = span_of(map.swizzle);
  if (map.packing != Packing::kNone) {
    one["packing"] = name_of(map.packing);
  }
  one["bytes"] = state.copy_bytes(TensorMode::kTile);
  return one;
}

Json json_of_shared(const PtxLaunch& launch) {
  Json all = Json::array();
  const ptx::Kernel& kernel = *launch.kernel;
  for (const ptx::Variable* variable : kernel.shared_variables()) {
    all.push_back({{"name", std::string{variable->name}},
                   {"at", shared_at(kernel.shared_offset(*variable))},
                   {"bytes", variable->bytes()}});
  }
  return {{"static_bytes", kernel.shared_end() - kSharedBase},
          {"dynamic_bytes", launch.shape.dynamic_shared_bytes},
          {"dynamic_at", shared_at(kernel.shared_end())},
          {"variables", all}};
}

// "5 x 32"
std::string words_of(const Json& numbers) {
  std::string text;
  for (const Json& number : numbers) {
    text += (text.empty() ? "" : " x ") + text_of_json(number);
  }
  return text;
}

std::string line_of(const std::string& name, const std::string& what) {
  std::string text = "  " + name;
  text.resize(std::max<std::size_t>(text.size() + 1, 20), ' ');
  return text + " " + what + "\n";
}

std::string text_of_map(const Json& map) {
  return map["buffer"].get<std::string>() + ", " + words_of(map["extents"]) + ": " +
         (map.contains("box") ? "boxes of " + words_of(map["box"])
                              : "im2col, " + text_of_json(map["pixels"]) + " pixels of " +
                                    text_of_json(map["channels"]) + " channels") +
         ", swizzle " + text_of_json(map["swizzle"]) +
         (map.contains("packing") ? ", " + map["packing"].get<std::string>() : "") + ", " +
         text_of_json(map["bytes"]) + " bytes a copy";
}

std::string text_of_buffer(const Json& buffer) {
  std::string text = buffer["type"].get<std::string>() + " " + words_of(buffer["shape"]) + ", " +
                     text_of_json(buffer["bytes"]) + " bytes, " + buffer["use"].get<std::string>() +
                     ": " + buffer["contents"].get<std::string>();
  if (buffer.contains("expected")) {
    text += "; ends with " + buffer["expected"].get<std::string>();
  }
  if (buffer.contains("address")) {
    char address[32];
    std::snprintf(address,
                  sizeof address,
                  "; at 0x%llx",
                  static_cast<unsigned long long>(buffer["address"].get<std::uint64_t>()));
    text += address;
  }
  text += buffer.contains("from_grid_before") ? "; of the grid before" : "";
  return text + (buffer.contains("read_by_grid_before") ? "; the grid before reads it" : "");
}

}  // namespace

Json json_of(const ReadLaunch& read) {
  const PtxLaunch& launch = read.launch;
  const ptx::Kernel& kernel = *launch.kernel;
  Json json = {{"kernel", std::string{kernel.name()}},
               {"ptx", kernel.program().module().file},
               {"scenario", read.scenario == nullptr ? Json() : Json(read.scenario->info->name)},
               {"grid", launch.shape.grid},
               {"cluster", launch.shape.cluster},
               {"block", launch.shape.block},
               {"warps", launch.shape.warps()},
               {"cooperative", launch.shape.cooperative},
               {"shared", json_of_shared(launch)}};
  json["parameters"] = Json::array();
  for (const ptx::Variable& variable : kernel.function().prototype.parameters) {
    const std::uint64_t offset = kernel.parameter_offset(variable);
    json["parameters"].push_back({{"name", std::string{variable.name}},
                                  {"offset", offset},
                                  {"bytes", variable.bytes()},
                                  {"value", value_of(read, variable, offset, variable.bytes())}});
  }
  json["buffers"] = Json::array();
  for (std::size_t i = 0; i < launch.workload.tensors.size(); ++i) {
    json["buffers"].push_back(json_of_buffer(read, i));
  }
  json["maps"] = Json::array();
  for (std::size_t i = 0; i < launch.workload.maps.size(); ++i) {
    json["maps"].push_back(json_of_map(read, i));
  }
  json["variables"] = Json::array();
  for (const ptx::ModuleVariable& each : kernel.variables()) {
    json["variables"].push_back(
        {{"name", std::string{each.variable->name}}, {"bytes", each.bytes}});
  }
  json["names"] = Json::array();
  json["named_barriers"] = Json::array();
  for (const Region& region : launch.called.regions) {
    const std::string name = region.owner + (region.part.empty() ? "" : "." + region.part);
    if (region.address < kSharedBase) {
      json["named_barriers"].push_back({{"name", name}, {"id", region.address}});
      continue;
    }
    json["names"].push_back({{"name", name},
                             {"at", shared_at(region.address)},
                             {"count", region.count},
                             {"bytes", region.element_bytes}});
  }
  json["roles"] = Json::array();
  for (const RoleWarps& row : launch.called.roles) {
    json["roles"].push_back(
        {{"role", row.role == Role::kCount ? "none" : name_of(row.role)}, {"warps", row.warps}});
  }
  return json;
}

std::string text_of(const ReadLaunch& read) {
  const Json json = json_of(read);
  const auto word = [](const Json& text) { return text.get<std::string>(); };
  std::string text =
      "kernel " + ptx::demangled(word(json["kernel"])) + " (" + word(json["ptx"]) + ")" +
      (json["scenario"].is_null() ? "" : ", as scenario " + word(json["scenario"])) + "\n";
  text += line_of("grid",
                  words_of(json["grid"]) + " CTAs, in clusters of " + words_of(json["cluster"]) +
                      (json["cooperative"].get<bool>() ? ", all at a time" : ""));
  text += line_of("block",
                  words_of(json["block"]) + " threads, " + text_of_json(json["warps"]) + " warps");
  const Json& shared = json["shared"];
  text += "shared memory: " + text_of_json(shared["static_bytes"]) + " bytes static, " +
          text_of_json(shared["dynamic_bytes"]) + " dynamic from " + word(shared["dynamic_at"]) +
          "\n";
  for (const Json& each : shared["variables"]) {
    text += line_of(word(each["name"]),
                    word(each["at"]) + ", " + text_of_json(each["bytes"]) + " bytes");
  }
  const auto list = [&](const char* key, const char* title, const auto& words) {
    text += json[key].empty() ? "" : std::string{title} + "\n";
    for (const Json& each : json[key]) {
      text += line_of(word(each.contains("name") ? each["name"] : each["role"]), words(each));
    }
  };
  list("parameters", "parameters", [&](const Json& each) {
    return "+" + text_of_json(each["offset"]) + ", " + text_of_json(each["bytes"]) +
           " bytes: " + word(each["value"]);
  });
  list("buffers", "buffers", text_of_buffer);
  list("maps", "tensor maps", text_of_map);
  list("variables", "variables of the module", [](const Json& each) {
    return text_of_json(each["bytes"]) + " bytes";
  });
  list("names", "names", [&](const Json& each) {
    return word(each["at"]) + ", " + text_of_json(each["count"]) + " of " +
           text_of_json(each["bytes"]) + " bytes";
  });
  list("named_barriers", "named barriers", [](const Json& each) {
    return text_of_json(each["id"]);
  });
  list("roles", "roles", [](const Json& each) { return text_of_json(each["warps"]) + " warps"; });
  return text;
}

}  // namespace warptwin::sim
