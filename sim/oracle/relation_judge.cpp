#include "sim/oracle/relation_judge.hpp"

#include <algorithm>
#include <optional>

#include "sim/oracle/relation_words.hpp"

namespace warptwin::sim::relation {

namespace {

// How one access stands to a later one.
enum class Bond : std::uint8_t { kNone, kNoProxyFence, kNoTensorFence, kOrdered };

class Judge {
 public:
  Judge(const Record& record, const LaunchConfig& launch, const RelationOptions& options)
      : record_{record}, launch_{launch}, options_{options} {}

  std::vector<RelationFinding> run() {
    races();
    unwritten();
    barriers();
    phases();
    allocations();
    exits();
    maps();
    grid_before();
    return std::move(findings_);
  }

 private:
  bool memory(Node first, Node second) const { return record_.order.memory(first, second); }
  bool execution(Node first, Node second) const { return record_.order.execution(first, second); }
  bool tensor(Node first, Node second) const { return record_.order.tensor(first, second); }
  void find(RelationKind kind, const std::string& why, const Who& first, const Who& second) {
    findings_.push_back({kind, why, {}, first.site, second.site});
  }

  // A lane that has stored a word together with others reads there what any of them has stored.
  bool stored_by_itself(const Access& write, const Access& read) const {
    const std::vector<Access>& all = record_.accesses;
    for (std::size_t i = write.group; i < all.size() && all[i].group == write.group; ++i) {
      if (all[i].lane == read.lane && memory(all[i].end, read.start)) {
        return write.write && !read.write;
      }
    }
    return false;
  }

  // Which lane of a warp has which bytes is not known here, but of a word.
  bool of_lanes_of_one_warp(const Access& a, const Access& b) const {
    if (a.who.warp != b.who.warp || a.proxy != Proxy::kGeneric || b.proxy != Proxy::kGeneric) {
      return false;
    }
    const bool words = a.lane != kWarpLanes && b.lane != kWarpLanes && a.lane != b.lane;
    const bool told_apart = words && !(a.write && b.write && a.value == b.value) &&
                            !stored_by_itself(a, b) && !stored_by_itself(b, a);
    return !told_apart && (a.rest || b.rest);
  }

  bool conflict(const Access& a, const Access& b) const {
    return a.space == b.space && a.cta == b.cta && (a.write || b.write) &&
           !(a.strong && b.strong && a.word == b.word) && !(a.start == b.start && a.end == b.end) &&
           !of_lanes_of_one_warp(a, b);
  }

  // Whether a proxy fence that holds the bytes of `first` lies between the two: of a wgmma, before
  // the issue of each of its threads, be it one fence or several.
  bool fenced(const Access& first, const Access& second) const {
    const Nodes starts = second.issues.empty() ? Nodes{second.start} : second.issues;
    return std::all_of(
        starts.begin(), starts.end(), [&](Node start) { return fenced(first, start); });
  }
  bool fenced(const Access& first, Node second) const {
    return std::any_of(
        record_.proxy_fences.begin(), record_.proxy_fences.end(), [&](const ProxyFence& fence) {
          const bool covers =
              fence.space == ProxySpace::kAll ||
              (first.space == Space::kGlobal
                   ? fence.space == ProxySpace::kGlobal
                   : fence.space == ProxySpace::kSharedCluster ||
                         (fence.space == ProxySpace::kSharedCta && fence.cta == first.cta));
          return covers && memory(first.end, fence.node) && memory(fence.node, second);
        });
  }

  bool tensor_fenced(const Access& first, const Access& second) const {
    const auto after = record_.fences_after.find(second.who.warp);
    if (after == record_.fences_after.end()) {
      return false;
    }
    const bool itself = first.who.op == Op::kTcgen05Mma || first.who.op == Op::kTcgen05Cp;
    const auto before = record_.fences_before.find(first.who.warp);
    for (const Node fence : after->second) {
      if (!tensor(fence, second.start) || !tensor(first.end, fence)) {
        continue;
      }
      if (itself) {  // its commit is a fence too
        return true;
      }
      if (before != record_.fences_before.end() &&
          std::any_of(before->second.begin(), before->second.end(), [&](Node node) {
            return tensor(first.end, node) && tensor(node, fence);
          })) {
        return true;
      }
    }
    return false;
  }

