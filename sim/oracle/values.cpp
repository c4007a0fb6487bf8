#include "sim/oracle/values.hpp"

#include <unordered_map>
#include <utility>

#include "sim/oracle/values_machine.hpp"
#include "sim/oracle/values_reduction.hpp"

namespace warptwin::sim {

namespace values {
namespace {

struct ByLow {
  std::size_t operator()(const Hash& hash) const { return hash.low; }
};

class Search {
 public:
  explicit Search(const Plan& plan) : plan_{plan}, machine_{plan}, reduction_{machine_} {}

  ValuesResult run() {
    starts_ = machine_.starts();
    for (std::uint32_t i = 0; i < starts_.size() && !over_; ++i) {
      State state = starts_[i];
      if (Problem problem = settle(state)) {
        end(problem, {kNone, i, {}});
        break;
      }
      visit(std::move(state), {kNone, i, {}});
      explore();
    }
    if (!over_) {
      find_hang();
    }
    result_.states = nodes_.size();
    return std::move(result_);
  }

 private:
  // How a state was reached first.
  struct Node {
    std::uint32_t parent = kNone;
    std::uint32_t start = 0;
    Step step{};
  };
  struct Frame {
    State state;
    std::vector<Step> steps;
    std::size_t next = 0;
    std::uint32_t node = 0;
  };

  Problem settle(State& state) { return plan_.options.reduce ? machine_.settle(state) : Problem{}; }

  void explore() {
    while (!over_ && !stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == frame.steps.size()) {
        spare_.push_back(std::move(frame.state));
        stack_.pop_back();
        continue;
      }
      const Step step = frame.steps[frame.next++];
      const Node node{frame.node, nodes_[frame.node].start, step};
      State state;
      if (!spare_.empty()) {
        state = std::move(spare_.back());
        spare_.pop_back();
      }
      state = frame.state;
      sights_.clear();
      Problem problem = machine_.take(state, step, sights_);
      if (!problem) {
        problem = settle(state);
      }
      if (!problem) {
        problem = compare(sights_);
      }
      if (problem) {
        end(problem, node);
      } else {
        visit(std::move(state), node);
      }
    }
  }

  void visit(State state, const Node& node) {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    const auto [at, is_new] = visited_.try_emplace(hash_of(state), number);
    if (node.parent != kNone) {
      edges_.push_back({node.parent, at->second});
    }
    if (!is_new) {
      spare_.push_back(std::move(state));
      return;
    }
    if (number >= plan_.options.states_max) {
      over_ = true;
      result_.verdict = ValuesResult::kIncomplete;
      result_.what = "stopped after " + std::to_string(number) + " states";
      return;
    }
    nodes_.push_back(node);
    is_final_.push_back(machine_.is_final(state));
    if (is_final_.back()) {
      if (Problem problem = compare_ends(state)) {
        end(problem, node);
      }
      return;
    }
    Frame frame;
    plan_.options.reduce ? reduction_.steps(state, frame.steps)
                         : machine_.all_steps(state, frame.steps);
    if (frame.steps.empty()) {
      end({false, "deadlock: " + machine_.whereabouts(state)}, node);
      return;
    }
    frame.state = std::move(state);
    frame.node = number;
    stack_.push_back(std::move(frame));
  }

  // Whether operations saw what they saw before.
  Problem compare(std::vector<Sight>& sights) {
    for (Sight& sight : sights) {
      const auto [at, is_new] = seen_.try_emplace(sight.key, sight.tokens);
      if (is_new || at->second == sight.tokens) {
        continue;
      }
      std::size_t i = 0;
      while (at->second[i] == sight.tokens[i]) {
        ++i;
      }
      return {false,
              machine_.describe(sight.warp, sight.instruction) + " reads " +
                  difference(sight.tokens[i], at->second[i])};
    }
    return {};
  }

