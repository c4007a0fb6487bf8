// Launch files: a PTX kernel's grid, parameters, buffers and tensor maps, as JSON.

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "sim/json/json_text.hpp"
#include "sim/run/launch_contents.hpp"
#include "sim/run/launch_node.hpp"
#include "sim/run/ptx_entry.hpp"
#include "sim/run/ptx_timing.hpp"
#include "sim/run/simulate.hpp"
#include "sim/timed/chip.hpp"

namespace warptwin::sim {

namespace {

using nlohmann::json;

// Below are the buffers without an address, above the windows of the other spaces.
constexpr std::uint64_t kAddressLeast = std::uint64_t{1} << 32;
constexpr std::uint64_t kAddressMax = std::uint64_t{1} << 47;
constexpr std::uint64_t kTensorMapAlignment = 64;  // alignas of CUtensorMap
constexpr std::uint64_t kBoxMost = std::uint64_t{256} << 10;
constexpr std::uint64_t kBufferBytesMax = std::uint64_t{4} << 30;
constexpr std::uint32_t kPackingSince = 100;  // sm_100

ptx::Extent3 extent_of(const LaunchNode& node) {
  ptx::Extent3 extent{1, 1, 1};
  if (node.value().is_number()) {
    extent[0] = static_cast<std::uint32_t>(node.number(1U << 30));
  } else {
    if (node.size() == 0 || node.size() > 3) {
      node.fail("one to three numbers are expected");
    }
    for (std::size_t i = 0; i < node.size(); ++i) {
      extent[i] = static_cast<std::uint32_t>(node.at(i).number(1U << 20));
    }
  }
  for (const std::uint32_t each : extent) {
    if (each == 0) {
      node.fail("no extent is 0");
    }
  }
  if (std::uint64_t{extent[0]} * extent[1] * extent[2] > 1U << 30) {
    node.fail("more than 2^30 in all");
  }
  return extent;
}

ElementType element_of(const LaunchNode& node) {
  const std::string name = node.text();
  std::string names;
  for (unsigned i = 0; i <= static_cast<unsigned>(ElementType::kF64); ++i) {
    const auto type = static_cast<ElementType>(i);
    if (name == name_of(type)) {
      return type;
    }
    names += (names.empty() ? "" : ", ") + std::string{name_of(type)};
  }
  node.fail("'" + name + "' is no element type; there are " + names);
}

/// Reads one launch file.
class LaunchReader {
 public:
  LaunchReader(const LaunchNode& root, PtxLaunch& launch, std::deque<std::string>& names)
      : root_{root}, launch_{launch}, names_{names} {}

  void shape() {
    launch_.shape.grid = extent_of(root_["grid"]);
    launch_.shape.block = extent_of(root_["block"]);
    if (root_.has("cluster")) {
      launch_.shape.cluster = extent_of(root_["cluster"]);
      launch_.shape.explicit_cluster = true;
    }
    if (root_.has("dynamic_shared_bytes")) {
      launch_.shape.dynamic_shared_bytes =
          static_cast<std::uint32_t>(root_["dynamic_shared_bytes"].number(1U << 18));
    }
    launch_.shape.cooperative = root_.has("cooperative") && root_["cooperative"].truth();
  }

  void buffers() {
    if (!root_.has("buffers")) {
      return;
    }
    const LaunchNode buffers = root_["buffers"];
    for (const auto& [name, value] : buffers.value().items()) {
      buffer(name, LaunchNode{value, "buffers." + name});
    }
  }

  void maps() {
    if (!root_.has("maps")) {
      return;
    }
    const LaunchNode maps = root_["maps"];
    for (const auto& [name, value] : maps.value().items()) {
      map_names_.push_back(name);
      map(LaunchNode{value, "maps." + name});
    }
  }