  Bond bond(const Access& first, const Access& second) const {
    if (!before(first, second)) {
      return Bond::kNone;
    }
    const bool crosses = first.proxy == Proxy::kGeneric && second.proxy == Proxy::kAsync;
    const bool asks = first.write || options_.fence_after_reads;
    if (crosses && asks && !fenced(first, second)) {
      return Bond::kNoProxyFence;
    }
    if (first.space == Space::kTensor && options_.tensor_fences &&
        first.who.warp != second.who.warp && !tensor_fenced(first, second)) {
      return Bond::kNoTensorFence;
    }
    return Bond::kOrdered;
  }

  static bool holds(const Access& access, std::uint64_t at) {
    return std::any_of(access.where.begin(), access.where.end(), [&](const auto& piece) {
      return piece.first <= at && at < piece.second;
    });
  }

  // Whether accesses of the byte, each in conflict and in order with the next, lead from one to the
  // other.
  bool chained(const Access& first, const Access& second, std::uint64_t at) const {
    std::vector<const Access*> open{&first};
    std::vector<const Access*> seen{&first};
    while (!open.empty()) {
      const Access* from = open.back();
      open.pop_back();
      for (const Access& to : record_.accesses) {
        if (!conflict(*from, to) || !holds(to, at) || bond(*from, to) != Bond::kOrdered) {
          continue;
        }
        if (&to == &second) {
          return true;
        }
        if (std::find(seen.begin(), seen.end(), &to) == seen.end()) {
          seen.push_back(&to);
          open.push_back(&to);
        }
      }
    }
    return false;
  }

  bool chained(const Access& first, const Access& second, const Footprint& common) const {
    std::vector<std::uint64_t> at;
    for (const auto& piece : common) {
      at.push_back(piece.first);
      for (const Access& other : record_.accesses) {
        if (other.space != first.space || other.cta != first.cta) {
          continue;
        }
        for (const auto& edge : other.where) {
          for (const std::uint64_t value : {edge.first, edge.second}) {
            if (piece.first < value && value < piece.second) {
              at.push_back(value);
            }
          }
        }
      }
    }
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    return std::all_of(at.begin(), at.end(), [&](std::uint64_t byte) {
      return chained(first, second, byte) || chained(second, first, byte);
    });
  }

  void races() {
    const std::vector<Access>& all = record_.accesses;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        if (!conflict(all[i], all[j])) {
          continue;
        }
        const Footprint common = overlap(all[i].where, all[j].where);
        if (!common.empty()) {
          race(all[i], all[j], common);
        }
      }
    }
  }

  void race(const Access& a, const Access& b, const Footprint& common) {
    const Bond there = bond(a, b);
    const Bond back = bond(b, a);
    const Bond best = std::max(there, back);
    if (best == Bond::kOrdered || chained(a, b, common)) {
      return;
    }
    const Access& first = back > there ? b : a;
    const Access& second = back > there ? a : b;
    const char* lacks = best == Bond::kNoProxyFence    ? ", without a proxy fence between"
                        : best == Bond::kNoTensorFence ? ", without the tcgen05 fences"
                                                       : ", in no order";
    find(best == Bond::kNoProxyFence    ? RelationKind::kProxy
         : best == Bond::kNoTensorFence ? RelationKind::kTensorFence
                                        : RelationKind::kRace,
         in_words(first.who) + (first.write ? " (write)" : " (read)") + " and " +
             in_words(second.who) + (second.write ? " (write)" : " (read)") + lacks + ": " +
             in_words(first, common),
         first.who,
         second.who);
  }

  // What it leaves is no data.
  static bool makes_barrier(const Access& access) {
    return access.who.op == Op::kMbarrierInit || access.who.op == Op::kMbarrierInval;
  }

