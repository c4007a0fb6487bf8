/// The run comes to its end. If not: who waits, for what, what is missing, and who could supply it.

#include <algorithm>
#include <map>

#include "common/trace/words.hpp"

#include "sim/check/detectors/detectors.hpp"
#include "sim/model/word_test.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kWaitersShown = 10;

// What a wait for a global word waits for, where that is no number; else empty.
std::string words_of(const operands::GlobalWord& word) {
  const WordTest test = WordTest::of(word.test, word.test_operands, word.value);
  if (test == WordTest{.with = word.value}) {
    return {};
  }
  using Kind = WordTest::Kind;
  const auto number = [&](std::uint32_t value) {
    return test.is_signed ? std::to_string(static_cast<std::int32_t>(value))
                          : std::to_string(value);
  };
  std::string words = number(test.with);
  words = test.kind == Kind::kEqual      ? words
          : test.kind == Kind::kNotEqual ? "other than " + words
          : test.kind == Kind::kLess     ? "less than " + words
                                         : "at least " + words;
  if (test.flip != 0) {
    words += ", taken exclusive or " + std::to_string(test.flip);
  }
  if (~test.mask != 0) {
    words += ", of its bits " + std::to_string(test.mask);
  }
  return words;
}

class ProgressDetector : public Detector {
 public:
  ProgressDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kBulkLoad,
                  Op::kClcTryCancel,
                  Op::kCtaExit,
                  Op::kMbarrierArrive,
                  Op::kMbarrierCompleteTx,
                  Op::kMbarrierExpectTx,
                  Op::kMbarrierInit,
                  Op::kTcgen05Commit,
                  Op::kTensorLoad}} {
    narrow({Op::kBulkLoad, Op::kTensorLoad}, {Step::kWritten});
    narrow(
        {Op::kMbarrierArrive, Op::kMbarrierCompleteTx, Op::kMbarrierExpectTx, Op::kTcgen05Commit},
        {Step::kDone, Step::kRead, Step::kWritten, Step::kSignalled, Step::kCounted});
  }

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kMbarrierInit:
      case Op::kMbarrierArrive:
      case Op::kMbarrierExpectTx:
      case Op::kMbarrierCompleteTx:
      case Op::kTcgen05Commit:
        if (event.step != Step::kIssued) {
          last_[event.cta][event.address] = event;
        }
        break;
      case Op::kTensorLoad:
      case Op::kBulkLoad:
      case Op::kClcTryCancel:
        requests_ = requests_ || event.op == Op::kClcTryCancel;
        if (event.step == Step::kWritten) {
          last_[event.signal().barrier_cta][event.signal().barrier] = event;
        }
        break;
      case Op::kCtaExit:
        on_exit(event);
        break;
      default:
        break;
    }
  }

  void at_end(const Gpu& gpu, Ending end) override {
    if (end == Ending::kDeadlock) {
      report_deadlock(gpu);
    } else if (end == Ending::kLivelock) {
      report_livelock(gpu);
    }
  }

 private:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // CTA, address

  // Barriers of a CTA that ends: bytes that nobody announced, or nobody delivered.
  void on_exit(const Event& exit) {
    const auto found = last_.find(exit.cta);
    if (found == last_.end()) {
      return;
    }
    for (const auto& [address, event] : found->second) {
      // Bytes that were announced and do not come hold back nobody who has ended: a producer's tail
      // may arm a stage once more.
      const payload::BarrierState& state = event.state();
      if (state.pending == 0 && state.tx < 0 && event.fault == Fault::kNone) {
        report_bytes({exit.cta, address}, event);
      }
    }
    last_.erase(found);
  }

  void report_bytes(const Place& place, const Event& event) {
    const payload::BarrierState& state = event.state();
    const bool surplus = state.tx < 0;
    reporter().report(id_of_bytes(place, surplus),
                      event,
                      naming().barrier(place.first, place.second),
                      "phase " + std::to_string(event.phase) + " has " +
                          (state.pending == 0 ? "all its arrivals and " : "") +
                          plural(static_cast<std::uint64_t>(std::abs(state.tx)), "byte") +
                          (surplus ? " more than announced" : " less than announced"),
                      {surplus ? "the copies deliver more than expect-tx said"
                               : "expect-tx said more than the copies deliver"});
  }

  // Whose bytes they are, if it is known.
  const char* id_of_bytes(const Place& place, bool surplus) const {
    const auto cta = last_.find(place.first);
    if (!surplus || cta == last_.end() || !cta->second.contains(place.second)) {
      return "MBAR_TX_MISMATCH";
    }
    const Event& last = cta->second.at(place.second);
    if (last.op == Op::kClcTryCancel) {
      return "CLC_TX_MISMATCH";
    }
    const bool multicast = is_load(last.op) && last.signal().mask != 0;
    return multicast && naming().cta_of_warp(last.warp) != place.first ? "BULK_MCAST_NO_EXPECT"
                                                                       : "MBAR_TX_MISMATCH";
  }

  // What a blocked warp waits for.
  Wait wait_of(const Gpu& gpu, const Warp& warp) const {
    const Operation& op = warp.blocked_on;
    const Cta& cta = gpu.ctas()[warp.cta];
    Wait wait;
    wait.op = op.op;
    switch (op.op) {
      case Op::kMbarrierWait: {
        const auto& asked = op.as<operands::Mbarrier>();
        wait.kind = WaitKind::kMbarrier;
        wait.object = naming().barrier(cta.number, asked.address);
        wait.wanted = asked.phase & 1U;
        if ((op.flags & event_flag::kExactPhase) != 0) {
          wait.phase = static_cast<std::int32_t>(asked.phase);
        }
        if (const MbarrierState* const bar = gpu.find_barrier(warp.cta, asked.address)) {
          wait.barrier = stand_of(*bar);
        }
        break;
      }
      case Op::kBarSync: {
        const std::uint32_t id = op.as<operands::NamedBarrier>().id;
        wait.kind = WaitKind::kNamedBarrier;
        wait.object = naming().named_barrier(cta.number, id);
        wait.have = cta.named[id].arrived;
        wait.wanted = cta.named[id].threads;
        break;
      }
      case Op::kClusterWait:
        wait.kind = WaitKind::kClusterBarrier;
        wait.object = Object::cluster_barrier();
        wait.have = gpu.first_cta_of(warp.cta).arrived;
        break;
      case Op::kBulkWaitGroup:
        wait.kind = WaitKind::kBulkGroups;
        break;
      case Op::kTcgen05Alloc:
        wait.kind = WaitKind::kColumns;
        wait.object = Object::tensor_memory(cta.number);
        wait.wanted = op.as<operands::TmemAllocation>().columns;
        wait.holders = holders_beside(gpu, warp.cta);
        break;
      case Op::kTcgen05Dealloc:
        wait.kind = WaitKind::kPeer;
        break;
      case Op::kSetmaxnreg:
        wait.kind = WaitKind::kRegisters;
        wait.object = Object::registers(cta.number);
        wait.wanted = op.as<operands::Registers>().count;
        wait.have = cta.free_registers;
        break;
      case Op::kGlobalWait:
        wait.kind = WaitKind::kGlobalWord;
        wait.wanted = op.as<operands::GlobalWord>().value;
        wait.object.name = words_of(op.as<operands::GlobalWord>());
        break;
      case Op::kTcgen05WaitLd:
      case Op::kTcgen05WaitSt:
        wait.kind = WaitKind::kTensorAccesses;
        break;
      case Op::kWgmmaWait:
        wait.kind = WaitKind::kWgmmas;
        break;
      default:
        wait.kind = WaitKind::kLateLanes;
    }
    return wait;
  }

  // The CTAs beside it on its SM that have tensor memory, or may still ask for some.
  static std::vector<Wait::Holder> holders_beside(const Gpu& gpu, std::uint32_t cta) {
    std::vector<Wait::Holder> holders;
    for (const std::uint32_t other : gpu.ctas_of_sm(cta)) {
      const Cta& at = gpu.ctas()[other];
      if (other != cta && !at.exited && !at.tmem.allocations().empty()) {
        holders.push_back({at.number, !at.tmem.relinquished()});
      }
    }
    return holders;
  }

  static BarrierStand stand_of(const MbarrierState& bar) {
    return {.phase = bar.phase(),
            .parity = bar.phase() & 1U,
            .pending = bar.pending(),
            .expected = bar.expected(),
            .tx = bar.tx(),
            .passed = {}};
  }

  // Warps of one role of one CTA that wait at the same place for the same thing.
  struct Waiters {
    const Warp* first = nullptr;
    std::vector<std::uint32_t> indices;
  };

  bool same_wait(const Warp& a, const Warp& b) const {
    return a.cta == b.cta && naming().role(a.number) == naming().role(b.number) &&
           a.blocked_on.op == b.blocked_on.op && same_operands(a.blocked_on, b.blocked_on) &&
           a.blocked_on.site.line == b.blocked_on.site.line;
  }
  static bool same_operands(const Operation& a, const Operation& b) {
    const Event first = a.told();
    const Event second = b.told();
    return first.address == second.address && first.numbers().wanted == second.numbers().wanted;
  }

  std::vector<Waiters> waiters_of(const Gpu& gpu) const {
    std::vector<Waiters> all;
    for (const Warp& warp : gpu.warps()) {
      if (warp.status != WarpStatus::kBlocked) {
        continue;
      }
      const auto group = std::find_if(
          all.begin(), all.end(), [&](const Waiters& w) { return same_wait(*w.first, warp); });
      Waiters& waiters = group == all.end() ? all.emplace_back() : *group;
      waiters.first = waiters.first == nullptr ? &warp : waiters.first;
      waiters.indices.push_back(warp.index);
    }
    return all;
  }

  Agent agent_of(const Gpu& gpu, const Waiters& waiters) const {
    return {gpu.ctas()[waiters.first->cta].number,
            waiters.indices,
            naming().role(waiters.first->number)};
  }

  // Whose warps a barrier more likely waits for: those of its own CTA, of its pair, of the rest.
  static constexpr std::uint32_t kFar = 3;
  static std::uint32_t distance(const Gpu& gpu, std::uint32_t from, std::uint32_t to) {
    return from == to ? 0 : gpu.ctas()[from].rank / 2 == gpu.ctas()[to].rank / 2 ? 1 : 2;
  }

  // Who could still complete the phase: the declared contributors, and what each of them is doing.
  std::vector<Owed> owed_to(const Gpu& gpu, const Warp& waiter) const {
    const Operation& op = waiter.blocked_on;
    const Region* region = op.op == Op::kMbarrierWait
                               ? naming().symbols().find(op.as<operands::Mbarrier>().address)
                               : nullptr;
    std::vector<Owed> all;
    if (region == nullptr) {
      return all;
    }
    const std::uint32_t first = gpu.ctas()[waiter.cta].first;
    for (const Contributor& contributor : region->contract.contributors) {
      if (contributor.arrivals == 0) {
        continue;
      }
      Owed& owed = all.emplace_back();
      owed.role = contributor.role;
      owed.kind = contributor.kind;
      std::uint32_t nearest = kFar;
      for (const Warp& warp : gpu.warps()) {
        if (gpu.ctas()[warp.cta].first != first || naming().role(warp.number) != contributor.role) {
          continue;
        }
        const std::uint32_t far = distance(gpu, waiter.cta, warp.cta);
        if (warp.status == WarpStatus::kDone) {
          owed.ended = true;
        } else if (far < nearest) {
          nearest = far;
          owed.by = {naming().agent(warp.number), wait_of(gpu, warp)};
        }
      }
    }
    return all;
  }

  std::optional<LastChange> last_change(const Gpu& gpu, const Warp& waiter) const {
    const auto of_cta = last_.find(gpu.ctas()[waiter.cta].number);
    if (waiter.blocked_on.op != Op::kMbarrierWait || of_cta == last_.end()) {
      return {};
    }
    const auto last = of_cta->second.find(waiter.blocked_on.as<operands::Mbarrier>().address);
    if (last == of_cta->second.end()) {
      return {};
    }
    const Event& event = last->second;
    return LastChange{event.op,
                      naming().agent(event.warp),
                      event.phase,
                      (event.flags & event_flag::kPhaseCompleted) != 0,
                      event.time,
                      event.site};
  }

  // CTAs that wait for a place on the machine: whoever waits for one of them waits for ever.
  void add_not_begun(const Gpu& gpu, std::vector<Detail>& details) const {
    const LaunchConfig& config = gpu.config();
    std::uint32_t begun = 0;
    for (const Cluster& cluster : gpu.clusters()) {
      begun = std::max(begun, cluster.number + 1);
    }
    if (begun < config.clusters && !requests_) {
      details.push_back(NotBegun{begun * config.cluster_size,
                                 config.clusters * config.cluster_size - 1,
                                 config.resident_clusters * config.cluster_size});
    }
  }

  void report_deadlock(const Gpu& gpu) {
    const std::vector<Waiters> all = waiters_of(gpu);
    Finding finding;
    finding.info = find_diagnostic("DEADLOCK");
    std::uint64_t blocked = 0;
    std::size_t shown = 0;
    for (const Waiters& waiters : all) {
      blocked += waiters.indices.size();
      if (shown == kWaitersShown) {
        continue;
      }
      ++shown;
      const Warp& first = *waiters.first;
      finding.details.push_back(Blocked{agent_of(gpu, waiters),
                                        wait_of(gpu, first),
                                        first.blocked_on.site,
                                        owed_to(gpu, first),
                                        last_change(gpu, first)});
    }
    if (all.size() > shown) {
      finding.details.push_back(LeftOut{all.size() - shown, "more group", " of waiting warps"});
    }
    add_not_begun(gpu, finding.details);
    if (!all.empty()) {
      const Waiters& head = head_of(all);
      const Operation& op = head.first->blocked_on;
      finding.site = op.site;
      finding.agent = agent_of(gpu, head);
      finding.object = op.op == Op::kMbarrierWait
                           ? naming().barrier(gpu.ctas()[head.first->cta].number,
                                              op.as<operands::Mbarrier>().address)
                           : Object::other(name_of(op.op));
    }
    finding.message = plural(blocked, "warp") + " wait, and nobody can go on";
    reporter().report(std::move(finding));
    for (const Waiters& waiters : all) {
      classify(gpu, *waiters.first);
      classify_collective(gpu, *waiters.first);
    }
  }

  // Who meets others waits for warps that are held up elsewhere: that is where the fault is.
  static const Waiters& head_of(const std::vector<Waiters>& all) {
    const auto elsewhere = std::find_if(all.begin(), all.end(), [](const Waiters& waiters) {
      const Op op = waiters.first->blocked_on.op;
      return op != Op::kBarSync && op != Op::kClusterArrive && op != Op::kClusterWait;
    });
    return elsewhere == all.end() ? all.front() : *elsewhere;
  }

  static bool lacks_peer(const Gpu& gpu, const Warp& warp) {
    const Cta& cta = gpu.ctas()[warp.cta];
    const std::uint32_t pair = warp.cta % gpu.config().cluster_size / 2;
    return gpu.clusters()[cta.cluster].pair_generation[pair] == warp.pair_generation;
  }

  // Who has the registers of a CTA, by role and count.
  std::vector<Detail> register_holders(const Gpu& gpu, std::uint32_t cta) const {
    std::map<std::pair<Role, std::uint32_t>, RegistersHeld> holders;
    for (const Warp& warp : gpu.warps()) {
      if (warp.cta == cta) {
        const Role role = naming().role(warp.number);
        RegistersHeld& held = holders[{role, warp.registers}];
        held.role = role;
        held.registers = warp.registers;
        ++held.warps;
        held.ended += warp.status == WarpStatus::kDone ? 1 : 0;
      }
    }
    std::vector<Detail> details;
    for (const auto& [key, held] : holders) {
      details.push_back(held);
    }
    return details;
  }

  // What is stuck because somebody else does not come.
  void classify_collective(const Gpu& gpu, const Warp& warp) {
    const Operation& op = warp.blocked_on;
    const std::uint32_t cta = gpu.ctas()[warp.cta].number;
    Event event{op.op};
    event.warp = warp.number;
    event.site = op.site;
    if (op.op == Op::kClusterWait) {
      reporter().report("CLUSTER_BARRIER_SKIPPED",
                        event,
                        Object::cluster_barrier(),
                        "a live warp of the cluster never arrives");
    } else if (op.op == Op::kSetmaxnreg) {
      reporter().report("SETMAXNREG_POOL",
                        event,
                        Object::registers(cta),
                        "asks for " + std::to_string(op.as<operands::Registers>().count) +
                            " a thread; the pool has " +
                            std::to_string(gpu.ctas()[warp.cta].free_registers) +
                            " free, and nobody gives any back",
                        register_holders(gpu, warp.cta));
    } else if (op.op == Op::kTcgen05Alloc && op.group() == CtaGroup::kTwo &&
               lacks_peer(gpu, warp)) {
      reporter().report("TMEM_ALLOC_PEER_MISSING",
                        event,
                        Object::tensor_memory(cta),
                        "tcgen05.alloc of the pair, to which the peer does not come");
    }
  }

  // What a stuck barrier looks like by itself.
  void classify(const Gpu& gpu, const Warp& warp) {
    const Operation& op = warp.blocked_on;
    if (op.op != Op::kMbarrierWait) {
      return;
    }
    const auto& asked = op.as<operands::Mbarrier>();
    const MbarrierState* bar = gpu.find_barrier(warp.cta, asked.address);
    const Place place{gpu.ctas()[warp.cta].number, asked.address};
    if (bar == nullptr || (asked.phase & 1U) != (bar->phase() & 1U)) {
      return;
    }
    Event event{op.op};
    event.warp = warp.number;
    event.site = op.site;
    event.phase = bar->phase();
    event.state().tx = bar->tx();
    const Object name = naming().barrier(place.first, place.second);
    if (bar->tx() < 0 || (bar->pending() == 0 && bar->tx() != 0)) {
      report_bytes(place, event);
    } else if (bar->pending() != 0 && bar->pending() < bar->expected()) {
      reporter().report("MBAR_UNDERARRIVE",
                        event,
                        name,
                        "phase " + std::to_string(bar->phase()) + " got " +
                            std::to_string(bar->expected() - bar->pending()) + " of " +
                            plural(bar->expected(), "arrival"));
    }
    const bool first_wait =
        (op.flags & event_flag::kExactPhase) == 0 && bar->phase() == 0 && bar->idle();
    for (const Ring& ring : naming().symbols().rings) {
      if (first_wait && asked.address >= ring.empty &&
          asked.address < ring.empty + 8 * ring.stages) {
        reporter().report(
            "MBAR_WAIT_WRONG_PARITY",
            event,
            name,
            "parity 0 waits for phase 0, which only a consumer of this stage can complete; a fresh "
            "ring is entered with parity 1");
      }
    }
  }

  void report_livelock(const Gpu& gpu) {
    Finding finding;
    finding.info = find_diagnostic("LIVELOCK_SPIN");
    finding.message = "warps poll, and nothing changes any more";
    std::uint64_t left = 0;
    const Warp* const endless = gpu.endless() ? &gpu.warps()[*gpu.endless()] : nullptr;
    if (endless != nullptr) {
      finding.agent = naming().agent(endless->number);
      finding.site = endless->last_site;
      finding.message =
          "a warp goes round in a loop that nothing ends: it is where it was, and "
          "nobody can tell it anything";
    }
    for (const Warp& warp : gpu.warps()) {
      if (warp.status == WarpStatus::kDone || &warp == endless) {
        continue;
      }
      if (finding.details.size() >= kWaitersShown) {
        ++left;
        continue;
      }
      const Agent agent = naming().agent(warp.number);
      if (warp.status == WarpStatus::kBlocked) {
        finding.details.push_back(
            Blocked{agent, wait_of(gpu, warp), warp.blocked_on.site, {}, std::nullopt});
        continue;
      }
      if (endless != nullptr) {
        continue;
      }
      finding.details.push_back(Polls{agent, warp.last_op, warp.last_site});
      if (finding.agent.empty()) {
        finding.agent = agent;
        finding.site = warp.last_site;
      }
    }
    if (left != 0) {
      finding.details.push_back(LeftOut{left, "more warp", " polling or waiting"});
    }
    reporter().report(std::move(finding));
  }

  /// What last changed each barrier, by CTA and address.
  HashMap<std::uint32_t, std::map<std::uint32_t, Event>> last_;
  /// Clusters that have not begun may have been asked for.
  bool requests_ = false;
};

}  // namespace

std::unique_ptr<Detector> make_progress(Reporter& reporter, Order& order) {
  return std::make_unique<ProgressDetector>(reporter, order);
}

}  // namespace warptwin::sim
