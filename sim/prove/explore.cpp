#include "sim/prove/explore.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kWordsMax = 8;

// Zeroed words; large ones in large pages, since they are read all over the place.
class Words {
 public:
  explicit Words(std::size_t count) : count_{count} {
    const std::size_t bytes = (count * sizeof(std::uint64_t) + kPage - 1) / kPage * kPage;
    const bool large = bytes > kPage;
    words_.reset(static_cast<std::uint64_t*>(large ? std::aligned_alloc(kPage, bytes)
                                                   : std::malloc(count * sizeof(std::uint64_t))));
    if (words_ == nullptr) {
      throw std::bad_alloc{};
    }
#ifdef MADV_HUGEPAGE
    if (large) {
      static_cast<void>(madvise(words_.get(), bytes, MADV_HUGEPAGE));
    }
#endif
    std::fill_n(words_.get(), count, 0);
  }
  std::uint64_t* data() {
    return words_.get();
  }
  std::size_t size() const {
    return count_;
  }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21;
  struct Free {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };
  std::size_t count_;
  std::unique_ptr<std::uint64_t, Free> words_;
};

// Visited states: fixed-size keys in one array, open addressing. The all-zero key marks an empty
// place, so keys are stored with their first bit set.
class StateSet {
 public:
  explicit StateSet(std::uint32_t words) : words_{words}, keys_{kFirstSlots * words} {}

  std::uint64_t hash(const std::uint64_t* key) const {
    std::uint64_t h = 0x9E3779B97F4A7C15U;
    for (std::uint32_t i = 0; i < words_; ++i) {
      h = (h ^ key[i]) * 0xD6E8FEB86659FD93U;
      h ^= h >> 32;
    }
    return h;
  }
  /// Brings the place of a key near, for an insert that follows.
  void expect(std::uint64_t hash) { __builtin_prefetch(keys_.data() + (hash & mask_) * words_); }
  /// Adds a key; false when it was there.
  bool insert(const std::uint64_t* key, std::uint64_t hash) {
    std::uint64_t* slot = place(key, hash);
    if (slot[0] != 0) {
      return false;
    }
    std::copy_n(key, words_, slot);
    if (++size_ * 3 > (mask_ + 1) * 2) {
      grow();
    }
    return true;
  }
  bool has(const std::uint64_t* key) { return place(key, hash(key))[0] != 0; }
  std::uint64_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kFirstSlots = 256;
  static constexpr std::uint64_t kGenerous = 1U << 18;

  bool same(const std::uint64_t* a, const std::uint64_t* b) const {
    for (std::uint32_t i = 0; i < words_; ++i) {
      if (a[i] != b[i]) {
        return false;
      }
    }
    return true;
  }

  // Where a key is, or the empty place where it belongs.
  std::uint64_t* place(const std::uint64_t* key, std::uint64_t hash) {
    for (std::uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
      std::uint64_t* slot = keys_.data() + at * words_;
      if (slot[0] == 0 || same(key, slot)) {
        return slot;
      }
    }
  }

  void grow() {
    // Generously while it is small: each growth puts every key in anew.
    Words old{keys_.size() * (size_ < kGenerous ? 8 : 2)};
    std::swap(old, keys_);
    mask_ = keys_.size() / words_ - 1;
    for (const std::uint64_t* key = old.data(); key != old.data() + old.size(); key += words_) {
      if (key[0] != 0) {
        std::copy_n(key, words_, place(key, hash(key)));
      }
    }
  }

  std::uint32_t words_;
  std::uint64_t size_ = 0;
  std::uint64_t mask_ = kFirstSlots - 1;
  Words keys_;
};

struct BarrierState {
  std::int32_t phase = 0;
  std::int64_t pending = 0;
  std::int64_t tx = 0;
};

class Search {
 public:
  Search(const Protocol& protocol, const CanonicalRun& run, const ExploreOptions& options)
      : protocol_{protocol}, run_{run}, options_{options} {}

  ExploreResult operator()() {
    if (!lay_out()) {
      result_.what = "the protocol is too large to enumerate: its states take more than " +
                     std::to_string(kWordsMax * 64) + " bits";
      return std::move(result_);
    }
    visited_ = std::make_unique<StateSet>(words_);
    begin();
    while (!stack_.empty() && !ended_) {
      advance();
    }
    if (!ended_) {
      result_.verdict = Explored::kRight;
    }
    result_.states = visited_->size();
    return std::move(result_);
  }