  void parameters() {
    const auto& declared = launch_.kernel->function().prototype.parameters;
    const LaunchNode parameters = root_["parameters"];
    if (parameters.size() != declared.size()) {
      parameters.fail("the kernel takes " + std::to_string(declared.size()) + " parameters, not " +
                      std::to_string(parameters.size()));
    }
    launch_.parameters.bytes.resize(launch_.kernel->parameter_bytes());
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const auto offset = static_cast<std::uint32_t>(launch_.kernel->parameter_offset(declared[i]));
      parameter(parameters.at(i), declared[i], offset);
    }
  }

  // Of variables of the module that stand in buffers: where.
  void variables() {
    if (!root_.has("variables")) {
      return;
    }
    const LaunchNode variables = root_["variables"];
    if (!variables.value().is_object()) {
      variables.fail("an object is expected");
    }
    for (const auto& [name, value] : variables.value().items()) {
      const LaunchNode node{value, "variables." + name};
      const std::uint64_t address = node.number(kAddressMax);
      bool found = false;
      for (const ptx::ModuleVariable& each : launch_.kernel->variables()) {
        if (each.variable->name == name) {
          found = true;
          require_room(node, address, each.bytes);
        }
      }
      if (!found) {
        node.fail("the module has no variable '" + name + "'");
      }
      launch_.variables.emplace(name, address);
    }
  }

  /// Files of contents are named from the launch file's folder.
  void read_beside(const std::string& launch_file) {
    folder_ = std::filesystem::path{launch_file}.parent_path().string();
  }

  void take_map_names(const std::vector<std::string>& names) { map_names_ = names; }
  const std::vector<std::string>& map_names() const { return map_names_; }

 private:
  void buffer(const std::string& name, const LaunchNode& node) {
    node.keys({"type",
               "shape",
               "use",
               "contents",
               "expected",
               "tolerance",
               "address",
               "from_grid_before",
               "read_by_grid_before"});
    TensorSpec spec{};
    spec.name = names_.emplace_back(name).c_str();
    spec.element = element_of(node["type"]);
    const LaunchNode shape = node["shape"];
    if (shape.size() == 0 || shape.size() > 2) {
      shape.fail("one or two numbers are expected");
    }
    spec.rows = shape.size() == 2 ? shape.at(0).u32() : 1;
    spec.columns = shape.at(shape.size() - 1).u32();
    if (const std::uint32_t unit = elements_in_unit(spec.element); spec.columns % unit != 0) {
      shape.fail("a row of " + std::string{name_of(spec.element)} + " has a multiple of " +
                 std::to_string(unit) + " columns, not " + std::to_string(spec.columns));
    }
    const std::uint64_t row_bytes =
        std::uint64_t{spec.columns} * bytes_of(spec.element) / elements_in_unit(spec.element);
    if (row_bytes == 0 || spec.rows == 0 || row_bytes > kBufferBytesMax / spec.rows) {
      shape.fail("a buffer has 1 to 2^32 bytes");
    }
    spec.pitch_bytes = static_cast<std::uint32_t>(row_bytes);
    const std::string use = node.has("use") ? node["use"].text() : "input";
    if (use != "input" && use != "output" && use != "control") {
      node["use"].fail("input, output or control is expected");
    }
    spec.use = use == "input"    ? TensorUse::kInput
               : use == "output" ? TensorUse::kOutput
                                 : TensorUse::kScratch;
    launch_.contents.push_back(node.has("contents") ? contents_of(node["contents"], spec, folder_)
                                                    : std::vector<std::byte>{});
    launch_.expected.push_back(expected(node, spec));
    const auto number = static_cast<std::uint32_t>(launch_.workload.tensors.size());
    if (node.has("from_grid_before") && node["from_grid_before"].truth()) {
      launch_.workload.from_grid_before.push_back(number);
    }
    if (node.has("read_by_grid_before") && node["read_by_grid_before"].truth()) {
      launch_.read_by_grid_before.push_back(number);
    }
    launch_.workload.tensors.push_back(spec);
    launch_.places.push_back(node.has("address") ? address_of(node["address"], spec) : 0);
  }

