#include "sim/ptx/code/flow.hpp"

#include <algorithm>
#include <utility>

namespace warptwin::ptx {

namespace {

constexpr std::size_t kEdgesMax = std::size_t{1} << 24;
constexpr std::size_t kLivenessBytesMax = std::size_t{512} << 20;

enum class End : std::uint8_t { kNone, kBranch, kLeave, kDead };

End end_of(const Code& code, const Op& op) {
  if (op.form == nullptr) {
    return End::kNone;
  }
  if (op.is("bra") || op.is("brx.idx")) {
    return End::kBranch;
  }
  if (op.is("ret") || op.is("exit")) {
    return End::kLeave;
  }
  return traps(op) || code.ends_in_call(op) ? End::kDead : End::kNone;
}

std::span<const std::uint32_t> targets_of(const Code& code, const Op& op) {
  const auto arguments = code.arguments_of(op);
  if (op.is("bra")) {
    return {&arguments[0].index, 1};
  }
  return code.targets[arguments[1].index];
}

// Many switches over one long list have as many edges as their product.
void check_edges(const Code& code) {
  std::size_t edges = 0;
  for (const Op& op : code.ops) {
    edges += op.is("brx.idx") ? targets_of(code, op).size() : 0;
  }
  if (edges > kEdgesMax) {
    throw ConfigError(code.module->file + ": function '" + std::string{code.function->name} +
                      "' has switches with " + std::to_string(edges) + " ways; at most " +
                      std::to_string(kEdgesMax) + " are followed");
  }
}

void find_blocks(const Code& code, Flow& flow) {
  const auto size = static_cast<std::uint32_t>(code.ops.size());
  std::vector<bool> begins(size + 1, false);
  begins[0] = true;
  begins[size] = true;
  for (std::uint32_t index = 0; index < size; ++index) {
    const Op& op = code.ops[index];
    const End end = end_of(code, op);
    begins[index + 1] = begins[index + 1] || end != End::kNone;
    if (end == End::kBranch) {
      for (const std::uint32_t target : targets_of(code, op)) {
        begins[target] = true;
      }
    }
  }
  flow.block_of.resize(size);
  for (std::uint32_t index = 0; index < size; ++index) {
    if (begins[index]) {
      flow.blocks.emplace_back().begin = index;
    }
    flow.blocks.back().end = index + 1;
    flow.block_of[index] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
  }
}

void connect(const Code& code, Flow& flow) {
  for (std::uint32_t number = 0; number < flow.blocks.size(); ++number) {
    Block& block = flow.blocks[number];
    const auto go_to = [&](std::uint32_t op) {
      if (op == code.ops.size()) {
        block.leaves = true;
      } else {
        block.successors.push_back(flow.block_of[op]);
      }
    };
    const Op& last = code.ops[block.end - 1];
    const End end = end_of(code, last);
    block.dead_end = end == End::kDead && !last.guarded();
    block.leaves = end == End::kLeave;
    if (end == End::kBranch) {
      for (const std::uint32_t target : targets_of(code, last)) {
        go_to(target);
      }
    }
    if (end == End::kNone || last.guarded()) {
      go_to(block.end);
    }
    auto& successors = block.successors;
    std::sort(successors.begin(), successors.end());
    successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
    for (const std::uint32_t successor : successors) {
      flow.blocks[successor].predecessors.push_back(number);
    }
  }
}

// From the blocks that end in trap backwards: all whose every successor is a dead end.
void find_dead_ends(Flow& flow) {
  std::vector<std::uint32_t> work;
  std::vector<std::size_t> left(flow.blocks.size());
  for (std::uint32_t number = 0; number < flow.blocks.size(); ++number) {
    left[number] = flow.blocks[number].successors.size();
    if (flow.blocks[number].dead_end) {
      work.push_back(number);
    }
  }
  while (!work.empty()) {
    const std::uint32_t dead = work.back();
    work.pop_back();
    for (const std::uint32_t before : flow.blocks[dead].predecessors) {
      Block& block = flow.blocks[before];
      if (--left[before] == 0 && !block.leaves && !block.dead_end) {
        block.dead_end = true;
        work.push_back(before);
      }
    }
  }
}

// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm" (2001), from the end of the
// function backwards. The end itself is number `blocks.size()`.
class PostDominators {
 public:
  explicit PostDominators(Flow& flow)
      : flow_{flow},
        end_{static_cast<std::uint32_t>(flow.blocks.size())},
        order_(flow.blocks.size() + 1, kNoIndex),
        found_(flow.blocks.size() + 1, kNoIndex) {}

  void run() {
    number_blocks();
    found_[end_] = end_;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = reached_.rbegin(); block != reached_.rend(); ++block) {
        const std::uint32_t next = *block == end_ ? end_ : meet(*block);
        changed = changed || found_[*block] != next;
        found_[*block] = next;
      }
    }
    for (std::uint32_t number = 0; number < end_; ++number) {
      flow_.blocks[number].post_dominator = found_[number] == end_ ? kNoIndex : found_[number];
    }
  }

 private:
  // In post-order from the end, over the edges backwards.
  void number_blocks() {
    std::vector<std::pair<std::uint32_t, std::size_t>> open;
    std::vector<std::uint32_t> leaving;
    for (std::uint32_t number = 0; number < end_; ++number) {
      if (flow_.blocks[number].leaves) {
        leaving.push_back(number);
      }
    }
    std::vector<bool> seen(end_ + 1, false);
    open.emplace_back(end_, 0);
    seen[end_] = true;
    while (!open.empty()) {
      auto& [block, next] = open.back();
      const auto& before = block == end_ ? leaving : flow_.blocks[block].predecessors;
      if (next == before.size()) {
        order_[block] = static_cast<std::uint32_t>(reached_.size());
        reached_.push_back(block);
        open.pop_back();
        continue;
      }
      const std::uint32_t child = before[next++];
      if (!seen[child]) {
        seen[child] = true;
        open.emplace_back(child, 0);
      }
    }
  }

