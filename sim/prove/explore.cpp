#include "sim/prove/explore.hpp"

#include <algorithm>
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

  /// Adds a key; false when it was there.
  bool insert(const std::uint64_t* key) {
    if ((size_ + 1) * 3 > slots() * 2) {
      grow();
    }
    return place(key);
  }
  std::uint64_t size() const { return size_; }
  /// Brings the place of a key near, for an insert that follows.
  void expect(const std::uint64_t* key) {
    __builtin_prefetch(keys_.data() + (hash(key) & (slots() - 1)) * words_);
  }

 private:
  static constexpr std::uint64_t kFirstSlots = 256;
  static constexpr std::uint64_t kGenerous = 1U << 18;

  std::uint64_t slots() const { return keys_.size() / words_; }

  std::uint64_t hash(const std::uint64_t* key) const {
    std::uint64_t h = 0x9E3779B97F4A7C15U;
    for (std::uint32_t i = 0; i < words_; ++i) {
      h = (h ^ key[i]) * 0xD6E8FEB86659FD93U;
      h ^= h >> 32;
    }
    return h;
  }

  bool same(const std::uint64_t* a, const std::uint64_t* b) const {
    for (std::uint32_t i = 0; i < words_; ++i) {
      if (a[i] != b[i]) {
        return false;
      }
    }
    return true;
  }

  bool place(const std::uint64_t* key) {
    const std::uint64_t mask = slots() - 1;
    for (std::uint64_t at = hash(key) & mask;; at = (at + 1) & mask) {
      std::uint64_t* slot = keys_.data() + at * words_;
      if (slot[0] == 0) {
        std::copy_n(key, words_, slot);
        ++size_;
        return true;
      }
      if (same(key, slot)) {
        return false;
      }
    }
  }

  void grow() {
    // Generously while it is small: each growth puts every key in anew.
    Words old{keys_.size() * (size_ < kGenerous ? 8 : 2)};
    std::swap(old, keys_);
    size_ = 0;
    for (std::size_t at = 0; at < old.size(); at += words_) {
      if (old.data()[at] != 0) {
        place(old.data() + at);
      }
    }
  }

  std::uint32_t words_;
  std::uint64_t size_ = 0;
  Words keys_;
};