  ExpectedTensor expected(const LaunchNode& node, const TensorSpec& spec) const {
    if (!node.has("expected")) {
      if (node.has("tolerance")) {
        node["tolerance"].fail("it is of what is expected, and nothing is");
      }
      return {};
    }
    if (spec.use != TensorUse::kOutput) {
      node["expected"].fail("only of an output");
    }
    ExpectedTensor result{contents_of(node["expected"], spec, folder_), {}};
    if (node.has("tolerance")) {
      const LaunchNode tolerance = node["tolerance"];
      tolerance.keys({"relative", "absolute"});
      const auto share = [&](const char* key) {
        return tolerance.has(key) ? tolerance[key].positive() : 0.0;
      };
      result.tolerance = Tolerance{share("relative"), share("absolute")};
    }
    return result;
  }

  // A buffer's place, which no other's overlaps.
  std::uint64_t address_of(const LaunchNode& node, const TensorSpec& spec) const {
    const std::uint64_t address = node.number(kAddressMax);
    if (address < kAddressLeast || address % 4 != 0) {
      node.fail("a multiple of 4 from 2^32 on is expected");
    }
    for (std::size_t i = 0; i < launch_.places.size(); ++i) {
      const std::uint64_t other = launch_.places[i];
      const TensorSpec& tensor = launch_.workload.tensors[i];
      if (other != 0 && address < other + tensor.bytes() && other < address + spec.bytes()) {
        node.fail("it overlaps buffer '" + std::string{tensor.name} + "'");
      }
    }
    return address;
  }

  void require_room(const LaunchNode& node, std::uint64_t address, std::uint64_t bytes) const {
    for (std::size_t i = 0; i < launch_.places.size(); ++i) {
      const std::uint64_t first = launch_.places[i];
      const std::uint64_t size = launch_.workload.tensors[i].bytes();
      if (first != 0 && address >= first && address - first <= size &&
          bytes <= size - (address - first)) {
        return;
      }
    }
    node.fail("no buffer with an address has its " + std::to_string(bytes) + " bytes");
  }

  std::uint32_t buffer_named(const LaunchNode& node) const {
    const std::string name = node.text();
    const auto& tensors = launch_.workload.tensors;
    const auto found = std::find_if(
        tensors.begin(), tensors.end(), [&](const TensorSpec& spec) { return name == spec.name; });
    if (found == tensors.end()) {
      node.fail("there is no buffer '" + name + "'");
    }
    return static_cast<std::uint32_t>(found - tensors.begin());
  }

  std::uint32_t map_named(const LaunchNode& node) const {
    const std::string name = node.text();
    const auto found = std::find(map_names_.begin(), map_names_.end(), name);
    if (found == map_names_.end()) {
      node.fail("there is no tensor map '" + name + "'");
    }
    return static_cast<std::uint32_t>(found - map_names_.begin());
  }

  static std::uint32_t box_of(const LaunchNode& node) {
    const auto box = static_cast<std::uint32_t>(node.number(256));
    if (box == 0) {
      node.fail("1 to 256 is expected");
    }
    return box;
  }

