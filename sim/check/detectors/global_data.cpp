/// Global-memory data: two accesses that touch the same bytes, one of them a write, are ordered,
/// be they copies or single words; but for the acquiring reads and releasing writes of flags, which
/// never race with one another. A copy's store is complete for its thread only after
/// cp.async.bulk.wait_group without .read.

#include <algorithm>
#include <map>
#include <unordered_map>

#include "sim/check/detectors/detectors.hpp"
#include "sim/check/footprint.hpp"
#include "sim/model/word_test.hpp"

namespace warptwin::sim {

namespace {

// `rows` times `width` bytes of global memory, `pitch` apart.
struct Box {
  std::int64_t start = 0;
  std::int64_t pitch = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;

  std::int64_t end() const { return start + (rows - 1) * pitch + width; }
  bool same(const Box& other) const {
    return start == other.start && pitch == other.pitch && rows == other.rows &&
           width == other.width;
  }
  bool meets(const Box& other) const {
    if (start >= other.end() || other.start >= end()) {
      return false;
    }
    if (rows == 1 || other.rows == 1 || pitch != other.pitch) {
      return meets_by_rows(other);
    }
    // Rows i and j overlap when their distance, offset + (j - i) * pitch, is within the widths.
    const std::int64_t offset = other.start - start;
    const std::int64_t nearest = -offset / pitch;
    for (std::int64_t k = nearest - 1; k <= nearest + 1; ++k) {
      const std::int64_t distance = offset + k * pitch;
      if (k > -rows && k < other.rows && distance < width && -distance < other.width) {
        return true;
      }
    }
    return false;
  }

 private:
  bool meets_by_rows(const Box& other) const {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t from = start + row * pitch;
      for (std::int64_t at = 0; at < other.rows; ++at) {
        const std::int64_t to = other.start + at * other.pitch;
        if (from < to + other.width && to < from + width) {
          return true;
        }
      }
    }
    return false;
  }
};

// How an asynchronous access came to an end.
struct GlobalCompletion {
  bool done = false;
  std::uint32_t time = 0;  // of a store: when its warp had waited for it, by lanes
  std::uint32_t lanes = 0;
  std::uint32_t cta = 0;  // of a load: the barrier phase that counts its bytes
  std::uint32_t barrier = 0;
  std::uint32_t phase = 0;
};

enum class GlobalKind : std::uint8_t {
  kCopyLoad,   // of bulk and tensor copies, in the async proxy
  kCopyStore,  //
  kLoad,       // ld.global: weak, it orders nothing
  kStore,      // st.global, likewise
  kReadOnly,   // ld.global.nc: of bytes that the grid does not write
  kFlagLoad,   // ld.acquire and the wait for a word: two of these and the next do not race where
               // the scope of each has both
  kFlagStore,  // st.release, red.release
};

bool writes(GlobalKind kind) {
  return kind == GlobalKind::kCopyStore || kind == GlobalKind::kFlagStore ||
         kind == GlobalKind::kStore;
}

bool flag(GlobalKind kind) {
  return kind == GlobalKind::kFlagLoad || kind == GlobalKind::kFlagStore;
}

bool copies(GlobalKind kind) {
  return kind == GlobalKind::kCopyLoad || kind == GlobalKind::kCopyStore;
}

GlobalKind kind_of(const Event& event) {
  switch (event.op) {
    case Op::kTensorLoad:
    case Op::kBulkLoad:
      return GlobalKind::kCopyLoad;
    case Op::kTensorStore:
    case Op::kBulkStore:
      return GlobalKind::kCopyStore;
    case Op::kGlobalLoad:
      return (event.flags & event_flag::kReadOnly) != 0 ? GlobalKind::kReadOnly : GlobalKind::kLoad;
    case Op::kGlobalStore:
      return GlobalKind::kStore;
    case Op::kGlobalLoadAcquire:
      return GlobalKind::kFlagLoad;
    case Op::kGlobalWait:
      return (event.as<payload::GlobalWord>().test & WordTest::kUpdates) != 0
                 ? GlobalKind::kFlagStore
                 : GlobalKind::kFlagLoad;
    default:
      return GlobalKind::kFlagStore;
  }
}

// What a copy stores, and in which of its warp's bulk groups.
struct CopySource {
  std::uint32_t address = 0;
  std::uint32_t map = 0;
  std::uint32_t group = 0;

