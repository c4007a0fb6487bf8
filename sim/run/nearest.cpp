#include "sim/run/nearest.hpp"

#include <algorithm>
#include <utility>

namespace warptwin::sim {

namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string_view> nearest(std::string_view name,
                                      std::vector<std::string_view> names,
                                      std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // distance, which name
  for (const std::string_view other : names) {
    order.emplace_back(distance(name, other), order.size());
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
    found.push_back(names[order[i].second]);
  }
  return found;
}

std::string did_you_mean(std::string_view name,
                         std::vector<std::string_view> names,
                         std::size_t count) {
  std::string text;
  for (const std::string_view near : nearest(name, std::move(names), count)) {
    text += (text.empty() ? "; did you mean '" : " or '") + std::string{near} + "'";
  }
  return text.empty() ? "" : text + "?";
}

}  // namespace warptwin::sim