  // [{"extent": 3, "stride_bytes": 4096}, {"extent": 8, "stride_bytes": 128, "step": 2}]: what the
  // rows of a map are made of, the outermost first.
  void dimensions(const LaunchNode& list,
                  const std::vector<std::uint32_t>& box,
                  TensorMapSpec& spec) const {
    const TensorSpec& tensor = launch_.workload.tensors[spec.tensor];
    std::uint64_t end =
        std::uint64_t{tensor.columns} / elements_in_unit(tensor.element) * bytes_of(tensor.element);
    for (std::size_t i = list.size(); i-- > 0;) {
      const LaunchNode node = list.at(i);
      node.keys({"extent", "stride_bytes", "step"});
      MapDimension& dimension = spec.outer[list.size() - 1 - i];
      dimension.extent = node["extent"].u32();
      dimension.stride_bytes = node["stride_bytes"].number(kBufferBytesMax);
      dimension.step = node.has("step") ? static_cast<std::uint32_t>(node["step"].number(8)) : 1;
      dimension.box = box[i];
      if (dimension.extent == 0 || dimension.step == 0) {
        node.fail("neither extent nor step is 0");
      }
      if (dimension.stride_bytes % 16 != 0) {
        node["stride_bytes"].fail("a multiple of 16 is expected");
      }
      end += (dimension.extent - std::uint64_t{1}) * dimension.stride_bytes;
      if (end > tensor.bytes()) {
        node.fail("it reaches beyond the " + std::to_string(tensor.bytes()) + " bytes of buffer '" +
                  std::string{tensor.name} + "'");
      }
    }
  }

  // {"channels": 64, "pixels": 128, "lower": [-1, -1], "upper": [-1, -1]}: of an im2col map.
  // Corners are of the dimensions but that of the images, the outermost first.
  static void im2col(const LaunchNode& node, std::size_t outer, TensorMapSpec& spec) {
    constexpr std::int32_t kCornersMost[] = {32767, 127, 15};  // by their number
    node.keys({"channels", "pixels", "lower", "upper"});
    spec.box_columns = box_of(node["channels"]);
    spec.im2col.pixels = static_cast<std::uint32_t>(node["pixels"].number(1024));
    if (spec.im2col.pixels == 0) {
      node["pixels"].fail("1 to 1024 is expected");
    }
    const std::size_t places = outer - 1;
    const auto corners = [&](const char* key, std::int32_t* to) {
      const LaunchNode list = node[key];
      if (list.size() != places) {
        list.fail("a number for each dimension but the images' and the channels' is expected");
      }
      const std::int32_t most = kCornersMost[places - 1];
      for (std::size_t i = 0; i < places; ++i) {
        to[places - 1 - i] = list.at(i).integer(-most - 1, most);
      }
    };
    corners("lower", spec.im2col.lower);
    corners("upper", spec.im2col.upper);
    for (std::size_t i = 0; i < places; ++i) {
      if (spec.im2col.lower[i] > std::int64_t{spec.outer[i].extent} - 1 + spec.im2col.upper[i]) {
        node["lower"].fail("behind the upper corner: the bounding box is empty");
      }
    }
    spec.box_rows = spec.im2col.pixels;
  }

  // The elements of the box, columns last.
  static std::vector<std::uint32_t> box_of_tile(const LaunchNode& box,
                                                bool has_dimensions,
                                                std::size_t outer) {
    if (box.size() != outer + 1) {
      box.fail(has_dimensions ? "a number for each dimension, and columns, are expected"
                              : "rows and columns are expected");
    }
    std::vector<std::uint32_t> numbers;
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i <= outer; ++i) {
      numbers.push_back(box_of(box.at(i)));
      elements *= numbers.back();
    }
    if (elements > kBoxMost) {
      box.fail("it has more elements than shared memory has bytes");
    }
    return numbers;
  }

  // "16U4_ALIGN16B": what a map takes elements of four or six bits for.
  Packing packing_of(const LaunchNode& node) const {
    const std::string name = node.text();
    std::string names;
    for (const Packing packing :
         {Packing::k16U4Align8B, Packing::k16U4Align16B, Packing::k16U6Align16B}) {
      if (name == name_of(packing)) {
        if (!launch_.kernel->is_for_sm(kPackingSince)) {
          node.fail("elements of four and six bits are there from sm_100 on");
        }
        return packing;
      }
      names += (names.empty() ? "" : ", ") + std::string{name_of(packing)};
    }
    node.fail("'" + name + "' is none; there are " + names);
  }