 private:
  // What the search needs of an operation.
  struct Step {
    ProtocolKind kind = ProtocolKind::kArrive;
    PhaseTest test = PhaseTest::kParity;
    bool alone = false;         // may be executed at once and alone, when enabled
    std::uint32_t barrier = 0;  // kAfter: the agent
    std::int32_t phase = 0;     // canonical; of a wait the one it waits for
    std::int64_t count = 0;     // arrivals
    std::int64_t tx = 0;
    std::uint32_t index = 0;    // kAfter only
    std::uint32_t waiters = 0;  // where those who wait for it by kAfter are among `waiters_`
    std::uint32_t waiter_count = 0;

    bool acts() const { return kind != ProtocolKind::kAfter && kind != ProtocolKind::kWait; }
  };
  struct Agent {
    std::vector<Step> steps;
    std::uint32_t shift = 0;  // where its counter lies in the key
    std::uint32_t word = 0;
    std::uint32_t width = 0;
    std::uint32_t behind = kNobody;  // its neighbours among agents with the same operations
    std::uint32_t ahead = kNobody;
  };
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  /// How many states are expanded before what follows them is looked up.
  static constexpr std::size_t kBatch = 16;

  // A state that is not yet expanded: its key, which agents can go on, and which of those alone.
  struct State {
    std::uint64_t* key;
    std::uint64_t* open;
    std::uint64_t* alone;
    BarrierState* barriers;
  };
  struct Follower {
    std::uint64_t hash;
    std::uint32_t state;  // that it follows
    std::uint32_t agent;  // by whose operation
  };

