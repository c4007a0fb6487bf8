/// Reading a launch file: a value of it that knows where it stands.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/kernel/scenario.hpp"

#include "sim/json/json_text.hpp"

namespace warptwin::sim {

/// The value of a JSON file, and its text. Throws ConfigError for what is none.
nlohmann::json read_launch_json(const std::string& path, std::string& text);

/// A value of the file, and where it stands. What is asked of it and is not there throws
/// ConfigError with the place.
class LaunchNode {
 public:
  LaunchNode(const nlohmann::json& value, std::string place)
      : value_{value}, place_{std::move(place)} {}

  [[noreturn]] void fail(const std::string& why) const { throw ConfigError(place_ + ": " + why); }
  const nlohmann::json& value() const { return value_; }
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  LaunchNode operator[](const char* key) const {
    if (!value_.is_object() || !value_.contains(key)) {
      fail("'" + std::string{key} + "' is missing");
    }
    return {value_.at(key), place_ + "." + key};
  }
  LaunchNode at(std::size_t index) const {
    return {value_.at(index), place_ + "[" + std::to_string(index) + "]"};
  }
  std::size_t size() const {
    if (!value_.is_array()) {
      fail("a list is expected");
    }
    return value_.size();
  }
  std::uint64_t number(std::uint64_t most) const {
    if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() > most) {
      fail("a number from 0 to " + std::to_string(most) + " is expected, not " +
           text_of_json(value_));
    }
    return value_.get<std::uint64_t>();
  }
  std::int32_t integer(std::int32_t least, std::int32_t most) const {
    const bool whole = value_.is_number_integer();
    if (!whole || value_.get<double>() < least || value_.get<double>() > most) {
      fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
           " is expected, not " + text_of_json(value_));
    }
    return value_.get<std::int32_t>();
  }
  bool truth() const {
    if (!value_.is_boolean()) {
      fail("true or false is expected");
    }
    return value_.get<bool>();
  }
  std::uint32_t u32() const { return static_cast<std::uint32_t>(number(~std::uint32_t{0})); }
  /// A finite number that is not negative.
  double positive() const {
    if (!value_.is_number() || !(value_.get<double>() >= 0) || std::isinf(value_.get<double>())) {
      fail("a number that is not negative is expected, not " + text_of_json(value_));
    }
    return value_.get<double>();
  }
  std::string text() const {
    if (!value_.is_string()) {
      fail("a text is expected, not " + text_of_json(value_));
    }
    return value_.get<std::string>();
  }
  void keys(std::initializer_list<const char*> known) const {
    if (!value_.is_object()) {
      fail("an object is expected");
    }
    for (const auto& [key, unused] : value_.items()) {
      static_cast<void>(unused);
      const auto same = [&known_key = key](const char* name) { return known_key == name; };
      if (std::none_of(known.begin(), known.end(), same)) {
        std::string names;
        for (const char* name : known) {
          names += (names.empty() ? "" : ", ") + std::string{name};
        }
        fail("there is no '" + key + "'; there are " + names);
      }
    }
  }

 private:
  const nlohmann::json& value_;
  std::string place_;
};

}  // namespace warptwin::sim