  // What the driver asks of a map of such elements; `box` names where their number stands.
  void require_packing(const LaunchNode& node,
                       const LaunchNode& box,
                       const TensorMapSpec& spec) const {
    const TensorSpec& tensor = launch_.workload.tensors[spec.tensor];
    const TensorMapState map = decode_map(spec, tensor, GlobalAddress{launch_.places[spec.tensor]});
    const bool padded = map.padding() != 0;
    const std::uint32_t columns = padded ? TensorMapState::kPaddedColumns : map.unit();
    const std::uint64_t row_bytes = std::uint64_t{tensor.units()} * bytes_of(tensor.element);
    const std::uint32_t of_columns = columns / map.unit() * map.element_bytes;
    if (row_bytes % of_columns != 0) {
      node["buffer"].fail("a row has a multiple of " + std::to_string(of_columns) + " bytes, or " +
                          std::to_string(columns) + " elements, not " + std::to_string(row_bytes) +
                          " bytes");
    }
    if (row_bytes / of_columns * columns > ~std::uint32_t{0}) {
      node["buffer"].fail("a row has fewer than 2^32 elements");
    }
    if (padded ? map.box[0] != columns : map.row_bytes() % 16 != 0 || map.box[0] % 2 != 0) {
      box.fail(padded ? "128 elements of each row are copied at a time"
                      : "a multiple of 32 elements of each row is expected");
    }
    const std::uint32_t span = span_of(map.swizzle);
    if (span != 0 && (padded ? span != columns : map.row_bytes() > span)) {
      node["swizzle"].fail(padded ? "none, or one of 128 bytes, is expected"
                                  : "it spans less than a row of the box");
    }
    if (!map.keeps_to_packing()) {
      node["packing"].fail(
          "a buffer's address and what lies between elements of outer dimensions are multiples of "
          "32 bytes");
    }
  }

