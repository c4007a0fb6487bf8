/// Where control goes in a function, and which registers are still needed.

#pragma once

#include <cstdint>
#include <vector>

#include "sim/ptx/code/code.hpp"

namespace warptwin::ptx {

/// Ops that are executed one after the other.
struct Block {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> predecessors;
  bool leaves = false;  // may end the function: ret, exit, or its end
  /// All ways on from here end in `trap` or a call that does not return.
  bool dead_end = false;
  /// The first block that every way to the function's end comes through; kNoIndex: none but the
  /// end. Ways to dead ends are left out.
  std::uint32_t post_dominator = kNoIndex;
};

struct Flow {
  std::vector<Block> blocks;
  std::vector<std::uint32_t> block_of;  // of each op

  /// The op at which lanes that part at `op` come together again; kNoIndex: none before they end.
  std::uint32_t join_of(std::uint32_t op) const;
};

/// Whether the launch ends there. An H200 ends it at a brkpt, too, where no debugger is.
inline bool traps(const Op& op) {
  return op.is("trap") || op.is("brkpt");
}

/// Throws ConfigError for a function whose switches together have more than 2^24 ways.
Flow flow_of(const Code& code);

/// The blocks that are reached from `op` and lead back to it: of loops in each other those of the
/// outermost. Empty: there is no loop.
std::vector<std::uint32_t> loop_around(const Flow& flow, std::uint32_t op);

/// For each block the registers whose values are needed at its begin, and at its end.
class Liveness {
 public:
  /// Throws ConfigError for a function so large that the sets would not fit in 512 MiB.
  Liveness(const Code& code, const Flow& flow);

  bool live_in(std::uint32_t block, std::uint32_t number) const { return test(in_, block, number); }
  bool live_out(std::uint32_t block, std::uint32_t number) const {
    return test(out_, block, number);
  }
  /// The registers needed just before `op`, ascending.
  std::vector<std::uint32_t> live_before(std::uint32_t op) const;

 private:
  bool test(const std::vector<std::uint64_t>& sets,
            std::uint32_t block,
            std::uint32_t number) const {
    return (sets[block * words_ + number / 64] >> (number % 64) & 1U) != 0;
  }
  void step_back(const Op& op, std::uint64_t* live) const;

  const Code& code_;
  const Flow& flow_;
  std::size_t words_;  // of one set
  std::vector<std::uint64_t> in_;
  std::vector<std::uint64_t> out_;
};

}  // namespace warptwin::ptx