  std::uint32_t meet(std::uint32_t number) const {
    const Block& block = flow_.blocks[number];
    std::uint32_t common = block.leaves ? end_ : kNoIndex;
    for (const std::uint32_t successor : block.successors) {
      if (flow_.blocks[successor].dead_end || found_[successor] == kNoIndex) {
        continue;
      }
      common = common == kNoIndex ? successor : nearest(common, successor);
    }
    return common;
  }

  std::uint32_t nearest(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (order_[a] < order_[b]) {
        a = found_[a];
      }
      while (order_[b] < order_[a]) {
        b = found_[b];
      }
    }
    return a;
  }

  Flow& flow_;
  std::uint32_t end_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> found_;
  std::vector<std::uint32_t> reached_;
};

}  // namespace

Flow flow_of(const Code& code) {
  check_edges(code);
  Flow flow;
  find_blocks(code, flow);
  connect(code, flow);
  find_dead_ends(flow);
  PostDominators{flow}.run();
  return flow;
}

std::uint32_t Flow::join_of(std::uint32_t op) const {
  const std::uint32_t join = blocks[block_of[op]].post_dominator;
  return join == kNoIndex ? kNoIndex : blocks[join].begin;
}

// Whether each block is reached from `first` by one step or more.
static std::vector<bool> reached_from(const Flow& flow,
                                      std::uint32_t first,
                                      std::vector<std::uint32_t> Block::*next) {
  std::vector<bool> reached(flow.blocks.size());
  std::vector<std::uint32_t> open{first};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (const std::uint32_t block : flow.blocks[at].*next) {
      if (!reached[block]) {
        reached[block] = true;
        open.push_back(block);
      }
    }
  }
  return reached;
}

std::vector<std::uint32_t> loop_around(const Flow& flow, std::uint32_t op) {
  const std::uint32_t first = flow.block_of[op];
  const std::vector<bool> behind = reached_from(flow, first, &Block::successors);
  const std::vector<bool> before = reached_from(flow, first, &Block::predecessors);
  std::vector<std::uint32_t> loop;
  for (std::uint32_t block = 0; block < flow.blocks.size(); ++block) {
    if (behind[block] && before[block]) {
      loop.push_back(block);
    }
  }
  return loop;
}

Liveness::Liveness(const Code& code, const Flow& flow)
    : code_{code}, flow_{flow}, words_{code.registers.size() / 64 + 1} {
  const std::size_t size = flow.blocks.size() * words_;
  if (size > kLivenessBytesMax / (2 * sizeof(std::uint64_t))) {
    throw ConfigError(code.module->file + ": function '" + std::string{code.function->name} +
                      "' has " + std::to_string(flow.blocks.size()) + " blocks and " +
                      std::to_string(code.registers.size()) +
                      " registers; that is too many to tell which are needed where");
  }
  in_.assign(size, 0);
  out_.assign(size, 0);
  std::vector<std::uint32_t> work;
  std::vector<bool> waiting(flow.blocks.size(), true);
  for (std::uint32_t number = 0; number < flow.blocks.size(); ++number) {
    work.push_back(number);
  }
  std::vector<std::uint64_t> live(words_);
  while (!work.empty()) {
    const std::uint32_t number = work.back();
    work.pop_back();
    waiting[number] = false;
    const Block& block = flow.blocks[number];
    std::fill(live.begin(), live.end(), 0);
    for (const std::uint32_t successor : block.successors) {
      for (std::size_t word = 0; word < words_; ++word) {
        live[word] |= in_[successor * words_ + word];
      }
    }
    std::copy(live.begin(), live.end(), &out_[number * words_]);
    for (std::uint32_t op = block.end; op > block.begin;) {
      step_back(code.ops[--op], live.data());
    }
    if (!std::equal(live.begin(), live.end(), &in_[number * words_])) {
      std::copy(live.begin(), live.end(), &in_[number * words_]);
      for (const std::uint32_t before : block.predecessors) {
        if (!waiting[before]) {
          waiting[before] = true;
          work.push_back(before);
        }
      }
    }
  }
}

// A guarded op may leave what it writes as it was.
void Liveness::step_back(const Op& op, std::uint64_t* live) const {
  if (!op.guarded()) {
    code_.for_each_register(op, [&](std::uint32_t number, bool written) {
      if (written) {
        live[number / 64] &= ~(std::uint64_t{1} << (number % 64));
      }
    });
  }
  code_.for_each_register(op, [&](std::uint32_t number, bool written) {
    if (!written) {
      live[number / 64] |= std::uint64_t{1} << (number % 64);
    }
  });
}

std::vector<std::uint32_t> Liveness::live_before(std::uint32_t op) const {
  const std::uint32_t number = flow_.block_of[op];
  const auto begin = out_.begin() + static_cast<std::ptrdiff_t>(number * words_);
  std::vector<std::uint64_t> live(begin, begin + static_cast<std::ptrdiff_t>(words_));
  for (std::uint32_t at = flow_.blocks[number].end; at > op;) {
    step_back(code_.ops[--at], live.data());
  }
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t each = 0; each < code_.registers.size(); ++each) {
    if ((live[each / 64] >> (each % 64) & 1U) != 0) {
      numbers.push_back(each);
    }
  }
  return numbers;
}

}  // namespace warptwin::ptx