  void map(const LaunchNode& node) {
    node.keys({"buffer", "box", "im2col", "dimensions", "swizzle", "packing"});
    TensorMapSpec spec;
    spec.tensor = buffer_named(node["buffer"]);
    const bool has_dimensions = node.has("dimensions");
    const bool pixels = node.has("im2col");
    const std::size_t outer = has_dimensions ? node["dimensions"].size() : 1;
    if (outer < 1 || outer > TensorMapSpec::kOuterMax) {
      node["dimensions"].fail("one to four are expected, the outermost first");
    }
    if (pixels && (node.has("box") || outer < 2)) {
      node["im2col"].fail("it takes the place of the box, and two to four dimensions");
    }
    const std::vector<std::uint32_t> box = pixels ? std::vector<std::uint32_t>(outer, 1)
                                                  : box_of_tile(node["box"], has_dimensions, outer);
    if (has_dimensions) {
      dimensions(node["dimensions"], box, spec);
    }
    if (pixels) {
      im2col(node["im2col"], outer, spec);
    } else {
      spec.box_columns = box.back();
      spec.box_rows = std::accumulate(
          box.begin(), box.end() - 1, std::uint32_t{1}, std::multiplies<std::uint32_t>{});
    }
    if (node.has("swizzle")) {
      const std::uint64_t bytes = node["swizzle"].number(128);
      if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128) {
        node["swizzle"].fail("0, 32, 64 or 128 bytes are expected");
      }
      spec.swizzle = static_cast<Swizzle>(bytes);
    }
    if (node.has("packing")) {
      spec.packing = packing_of(node["packing"]);
      const LaunchNode whole = pixels ? node["im2col"]["channels"] : node["box"];
      require_packing(node, pixels ? whole : whole.at(outer), spec);
    }
    const TensorSpec& tensor = launch_.workload.tensors[spec.tensor];
    const std::uint32_t row = decode_map(spec, tensor, GlobalAddress{}).row_bytes();
    const std::uint32_t span = span_of(spec.swizzle);
    if (pixels && (row % 16 != 0 || (span != 0 && row > span))) {
      node["im2col"]["channels"].fail("a pixel has " + std::to_string(row) +
                                      " bytes: a multiple of 16 is expected, and no more than the "
                                      "swizzle spans");
    }
    launch_.workload.maps.push_back(spec);
  }

  void put_bytes(std::uint32_t offset, const void* from, std::size_t size) {
    std::memcpy(launch_.parameters.bytes.data() + offset, from, size);
  }

  void parameter(const LaunchNode& node, const ptx::Variable& variable, std::uint32_t offset) {
    const std::uint64_t size = variable.bytes();
    if (node.has("map")) {
      node.keys({"map"});
      need(node, size, ptx::kTensorMapBytes);
      launch_.parameters.maps.push_back({offset, map_named(node["map"]), 0});
    } else if (node.has("buffer")) {
      node.keys({"buffer", "offset"});
      need(node, size, 8);
      const std::uint64_t added = node.has("offset") ? node["offset"].number(kBufferBytesMax) : 0;
      launch_.parameters.pointers.push_back({offset, buffer_named(node["buffer"]), added});
    } else if (node.has("value")) {
      node.keys({"value"});
      scalar(node["value"], variable, offset);
    } else if (node.has("fields")) {
      fields(node, size, offset);
    } else {
      structure(node, size, offset);
    }
  }

  static void need(const LaunchNode& node, std::uint64_t size, std::uint64_t wanted) {
    if (size != wanted) {
      node.fail("the parameter has " + std::to_string(size) + " bytes, not " +
                std::to_string(wanted));
    }
  }

  void scalar(const LaunchNode& node, const ptx::Variable& variable, std::uint32_t offset) {
    const json& value = node.value();
    const std::uint64_t size = variable.bytes();
    if (!value.is_number() || size > 8) {
      node.fail(size > 8 ? "the parameter is no number: give it as bytes" : "a number is expected");
    }
    if (ptx::is_float(variable.type) && size == 4) {
      const auto number = value.get<float>();
      put_bytes(offset, &number, sizeof number);
    } else if (ptx::is_float(variable.type) && size == 8) {
      const auto number = value.get<double>();
      put_bytes(offset, &number, sizeof number);
    } else if (value.is_number_integer()) {
      const auto number = value.get<std::int64_t>();
      put_bytes(offset, &number, size);
    } else {
      node.fail("a whole number is expected");
    }
  }

  // {"fields": [{"type": "i32", "value": 5}, {"buffer": "a"}, {"map": "m"}]}, one behind the other
  // where each is aligned as C++ aligns it, or at its `offset`; the rest is zeros.
  void fields(const LaunchNode& node, std::uint64_t size, std::uint32_t offset) {
    node.keys({"fields"});
    const LaunchNode list = node["fields"];
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const LaunchNode field = list.at(i);
      field.keys({"type", "value", "buffer", "added", "map", "offset"});
      const bool is_map = field.has("map");
      const bool is_number = !is_map && !field.has("buffer");
      const ElementType type = is_number ? element_of(field["type"]) : ElementType::kU64;
      if (is_number && elements_in_unit(type) != 1) {
        field["type"].fail("it has no address of its own in a structure");
      }
      const std::uint64_t bytes = is_map ? ptx::kTensorMapBytes : bytes_of(type);
      const std::uint64_t aligned = is_map ? kTensorMapAlignment : bytes;
      const std::uint64_t behind = (end + aligned - 1) / aligned * aligned;
      const std::uint64_t at = field.has("offset") ? field["offset"].number(size) : behind;
      if (at < end || at + bytes > size) {
        field.fail(at < end ? "it begins before the field in front of it ends, at byte " +
                                  std::to_string(end)
                            : "it ends behind the parameter's " + std::to_string(size) + " bytes");
      }
      end = at + bytes;
      const std::uint32_t to = offset + static_cast<std::uint32_t>(at);
      if (is_number) {
        const std::uint64_t bits = bits_of(field["value"], type);
        put_bytes(to, &bits, bytes);
      } else {
        stand_at(field, to);
      }
    }
  }

  // A tensor map, or the address of a buffer.
  void stand_at(const LaunchNode& place, std::uint32_t to) {
    if (place.has("map")) {
      launch_.parameters.maps.push_back({to, map_named(place["map"]), 0});
    } else {
      const std::uint64_t added = place.has("added") ? place["added"].number(kBufferBytesMax) : 0;
      launch_.parameters.pointers.push_back({to, buffer_named(place["buffer"]), added});
    }
  }

  // {"bytes": "00ff...", "at": [{"offset": 0, "map": "a"}, {"offset": 128, "buffer": "b"}]}
  void structure(const LaunchNode& node, std::uint64_t size, std::uint32_t offset) {
    node.keys({"bytes", "at"});
    const std::string hex = node["bytes"].text();
    if (hex.size() != 2 * size ||
        hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      node["bytes"].fail(std::to_string(2 * size) + " hexadecimal digits are expected");
    }
    for (std::size_t i = 0; i < size; ++i) {
      const auto byte = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
      put_bytes(offset + static_cast<std::uint32_t>(i), &byte, 1);
    }
    if (!node.has("at")) {
      return;
    }
    const LaunchNode places = node["at"];
    for (std::size_t i = 0; i < places.size(); ++i) {
      const LaunchNode place = places.at(i);
      place.keys({"offset", "map", "buffer", "added"});
      const std::uint64_t at = place["offset"].number(size);
      const std::uint64_t wanted = place.has("map") ? ptx::kTensorMapBytes : 8;
      if (at + wanted > size) {
        place["offset"].fail("it does not fit in the parameter's " + std::to_string(size) +
                             " bytes");
      }
      stand_at(place, offset + static_cast<std::uint32_t>(at));
    }
  }

  const LaunchNode& root_;
  PtxLaunch& launch_;
  std::deque<std::string>& names_;
  std::vector<std::string> map_names_;
  std::string folder_;
};

