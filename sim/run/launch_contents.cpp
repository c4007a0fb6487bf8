#include "sim/run/launch_contents.hpp"

#include <bit>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>

#include "common/kernel/tensor_bytes.hpp"

#include "sim/json/json_text.hpp"
#include "sim/run/npy.hpp"

namespace warptwin::sim {

namespace {

using nlohmann::json;

// Control words are integers as they stand; other elements are rounded to their type.
bool is_whole(const TensorSpec& spec) {
  return spec.use == TensorUse::kScratch || is_integer(spec.element);
}

// A whole number that the type has.
void require_whole(const LaunchNode& node, ElementType type) {
  const json& value = node.value();
  const std::uint32_t bits = 8 * bytes_of(type);
  const bool fits =
      !value.is_number_integer() ? false
      : value.is_number_unsigned()
          ? value.get<std::uint64_t>() <= ~std::uint64_t{0} >>
                (64 - bits + (is_signed(type) ? 1 : 0))
          : is_signed(type) && value.get<std::int64_t>() >= -(std::int64_t{1} << (bits - 2)) * 2;
  if (!fits) {
    node.fail("a whole number of " + std::string{name_of(type)} + " is expected, not " +
              text_of_json(value));
  }
}

std::uint64_t bits_in(const LaunchNode& node, const TensorSpec& spec) {
  const json& value = node.value();
  const bool as_it_stands = spec.use == TensorUse::kScratch && !is_integer(spec.element);
  if (as_it_stands && value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  if (as_it_stands && value.is_number_integer()) {
    return static_cast<std::uint64_t>(value.get<std::int64_t>());
  }
  return bits_of(node, spec.element);
}

std::vector<std::byte> bytes_of_each(const TensorSpec& spec,
                                     const std::function<std::uint64_t(std::size_t)>& bits) {
  std::vector<std::byte> bytes(spec.bytes());
  const std::uint32_t size = bytes_of(spec.element);
  const bool alone = elements_in_unit(spec.element) == 1;
  for (std::size_t i = 0; i < std::size_t{spec.rows} * spec.columns; ++i) {
    const std::uint64_t element = bits(i);
    if (alone) {
      std::memcpy(bytes.data() + i * size, &element, size);
    } else {
      write_element(spec,
                    bytes.data() + i / spec.columns * spec.pitch_bytes,
                    static_cast<std::uint32_t>(i % spec.columns),
                    static_cast<std::uint32_t>(element));
    }
  }
  return bytes;
}

std::vector<std::byte> whole_numbers(const LaunchNode& least,
                                     const LaunchNode& most,
                                     const TensorSpec& spec,
                                     std::mt19937_64& draw) {
  for (const LaunchNode& bound : {least, most}) {
    if (is_integer(spec.element)) {
      require_whole(bound, spec.element);
    } else if (!bound.value().is_number_integer()) {
      bound.fail("a whole number is expected");
    }
  }
  const std::uint64_t first = bits_in(least, spec);
  const std::uint64_t more = bits_in(most, spec) - first;
  if (least.value() > most.value()) {
    most.fail("it is below 'least'");
  }
  return bytes_of_each(spec, [&](std::size_t) {
    const std::uint64_t drawn = draw();
    return first + (more == ~std::uint64_t{0} ? drawn : drawn % (more + 1));
  });
}

std::vector<std::byte> random_contents(const LaunchNode& node, const TensorSpec& spec) {
  node.keys({"seed", "least", "most"});
  std::mt19937_64 draw{node["seed"].number(~std::uint64_t{0})};
  const LaunchNode least = node["least"];
  const LaunchNode most = node["most"];
  if (is_whole(spec)) {
    return whole_numbers(least, most, spec, draw);
  }
  if (!least.value().is_number() || !most.value().is_number()) {
    node.fail("numbers are expected as 'least' and 'most'");
  }
  const auto first = least.value().get<double>();
  const double width = most.value().get<double>() - first;
  if (!(width >= 0) || std::isinf(width)) {
    most.fail("a number from 'least' on is expected");
  }
  return bytes_of_each(spec, [&](std::size_t) -> std::uint64_t {
    const double share = std::ldexp(static_cast<double>(draw() >> 11U), -53);
    const double drawn = first + width * share;
    return spec.element == ElementType::kF64 ? std::bit_cast<std::uint64_t>(drawn)
                                             : encode(spec.element, static_cast<float>(drawn));
  });
}

}  // namespace

std::uint64_t bits_of(const LaunchNode& node, ElementType type) {
  const json& value = node.value();
  if (!value.is_number()) {
    node.fail("a number is expected");
  }
  if (type == ElementType::kF64) {
    return std::bit_cast<std::uint64_t>(value.get<double>());
  }
  if (!is_integer(type)) {
    return encode(type, value.get<float>());
  }
  require_whole(node, type);
  return value.is_number_unsigned() ? value.get<std::uint64_t>()
                                    : static_cast<std::uint64_t>(value.get<std::int64_t>());
}

std::vector<std::byte> contents_of(const LaunchNode& node,
                                   const TensorSpec& spec,
                                   const std::string& folder) {
  if (node.value().is_string()) {
    const std::string file = (std::filesystem::path{folder} / node.text()).string();
    return read_npy_elements(file, spec.element, spec.rows, spec.columns);
  }
  if (node.value().is_number()) {
    const std::uint64_t bits = bits_in(node, spec);
    return bytes_of_each(spec, [bits](std::size_t) { return bits; });
  }
  if (node.value().is_array()) {
    const std::size_t elements = std::size_t{spec.rows} * spec.columns;
    if (node.size() != elements) {
      node.fail(std::to_string(elements) + " numbers are expected, not " +
                std::to_string(node.size()));
    }
    return bytes_of_each(spec, [&](std::size_t i) { return bits_in(node.at(i), spec); });
  }
  if (node.has("random")) {
    node.keys({"random"});
    return random_contents(node["random"], spec);
  }
  node.fail(
      "a list of numbers, row by row, is expected, or one for all, or the name of a .npy "
      "file, or {\"random\": {\"seed\": 1, \"least\": -1, \"most\": 1}}");
}

}  // namespace warptwin::sim
