#include "common/kernel/scenario.hpp"

#include <algorithm>

namespace warptwin {

ParameterSet::ParameterSet(std::span<const Parameter> parameters) : parameters_{parameters} {
  for (const Parameter& parameter : parameters) {
    values_.emplace(parameter.name, parameter.standard);
  }
}

void ParameterSet::set(std::string_view name, std::int64_t value) {
  const auto found = std::find_if(
      parameters_.begin(), parameters_.end(), [&](const Parameter& p) { return name == p.name; });
  if (found == parameters_.end()) {
    std::string known;
    for (const Parameter& parameter : parameters_) {
      known += (known.empty() ? "" : ", ") + std::string{parameter.name};
    }
    throw ConfigError("there is no parameter '" + std::string{name} + "'; there are: " + known);
  }
  if (value < found->minimum || value > found->maximum) {
    throw ConfigError(std::string{name} + "=" + std::to_string(value) + " is out of range: use " +
                      std::to_string(found->minimum) + " to " + std::to_string(found->maximum));
  }
  values_.find(name)->second = value;
}

std::vector<MapDimension> outer_dimensions(const TensorMapSpec& map, const TensorSpec& tensor) {
  std::vector<MapDimension> outer;
  for (const MapDimension& dimension : map.outer) {
    if (dimension.extent != 0) {
      outer.push_back(dimension);
    }
  }
  if (outer.empty()) {
    outer.push_back({tensor.rows, tensor.pitch_bytes, map.box_rows});
  }
  return outer;
}

std::int64_t ParameterSet::operator[](std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw std::logic_error("a scenario reads the parameter '" + std::string{name} +
                           "', which it does not declare");
  }
  return found->second;
}

std::string ParameterSet::to_string() const {
  std::string text;
  for (const auto& [name, value] : values_) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  }
  return text;
}

}  // namespace warptwin