// The chip of a launch, as --chip takes it: the name of one, or a file, which stands beside the
// launch file. Empty: the launch names none.
std::string chip_named(const LaunchNode& root, const std::string& launch_file) {
  if (!root.has("chip")) {
    return "";
  }
  const std::string name = root["chip"].text();
  const std::filesystem::path beside = std::filesystem::path{launch_file}.parent_path() / name;
  const auto shipped = shipped_chips();
  const bool is_shipped = std::find(shipped.begin(), shipped.end(), name) != shipped.end();
  if (!is_shipped && !std::filesystem::is_regular_file(beside)) {
    std::string names;
    for (const std::string_view each : shipped) {
      names += (names.empty() ? "" : ", ") + std::string{each};
    }
    root["chip"].fail("there is no chip '" + name +
                      "', and no such file beside the launch; there are " + names);
  }
  return is_shipped ? name : beside.string();
}

void require_chip(const LaunchNode& root, const std::string& launch_file, const PtxFacts& kernel) {
  const std::string name = chip_named(root, launch_file);
  if (name.empty()) {
    return;
  }
  try {
    check_target(kernel, load_chip(name));
  } catch (const std::runtime_error& error) {
    root["chip"].fail(error.what());
  }
}

const ScenarioEntry& scenario_named(const LaunchNode& node,
                                    const std::vector<ScenarioEntry>& scenarios) {
  const std::string name = node.text();
  for (const ScenarioEntry& scenario : scenarios) {
    if (name == scenario.info->name) {
      return scenario;
    }
  }
  node.fail("there is no scenario '" + name + "'");
}

}  // namespace

json read_launch_json(const std::string& path, std::string& text) {
  std::ifstream in{path, std::ios::binary};
  if (!in) {
    throw ConfigError("cannot read " + path);
  }
  std::ostringstream all;
  all << in.rdbuf();
  text = all.str();
  if (nests_too_deep(text)) {
    throw ConfigError(path + ": " + kNestsTooDeep);
  }
  try {
    return parsed_json<json>(text);
  } catch (const json::exception& error) {
    throw ConfigError(path + ": expected JSON: " + words_of_json_error(error.what()));
  }
}