struct BarrierState {
  std::int32_t phase = 0;
  std::int32_t pending = 0;
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
    visited_->insert(key_);
    frames_.push_back({});
    while (!frames_.empty() && !ended_) {
      advance();
    }
    if (!ended_) {
      result_.verdict = Explored::kRight;
    }
    result_.states = visited_->size();
    if (result_.verdict == Explored::kWrong) {
      result_.path.assign(path_.begin(), path_.end());
    }
    return std::move(result_);
  }

 private:
  struct Step {
    ProtocolOp op;
    std::int32_t phase = 0;  // canonical
    bool alone = false;      // may be executed at once and alone, when enabled
  };
  struct Agent {
    std::vector<Step> steps;
    std::uint32_t shift = 0;  // where its counter lies in the key
    std::uint32_t word = 0;
    std::uint32_t width = 0;
    std::uint32_t group = kNoGroup;
    /// Agents that wait by kAfter for one of its operations, by operation.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> waiters;
  };
  static constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};
  struct Frame {
    bool expanded = false;
    std::uint32_t agent = 0;   // that led on from here
    std::size_t children = 0;  // where its own begin among the children
    BarrierState before{};     // what that agent's operation changed
  };

  bool lay_out() {
    const std::size_t count = protocol_.agents.size();
    agents_.resize(count);
    next_.assign(count, 0);
    std::uint32_t bit = 1;  // the first marks a state that is there
    for (std::size_t a = 0; a < count; ++a) {
      const std::vector<ProtocolOp>& ops = protocol_.agents[a].ops;
      const auto width = static_cast<std::uint32_t>(std::bit_width(ops.size()));
      if (bit % 64 + width > 64) {
        bit = (bit / 64 + 1) * 64;
      }
      agents_[a].word = bit / 64;
      agents_[a].shift = bit % 64;
      agents_[a].width = width;
      bit += width;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        agents_[a].steps.push_back({ops[i], run_.phase_of[a][i], alone(a, i)});
      }
      left_ += ops.size();
    }
    words_ = (bit + 63) / 64;
    for (const ProtocolBarrier& barrier : protocol_.barriers) {
      barriers_.push_back({0, static_cast<std::int32_t>(barrier.count), 0});
    }
    if (options_.symmetry) {
      find_symmetry();
    }
    runnable_.assign((count + 63) / 64, 0);
    for (std::uint32_t a = 0; a < count; ++a) {
      for (const Step& step : agents_[a].steps) {
        if (step.op.kind == ProtocolKind::kAfter) {
          agents_[step.op.barrier].waiters.emplace_back(step.op.index, a);
        }
      }
    }
    for (std::uint32_t a = 0; a < count; ++a) {
      std::sort(agents_[a].waiters.begin(), agents_[a].waiters.end());
      refresh(a);
    }
    return words_ <= kWordsMax;
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

  // Groups of agents with the same operations, on none of which another agent waits by kAfter.
  void find_symmetry() {
    std::vector<bool> named(agents_.size(), false);
    for (const Agent& agent : agents_) {
      for (const Step& step : agent.steps) {
        if (step.op.kind == ProtocolKind::kAfter) {
          named[step.op.barrier] = true;
        }
      }
    }
    std::vector<bool> taken(agents_.size(), false);
    for (std::uint32_t a = 0; a < agents_.size(); ++a) {
      std::vector<std::uint32_t> group{a};
      for (std::uint32_t b = a + 1; b < agents_.size() && !taken[a] && !named[a]; ++b) {
        const std::vector<Step>& x = agents_[a].steps;
        const std::vector<Step>& y = agents_[b].steps;
        const bool alike =
            !taken[b] && !named[b] && x.size() == y.size() &&
            std::equal(x.begin(), x.end(), y.begin(), [](const Step& i, const Step& j) {
              return same(i.op, j.op) && i.phase == j.phase;
            });
        if (alike) {
          group.push_back(b);
          taken[b] = true;
        }
      }
      if (group.size() > 1) {
        for (const std::uint32_t agent : group) {
          agents_[agent].group = static_cast<std::uint32_t>(groups_.size());
        }
        groups_.push_back(std::move(group));
      }
    }
  }

  void put(std::uint64_t* key, std::uint32_t agent, std::uint32_t counter) const {
    const Agent& at = agents_[agent];
    const std::uint64_t mask = ((std::uint64_t{1} << at.width) - 1) << at.shift;
    key[at.word] = (key[at.word] & ~mask) | std::uint64_t{counter} << at.shift;
  }

  // Writes an agent's counter into a key; with symmetry the counters of its group, in order.
  void write(std::uint64_t* key, std::uint32_t agent, std::uint32_t counter) {
    const std::uint32_t group = agents_[agent].group;
    if (group == kNoGroup) {
      put(key, agent, counter);
      return;
    }
    members_.clear();
    for (const std::uint32_t member : groups_[group]) {
      // By insertion: groups are small and nearly in order.
      const std::uint32_t value = member == agent ? counter : next_[member];
      std::size_t at = members_.size();
      members_.push_back(value);
      for (; at > 0 && members_[at - 1] > value; --at) {
        members_[at] = members_[at - 1];
      }
      members_[at] = value;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      put(key, groups_[group][i], members_[i]);
    }
  }

  // The counter of an agent has changed: the key, and who can be tried.
  void moved(std::uint32_t agent, std::uint32_t index) {
    write(key_, agent, next_[agent]);
    refresh(agent);
    const auto& waiters = agents_[agent].waiters;
    for (auto at = std::lower_bound(waiters.begin(), waiters.end(), std::pair{index, 0U});
         at != waiters.end() && at->first == index;
         ++at) {
      refresh(at->second);
    }
  }

  // Whether an agent has an operation that does not wait for another agent's.
  void refresh(std::uint32_t agent) {
    const Agent& at = agents_[agent];
    const bool has = next_[agent] < at.steps.size();
    const bool blocked = has && at.steps[next_[agent]].op.kind == ProtocolKind::kAfter &&
                         !enabled(at.steps[next_[agent]]);
    const std::uint64_t bit = std::uint64_t{1} << agent % 64;
    if (has && !blocked) {
      runnable_[agent / 64] |= bit;
    } else {
      runnable_[agent / 64] &= ~bit;
    }
  }

  // The first runnable agent from `from` on; the number of agents when there is none.
  std::uint32_t runnable_from(std::uint32_t from) const {
    for (std::size_t word = from / 64; word < runnable_.size(); ++word) {
      const std::uint64_t bits =
          runnable_[word] &
          (word == from / 64 ? ~std::uint64_t{0} << from % 64 : ~std::uint64_t{0});
      if (bits != 0) {
        return static_cast<std::uint32_t>(word * 64) +
               static_cast<std::uint32_t>(std::countr_zero(bits));
      }
    }
    return static_cast<std::uint32_t>(agents_.size());
  }

  bool enabled(const Step& step) const {
    const ProtocolOp& op = step.op;
    if (op.kind == ProtocolKind::kAfter) {
      return next_[op.barrier] > op.index;
    }
    if (op.kind != ProtocolKind::kWait) {
      return true;
    }
    const std::int32_t phase = barriers_[op.barrier].phase;
    switch (protocol_.barriers[op.barrier].test) {
      case PhaseTest::kParity:
        return (phase & 1) != (op.phase & 1);
      case PhaseTest::kExact:
        return phase > op.phase;
      case PhaseTest::kEqual:
        break;
    }
    return phase == op.phase + 1;
  }

  void fail(std::uint32_t agent, std::string what) {
    path_.clear();
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
      path_.emplace_back(frames_[i].agent, 0U);
    }
    std::vector<std::uint32_t> counters(agents_.size(), 0);
    for (auto& [who, index] : path_) {
      index = counters[who]++;
    }
    if (agent < agents_.size()) {
      path_.emplace_back(agent, next_[agent]);
    }
    result_.verdict = Explored::kWrong;
    result_.what = std::move(what);
    ended_ = true;
  }

  bool acts_right(const Step& step) const {
    const ProtocolOp& op = step.op;
    if (op.kind == ProtocolKind::kAfter) {
      return true;
    }
    const BarrierState& barrier = barriers_[op.barrier];
    if (op.kind == ProtocolKind::kWait) {
      return barrier.phase == op.phase + 1 ||
             protocol_.barriers[op.barrier].test == PhaseTest::kExact;
    }
    return barrier.phase == step.phase &&
           (!op.arrives() || barrier.pending >= static_cast<std::int32_t>(op.count));
  }

  // In words, what is wrong with executing a step that does not act right.
  std::string wrong(const Step& step) const {
    const ProtocolOp& op = step.op;
    const std::string now = std::to_string(barriers_[op.barrier].phase);
    if (op.kind == ProtocolKind::kWait) {
      return "a wait for phase " + std::to_string(op.phase) + " passes in phase " + now;
    }
    if (barriers_[op.barrier].phase != step.phase) {
      return "what belongs to phase " + std::to_string(step.phase) + " counts in phase " + now;
    }
    return "more arrivals than pending";
  }

  void execute(Frame& frame, std::uint32_t agent) {
    const ProtocolOp& op = agents_[agent].steps[next_[agent]].op;
    frame.agent = agent;
    const std::uint32_t index = next_[agent]++;
    --left_;
    moved(agent, index);
    if (op.kind == ProtocolKind::kAfter || op.kind == ProtocolKind::kWait) {
      return;
    }
    BarrierState& barrier = barriers_[op.barrier];
    frame.before = barrier;
    barrier.tx +=
        op.kind == ProtocolKind::kComplete ? -std::int64_t{op.bytes} : std::int64_t{op.bytes};
    barrier.pending -= op.arrives() ? static_cast<std::int32_t>(op.count) : 0;
    if (barrier.pending == 0 && barrier.tx == 0) {
      ++barrier.phase;
      barrier.pending = static_cast<std::int32_t>(protocol_.barriers[op.barrier].count);
    }
  }

  void undo(const Frame& frame) {
    --next_[frame.agent];
    ++left_;
    moved(frame.agent, next_[frame.agent]);
    const ProtocolOp& op = agents_[frame.agent].steps[next_[frame.agent]].op;
    if (op.kind != ProtocolKind::kAfter && op.kind != ProtocolKind::kWait) {
      barriers_[op.barrier] = frame.before;
    }
  }

  // One step of the depth-first search: looks at all that can follow a new state, or goes on to one
  // of those that were not seen before.
  void advance() {
    if (!frames_.back().expanded) {
      expand();
      return;
    }
    Frame& frame = frames_.back();
    if (children_.size() > frame.children) {
      const std::uint32_t agent = children_.back();
      children_.pop_back();
      execute(frame, agent);
      frames_.push_back({});
      frames_.back().children = children_.size();
      return;
    }
    frames_.pop_back();
    if (!frames_.empty()) {
      undo(frames_.back());
    }
  }

  // All keys first, so that their places in the table are on their way when they are looked up.
  void expand() {
    Frame& frame = frames_.back();
    frame.expanded = true;
    followers_.clear();
    const auto count = static_cast<std::uint32_t>(agents_.size());
    std::uint32_t alone = count;
    for (std::uint32_t agent = runnable_from(0); options_.reduce && agent < count;
         agent = runnable_from(agent + 1)) {
      const Step& step = agents_[agent].steps[next_[agent]];
      if (step.alone && enabled(step)) {
        alone = agent;
        break;
      }
    }
    for (std::uint32_t agent = alone < count ? alone : runnable_from(0); agent < count;
         agent = alone < count ? count : runnable_from(agent + 1)) {
      const Step& step = agents_[agent].steps[next_[agent]];
      if (!enabled(step)) {
        continue;
      }
      if (!acts_right(step)) {
        fail(agent, wrong(step));
        return;
      }
      ++result_.transitions;
      Follower& follower = followers_.emplace_back();
      follower.agent = agent;
      std::copy_n(key_, words_, follower.key);
      write(follower.key, agent, next_[agent] + 1);
      visited_->expect(follower.key);
    }
    if (followers_.empty() && left_ != 0) {
      fail(~0U, "deadlock: nobody can go on");
      return;
    }
    for (const Follower& follower : followers_) {
      if (visited_->insert(follower.key)) {
        children_.push_back(follower.agent);
      }
    }
    if (visited_->size() > options_.states_max) {
      result_.verdict = Explored::kIncomplete;
      result_.what = "stopped after " + std::to_string(options_.states_max) + " states";
      ended_ = true;
    }
  }

  struct Follower {
    std::uint64_t key[kWordsMax];
    std::uint32_t agent = 0;
  };

  const Protocol& protocol_;
  const CanonicalRun& run_;
  const ExploreOptions& options_;
  std::vector<Agent> agents_;
  std::vector<std::vector<std::uint32_t>> groups_;
  std::uint32_t words_ = 1;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint64_t> runnable_;  // one bit an agent
  std::uint64_t key_[kWordsMax] = {1};
  std::vector<std::uint32_t> members_;
  std::vector<BarrierState> barriers_;
  std::size_t left_ = 0;
  std::unique_ptr<StateSet> visited_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> children_;  // of all frames, not yet gone on to
  std::vector<Follower> followers_;      // of the state that is expanded
  std::vector<std::pair<std::uint32_t, std::uint32_t>> path_;
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