  // Whether an mbarrier was made or ended there after the write, and before the read.
  bool barrier_between(const std::vector<const Access*>& makers,
                       const Access& write,
                       const Access& read) const {
    return std::any_of(makers.begin(), makers.end(), [&](const Access* barrier) {
      return barrier->cta == read.cta && barrier->space == read.space &&
             meet(barrier->where, read.where) && memory(write.end, barrier->start) &&
             memory(barrier->end, read.start);
    });
  }

  // Whether one access is over when the other begins, fences aside.
  bool before(const Access& first, const Access& second) const {
    return first.space == Space::kTensor ? tensor(first.end, second.start)
                                         : memory(first.end, second.start);
  }

  void unwritten() {
    std::vector<const Access*> makers;  // of mbarriers
    std::vector<const Access*> writes;  // of data
    for (const Access& access : record_.accesses) {
      if (makes_barrier(access)) {
        makers.push_back(&access);
      } else if (access.write) {
        writes.push_back(&access);
      }
    }
    for (const Access& read : record_.accesses) {
      if (!read.needs_data || read.space == Space::kGlobal) {
        continue;
      }
      Footprint rest = read.where;
      for (const Access* write : writes) {
        const bool may = write->space == read.space && write->cta == read.cta &&
                         meet(rest, write->where) && !before(read, *write) &&
                         !(write->start == read.start && write->end == read.end) &&
                         !barrier_between(makers, *write, read);
        if (may) {
          rest = without(rest, write->where);
        }
      }
      if (!rest.empty()) {
        find(RelationKind::kUnwritten,
             in_words(read.who) + " reads what nobody wrote: " + in_words(read, rest),
             read.who,
             {});
      }
    }
  }

  void barriers() {
    for (std::size_t i = 0; i < record_.barriers.size(); ++i) {
      const BarrierLife& life = record_.barriers[i];
      for (const Use& use : life.uses) {
        for (const Use& init : life.inits) {
          if (!memory(init.end, use.start)) {
            find(RelationKind::kBarrierLife,
                 in_words(use.who) + " may act before " + in_words(init.who),
                 init.who,
                 use.who);
          }
        }
        for (const Use& inval : life.invals) {
          if (!memory(use.end, inval.start)) {
            find(RelationKind::kBarrierLife,
                 in_words(use.who) + " may act after " + in_words(inval.who),
                 use.who,
                 inval.who);
          }
        }
      }
      for (std::size_t j = i + 1; j < record_.barriers.size(); ++j) {
        const BarrierLife& next = record_.barriers[j];
        if (next.cta == life.cta && next.address == life.address) {
          made_anew(life, next);
          break;
        }
      }
      data_on(life);
    }
  }

  // The first lanes of both are compared as accesses.
  void made_anew(const BarrierLife& life, const BarrierLife& next) {
    for (const Use& inval : life.invals) {
      for (const Use& init : next.inits) {
        if (!memory(inval.end, init.start)) {
          find(RelationKind::kBarrierLife,
               in_words(init.who) + " may act before " + in_words(inval.who),
               inval.who,
               init.who);
        }
      }
    }
  }

  // A contribution that can come before one of the phase before may act in that phase.
  void phases() {
    for (const PhaseUse& use : record_.contributors) {
      for (const PhaseUse& before : record_.contributors) {
        if (before.life == use.life && before.phase + 1 == use.phase &&
            !execution(before.node, use.node)) {
          find(RelationKind::kPhase,
               in_words(use.who) + " may act in the phase of " + in_words(before.who),
               before.who,
               use.who);
        }
      }
    }
  }

  // Accesses to the bytes while they are an mbarrier.
  void data_on(const BarrierLife& life) {
    const Footprint bytes = bytes_at(life.address, 8);
    for (const Access& access : record_.accesses) {
      if (access.space != Space::kShared || access.cta != life.cta || makes_barrier(access) ||
          !meet(access.where, bytes)) {
        continue;
      }
      const bool was_over = std::all_of(life.inits.begin(), life.inits.end(), [&](const Use& init) {
        return memory(access.end, init.start);
      });
      const bool comes_later =
          !life.invals.empty() &&
          std::all_of(life.invals.begin(), life.invals.end(), [&](const Use& inval) {
            return memory(inval.end, access.start);
          });
      if (!was_over && !comes_later) {
        find(
            RelationKind::kBarrierBytes,
            in_words(access.who) + " may touch the mbarrier of " + in_words(life.inits.front().who),
            access.who,
            life.inits.front().who);
      }
    }
  }

