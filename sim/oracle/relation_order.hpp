/// The two matrices of oracle R.

#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace warptwin::sim::relation {

using Node = std::uint32_t;
inline constexpr Node kNoNode = ~Node{0};
using Nodes = std::vector<Node>;

/// A set of earlier nodes for each node, closed under both orders as nodes are added.
class Order {
 public:
  /// A node after all of `memory`, and in execution after all of `execution` besides.
  Node add(std::span<const Node> memory, std::span<const Node> execution = {}) {
    const auto node = static_cast<Node>(memory_.size());
    memory_.push_back(close(memory_, node, memory));
    execution_.push_back(close(execution_, node, memory));
    join(execution_.back(), execution_, execution);
    return node;
  }
  /// A node after those of `nodes` that come before `last`, and after nothing else.
  Node bare(std::span<const Node> nodes, Node last) {
    const auto node = static_cast<Node>(memory_.size());
    Row row = close(memory_, node, {});
    for (const Node other : nodes) {
      if (memory(other, last)) {
        row[other / 64] |= std::uint64_t{1} << (other % 64);
      }
    }
    memory_.push_back(std::move(row));
    execution_.push_back(close(execution_, node, nodes));
    return node;
  }
  /// A node that knows what all of `nodes` know, and no more; in execution after each of them.
  Node common(std::span<const Node> nodes) {
    const auto node = static_cast<Node>(memory_.size());
    Row row = memory_[nodes.front()];
    for (const Node other : nodes) {
      row.resize(std::min(row.size(), memory_[other].size()));
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] &= memory_[other][i];
      }
    }
    row.resize(node / 64 + 1, 0);
    row[node / 64] |= std::uint64_t{1} << (node % 64);
    memory_.push_back(std::move(row));
    execution_.push_back(close(execution_, node, nodes));
    return node;
  }
  Node add(std::initializer_list<Node> memory, std::initializer_list<Node> execution = {}) {
    return add(std::span{memory.begin(), memory.size()},
               std::span{execution.begin(), execution.size()});
  }

  /// Whether `first` is `second`, or comes before it.
  bool memory(Node first, Node second) const { return has(memory_, first, second); }
  bool execution(Node first, Node second) const { return has(execution_, first, second); }
  std::size_t size() const { return memory_.size(); }

 private:
  using Row = std::vector<std::uint64_t>;  // of a node: those before it, itself among them

  static bool has(const std::vector<Row>& rows, Node first, Node second) {
    return first <= second && second < rows.size() &&
           (rows[second][first / 64] >> (first % 64) & 1U) != 0;
  }
  static void join(Row& row, const std::vector<Row>& rows, std::span<const Node> before) {
    for (const Node node : before) {
      if (node != kNoNode) {
        for (std::size_t i = 0; i < rows[node].size(); ++i) {
          row[i] |= rows[node][i];
        }
      }
    }
  }
  static Row close(const std::vector<Row>& rows, Node node, std::span<const Node> before) {
    Row row(node / 64 + 1, 0);
    row[node / 64] |= std::uint64_t{1} << (node % 64);
    join(row, rows, before);
    return row;
  }

  std::vector<Row> memory_;
  std::vector<Row> execution_;
};

}  // namespace warptwin::sim::relation