  bool lay_out() {
    const std::size_t count = protocol_.agents.size();
    agents_.resize(count);
    std::uint32_t bit = 1;  // the first marks a state that is there
    for (std::size_t a = 0; a < count; ++a) {
      const std::vector<ProtocolOp>& ops = protocol_.agents[a].ops;
      const auto width = static_cast<std::uint32_t>(std::bit_width(ops.size()));
      if (bit % 64 + width > 64) {
        bit = (bit / 64 + 1) * 64;
      }
      if (width != 0) {
        agents_[a].word = bit / 64;
        agents_[a].shift = bit % 64;
        agents_[a].width = width;
      }
      bit += width;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        agents_[a].steps.push_back(step(a, i));
      }
    }
    words_ = (bit + 63) / 64;
    mask_words_ = static_cast<std::uint32_t>((count + 63) / 64);
    if (options_.symmetry) {
      find_symmetry();
    }
    find_waiters();
    return words_ <= kWordsMax;
  }

  Step step(std::size_t agent, std::size_t index) const {
    const ProtocolOp& op = protocol_.agents[agent].ops[index];
    Step step;
    step.kind = op.kind;
    step.alone = alone(agent, index);
    step.barrier = op.barrier;
    step.index = op.index;
    if (op.kind == ProtocolKind::kAfter) {
      return step;
    }
    step.test = protocol_.barriers[op.barrier].test;
    step.phase = op.kind == ProtocolKind::kWait ? op.phase : run_.phase_of[agent][index];
    step.count = op.arrives() ? op.count : 0;
    step.tx = op.kind == ProtocolKind::kComplete ? -std::int64_t{op.bytes} : std::int64_t{op.bytes};
    return step;
  }

  bool alone(std::size_t agent, std::size_t index) const {
    const std::vector<ProtocolOp>& ops = protocol_.agents[agent].ops;
    const ProtocolOp& op = ops[index];
    if (!options_.reduce) {
      return false;
    }
    if (op.kind == ProtocolKind::kAfter) {
      return true;
    }
    if (op.kind != ProtocolKind::kWait) {
      return false;
    }
    if (protocol_.barriers[op.barrier].test == PhaseTest::kExact ||
        op.phase + 1 >= static_cast<std::int32_t>(run_.final_phase[op.barrier])) {
      return true;
    }
    for (std::size_t i = index + 1; i < ops.size(); ++i) {
      if (ops[i].arrives() && ops[i].barrier == op.barrier &&
          run_.phase_of[agent][i] == op.phase + 1) {
        return true;
      }
    }
    return false;
  }

  static bool same(const ProtocolOp& a, const ProtocolOp& b) {
    return a.kind == b.kind && a.barrier == b.barrier && a.phase == b.phase && a.count == b.count &&
           a.bytes == b.bytes && a.index == b.index;
  }

  bool same(std::uint32_t a, std::uint32_t b) const {
    const std::vector<ProtocolOp>& x = protocol_.agents[a].ops;
    const std::vector<ProtocolOp>& y = protocol_.agents[b].ops;
    return std::equal(x.begin(),
                      x.end(),
                      y.begin(),
                      y.end(),
                      [](const ProtocolOp& i, const ProtocolOp& j) { return same(i, j); }) &&
           run_.phase_of[a] == run_.phase_of[b];
  }

  // Chains of agents with the same operations, on none of which another agent waits by kAfter.
  void find_symmetry() {
    std::vector<bool> settled(agents_.size(), false);
    for (const Agent& agent : agents_) {
      for (const Step& step : agent.steps) {
        if (step.kind == ProtocolKind::kAfter) {
          settled[step.barrier] = true;
        }
      }
    }
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
      std::uint32_t last = a;
      for (std::uint32_t b = a + 1; b < agents_.size() && !settled[a]; ++b) {
        if (!settled[b] && same(a, b)) {
          agents_[last].ahead = b;
          agents_[b].behind = last;
          settled[b] = true;
          last = b;
        }
      }
    }
  }

  // Who has to be looked at again when an operation is done, or a phase.
  void find_waiters() {
    watchers_.resize(protocol_.barriers.size());
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
      for (const Step& step : agents_[a].steps) {
        if (step.kind == ProtocolKind::kAfter) {
          waiters_.push_back({step.barrier, step.index, a});
        } else if (step.kind == ProtocolKind::kWait &&
                   (watchers_[step.barrier].empty() || watchers_[step.barrier].back() != a)) {
          watchers_[step.barrier].push_back(a);
        }
      }
    }
    std::sort(waiters_.begin(), waiters_.end());
    for (std::uint32_t i = 0; i < waiters_.size(); ++i) {
      Step& step = agents_[waiters_[i][0]].steps[waiters_[i][1]];
      step.waiters = step.waiter_count == 0 ? i : step.waiters;
      ++step.waiter_count;
    }
  }

  State state(std::uint32_t at) {
    std::uint64_t* words = state_words_.data() + std::size_t{at} * (words_ + 2 * mask_words_);
    return {words,
            words + words_,
            words + words_ + mask_words_,
            state_barriers_.data() + std::size_t{at} * protocol_.barriers.size()};
  }

  // Room for a state.
  std::uint32_t take() {
    if (free_.empty()) {
      const auto taken = static_cast<std::uint32_t>(taken_++);
      state_words_.resize(taken_ * (words_ + 2 * mask_words_));
      state_barriers_.resize(taken_ * protocol_.barriers.size());
      return taken;
    }
    const std::uint32_t at = free_.back();
    free_.pop_back();
    return at;
  }

  void begin() {
    const State first = state(take());
    first.key[0] = 1;
    for (std::size_t b = 0; b < protocol_.barriers.size(); ++b) {
      first.barriers[b].pending = protocol_.barriers[b].count;
    }
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
      refresh(first, a);
    }
    visited_->insert(first.key, visited_->hash(first.key));
    stack_.push_back(0);
  }

  std::uint32_t counter(const std::uint64_t* key, std::uint32_t agent) const {
    const Agent& at = agents_[agent];
    return static_cast<std::uint32_t>(key[at.word] >> at.shift &
                                      ((std::uint64_t{1} << at.width) - 1));
  }

  // Whether an agent can go on. Of agents with the same operations one goes on only while the next
  // is ahead of it: their counters stay in order, and of all their orders that one is kept.
  bool open(const State& state, std::uint32_t agent) const {
    const Agent& at = agents_[agent];
    const std::uint32_t next = counter(state.key, agent);
    return next < at.steps.size() && (at.ahead == kNobody || counter(state.key, at.ahead) > next) &&
           enabled(state, at.steps[next]);
  }

  void refresh(const State& state, std::uint32_t agent) const {
    const std::uint64_t bit = std::uint64_t{1} << agent % 64;
    std::uint64_t& open_bits = state.open[agent / 64];
    std::uint64_t& alone_bits = state.alone[agent / 64];
    open_bits &= ~bit;
    alone_bits &= ~bit;
    if (open(state, agent)) {
      open_bits |= bit;
      alone_bits |= agents_[agent].steps[counter(state.key, agent)].alone ? bit : 0;
    }
  }

  bool enabled(const State& state, const Step& step) const {
    if (step.kind == ProtocolKind::kAfter) {
      return counter(state.key, step.barrier) > step.index;
    }
    if (step.kind != ProtocolKind::kWait) {
      return true;
    }
    const std::int32_t phase = state.barriers[step.barrier].phase;
    switch (step.test) {
      case PhaseTest::kParity:
        return (phase & 1) != (step.phase & 1);
      case PhaseTest::kExact:
        return phase > step.phase;
      case PhaseTest::kEqual:
        break;
    }
    return phase == step.phase + 1;
  }

  static bool acts_right(const State& state, const Step& step) {
    if (step.kind == ProtocolKind::kAfter) {
      return true;
    }
    const BarrierState& barrier = state.barriers[step.barrier];
    if (step.kind == ProtocolKind::kWait) {
      return barrier.phase == step.phase + 1 || step.test == PhaseTest::kExact;
    }
    return barrier.phase == step.phase && barrier.pending >= step.count;
  }

  // In words, what is wrong with executing a step that does not act right.
  static std::string wrong(const State& state, const Step& step) {
    const std::int32_t phase = state.barriers[step.barrier].phase;
    const std::string now = std::to_string(phase);
    if (step.kind == ProtocolKind::kWait) {
      return "a wait for phase " + std::to_string(step.phase) + " passes in phase " + now;
    }
    if (phase != step.phase) {
      return "what belongs to phase " + std::to_string(step.phase) + " counts in phase " + now;
    }
    return "more arrivals than pending";
  }

  // What an operation does to its barrier; true when a phase completes.
  bool act(BarrierState& barrier, const Step& step) const {
    barrier.tx += step.tx;
    barrier.pending -= step.count;
    if (barrier.pending != 0 || barrier.tx != 0) {
      return false;
    }
    ++barrier.phase;
    barrier.pending = protocol_.barriers[step.barrier].count;
    return true;
  }

  // An agent goes on: its counter is in the key already.
  void execute(const State& state, std::uint32_t agent) const {
    const Agent& at = agents_[agent];
    const Step& step = at.steps[counter(state.key, agent) - 1];
    if (step.acts() && act(state.barriers[step.barrier], step)) {
      for (const std::uint32_t watcher : watchers_[step.barrier]) {
        refresh(state, watcher);
      }
    }
    refresh(state, agent);
    if (at.behind != kNobody) {
      refresh(state, at.behind);
    }
    for (std::uint32_t i = 0; i < step.waiter_count; ++i) {
      refresh(state, waiters_[step.waiters + i][2]);
    }
  }

  // Expands the last states on the stack. All keys first, so that their places in the table are on
  // their way when they are looked up.
  void advance() {
    const std::size_t kept = stack_.size() - std::min(stack_.size(), kBatch);
    batch_.assign(stack_.begin() + static_cast<std::ptrdiff_t>(kept), stack_.end());
    stack_.resize(kept);
    followers_.clear();
    for (auto at = batch_.rbegin(); at != batch_.rend() && !ended_; ++at) {
      expand(*at);
    }
    for (const Follower& follower : followers_) {
      if (ended_) {
        return;
      }
      go_on(follower);
    }
    free_.insert(free_.end(), batch_.begin(), batch_.end());
  }

  void expand(std::uint32_t at) {
    const State from = state(at);
    for (std::uint32_t word = 0; word < mask_words_; ++word) {
      if (from.alone[word] != 0) {
        follow(at, word * 64 + static_cast<std::uint32_t>(std::countr_zero(from.alone[word])));
        return;
      }
    }
    bool any = false;
    for (std::uint32_t word = 0; word < mask_words_; ++word) {
      for (std::uint64_t bits = from.open[word]; bits != 0 && !ended_; bits &= bits - 1) {
        follow(at, word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
        any = true;
      }
    }
    if (!any) {
      for (std::uint32_t a = 0; a < agents_.size(); ++a) {
        if (counter(from.key, a) < agents_[a].steps.size()) {
          fail(from.key, kNobody, "deadlock: nobody can go on");
          return;
        }
      }
    }
  }

  // Notes what follows a state by an agent's operation.
  void follow(std::uint32_t at, std::uint32_t agent) {
    const State from = state(at);
    const Step& step = agents_[agent].steps[counter(from.key, agent)];
    if (!acts_right(from, step)) {
      fail(from.key, agent, wrong(from, step));
      return;
    }
    ++result_.transitions;
    step_key(from.key, agent);
    const std::uint64_t hash = visited_->hash(key_);
    visited_->expect(hash);
    followers_.push_back({hash, at, agent});
  }

  // In `key_`, the key after an agent's next operation.
  void step_key(const std::uint64_t* key, std::uint32_t agent) {
    std::copy_n(key, words_, key_);
    key_[agents_[agent].word] += std::uint64_t{1} << agents_[agent].shift;
  }

  void go_on(const Follower& follower) {
    step_key(state(follower.state).key, follower.agent);
    if (!visited_->insert(key_, follower.hash)) {
      return;
    }
    if (visited_->size() > options_.states_max) {
      result_.verdict = Explored::kIncomplete;
      result_.what = "stopped after " + std::to_string(options_.states_max) + " states";
      ended_ = true;
      return;
    }
    const std::uint32_t at = take();
    const State from = state(follower.state);
    const State to = state(at);
    std::copy_n(key_, words_, to.key);
    std::copy_n(from.open, 2 * mask_words_, to.open);
    std::copy_n(from.barriers, protocol_.barriers.size(), to.barriers);
    execute(to, follower.agent);
    stack_.push_back(at);
  }

  void fail(const std::uint64_t* key, std::uint32_t agent, std::string what) {
    result_.path = path_to(key);
    if (agent != kNobody) {
      result_.path.emplace_back(agent, counter(key, agent));
    }
    result_.verdict = Explored::kWrong;
    result_.what = std::move(what);
    ended_ = true;
  }

  // Back from a state that was reached, by states that were.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path_to(const std::uint64_t* key) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> path;
    std::vector<BarrierState> barriers(protocol_.barriers.size());
    std::copy_n(key, words_, key_);
    for (std::uint32_t a = 0; a < agents_.size();) {
      const std::uint64_t one = std::uint64_t{1} << agents_[a].shift;
      std::uint64_t& word = key_[agents_[a].word];
      const std::uint32_t done = counter(key_, a);
      if (done != 0) {
        word -= one;
        const State before{key_, nullptr, nullptr, barriers.data()};
        if (visited_->has(key_)) {
          set_barriers(before);
          if (open(before, a) && acts_right(before, agents_[a].steps[done - 1])) {
            path.emplace_back(a, done - 1);
            a = 0;
            continue;
          }
        }
        word += one;
      }
      ++a;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  // The barriers of a state, from what was executed: of each the operations of its last phase.
  void set_barriers(const State& state) const {
    const auto enter = [&](std::uint32_t b, std::int32_t phase) {
      state.barriers[b] = {phase, protocol_.barriers[b].count, 0};
    };
    for (std::uint32_t b = 0; b < protocol_.barriers.size(); ++b) {
      enter(b, 0);
    }
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
      for (std::uint32_t i = 0; i < counter(state.key, a); ++i) {
        const Step& step = agents_[a].steps[i];
        if (!step.acts() || step.phase < state.barriers[step.barrier].phase) {
          continue;
        }
        if (step.phase > state.barriers[step.barrier].phase) {
          enter(step.barrier, step.phase);
        }
        state.barriers[step.barrier].pending -= step.count;
        state.barriers[step.barrier].tx += step.tx;
      }
    }
    for (std::uint32_t b = 0; b < protocol_.barriers.size(); ++b) {
      if (state.barriers[b].pending == 0 && state.barriers[b].tx == 0) {
        enter(b, state.barriers[b].phase + 1);
      }
    }
  }

  const Protocol& protocol_;
  const CanonicalRun& run_;
  const ExploreOptions& options_;
  std::vector<Agent> agents_;
  std::vector<std::array<std::uint32_t, 3>> waiters_;  // by kAfter: for whom, for what, who
  std::vector<std::vector<std::uint32_t>> watchers_;   // of each barrier, who has a wait on it
  std::uint32_t words_ = 1;                            // of a key
  std::uint32_t mask_words_ = 1;                       // of one bit an agent
  std::unique_ptr<StateSet> visited_;
  std::uint64_t key_[kWordsMax] = {};
  // States that are not yet expanded, in the order of `stack_`, and places where others were.
  std::size_t taken_ = 0;
  std::vector<std::uint64_t> state_words_;
  std::vector<BarrierState> state_barriers_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> batch_;
  std::vector<Follower> followers_;  // of the states that are expanded
  bool ended_ = false;
  ExploreResult result_;
};

}  // namespace

ExploreResult explore(const Protocol& protocol,
                      const CanonicalRun& run,
                      const ExploreOptions& options) {
  return Search{protocol, run, options}();
}

}  // namespace warptwin::sim
