/// The three matrices of oracle R.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace warptwin::sim::relation {

using Node = std::uint32_t;
inline constexpr Node kNoNode = ~Node{0};
using Nodes = boost::container::small_vector<Node, 6>;

/// Sets of earlier nodes for each node, closed under each order as nodes are added: memory order,
/// execution order, and that of tensor memory, in which all of memory order is.
class Order {
 public:
  /// A node after all of `memory`, in execution after all of `execution` besides, and for tensor
  /// memory after all of `tensor`.
  Node add(const Nodes& memory, const Nodes& execution = {}, const Nodes& tensor = {}) {
    memory_.add(memory);
    tensor_.add(memory);
    tensor_.join(tensor);
    const Node node = execution_.add(memory);
    execution_.join(execution);
    return node;
  }
  /// A node after those of `nodes` that come before `last`, and after nothing else.
  Node bare(const Nodes& nodes, Node last) {
    memory_.add({});
    tensor_.add({});
    for (const Node other : nodes) {
      if (memory(other, last)) {
        memory_.set(other);
        tensor_.set(other);
      }
    }
    return execution_.add(nodes);
  }
  /// A node that knows what all of `nodes` know, and no more; in execution after each of them.
  Node common(const Nodes& nodes) {
    memory_.add_common(nodes);
    tensor_.add_common(nodes);
    return execution_.add(nodes);
  }

  /// Whether `first` is `second`, or comes before it.
  bool memory(Node first, Node second) const { return memory_.has(first, second); }
  bool execution(Node first, Node second) const { return execution_.has(first, second); }
  bool tensor(Node first, Node second) const { return tensor_.has(first, second); }
  std::size_t size() const { return memory_.size(); }

 private:
  /// A row of bits for each node: those before it, itself among them. Row `n` has n / 64 + 1 words,
  /// and begins where the rows before it end.
  class Matrix {
   public:
    std::size_t size() const { return size_; }
    bool has(Node first, Node second) const {
      return first <= second && second < size_ &&
             (words_[begin_of(second) + first / 64] >> (first % 64) & 1U) != 0;
    }
    /// A row for a node after all of `before`.
    Node add(const Nodes& before) {
      const Node node = size_++;
      words_.resize(begin_of(size_), 0);
      set(node);
      join(before);
      return node;
    }
    /// A row for a node that knows what all of `nodes` know.
    void add_common(const Nodes& nodes) {
      const Node node = size_++;
      words_.resize(begin_of(size_), 0);
      std::size_t least = words_of(nodes.front());
      for (const Node other : nodes) {
        least = std::min(least, words_of(other));
      }
      std::uint64_t* row = &words_[begin_of(node)];
      for (std::size_t i = 0; i < least; ++i) {
        row[i] = ~std::uint64_t{0};
        for (const Node other : nodes) {
          row[i] &= words_[begin_of(other) + i];
        }
      }
      set(node);
    }
    /// The last node is after `before` alone, of what that knows nothing.
    void set(Node before) {
      words_[begin_of(size_ - 1) + before / 64] |= std::uint64_t{1} << (before % 64);
    }
    /// The last node is after all of `before`.
    void join(const Nodes& before) {
      std::uint64_t* row = &words_[begin_of(size_ - 1)];
      for (const Node node : before) {
        if (node != kNoNode) {
          const std::uint64_t* from = &words_[begin_of(node)];
          for (std::size_t i = 0; i < words_of(node); ++i) {
            row[i] |= from[i];
          }
        }
      }
    }

   private:
    static std::size_t words_of(Node node) { return node / 64 + 1; }
    static std::size_t begin_of(Node node) {
      const std::size_t whole = node / 64;
      return 64 * (whole * (whole + 1) / 2) + node % 64 * (whole + 1);
    }

    std::vector<std::uint64_t> words_;
    Node size_ = 0;
  };

  Matrix memory_;
  Matrix execution_;
  Matrix tensor_;
};

}  // namespace warptwin::sim::relation