ReadLaunch read_launch_file(const std::string& ptx,
                            const std::string& launch_file,
                            const std::vector<ScenarioEntry>& scenarios,
                            const std::string& names_file) {
  std::string text;
  const json value = read_launch_json(launch_file, text);
  const LaunchNode root{value, launch_file};
  root.keys({"kernel",
             "grid",
             "block",
             "cluster",
             "dynamic_shared_bytes",
             "cooperative",
             "chip",
             "parameters",
             "buffers",
             "maps",
             "variables",
             "scenario",
             "set"});
  const auto names = std::make_shared<std::deque<std::string>>();
  ReadLaunch read;
  read.names = names;
  PtxLaunch& launch = read.launch;
  ptx::Module module = ptx::read_module(ptx);
  read.content = content_of(text, *module.text);
  launch.kernel = std::make_shared<const ptx::Kernel>(
      std::move(module), root.has("kernel") ? root["kernel"].text() : std::string{});
  launch.name = std::string{launch.kernel->name()};
  require_chip(root, launch_file, facts_of(*launch.kernel));
  LaunchReader reader{root, launch, *names};
  if (root.has("scenario")) {
    read.scenario = &scenario_named(root["scenario"], scenarios);
    ParameterSet& parameters = read.parameters.emplace(read.scenario->parameters);
    if (root.has("set")) {
      for (const auto& [name, number] : root["set"].value().items()) {
        const LaunchNode node{number, launch_file + ".set." + name};
        if (!number.is_number_integer()) {
          node.fail("a whole number is expected");
        }
        parameters.set(name, number.get<std::int64_t>());
      }
    }
    take_launch_of(*read.scenario, parameters, launch);
    launch.name = read.scenario->info->name;
    for (std::size_t i = 0; i < launch.workload.maps.size(); ++i) {
      read.map_names.push_back(std::to_string(i));
    }
    reader.take_map_names(read.map_names);
    reader.parameters();
    if (!names_file.empty()) {
      throw ConfigError("--names is for a launch with buffers of its own: " + launch.name +
                        " names its barriers and roles");
    }
    return read;
  }
  reader.read_beside(launch_file);
  reader.shape();
  reader.buffers();
  reader.maps();
  reader.variables();
  reader.parameters();
  read.map_names = reader.map_names();
  if (!names_file.empty()) {
    launch.called = read_names(names_file, launch);
  }
  return read;
}

ScenarioEntry entry_of(ReadLaunch read, LaunchUse use) {
  if (read.scenario != nullptr) {
    return entry_of(*read.scenario, *read.parameters, std::move(read.launch));
  }
  ScenarioEntry entry = entry_of(std::move(read.launch), use);
  entry.workload = [names = read.names, workload = entry.workload](const ParameterSet& parameters) {
    return workload(parameters);
  };
  return entry;
}

ScenarioEntry entry_of_launch_file(const std::string& ptx,
                                   const std::string& launch_file,
                                   const std::vector<ScenarioEntry>& scenarios,
                                   LaunchUse use,
                                   const std::string& names_file) {
  ReadLaunch read = read_launch_file(ptx, launch_file, scenarios, names_file);
  const std::uint64_t content = read.content;
  ScenarioEntry entry = entry_of(std::move(read), use);
  entry.command_name = "--ptx " + ptx + " --launch " + launch_file +
                       (names_file.empty() ? std::string{} : " --names " + names_file);
  entry.content = content;
  return entry;
}

std::string chip_of_launch_file(const std::string& launch_file) {
  std::string text;
  const json value = read_launch_json(launch_file, text);
  return chip_named(LaunchNode{value, launch_file}, launch_file);
}

}  // namespace warptwin::sim
