/// The run comes to its end. If not: who waits, for what, what is missing, and who could supply it.

#include <algorithm>
#include <map>

#include "common/trace/words.hpp"

#include "sim/check/detectors/detectors.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kWaitersShown = 10;

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
                  Op::kTensorLoad}} {}

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
          last_[event.peer_cta][event.peer] = event;
        }
        break;
      case Op::kCtaExit:
        on_exit(event);
        break;
      default:
        break;
    }
  }

  void at_end(const Gpu& gpu, RunEnd end) override {
    if (end == RunEnd::kDeadlock) {
      report_deadlock(gpu);
    } else if (end == RunEnd::kLivelock) {
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
      if (event.pending == 0 && event.tx < 0 && event.fault == Fault::kNone) {
        report_bytes({exit.cta, address}, event);
      }
    }
    last_.erase(found);
  }

  void report_bytes(const Place& place, const Event& event) {
    const bool surplus = event.tx < 0;
    reporter().report(id_of_bytes(place, surplus),
                      event,
                      naming().barrier(place.first, place.second),
                      "phase " + std::to_string(event.phase) + " has " +
                          (event.pending == 0 ? "all its arrivals and " : "") +
                          plural(static_cast<std::uint64_t>(std::abs(event.tx)), "byte") +
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
    const bool multicast = is_load(last.op) && last.extra != 0;
    return multicast && naming().cta_of_warp(last.warp) != place.first ? "BULK_MCAST_NO_EXPECT"
                                                                       : "MBAR_TX_MISMATCH";
  }

  // What a blocked warp waits for.
  std::string waits_for(const Gpu& gpu, const Warp& warp) const {
    const Operation& op = warp.blocked_on;
    const std::uint32_t cta = gpu.ctas()[warp.cta].number;
    switch (op.op) {
      case Op::kMbarrierWait: {
        const MbarrierState* bar = gpu.find_barrier(warp.cta, op.address);
        std::string text = "waits for " + naming().barrier(cta, op.address);
        if ((op.flags & event_flag::kExactPhase) != 0) {
          text += " phase " + std::to_string(static_cast<std::int32_t>(op.wanted));
        }
        text += " (parity " + std::to_string(op.wanted & 1U) + ")";
        return bar == nullptr ? text : text + ": " + state_of(*bar);
      }
      case Op::kBarSync: {
        const NamedBarrierState& barrier = gpu.ctas()[warp.cta].named[op.address];
        return "waits at named barrier " + std::to_string(op.address) + " of cta " +
               std::to_string(cta) + ": " + std::to_string(barrier.arrived) + " of " +
               plural(barrier.threads, "thread") + " have come";
      }
      case Op::kClusterWait:
        return "waits at the cluster barrier: " +
               plural(gpu.clusters()[gpu.ctas()[warp.cta].cluster].arrived, "warp") + " have come";
      case Op::kBulkWaitGroup:
        return "waits for its bulk groups";
      case Op::kTcgen05Alloc:
        return "waits for " + plural(op.count, "column") + " of tensor memory" +
               holders_of_sm(gpu, warp.cta);
      case Op::kTcgen05Dealloc:
        return "waits for its peer to free tensor memory, too";
      case Op::kSetmaxnreg:
        return "waits for registers: the pool has " +
               std::to_string(gpu.ctas()[warp.cta].free_registers) + " a thread free";
      case Op::kGlobalWait:
        return "waits for a global word to become " + std::to_string(op.count);
      case Op::kTcgen05WaitLd:
      case Op::kTcgen05WaitSt:
        return "waits for its tensor-memory accesses";
      case Op::kWgmmaWait:
        return "waits for its wgmmas";
      default:
        return "waits for its late lanes, at " + std::string{name_of(op.op)};
    }
  }

  // The CTAs beside it on its SM that have tensor memory, or may still ask for some.
  static std::string holders_of_sm(const Gpu& gpu, std::uint32_t cta) {
    std::string text;
    for (const std::uint32_t other : gpu.ctas_of_sm(cta)) {
      const Cta& at = gpu.ctas()[other];
      if (other != cta && !at.exited && !at.tmem.allocations().empty()) {
        text +=
            ", beside cta " + std::to_string(at.number) +
            (at.tmem.relinquished() ? "" : ", which has not relinquished the permit to allocate");
      }
    }
    return text;
  }

  static std::string state_of(const MbarrierState& bar) {
    std::string missing;
    if (bar.pending() != 0) {
      missing = plural(bar.pending(), "arrival") + " of " + std::to_string(bar.expected());
    }
    if (bar.tx() > 0) {
      missing +=
          (missing.empty() ? "" : " and ") + plural(static_cast<std::uint64_t>(bar.tx()), "byte");
    }
    std::string text = "phase " + std::to_string(bar.phase()) + " lacks " +
                       (missing.empty() ? "nothing" : missing);
    if (bar.tx() < 0) {
      text +=
          ", with " + plural(static_cast<std::uint64_t>(-bar.tx()), "byte") + " too many delivered";
    }
    return text;
  }

  // Warps of one role of one CTA that wait at the same place for the same thing.
  struct Waiters {
    const Warp* first = nullptr;
    std::vector<std::uint32_t> indices;
  };

  bool same_wait(const Warp& a, const Warp& b) const {
    return a.cta == b.cta && naming().role(a.number) == naming().role(b.number) &&
           a.blocked_on.op == b.blocked_on.op && a.blocked_on.address == b.blocked_on.address &&
           a.blocked_on.wanted == b.blocked_on.wanted &&
           a.blocked_on.site.line == b.blocked_on.site.line;
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

  std::string name_of_waiters(const Gpu& gpu, const Waiters& waiters) const {
    if (waiters.indices.size() == 1) {
      return naming().warp(waiters.first->number);
    }
    std::string indices;
    for (const std::uint32_t index : waiters.indices) {
      indices += (indices.empty() ? "" : ",") + std::to_string(index);
    }
    return "cta " + std::to_string(gpu.ctas()[waiters.first->cta].number) + " warps " + indices +
           " (" + warptwin::name_of(naming().role(waiters.first->number)) + ")";
  }

  // Whose warps a barrier more likely waits for: those of its own CTA, of its pair, of the rest.
  static constexpr std::uint32_t kFar = 3;
  static std::uint32_t distance(const Gpu& gpu, std::uint32_t from, std::uint32_t to) {
    return from == to ? 0 : gpu.ctas()[from].rank / 2 == gpu.ctas()[to].rank / 2 ? 1 : 2;
  }

  // Who could still complete the phase: the declared contributors, and what each of them is doing.
  void add_suppliers(const Gpu& gpu, const Warp& waiter, std::vector<std::string>& details) const {
    const Operation& op = waiter.blocked_on;
    const Region* region =
        op.op == Op::kMbarrierWait ? naming().symbols().find(op.address) : nullptr;
    if (region == nullptr) {
      return;
    }
    const std::uint32_t cluster = gpu.ctas()[waiter.cta].cluster;
    for (const Contributor& contributor : region->contract.contributors) {
      if (contributor.arrivals == 0) {
        continue;
      }
      std::string where;
      std::uint32_t ended = 0;
      std::uint32_t nearest = kFar;
      for (const Warp& warp : gpu.warps()) {
        if (gpu.ctas()[warp.cta].cluster != cluster ||
            naming().role(warp.number) != contributor.role) {
          continue;
        }
        const std::uint32_t far = distance(gpu, waiter.cta, warp.cta);
        if (warp.status == WarpStatus::kDone) {
          ++ended;
        } else if (far < nearest) {
          nearest = far;
          where = naming().warp(warp.number) + ", which " + waits_for(gpu, warp);
        }
      }
      if (where.empty()) {
        where = ended > 0 ? "no one: its warps have ended" : "no one: the CTA has no such warp";
      }
      details.push_back("owed     " + std::string{warptwin::name_of(contributor.role)} + " (" +
                        name_of(contributor.kind) + "): " + where);
    }
  }

  void add_last(const Gpu& gpu, const Warp& waiter, std::vector<std::string>& details) const {
    const auto of_cta = last_.find(gpu.ctas()[waiter.cta].number);
    if (waiter.blocked_on.op != Op::kMbarrierWait || of_cta == last_.end()) {
      return;
    }
    const auto last = of_cta->second.find(waiter.blocked_on.address);
    if (last == of_cta->second.end()) {
      return;
    }
    const Event& event = last->second;
    details.push_back(
        "last     " + std::string{name_of(event.op)} + " by " + naming().warp(event.warp) +
        " in phase " + std::to_string(event.phase) +
        ((event.flags & event_flag::kPhaseCompleted) != 0 ? ", which it completed" : "") +
        ", step " + std::to_string(event.time) + ", " + naming().site(event.site));
  }

  // CTAs that wait for a place on the machine: whoever waits for one of them waits for ever.
  void add_not_begun(const Gpu& gpu, std::vector<std::string>& details) const {
    const LaunchConfig& config = gpu.config();
    std::uint32_t begun = 0;
    for (const Cluster& cluster : gpu.clusters()) {
      begun = std::max(begun, cluster.number + 1);
    }
    if (begun < config.clusters && !requests_) {
      details.push_back("not begun  ctas " + std::to_string(begun * config.cluster_size) + " to " +
                        std::to_string(config.clusters * config.cluster_size - 1) + ": " +
                        std::to_string(config.resident_clusters * config.cluster_size) +
                        " are on the machine at a time");
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
      finding.details.push_back("blocked  " + name_of_waiters(gpu, waiters) + "  " +
                                waits_for(gpu, *waiters.first) + "  [" +
                                naming().site(waiters.first->blocked_on.site) + "]");
      add_suppliers(gpu, *waiters.first, finding.details);
      add_last(gpu, *waiters.first, finding.details);
    }
    if (all.size() > shown) {
      finding.details.push_back("and " + plural(all.size() - shown, "more group") +
                                " of waiting warps");
    }
    add_not_begun(gpu, finding.details);
    if (!all.empty()) {
      const Waiters& head = head_of(all);
      const Operation& op = head.first->blocked_on;
      finding.site = op.site;
      finding.agent = name_of_waiters(gpu, head);
      finding.object = op.op == Op::kMbarrierWait
                           ? naming().barrier(gpu.ctas()[head.first->cta].number, op.address)
                           : std::string{name_of(op.op)};
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
    return gpu.clusters()[cta.cluster].pair_generation[cta.rank / 2] == warp.pair_generation;
  }

  // Who has the registers of a CTA, a line for each role and count.
  std::vector<std::string> register_holders(const Gpu& gpu, std::uint32_t cta) const {
    std::map<std::pair<Role, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> holders;
    for (const Warp& warp : gpu.warps()) {
      if (warp.cta == cta) {
        auto& [count, ended] = holders[{naming().role(warp.number), warp.registers}];
        ++count;
        ended += warp.status == WarpStatus::kDone ? 1 : 0;
      }
    }
    std::vector<std::string> lines;
    for (const auto& [holder, number] : holders) {
      lines.push_back("held     " + plural(number.first, "warp") + " (" +
                      warptwin::name_of(holder.first) + "): " + std::to_string(holder.second) +
                      " a thread" +
                      (number.second != 0 ? "; " + std::to_string(number.second) + " ended" : ""));
    }
    return lines;
  }

  // What is stuck because somebody else does not come.
  void classify_collective(const Gpu& gpu, const Warp& warp) {
    const Operation& op = warp.blocked_on;
    const std::uint32_t cta = gpu.ctas()[warp.cta].number;
    Event event;
    event.op = op.op;
    event.warp = warp.number;
    event.site = op.site;
    if (op.op == Op::kClusterWait) {
      reporter().report("CLUSTER_BARRIER_SKIPPED",
                        event,
                        "cluster barrier",
                        "a live warp of the cluster never arrives");
    } else if (op.op == Op::kSetmaxnreg) {
      reporter().report("SETMAXNREG_POOL",
                        event,
                        "registers of cta " + std::to_string(cta),
                        "asks for " + std::to_string(op.count) + " a thread; the pool has " +
                            std::to_string(gpu.ctas()[warp.cta].free_registers) +
                            " free, and nobody gives any back",
                        register_holders(gpu, warp.cta));
    } else if (op.op == Op::kTcgen05Alloc && op.group == CtaGroup::kTwo && lacks_peer(gpu, warp)) {
      reporter().report("TMEM_ALLOC_PEER_MISSING",
                        event,
                        "tensor memory of cta " + std::to_string(cta),
                        "tcgen05.alloc of the pair, to which the peer does not come");
    }
  }

  // What a stuck barrier looks like by itself.
  void classify(const Gpu& gpu, const Warp& warp) {
    const Operation& op = warp.blocked_on;
    const MbarrierState* bar =
        op.op == Op::kMbarrierWait ? gpu.find_barrier(warp.cta, op.address) : nullptr;
    const Place place{gpu.ctas()[warp.cta].number, op.address};
    if (bar == nullptr || (op.wanted & 1U) != (bar->phase() & 1U)) {
      return;
    }
    Event event;
    event.op = op.op;
    event.warp = warp.number;
    event.site = op.site;
    event.phase = bar->phase();
    event.tx = bar->tx();
    const std::string name = naming().barrier(place.first, place.second);
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
      if (first_wait && op.address >= ring.empty && op.address < ring.empty + 8 * ring.stages) {
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
    for (const Warp& warp : gpu.warps()) {
      if (warp.status == WarpStatus::kDone || finding.details.size() >= kWaitersShown) {
        continue;
      }
      const bool blocked = warp.status == WarpStatus::kBlocked;
      finding.details.push_back(
          (blocked ? "blocked  " : "polls    ") + naming().warp(warp.number) + "  " +
          (blocked ? waits_for(gpu, warp) : std::string{name_of(warp.last_op)}) + "  [" +
          naming().site(blocked ? warp.blocked_on.site : warp.last_site) + "]");
      if (finding.agent.empty() && !blocked) {
        finding.agent = naming().warp(warp.number);
        finding.site = warp.last_site;
      }
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
