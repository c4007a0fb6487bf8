#include "sim/sweep/space.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "sim/run/choose.hpp"
#include "sim/run/nearest.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kValuesMax = 100'000;       // of an axis
constexpr double kWhole = 9'007'199'254'740'992;  // 2^53: whole numbers up to here are exact

[[noreturn]] void refuse_values(const std::string& name, const std::string& why) {
  throw ConfigError("--set " + name + ": " + why +
                    "; values are V, FIRST..LAST, FIRST..LAST:STEP or FIRST..LAST*FACTOR, joined "
                    "by commas");
}

double number_in(std::string_view text, const std::string& name) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() ||
      !(std::abs(value) <= kWhole)) {
    refuse_values(name, "'" + std::string{text} + "' is no number");
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// FIRST..LAST, with :STEP or *FACTOR.
void add_range(std::string_view item,
               std::size_t dots,
               const std::string& name,
               std::vector<double>& values) {
  const double first = number_in(item.substr(0, dots), name);
  std::string_view rest = item.substr(dots + 2);
  const std::size_t sign = rest.find_first_of(":*");
  const bool grows = sign != std::string_view::npos && rest[sign] == '*';
  const double step = sign == std::string_view::npos ? 1 : number_in(rest.substr(sign + 1), name);
  const double last = number_in(rest.substr(0, sign), name);
  if (last < first || (grows ? !(step > 1 && first > 0) : !(step > 0))) {
    refuse_values(name, "'" + std::string{item} + "' goes nowhere");
  }
  // A step too small for the numbers would not move: the bound on their count ends it.
  for (std::size_t i = 0; i <= kValuesMax; ++i) {
    const auto n = static_cast<double>(i);
    const double value = grows ? first * std::pow(step, n) : first + step * n;
    if (value > last * (1 + 1e-12)) {
      return;
    }
    values.push_back(value);
  }
  refuse_values(name, "'" + std::string{item} + "' has more than 100000 values");
}

std::vector<double> values_of(const std::string& text, const std::string& name, double own) {
  std::vector<double> values;
  for (const std::string_view item : split(text, ',')) {
    const std::size_t dots = item.find("..");
    if (dots != std::string_view::npos) {
      add_range(item, dots, name, values);
    } else if (!item.empty() && item[0] == 'x' && own >= 0) {
      values.push_back(own * number_in(item.substr(1), name));
    } else {
      values.push_back(number_in(item, name));
    }
    if (values.size() > kValuesMax) {
      refuse_values(name, "there are more than 100000 values");
    }
  }
  if (std::set<double>{values.begin(), values.end()}.size() != values.size()) {
    refuse_values(name, "a value is there twice");
  }
  return values;
}

}  // namespace

std::string text_of_number(double value) {
  std::array<char, 40> text{};
  if (value == std::floor(value) && std::abs(value) <= kWhole) {
    const auto [end, error] =
        std::to_chars(text.begin(), text.end(), static_cast<std::int64_t>(value));
    return {text.data(), end};
  }
  const auto [end, error] = std::to_chars(text.begin(), text.end(), value);
  return {text.data(), end};
}

std::string text_of(const std::vector<Axis>& axes, const SweepPoint& point) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += (i == 0 ? "" : " ") + axes[i].name + "=" + text_of_number(point[i]);
  }
  return text;
}

Space::Space(const ScenarioEntry& scenario,
             const Chip& chip,
             const std::vector<std::string>& settings)
    : scenario_{scenario}, chip_{chip} {
  for (const std::string& setting : settings) {
    const std::size_t at = setting.find('=');
    if (at == std::string::npos || at == 0) {
      throw ConfigError("--set takes name=values, not '" + setting + "'");
    }
    const std::string name = setting.substr(0, at);
    const std::string values = setting.substr(at + 1);
    if (name != "auto") {
      add(name, values);
    } else if (values == "0" || values == "1") {
      chooses_ = values == "1";
    } else {
      throw ConfigError("auto=" + values + " is out of range: use 0 or 1");
    }
  }
}

void Space::add(const std::string& name, const std::string& values) {
  if (std::any_of(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == name; })) {
    throw ConfigError("--set " + name + " is there twice; join its values by commas");
  }
  Axis axis{name, {}};
  if (axis.of_chip()) {
    const std::string key = name.substr(5);
    const auto fields = chip_fields();
    const auto field = std::find_if(
        fields.begin(), fields.end(), [&](const ChipField& f) { return key == f.key; });
    axis.values = values_of(values, name, field == fields.end() ? 0 : chip_.*field->member);
    try {
      for (const double value : axis.values) {
        Chip changed = chip_;
        set_constant(changed, key, value, "--set " + name);
      }
    } catch (const ChipError& error) {
      throw ConfigError(error.what());
    }
  } else {
    axis.values = values_of(values, name, -1);
    ParameterSet parameters{scenario_.parameters};
    for (const double value : axis.values) {
      if (value != std::floor(value)) {
        refuse_values(name, text_of_number(value) + " is no whole number");
      }
      parameters.set(name, static_cast<std::int64_t>(value));
    }
  }
  if (axis.values.size() > kSizeMax / size_) {
    throw ConfigError("there are more than " + std::to_string(kSizeMax) +
                      " combinations; take fewer values, or sweep a part at a time");
  }
  size_ *= axis.values.size();
  axes_.push_back(std::move(axis));
}

SweepPoint Space::at(std::uint64_t index) const {
  SweepPoint point(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    point[i] = axes_[i].values[index % axes_[i].values.size()];
    index /= axes_[i].values.size();
  }
  return point;
}

ParameterSet Space::parameters(const SweepPoint& point) const {
  ParameterSet parameters{scenario_.parameters};
  std::set<std::string> fixed;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!axes_[i].of_chip()) {
      parameters.set(axes_[i].name, static_cast<std::int64_t>(point[i]));
      fixed.insert(axes_[i].name);
    }
  }
  return chooses_ ? choose_config(scenario_, parameters, fixed).parameters : parameters;
}

Chip Space::chip(const SweepPoint& point) const {
  Chip chip = chip_;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].of_chip()) {
      set_constant(chip, axes_[i].name.substr(5), point[i], "--set " + axes_[i].name);
    }
  }
  return chip;
}

std::string Space::text() const {
  std::string text = std::string{scenario_.info->name} + (chooses_ ? " auto" : "");
  for (const Axis& axis : axes_) {
    text += " " + axis.name + "=";
    for (const double value : axis.values) {
      text += text_of_number(value) + ",";
    }
  }
  // What of the chip is not varied decides as well.
  text += " " + chip_.name;
  for (const ChipField& field : chip_fields()) {
    text += " " + text_of_number(chip_.*field.member);
  }
  for (const auto& [name, form] : chip_.mma) {
    for (const double value : {form.interval_per_column,
                               form.interval_least,
                               form.read_extra,
                               form.latency,
                               form.latency_per_column}) {
      text += " " + text_of_number(value);
    }
  }
  return text;
}

}  // namespace warptwin::sim