  bool operator==(const CopySource&) const = default;
};

struct GlobalAccess {
  Box at;
  GlobalKind kind = GlobalKind::kLoad;
  std::uint32_t warp = 0;
  std::uint32_t time = 0;  // of a word: its operation
  SourceSite site{};
  std::shared_ptr<GlobalCompletion> completion;  // of a copy
  std::uint32_t lanes = 0;
  Scope scope = Scope::kGpu;              // of a flag
  std::uint32_t word = 4;                 // likewise: bytes of all that it is atomic to
  std::uint32_t serial = 0;               // of a cp.async: of the update that counts it
  std::optional<LanePoint> waited{};      // likewise: when its lanes had waited for it themselves
  CopySource source{};                    // of a copy's store
  std::uint8_t reduction = 0;             // likewise: `CopyReduction::code`
  std::uint32_t number = 0;               // of a word, in the order of the run
  std::shared_ptr<std::uint32_t> left{};  // of a cp.async: lanes that have not waited for it
};

// A look at a word that has seen all writes of flags there until `number`.
struct Observed {
  LanePoint by;
  Scope scope = Scope::kGpu;
  std::uint32_t number = 0;
};

class GlobalDataDetector : public Detector {
 public:
  GlobalDataDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kCtaExit,
                  Op::kTensorLoad,
                  Op::kTensorStore,
                  Op::kBulkLoad,
                  Op::kBulkStore,
                  Op::kBulkWaitGroup,
                  Op::kGlobalLoad,
                  Op::kGlobalLoadAcquire,
                  Op::kGlobalRedAdd,
                  Op::kGlobalStore,
                  Op::kGlobalStoreRelease,
                  Op::kGlobalWait,
                  Op::kMbarrierArrive,
                  Op::kMbarrierCompleteTx},
                 {Step::kBlocked, Step::kTouched}},
        order_{order} {}

  void on_event(const Event& event) override {
    if (event.op == Op::kCtaExit) {
      ++cluster_of(event.warp).ended_ctas;
    } else if (event.op == Op::kBulkWaitGroup) {
      if (event.step == Step::kDone && (event.flags & event_flag::kRead) == 0) {
        on_group_wait(event);
      }
    } else if (event.op == Op::kMbarrierArrive || event.op == Op::kMbarrierCompleteTx) {
      on_counted(event);
    } else if (event.op == Op::kGlobalLoad && (event.flags & event_flag::kCopiesAreOver) != 0) {
      on_copy_wait(event);
    } else if (copies(kind_of(event))) {
      on_copy(event);
    } else if (event.step == Step::kIssued) {
      on_async_load(event);
    } else if (event.fault == Fault::kNone) {
      GlobalAccess access = word(event);
      access.number = ++words_;
      access.left = note_copy(event);
      cluster_of(event.warp).told |= access.kind == GlobalKind::kFlagStore;
      if (access.kind != GlobalKind::kFlagLoad) {
        judge(event, access);
      }
      if (observes(event)) {
        observe(access);
      }
      if (!of_atomic(event)) {
        remember(std::move(access));
      }
    }
  }

  // A poll is judged by what its warp knew when it looked: what it found, it has read before it
  // knew.
  void on_look(const Event& event) override {
    if (event.fault == Fault::kNone && !of_atomic(event)) {
      judge(event, word(event));
    }
  }
  void on_blocked(const Event& event) override {
    if (event.op == Op::kGlobalWait) {
      on_look(event);
    }
  }

 private:
  struct OpenStore {
    std::uint32_t group = 0;
    std::uint32_t lane = 0;
    std::shared_ptr<GlobalCompletion> completion;
  };
  struct Cluster {
    std::uint32_t ended_ctas = 0;
    bool told = false;  // it has written a word that others may acquire from
  };

  Cluster& cluster_of(std::uint32_t warp) {
    const std::uint32_t cluster = naming().cluster_of_warp(warp);
    if (cluster >= clusters_.size()) {
      clusters_.resize(cluster + 1);
    }
    return clusters_[cluster];
  }

  // Whether nobody of another cluster will ever know of what the warp has done: its cluster has
  // ended, and told nobody.
  bool closed(std::uint32_t warp) {
    const Cluster& cluster = cluster_of(warp);
    return !cluster.told && cluster.ended_ctas == naming().config().cluster_size;
  }

  // By first byte and warp, in the order they came.
  using Places = std::multimap<std::pair<std::int64_t, std::uint32_t>, GlobalAccess>;

  GlobalAccess word(const Event& event) const {
    const GlobalBox box = global_box_of(event);
    return {{static_cast<std::int64_t>(box.start),
             static_cast<std::int64_t>(box.pitch),
             static_cast<std::int64_t>(box.rows),
             static_cast<std::int64_t>(box.width)},
            kind_of(event),
            event.warp,
            order_.now(event.warp),
            event.site,
            nullptr,
            event.lane_mask(),
            flag(kind_of(event)) ? scope_of_word(event) : Scope::kGpu,
            event.op == Op::kGlobalRedAdd
                ? word_change::bytes_of(event.as<payload::GlobalWord>().test)
                : std::uint32_t{sizeof(std::uint32_t)}};
  }

  // Of two accesses of flags: whether each has the other's thread in its scope, and they are of one
  // word (PTX ISA, "Morally Strong").
  bool morally_strong(const GlobalAccess& first, const GlobalAccess& second) const {
    if (!flag(first.kind) || !flag(second.kind) || first.word != second.word) {
      return false;
    }
    const Scope scope = std::min(first.scope, second.scope);
    return scope == Scope::kGpu ||
           (scope == Scope::kCluster
                ? naming().in_one_cluster(first.warp, second.warp)
                : naming().cta_of_warp(first.warp) == naming().cta_of_warp(second.warp));
  }

  // Of two stores of copies: whether lanes make them by one instruction, of the same bytes to the
  // same place. Whoever writes the source between the two reads is not ordered behind both, for no
  // lane waits for a group before it has committed it.
  static bool store_alike(const GlobalAccess& first, const GlobalAccess& second) {
    return first.kind == GlobalKind::kCopyStore && second.kind == GlobalKind::kCopyStore &&
           first.warp == second.warp && (first.lanes & second.lanes) == 0 &&
           first.site.line == second.site.line && first.source == second.source &&
           first.at.same(second.at);
  }

  // Of two reductions by copies: each is atomic to the other, element by element, at the scope of
  // the GPU.
  static bool reductions(const GlobalAccess& first, const GlobalAccess& second) {
    return first.reduction != 0 && second.reduction != 0 &&
           reduce_the_same_bytes(first.reduction, second.reduction);
  }

  void on_copy(const Event& event) {
    const GlobalKind kind = kind_of(event);
    const bool load = kind == GlobalKind::kCopyLoad;
    const bool more = event.step == Step::kTouched;
    const auto* const copy = event.is<payload::Copy>() ? &event.as<payload::Copy>() : nullptr;
    if ((event.step == Step::kIssued || more) && copy->rows != 0) {
      GlobalAccess access{
          {static_cast<std::int64_t>(event.global),
           std::int64_t{copy->pitch},
           std::int64_t{copy->rows},
           std::int64_t{copy->width}},
          kind,
          event.warp,
          0,
          event.site,
          more ? (load ? loads_[event.serial] : stores_[event.warp].back().completion)
               : std::make_shared<GlobalCompletion>(),
          event.lane_mask()};
      access.source = {event.address, copy->map, copy->group};
      access.reduction = copy->reduction;
      if (more) {
        // Its completion is known.
      } else if (load) {
        loads_[event.serial] = access.completion;
      } else {
        stores_[event.warp].push_back({copy->group, event.lane, access.completion});
      }
      judge(event, access);
      remember(std::move(access));
    } else if (event.step == Step::kWritten && load) {
      const auto found = loads_.find(event.serial);
      if (found != loads_.end()) {
        const auto& [barrier, cta, mask] = event.signal();
        const std::uint32_t mark = order_.phase_mark(cta, barrier, event.phase);
        *found->second = {event.fault == Fault::kNone, 0, 0, cta, barrier, mark};
        loads_.erase(found);
      }
    }
  }

  // Of a cp.async there are two loads: at its issue, from which on it may read, and at its lanes'
  // wait. Returns the lanes that are left of one that begins, null of any other access.
  std::shared_ptr<std::uint32_t> note_copy(const Event& event) {
    const std::uint32_t copy =
        event.op == Op::kGlobalLoad && event.rows() != nullptr ? event.rows()->copies : 0;
    if (copy == 0) {
      return nullptr;
    }
    if ((event.flags & event_flag::kOfCopies) == 0) {
      land(event, copy);
      return nullptr;
    }
    std::shared_ptr<std::uint32_t>& left = landing_[event.warp][copy];
    if (left == nullptr) {
      left = std::make_shared<std::uint32_t>(event.lane_mask());
    }
    return left;
  }

  // The lanes of a copy, or of each of their warp, are no longer waited for.
  void land(const Event& event, std::optional<std::uint32_t> copy) {
    std::erase_if(landing_[event.warp], [&](const auto& one) {
      if (!copy || one.first == *copy) {
        *one.second &= ~event.lane_mask();
      }
      return *one.second == 0;
    });
  }

  // What a cp.async reads until an mbarrier has counted it, in place of the load at its issue. An
  // mbarrier counts all that its lanes have begun.
  void on_async_load(const Event& event) {
    land(event, std::nullopt);
    GlobalAccess access = word(event);
    access.kind = GlobalKind::kCopyLoad;
    const auto [found, added] = loads_.try_emplace(event.serial);
    if (added) {
      found->second = std::make_shared<GlobalCompletion>();
    }
    access.completion = found->second;
    access.serial = event.serial;
    judge(event, access);
    const auto [begin, end] = reads_.equal_range({access.at.start, access.warp});
    for (auto at = begin; at != end;) {
      const GlobalAccess& other = at->second;
      const bool its_own = other.kind == GlobalKind::kLoad && other.at.same(access.at) &&
                           other.site.line == access.site.line &&
                           (other.lanes & ~access.lanes) == 0;
      at = its_own ? reads_.erase(at) : std::next(at);
    }
    remember(std::move(access));
  }

  void on_copy_wait(const Event& event) {
    const Box at = word(event).at;
    const std::uint32_t copies = event.as<payload::Rows>().copies;
    const auto [begin, end] = reads_.equal_range({at.start, event.warp});
    for (auto one = begin; one != end; ++one) {
      GlobalAccess& access = one->second;
      if (access.serial != 0 && access.serial == copies && access.at.same(at)) {
        access.waited = LanePoint{event.warp, order_.now(event.warp), event.lane_mask()};
      }
    }
  }

  void on_counted(const Event& event) {
    const auto found = loads_.find(event.serial);
    if (event.step == Step::kSignalled && found != loads_.end()) {
      const std::uint32_t mark = order_.phase_mark(event.cta, event.address, event.phase);
      *found->second = {event.fault == Fault::kNone, 0, 0, event.cta, event.address, mark};
      loads_.erase(found);
    }
  }

  void on_group_wait(const Event& event) {
    const auto found = stores_.find(event.warp);
    if (found == stores_.end()) {
      return;
    }
    const std::uint32_t left = event.as<payload::BulkGroups>().group;
    std::erase_if(found->second, [&](const OpenStore& store) {
      const std::uint32_t lane = std::uint32_t{1} << store.lane;
      if (store.group >= left || (event.lane_mask() & lane) == 0) {
        return false;
      }
      store.completion->done = true;
      store.completion->time = order_.now(event.warp);
      store.completion->lanes = lane;
      return true;
    });
  }

  bool ordered(const GlobalAccess& first, std::uint32_t second) {
    if (is_under_way(first)) {
      return false;
    }
    if (!copies(first.kind)) {
      return order_.after(second, first.warp, first.time);
    }
    if (first.waited && order_.after(second, first.waited->warp, first.waited->time)) {
      return true;
    }
    return counted(first, second);
  }

  static bool is_under_way(const GlobalAccess& access) {
    return access.left != nullptr && *access.left != 0;
  }

  bool counted(const GlobalAccess& first, std::uint32_t second) {
    if (!first.completion->done) {
      return false;
    }
    if (first.kind == GlobalKind::kCopyStore) {
      return order_.after(second, first.warp, first.completion->time);
    }
    return order_.phase_seen(
        first.completion->cta, first.completion->barrier, first.completion->phase, second);
  }

  void judge(const Event& event, const GlobalAccess& access) {
    if (writes(access.kind)) {
      judge(event, reads_, access);
    }
    judge(event, writes_, access);
  }

  // An access takes the place of one of the same warp to the same bytes that it is ordered after:
  // who is ordered after it, is ordered after that one too. One that may still be under way stays.
  void remember(GlobalAccess access) {
    longest_ = std::max(longest_, access.at.end() - access.at.start);
    Places& places = writes(access.kind) ? writes_ : reads_;
    const std::pair place{access.at.start, access.warp};
    auto at = places.lower_bound({access.at.start, 0});
    const auto first = at;
    for (; at != places.end() && at->first <= place; ++at) {
      GlobalAccess& other = at->second;
      if (at->first == place && other.kind == access.kind && other.at.same(access.at) &&
          other.reduction == access.reduction && other.word == access.word &&
          other.scope >= access.scope && (other.lanes & ~access.lanes) == 0 &&
          ordered(other, access.warp)) {
        other = std::move(access);
        return;
      }
    }
    const auto added = places.emplace_hint(at, place, std::move(access));
    if (!writes(added->second.kind)) {
      forget_alike(first != at ? first : added, added);
    }
  }

  // Of the reads of one place by clusters that are closed, one is enough: whoever writes there
  // later is in order with none of them. `at` is the first, `added` the latest.
  void forget_alike(Places::iterator at, Places::iterator added) {
    const GlobalAccess& access = added->second;
    bool kept = false;
    while (at != reads_.end() && at->first.first == access.at.start) {
      const GlobalAccess& other = at->second;
      const bool alike = at != added && other.kind == access.kind && other.at.same(access.at) &&
                         closed(other.warp);
      at = alike && kept ? reads_.erase(at) : std::next(at);
      kept = kept || alike;
    }
  }

  void judge(const Event& event, const Places& places, const GlobalAccess& access) {
    const std::int64_t end = access.at.end();
    for (auto at = places.lower_bound({access.at.start - longest_, 0});
         at != places.end() && at->first.first < end;
         ++at) {
      const GlobalAccess& first = at->second;
      if (morally_strong(first, access) || !first.at.meets(access.at)) {
        continue;
      }
      if (naming().in_one_cluster(first.warp, access.warp)) {
        reporter().note_compared();
      }
      if (store_alike(first, access)) {
        continue;
      }
      if (reductions(first, access)) {
        if (!ordered(first, access.warp) && !leave_the_same(first.reduction, access.reduction)) {
          reporter().note_choice(event);
        }
        continue;
      }
      if (first.kind == GlobalKind::kReadOnly || access.kind == GlobalKind::kReadOnly) {
        report_read_only(event, first, access);
        return;
      }
      if (observed(first, access, event)) {
        continue;
      }
      if (!ordered(first, access.warp)) {
        report(event, first, access);
        return;
      }
      if (!lanes_ordered(event, first, access)) {
        report_lanes(event, first, access);
        return;
      }
      const bool stored = first.kind == GlobalKind::kStore || first.kind == GlobalKind::kFlagStore;
      if (stored && copies(access.kind) && event.op != Op::kGlobalLoad &&
          !order_.global_fenced(first.warp, first.time, access.warp)) {
        report_unfenced(event, first, access);
        return;
      }
    }
  }

  // What an atomic has found: the atomic is an access itself.
  static bool of_atomic(const Event& event) {
    return event.op == Op::kGlobalLoadAcquire && (event.flags & event_flag::kOfAtomic) != 0;
  }

  // Whether all writes until now are seen: by a load, of which the proof says elsewhere that it may
  // come before them; in every interleaving by a wait for what the last of them left.
  static bool observes(const Event& event) {
    if (event.op != Op::kGlobalWait) {
      return event.op == Op::kGlobalLoadAcquire;
    }
    const WordTest test = WordTest::of(event);
    return event.as<payload::GlobalWord>().before == test.with &&
           (test == WordTest{WordTest::Kind::kEqual, test.is_signed, test.with} ||
            test == WordTest{WordTest::Kind::kAtLeast, test.is_signed, test.with});
  }

  void observe(const GlobalAccess& access) {
    std::vector<Observed>& all = observed_[access.at.start];
    const Observed now{{access.warp, access.time, access.lanes}, access.scope, access.number};
    for (Observed& one : all) {
      if (one.by.warp == access.warp && one.by.lanes == access.lanes && one.scope == access.scope) {
        one = now;
        return;
      }
    }
    all.push_back(now);
  }

  // PTX ISA, "Causality Order": a write comes before what comes after a read that observes it. The
  // second access is of the same word, and behind such a read.
  bool observed(const GlobalAccess& first, const GlobalAccess& second, const Event& event) const {
    const bool one_word = first.at.start == second.at.start && first.at.end() == second.at.end();
    if (first.kind != GlobalKind::kFlagStore || !one_word) {
      return false;
    }
    const auto found = observed_.find(first.at.start);
    return found != observed_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const Observed& one) {
             GlobalAccess look = first;
             look.kind = GlobalKind::kFlagLoad;
             look.warp = one.by.warp;
             look.scope = one.scope;
             return one.number > first.number && morally_strong(first, look) &&
                    order_.lanes_after(one.by, event);
           });
  }

  // Whether each lane that executed the first is in order with the second.
  bool lanes_ordered(const Event& event, const GlobalAccess& first, const GlobalAccess& second) {
    if (first.waited && !(first.warp == second.warp && !copies(second.kind))) {
      return counted(first, second.warp) || order_.lanes_after(*first.waited, event);
    }
    if (first.kind == GlobalKind::kCopyStore) {
      return order_.lanes_after({first.warp, first.completion->time, first.completion->lanes},
                                event);
    }
    const bool of_lanes = !copies(first.kind) && first.kind != GlobalKind::kReadOnly;
    return !of_lanes || (first.warp == second.warp && !copies(second.kind)) ||
           order_.every_lane_ordered({first.warp, first.time, first.lanes}, event);
  }

  void report_lanes(const Event& event, const GlobalAccess& first, const GlobalAccess& second) {
    const SourceSite release = order_.lone_release(first.warp);
    std::vector<Detail> details;
    if (release.line != 0) {
      details.push_back("released at " + naming().site(release) +
                        " by one lane, whose word holds for what it did itself");
    }
    details.push_back(mend("sync_warp() between the two"));
    reporter().report("WARP_LANES_NOT_RELEASED",
                      event,
                      place(second),
                      std::string{writes(second.kind) ? "stored" : "loaded"} +
                          ", ordered after the " + (writes(first.kind) ? "store" : "load") +
                          " of " + naming().warp(first.warp) + " at " + naming().site(first.site) +
                          " for one of its lanes only",
                      std::move(details));
  }

  void report_unfenced(const Event& event, const GlobalAccess& first, const GlobalAccess& second) {
    reporter().report("PROXY_FENCE_MISSING",
                      event,
                      place(second),
                      std::string{writes(second.kind) ? "stored" : "loaded"} +
                          " by a copy behind the store of " + naming().warp(first.warp) + " at " +
                          naming().site(first.site) + ", with no proxy fence between them",
                      {mend("fence.proxy.async, or .global of it, by the storing warp before the "
                            "barrier, or by the copying one behind it")});
  }

  static Object place(const GlobalAccess& access) {
    const Box& at = access.at;
    return {ObjectKind::kGlobalMemory,
            std::to_string(at.rows) + " x " + std::to_string(at.width) +
                " bytes of global memory from " + std::to_string(at.start),
            Object::kNoCta,
            static_cast<std::uint64_t>(at.start),
            static_cast<std::uint64_t>(at.rows * at.width)};
  }

  void report(const Event& event, const GlobalAccess& first, const GlobalAccess& second) {
    const bool raw = first.kind == GlobalKind::kCopyStore && !writes(second.kind);
    reporter().report(raw ? "GMEM_RAW_NO_WAIT" : "GMEM_RACE",
                      event,
                      place(second),
                      std::string{writes(second.kind) ? "stored" : "loaded"} +
                          " in no order with the " + (writes(first.kind) ? "store" : "load") +
                          " of " + naming().warp(first.warp) + " at " + naming().site(first.site),
                      {missing(first, raw)});
  }

  void report_read_only(const Event& event, const GlobalAccess& first, const GlobalAccess& second) {
    const bool written = writes(second.kind);
    reporter().report("GMEM_READ_ONLY_WRITTEN",
                      event,
                      place(second),
                      std::string{written ? "stored" : "loaded by ld.global.nc"} + ", and " +
                          (written ? "loaded by ld.global.nc" : "stored") + " by " +
                          naming().warp(first.warp) + " at " + naming().site(first.site),
                      {mend("a plain load, as of a pointer that is not const __restrict__")});
  }

  static Detail missing(const GlobalAccess& first, bool raw) {
    if (raw) {
      return mend(
          "cp.async.bulk.wait_group without .read by the storing thread, and an order "
          "after it");
    }
    return mend(std::string{"an order between the two"} +
                (copies(first.kind) || is_under_way(first) ? ", after the first is complete" : ""));
  }

  Order& order_;
  Places reads_;
  Places writes_;
  std::unordered_map<std::int64_t, std::vector<Observed>> observed_;  // by the word
  std::uint32_t words_ = 0;
  std::vector<Cluster> clusters_;
  std::int64_t longest_ = 0;                                         // span of an access
  HashMap<std::uint32_t, std::shared_ptr<GlobalCompletion>> loads_;  // by serial
  HashMap<std::uint32_t, std::vector<OpenStore>> stores_;            // by warp
  /// Of cp.async, by warp and number: lanes that have not waited for it.
  HashMap<std::uint32_t, std::map<std::uint32_t, std::shared_ptr<std::uint32_t>>> landing_;
};

}  // namespace

std::unique_ptr<Detector> make_global_data(Reporter& reporter, Order& order) {
  return std::make_unique<GlobalDataDetector>(reporter, order);
}

}  // namespace warptwin::sim