  std::string difference(std::uint64_t here, std::uint64_t there) const {
    return "here [" + machine_.writer(here) + "], and in another order [" + machine_.writer(there) +
           "]";
  }

  // Whether global memory ends as it did before, with the same grants.
  Problem compare_ends(const State& state) {
    std::vector<std::uint64_t> tokens;
    for (std::uint32_t i = plan_.first_global(); i < plan_.cells(); ++i) {
      tokens.push_back(state.cells[i].token);
    }
    const auto [at, is_new] = ends_.try_emplace(state.grants, tokens);
    for (std::size_t i = 0; i < tokens.size() && !is_new; ++i) {
      if (at->second[i] != tokens[i]) {
        return {false, "global memory ends with " + difference(tokens[i], at->second[i])};
      }
    }
    return {};
  }

  // A state from which no end can be reached.
  void find_hang() {
    std::vector<std::vector<std::uint32_t>> before(nodes_.size());
    for (const auto& [from, to] : edges_) {
      before[to].push_back(from);
    }
    std::vector<bool> ends = is_final_;
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (is_final_[i]) {
        open.push_back(i);
      }
    }
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      for (const std::uint32_t from : before[node]) {
        if (!ends[from]) {
          ends[from] = true;
          open.push_back(from);
        }
      }
    }
    // To show is one that only leads to itself, or the last that was found.
    std::vector<bool> leaves(nodes_.size());
    for (const auto& [from, to] : edges_) {
      leaves[from] = leaves[from] || from != to;
    }
    std::uint32_t shown = kNone;
    for (std::uint32_t i = 0; i < nodes_.size() && (shown == kNone || leaves[shown]); ++i) {
      shown = ends[i] ? shown : i;
    }
    if (shown != kNone) {
      const State state = walk(nodes_[shown]);
      end({false, "livelock: no end can be reached: " + machine_.whereabouts(state)},
          nodes_[shown]);
    }
  }

  // Goes the way to `node`, and writes it down.
  State walk(const Node& node) {
    std::vector<Step> steps;
    const Node* at = &node;
    for (; at->parent != kNone; at = &nodes_[at->parent]) {
      steps.push_back(at->step);
    }
    result_.path.clear();
    State state = starts_[at->start];
    if ((state.together & pair_rule::kAllocates) != 0) {
      result_.path.push_back("(the CTAs of a pair allocate together)");
    }
    if ((state.together & pair_rule::kFrees) != 0) {
      result_.path.push_back("(the CTAs of a pair free together)");
    }
    std::vector<Sight> nothing;
    settle(state);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      result_.path.push_back(machine_.describe(state, *step));
      if (machine_.take(state, *step, nothing) || settle(state)) {
        break;
      }
    }
    return state;
  }

  void end(const Problem& problem, const Node& node) {
    over_ = true;
    result_.verdict = problem.is_unsupported ? ValuesResult::kUnsupported : ValuesResult::kWrong;
    result_.what = problem.what;
    walk(node);
  }

  const Plan& plan_;
  Machine machine_;
  Reduction reduction_;
  std::vector<State> starts_;
  std::vector<Node> nodes_;
  std::vector<bool> is_final_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::unordered_map<Hash, std::uint32_t, ByLow> visited_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> seen_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> ends_;
  std::vector<Frame> stack_;
  std::vector<State> spare_;
  std::vector<Sight> sights_;
  bool over_ = false;
  ValuesResult result_;
};

}  // namespace
}  // namespace values

const char* name_of(ValuesResult::Verdict verdict) {
  constexpr const char* kNames[] = {"right", "wrong", "incomplete", "unsupported"};
  return kNames[verdict];
}

ValuesResult judge_values(const Program& program, const ValuesOptions& options) {
  const values::Plan plan = values::make_plan(program, options);
  if (!plan.unsupported.empty()) {
    return {ValuesResult::kUnsupported, plan.unsupported, {}, 0};
  }
  return values::Search{plan}.run();
}

}  // namespace warptwin::sim