  void allocations() {
    for (const Allocation& one : record_.allocations) {
      for (const Use& use : one.uses) {
        if (!memory(one.alloc.end, use.start)) {
          find(RelationKind::kAllocation,
               in_words(use.who) + " may act before " + in_words(one.alloc.who),
               one.alloc.who,
               use.who);
        }
        if (one.dealloc.end != kNoNode && !tensor(use.end, one.dealloc.start)) {
          find(RelationKind::kAllocation,
               in_words(use.who) + " may act after " + in_words(one.dealloc.who),
               use.who,
               one.dealloc.who);
        }
      }
      for (const auto& [cta, use] : record_.relinquished) {
        if (cta == one.cta && !execution(one.alloc.end, use.start)) {
          find(RelationKind::kAllocation,
               in_words(one.alloc.who) + " may come after " + in_words(use.who),
               one.alloc.who,
               use.who);
        }
      }
    }
  }

  void exit_after(std::uint32_t cta, Node end, const Who& who) {
    const auto exit = record_.cta_exits.find(cta);
    if (exit != record_.cta_exits.end() && !execution(end, exit->second)) {
      find(RelationKind::kExit,
           in_words(who) + " may act after cta " + std::to_string(cta) + " has ended",
           who,
           {});
    }
  }

  void exits() {
    for (const Access& access : record_.accesses) {
      const bool store = access.who.op == Op::kBulkStore || access.who.op == Op::kTensorStore;
      if (access.space != Space::kGlobal && (options_.stores_end_with_cta || !store)) {
        exit_after(access.cta, access.end, access.who);
      }
    }
    for (const BarrierLife& life : record_.barriers) {
      for (const Use& use : life.uses) {
        exit_after(life.cta, use.end, use.who);
      }
    }
  }

  void maps() {
    for (const MapUse& write : record_.map_uses) {
      for (const MapUse& copy : record_.map_uses) {
        if (!write.write || copy.write || write.map != copy.map ||
            memory(copy.use.end, write.use.start)) {
          continue;
        }
        bool published = false;
        for (const auto& [warp, release] : record_.map_releases) {
          for (const auto& [map, acquire] : record_.map_acquires) {
            published = published || (warp == write.use.who.warp && map == copy.map &&
                                      memory(write.use.end, release) && memory(release, acquire) &&
                                      memory(acquire, copy.use.start));
          }
        }
        if (!published) {
          find(RelationKind::kTensorMap,
               in_words(copy.use.who) + " may see the map before or after " +
                   in_words(write.use.who),
               write.use.who,
               copy.use.who);
        }
      }
    }
  }

  void grid_before() {
    for (const Access& access : record_.accesses) {
      if (access.space != Space::kGlobal) {
        continue;
      }
      const bool waited = std::any_of(record_.grid_waits.begin(),
                                      record_.grid_waits.end(),
                                      [&](Node node) { return memory(node, access.start); });
      for (const auto* ranges : {&launch_.prerequisite_writes, &launch_.prerequisite_reads}) {
        const bool conflicts = access.write || ranges == &launch_.prerequisite_writes;
        for (const auto& [begin, end] : *ranges) {
          if (!waited && conflicts &&
              !overlap(access.where, bytes_at(begin, end - begin)).empty()) {
            find(RelationKind::kGridBefore,
                 in_words(access.who) + " does not wait for the grid before",
                 access.who,
                 {});
          }
        }
      }
    }
  }

  const Record& record_;
  const LaunchConfig& launch_;
  const RelationOptions& options_;
  std::vector<RelationFinding> findings_;
};

}  // namespace

std::vector<RelationFinding> judge_record(const Record& record,
                                          const LaunchConfig& launch,
                                          const RelationOptions& options) {
  return Judge{record, launch, options}.run();
}

}  // namespace warptwin::sim::relation
