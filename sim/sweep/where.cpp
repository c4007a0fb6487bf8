#include "sim/sweep/where.hpp"

#include <cmath>
#include <map>
#include <muParser.h>

#include "sim/run/nearest.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kLengthMax = 4096;
constexpr std::size_t kNestingMax = 200;  // the parser recurses at parentheses

constexpr const char* kNameLetters =
    "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

void refuse_depth(const std::string& expression) {
  std::size_t depth = 0;
  std::size_t signs = 0;  // in a row: each is a level too
  for (const char c : expression) {
    depth += c == '(' ? 1 : 0;
    depth -= c == ')' && depth > 0 ? 1 : 0;
    signs = c == '-' || c == '+' || c == '?' || c == '^' ? signs + 1 : signs;
    if (depth > kNestingMax || signs > kNestingMax) {
      throw ConfigError("--where: the expression is nested too deeply");
    }
  }
  if (expression.size() > kLengthMax) {
    throw ConfigError("--where: the expression has more than 4096 characters");
  }
}

}  // namespace

struct Where::Parsers {
  std::map<std::string, double> values;
  std::vector<mu::Parser> all;
};

Where::~Where() = default;

Where::Where(const Space& space, const std::vector<std::string>& expressions)
    : space_{space}, parsers_{std::make_unique<Parsers>()} {
  std::map<std::string, double>& values = parsers_->values;
  for (const Parameter& parameter : space.scenario().parameters) {
    values[parameter.name] = static_cast<double>(parameter.standard);
  }
  for (const Axis& axis : space.axes()) {
    values[axis.name] = axis.values.front();
  }
  parsers_->all.reserve(expressions.size());
  for (const std::string& expression : expressions) {
    refuse_depth(expression);
    mu::Parser& parser = parsers_->all.emplace_back();
    try {
      parser.DefineNameChars(kNameLetters);
      parser.ClearConst();
      for (auto& [name, value] : values) {
        parser.DefineVar(name, &value);
      }
      parser.EnableOptimizer(false);
      parser.SetExpr(expression);
      static_cast<void>(parser.GetUsedVar());  // of names that are not there too
      for (const auto& [name, place] : parser.GetUsedVar()) {
        if (place == nullptr) {
          std::vector<std::string_view> names;
          for (const auto& [known, value] : values) {
            names.emplace_back(known);
          }
          throw ConfigError("--where '" + expression + "': there is no '" + name + "'" +
                            did_you_mean(name, names));
        }
      }
      static_cast<void>(parser.Eval());
    } catch (const mu::ParserError& error) {
      throw ConfigError("--where '" + expression + "': at " + std::to_string(error.GetPos() + 1) +
                        ": " + error.GetMsg());
    }
  }
}

bool Where::holds(const SweepPoint& point, const ParameterSet& parameters) {
  for (const Parameter& parameter : space_.scenario().parameters) {
    parsers_->values[parameter.name] = static_cast<double>(parameters[parameter.name]);
  }
  for (std::size_t i = 0; i < point.size(); ++i) {
    parsers_->values[space_.axes()[i].name] = point[i];
  }
  for (mu::Parser& parser : parsers_->all) {
    double value = 0;
    try {
      value = parser.Eval();
    } catch (const mu::ParserError& error) {
      throw ConfigError("--where '" + parser.GetExpr() + "': " + error.GetMsg());
    }
    if (!std::isfinite(value)) {
      throw ConfigError("--where '" + parser.GetExpr() + "' is no number at " +
                        text_of(space_.axes(), point));
    }
    if (value == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace warptwin::sim
