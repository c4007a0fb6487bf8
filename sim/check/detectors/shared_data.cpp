/// Shared-memory data: every two accesses to the same bytes, one of them a write, are ordered, and
/// through a proxy fence where one is generic and the later one is of a copy or the tensor core.
///
/// Keeps, for each CTA, the accesses that a later one may still meet. Judged by order, not by time:
/// one run shows what is missing in any.

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "sim/check/detectors/detectors.hpp"
#include "sim/check/shared_order.hpp"

namespace warptwin::sim {

namespace {

class SharedDataDetector : public Detector {
 public:
  SharedDataDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kBulkLoad,        Op::kBulkStore,      Op::kBulkWaitGroup,
                  Op::kClcQuery,        Op::kClcTryCancel,   Op::kCtaExit,
                  Op::kFenceProxyAsync, Op::kMbarrierArrive, Op::kMbarrierCompleteTx,
                  Op::kMbarrierInit,    Op::kMbarrierInval,  Op::kMbarrierTryWait,
                  Op::kMbarrierWait,    Op::kSharedLoad,     Op::kSharedStore,
                  Op::kTcgen05Alloc,    Op::kTcgen05Cp,      Op::kTcgen05Mma,
                  Op::kTensorLoad,      Op::kTensorStore,    Op::kWgmma},
                 {Step::kTouched}},
        order_{order} {
    narrow({Op::kBulkStore, Op::kTcgen05Cp, Op::kTcgen05Mma, Op::kTensorStore, Op::kWgmma},
           {Step::kIssued});
  }

  void on_event(const Event& event) override {
    switch (event.op) {
      case Op::kTensorLoad:
      case Op::kBulkLoad:
      case Op::kClcTryCancel:
        on_load(event);
        break;
      case Op::kTensorStore:
      case Op::kBulkStore:
        if (event.step == Step::kIssued) {
          on_store(event);
        }
        break;
      case Op::kMbarrierInit:
      case Op::kMbarrierInval:
        if (event.fault == Fault::kNone) {
          add(event,
              event.cta,
              make(event, Kind::kBarrier, Footprint::interval(event.address, kMbarrierBytes)));
        }
        break;
      case Op::kMbarrierArrive:
      case Op::kMbarrierCompleteTx:
        on_counted(event);
        break;
      case Op::kMbarrierWait:
      case Op::kMbarrierTryWait:
        on_wait(event);
        break;
      case Op::kBulkWaitGroup:
        on_group_wait(event);
        break;
      case Op::kTcgen05Mma:
        if (event.step == Step::kIssued && event.fault == Fault::kNone) {
          on_mma(event);
        }
        break;
      case Op::kWgmma:
        if (event.step == Step::kIssued) {
          on_wgmma(event);
        }
        break;
      case Op::kTcgen05Cp:
        if (event.step == Step::kIssued && event.fault == Fault::kNone) {
          on_copy(event);
        }
        break;
      case Op::kClcQuery:
        if (event.fault == Fault::kNone) {
          add(event,
              event.cta,
              make(event,
                   Kind::kGenericRead,
                   Footprint::interval(event.address, kClcResponseBytes)));
        }
        break;
      case Op::kFenceProxyAsync:
        on_proxy_fence(event);
        break;
      case Op::kSharedLoad:
        if ((event.flags & event_flag::kCopiesAreOver) != 0 && event.rows() != nullptr) {
          note_wait(ctas_[event.cta],
                    event.as<payload::Rows>().copies,
                    footprint_of(event),
                    {event.warp, order_.now(event.warp), event.lane_mask()});
        } else if (event.fault == Fault::kNone) {
          add(event, event.cta, make(event, Kind::kGenericRead, footprint_of(event)));
        }
        break;
      case Op::kSharedStore:
        if (event.step == Step::kIssued) {
          on_async_copy(event);
        } else if (event.fault == Fault::kNone || event.fault == Fault::kUnsettled ||
                   event.fault == Fault::kUnwaited) {
          add(event, event.cta, make(event, Kind::kGenericWrite, footprint_of(event)));
        }
        break;
      case Op::kTcgen05Alloc:
        if (event.fault == Fault::kNone || event.fault == Fault::kGrows) {
          add(event,
              event.cta,
              make(event, Kind::kGenericWrite, Footprint::interval(event.address, 4)));
        }
        break;
      case Op::kCtaExit:
        ctas_.erase(event.cta);
        std::erase_if(dirty_, [&](const auto& entry) {
          return naming().cta_of_warp(entry.first) == event.cta;
        });
        break;
      default:
        break;
    }
  }

 private:
  using Kind = SharedUse;
  using Access = SharedAccess;
  using Completion = SharedCompletion;
  using Known = SharedOrder::Known;

  std::unique_ptr<Access> make(const Event& event, Kind kind, const Footprint& at) {
    auto made = std::make_unique_for_overwrite<Access>();
    Access& access = *made;
    access.at = at;
    access.kind = kind;
    access.warp = event.warp;
    access.time = order_.now(event.warp);
    access.lanes = event.lane_mask();
    access.site = event.site;
    if (generic(kind)) {
      access.fences = order_.fences_known(event.warp);
      access.just_fenced = order_.just_fenced(event.warp);
    }
    if (kind == Kind::kGenericRead || kind == Kind::kGenericWrite) {
      dirty_[event.warp] = access.time;
    }
    if (const payload::Rows* const rows = event.rows()) {
      const auto known = static_cast<AccessKind>(rows->known);
      access.atomic = is_atomic(known);
      if (access.atomic) {
        access.scope = event.ordering.scope;
        access.element = static_cast<std::uint8_t>(rows->written);
        access.cta = naming().cta_of_warp(event.warp);
      }
      if (known == AccessKind::kKnown) {
        access.written = rows->written;
      }
    }
    return made;
  }

  void on_async_copy(const Event& event) {
    if (event.fault != Fault::kNone) {
      return;
    }
    std::unique_ptr<Access> access = make(event, Kind::kAsyncCopy, footprint_of(event));
    access->completion = completion_of(event);
    access->serial = event.serial;
    add(event, event.cta, std::move(access));
  }

  // The same for all that one operation writes and reads.
  std::shared_ptr<Completion> completion_of(const Event& event) {
    std::shared_ptr<Completion>& completion = loads_[event.serial];
    if (completion == nullptr) {
      completion = std::make_shared<Completion>();
      const bool load = is_load(event.op);
      completion->cta = load ? event.signal().barrier_cta : event.cta;
      completion->barrier = load ? event.signal().barrier : 0;
    }
    return completion;
  }

  // An update of an mbarrier that waited for copies.
  void on_counted(const Event& event) {
    const auto found = loads_.find(event.serial);
    if (event.step == Step::kSignalled && found != loads_.end()) {
      const std::uint32_t mark = order_.phase_mark(event.cta, event.address, event.phase);
      *found->second = {event.fault == Fault::kNone, 0, 0, 0, event.cta, event.address, mark};
      loads_.erase(found);
    }
  }

  void on_load(const Event& event) {
    if (event.step == Step::kTouched && (event.flags & event_flag::kSharedSource) != 0) {
      std::unique_ptr<Access> access =
          make(event, Kind::kSource, Footprint::interval(event.address, event.bytes));
      access->completion = completion_of(event);
      add(event, event.cta, std::move(access));
      return;
    }
    if (event.step == Step::kIssued) {
      const Kind kind = event.op == Op::kClcTryCancel ? Kind::kResponse : Kind::kLoad;
      std::unique_ptr<Access> access = make(event, kind, footprint_of_copy(event));
      access->reduction = kind == Kind::kLoad ? event.as<payload::Copy>().reduction : 0;
      access->padding = kind == Kind::kLoad ? event.as<payload::Copy>().padding : 0;
      access->atomic = access->reduction != 0;
      access->completion = completion_of(event);
      add(event, event.cta, std::move(access));
      return;
    }
    const auto found = loads_.find(event.serial);
    if (event.step != Step::kWritten || found == loads_.end()) {
      return;
    }
    if (event.fault == Fault::kNone) {
      const auto& [barrier, cta, mask] = event.signal();
      const std::uint32_t mark = order_.phase_mark(cta, barrier, event.phase);
      *found->second = {true, 0, 0, 0, cta, barrier, mark};
    }
    loads_.erase(found);
  }

  void on_store(const Event& event) {
    std::unique_ptr<Access> access = make(event, Kind::kStore, footprint_of_copy(event));
    access->completion = std::make_shared<Completion>();
    stores_[event.warp].push_back(
        {event.as<payload::Copy>().group, event.lane, access->completion});
    add(event, event.cta, std::move(access));
  }

  // A warp that was told "not yet" and does not ask again.
  void on_wait(const Event& event) {
    const std::pair<std::uint32_t, std::uint64_t> place{
        event.warp, std::uint64_t{event.cta} << 32 | event.address};
    if ((event.flags & event_flag::kFalse) != 0) {
      refused_[place] = event.site;
    } else if (event.step == Step::kDone && !refused_.empty()) {
      refused_.erase(place);
    }
  }

  // The groups before the first that is left have been read, of the lanes that wait: each knows of
  // its own.
  void on_group_wait(const Event& event) {
    const auto found = stores_.find(event.warp);
    if (found == stores_.end()) {
      idle_waits_[event.warp] = event.site;
      return;
    }
    const std::uint32_t left = event.as<payload::BulkGroups>().group;
    std::erase_if(found->second, [&](const OpenStore& store) {
      const std::uint32_t lane = std::uint32_t{1} << store.lane;
      if (store.group >= left || (event.lane_mask() & lane) == 0) {
        return false;
      }
      store.completion->done = true;
      store.completion->warp = event.warp;
      store.completion->lanes = lane;
      store.completion->time = order_.now(event.warp);
      return true;
    });
  }

  void on_mma(const Event& event) {
    const payload::Product& product = event.product();
    const UmmaInstructionDescriptor instruction{product.instruction, product.kind};
    const bool pair = (event.flags & event_flag::kPair) != 0;
    const std::uint32_t ctas = ctas_in(pair ? CtaGroup::kTwo : CtaGroup::kOne);
    if ((event.flags & event_flag::kTmemA) == 0) {
      add_matrix(event,
                 {product.a},
                 instruction.m() / ctas,
                 instruction.a_major(),
                 instruction.a_type(),
                 kMmaRowBytes,
                 padding_of(small_a(instruction)));
    }
    add_matrix(event,
               {product.b},
               instruction.n() / ctas,
               instruction.b_major(),
               instruction.b_type(),
               instruction.b_row_bytes(),
               padding_of(small_b(instruction)));
  }

  // Each warp reads its rows of A and all of B, so each has to know that they are there.
  void on_wgmma(const Event& event) {
    const payload::Product& product = event.product();
    const UmmaInstructionDescriptor instruction{product.instruction, product.kind};
    if ((event.flags & event_flag::kTmemA) == 0) {
      add_matrix(event,
                 {product.a},
                 kWgmmaRows,
                 instruction.a_major(),
                 instruction.a_type(),
                 kMmaRowBytes);
    }
    add_matrix(event,
               {product.b},
               instruction.n(),
               instruction.b_major(),
               instruction.b_type(),
               kMmaRowBytes);
  }

  // `rows` rows of one instruction's operand, `k_bytes` of K each.
  void add_matrix(const Event& event,
                  UmmaSmemDescriptor operand,
                  std::uint32_t rows,
                  Major major,
                  ElementType type,
                  std::uint32_t k_bytes,
                  std::uint32_t padding = 0) {
    for_each_reach(operand, rows, major, type, k_bytes, [&](OperandReach reach) {
      reach.pitch = padding != 0 ? 0 : reach.pitch;  // each piece has a gap
      add_operand(
          event,
          reach,
          [&] { return units_of(operand, rows, major, type, k_bytes, padding); },
          padding != 0);
    });
  }

  void on_copy(const Event& event) {
    const auto& copy = event.as<payload::TmemCopy>();
    const UmmaSmemDescriptor source{copy.source};
    const bool padded = copy.padding != 0;
    OperandReach reach = copy_reach(source, copy.shape);
    reach.pitch = padded ? 0 : reach.pitch;  // each piece has a gap
    add_operand(
        event, reach, [&] { return units_of(source, copy.shape, copy.padding); }, padded);
  }

  // Read at the same place in both CTAs of a pair; `units` says what is read, piece by piece.
  template <class F>
  void add_operand(const Event& event, const OperandReach& reach, F&& units, bool padded = false) {
    const bool pair = (event.flags & event_flag::kPair) != 0;
    const std::uint32_t first = pair ? event.cta & ~1U : event.cta;
    for (std::uint32_t cta = first; cta < first + (pair ? 2 : 1); ++cta) {
      Footprint at = Footprint::interval(reach.first, reach.end - reach.first);
      at.gaps = true;
      if (reach.pitch != 0) {
        const std::uint32_t end = reach.begin + (reach.pieces - 1) * reach.pitch + reach.width;
        at = {reach.begin, end, reach.width, reach.pitch, reach.swizzled};
      }
      const bool wgmma = event.op == Op::kWgmma;
      const Kind kind = wgmma ? Kind::kWgmma : Kind::kTensor;
      const std::uint32_t number =
          wgmma ? event.as<payload::Wgmma>().number + 1 : order_.tensor_issued(event.warp);
      if (!padded && joins_earlier(ctas_[cta], event, kind, at, number)) {
        continue;
      }
      std::unique_ptr<Access> access = make(event, kind, at);
      access->time = number;
      if (reach.pitch == 0) {
        access->units = std::make_unique<Units>(units());
        access->padded = padded;
      }
      add(event, cta, std::move(access));
    }
  }

  // Of use if somebody has read or written since the last fence that knew of it.
  void on_proxy_fence(const Event& event) {
    const ProxySpace space = event.as<payload::ProxyFence>().space;
    if (space == ProxySpace::kGlobal) {
      return;
    }
    const std::uint32_t cluster = naming().cluster_of_warp(event.warp);
    bool useful = false;
    const LanePoint here{event.warp, order_.now(event.warp), event.lane_mask()};
    for (auto& [cta, known] : ctas_) {
      const bool covered =
          naming().cluster_of_cta(cta) == cluster &&
          (space != ProxySpace::kSharedCta || naming().cta_of_warp(event.warp) == cta);
      if (!covered) {
        continue;
      }
      known.for_each([&](Access& access) {
        if (access.kind == Kind::kAsyncCopy && by_order_.ordered(access, event.warp)) {
          if (access.proxy_fences == nullptr) {
            access.proxy_fences = std::make_unique<std::vector<LanePoint>>();
          }
          access.proxy_fences->push_back(here);
          useful = true;
        }
      });
    }
    std::erase_if(dirty_, [&](const auto& entry) {
      const auto& [warp, time] = entry;
      if (naming().cluster_of_warp(warp) != cluster) {
        return false;
      }
      useful = true;
      return order_.after(event.warp, warp, time);
    });
    if (!useful) {
      reporter().report("PROXY_FENCE_USELESS",
                        event,
                        naming().warp_object(event.warp),
                        "fence.proxy.async with no ordinary access to cover");
    }
  }

  // Bytes of `read` that one of the writes known has written, and the first that none has.
  struct Coverage {
    std::uint64_t bytes = 0;
    std::uint32_t first_missing = 0;
    std::uint64_t of = 0;  // all that is read
  };
  Coverage coverage(const Known& known, const Access& read) {
    const auto [low, high] = read.at.bounds();
    const ByteSet& written = known.many() ? known.written() : written_near(known, low, high);
    Coverage result{0, high, 0};
    const auto look = [&](std::uint32_t from, std::uint32_t to) {
      result.of += to - from;
      const std::uint32_t bytes = written.count(from, to);
      result.bytes += bytes;
      if (bytes == to - from) {
        return;
      }
      std::uint32_t missing = from;
      while (written.all(missing, missing + 1)) {
        ++missing;
      }
      result.first_missing = std::min(result.first_missing, missing);
    };
    if (!read.at.gaps) {
      read.at.for_each_run(look);
    }
    if (read.units != nullptr) {
      for (const auto& [from, to] : *read.units) {
        if (low <= from && to <= high) {  // not of another panel
          look(from, to);
        }
      }
    }
    return result;
  }

  // Right in [low, high), whatever it says of other bytes.
  const ByteSet& written_near(const Known& known, std::uint32_t low, std::uint32_t high) {
    written_.set(low, high, false);
    known.for_each_near({low, high}, [&](std::size_t place) {
      if (writes(known[place].kind)) {
        Known::note_written(known[place], written_);
      }
    });
    return written_;
  }

  // Reports bytes of a read that nobody has written.
  void require_written(const Event& event,
                       std::uint32_t cta,
                       const Known& known,
                       const Access& read) {
    const Coverage written = coverage(known, read);
    if (written.bytes == written.of) {
      return;
    }
    const std::string what = reads_operand(read.kind) ? "an operand" : "read";
    const auto [low, high] = read.at.bounds();
    const bool padding =
        known.any_near({low, high}, [&](std::size_t place) { return known[place].padding != 0; });
    reporter().report("SMEM_UNINIT_READ",
                      event,
                      place(cta, read.at),
                      written.bytes == 0
                          ? what + (reads_operand(read.kind) ? " that nobody has written"
                                                             : " although nobody has written it")
                          : what + " of which only " + std::to_string(written.bytes) + " of " +
                                std::to_string(written.of) +
                                " bytes have been written; the first that has not is shared+" +
                                std::to_string(written.first_missing),
                      padding ? std::vector<Detail>{"the padding that a load has appended to "
                                                    "elements of four or six bits holds nothing"}
                              : std::vector<Detail>{});
  }

  // The slices of a tile that one warp's MMAs read one after the other are one access, the last.
  static bool joins_earlier(
      Known& known, const Event& event, Kind kind, const Footprint& at, std::uint32_t number) {
    const Known::Bounds begin{at.begin, at.begin + 1};
    const std::optional<std::size_t> before = known.last_near(begin, [&](std::size_t place) {
      const Access& one = known[place];
      return one.kind == kind && one.warp == event.warp && one.source.covers(at);
    });
    if (!before) {
      return false;
    }
    Access& access = known[*before];
    access.at = access.at.joined(at);
    known.widen(*before, Known::bounds_of(access.at));
    access.time = number;
    access.site = event.site;
    return true;
  }

  void add(const Event& event, std::uint32_t cta, std::unique_ptr<Access> made) {
    Known& known = ctas_[cta];
    Access& access = *made;
    Known::Bounds bounds = Known::bounds_of(access.at);
    const std::uint64_t errors = reporter().errors();
    bool any_gone = false;
    bool whole = false;  // one write alone has filled what is read
    near_.clear();
    const auto keep = [&](std::size_t i) { near_.push_back(i); };
    if (access.kind == Kind::kGenericRead && known.many()) {
      known.for_each_write_near(bounds, keep);
      known.for_each_read_in(access.at, keep);
    } else {
      known.for_each_near(bounds, keep);
    }
    for (const std::size_t i : near_) {
      Access& first = known[i];
      if (writes(access.kind) && first.source.width != 0 && access.at.meets(first.source)) {
        first.source = {};  // not as it was any more
      }
      if (!meet(access, first)) {
        continue;
      }
      if (writes(first.kind)) {
        whole = first.kind != Kind::kBarrier && first.padding == 0 &&
                (whole || first.at.covers(access.at));
      }
      if (first.kind == Kind::kBarrier && access.kind == Kind::kBarrier) {
        first.gone = any_gone = true;  // barrier_order judges them
        continue;
      }
      if (!writes(first.kind) && !writes(access.kind)) {
        // Whoever is ordered after the later of two reads of one place is after the earlier, if the
        // later is for each lane.
        first.gone = first.kind == access.kind && reads_all_of(access, first) &&
                     (first.lanes & ~access.lanes) == 0 &&
                     (reads_operand(first.kind) ? first.warp == access.warp
                                                : by_order_.ordered(first, access.warp)) &&
                     (first.warp == access.warp || by_order_.lanes_ordered(event, first, access));
        any_gone = any_gone || first.gone;
        continue;
      }
      const bool at_once = by_order_.ordered(first, access.warp);
      const bool in_order = at_once || by_order_.ordered_through(event, known, i, access);
      const bool alike = in_any_order(first, access);
      const bool unordered = !in_order && !alike;
      const bool reported = unordered && by_order_.reported_through(event, known, i, access);
      const bool unfenced = in_order && generic(first.kind) && !generic(access.kind) &&
                            !by_order_.fenced(event, first, access) &&
                            !by_order_.fenced_through(event, known, i, access);
      const bool for_some_lanes =
          at_once && !unfenced && !alike && !by_order_.lanes_ordered(event, first, access);
      if (alike && !in_order) {
        reporter().note_compared();
      }
      access.unordered = access.unordered || unordered || unfenced || for_some_lanes;
      if (reported || reporter().errors() != errors) {
        // One error is enough.
      } else if (unordered) {
        report_unordered(event, cta, first, access);
      } else if (unfenced) {
        report_unfenced(event, cta, first, access);
      } else if (for_some_lanes) {
        report_lanes(event, cta, first, access);
      }
      if (alike && !in_order && !leave_the_same(first.reduction, access.reduction)) {
        reporter().note_choice(event);
      }
      if (writes(access.kind)) {
        // A write of all its bytes takes the place of what came before it; an atomic, of others.
        const bool as_narrow = alike && first.scope >= access.scope;
        first.gone = (in_order ? as_narrow || !access.atomic : !alike) &&
                     access.at.covers(first.at) && by_order_.takes_its_place(first, access) &&
                     stands_for_its_warp(first, access);
        any_gone = any_gone || first.gone;
      } else if (in_order && reads_operand(access.kind) && !access.padded && first.padding == 0 &&
                 first.at.covers(access.at)) {
        access.source = first.at;
      }
    }
    const bool updates =
        (access.kind == Kind::kAsyncCopy || access.kind == Kind::kLoad) && access.atomic;
    if ((!writes(access.kind) || updates) && !whole) {
      require_written(event, cta, known, access);
    }
    for (const std::size_t i : near_) {
      if (any_gone && known[i].gone) {
        known.remove(i);
      }
    }
    known.close_gaps();
    if (access.source.width != 0 && one_write_alone(known, access.source)) {
      bounds.widen(Known::bounds_of(access.source));
    } else {
      access.source = {};
    }
    known.add(std::move(made), bounds);
  }

  // Whether a read is of all bytes that an earlier one has read.
  static bool reads_all_of(const Access& access, const Access& first) {
    return access.at.covers(first.at) &&
           (!access.padded || (first.padded && *access.units == *first.units));
  }

  // Another lane may write the same value without knowing the first access, where lanes know
  // different things: the two writes are no race of each other's.
  bool stands_for_its_warp(const Access& first, const Access& write) const {
    return write.kind != Kind::kGenericWrite || first.warp == write.warp ||
           !order_.parted(write.warp);
  }

  void report_lanes(const Event& event,
                    std::uint32_t cta,
                    const Access& first,
                    const Access& second) {
    const SourceSite release = order_.lone_release(first.warp);
    std::vector<Detail> details;
    if (release.line != 0) {
      details.push_back("released at " + naming().site(release) +
                        " by one lane, whose word holds for what it did itself");
    }
    details.push_back(
        mend("sync_warp() between the two, behind a fence.proxy.async of all lanes if a copy or "
             "the tensor core is the second"));
    reporter().report("WARP_LANES_NOT_RELEASED",
                      event,
                      place(cta, second.at),
                      std::string{name_of(second.kind)} + " is ordered after " +
                          name_of(first.kind) + " of " + naming().warp(first.warp) + " at " +
                          naming().site(first.site) + " for one of its lanes only",
                      std::move(details));
  }

  // Whether nothing else has been written there since the write that filled it all.
  static bool one_write_alone(const Known& known, const Footprint& filled) {
    int writers = 0;
    known.for_each_near(Known::bounds_of(filled), [&](std::size_t place) {
      writers += writes(known[place].kind) && known[place].at.meets(filled) ? 1 : 0;
    });
    return writers == 1;
  }

  Object place(std::uint32_t cta, const Footprint& at) const {
    return naming().shared(cta, at.begin, at.bytes());
  }

  const char* id_of_unfenced(const Access& first, const Access& second) const {
    if (second.kind == Kind::kResponse) {
      return "CLC_RESP_OVERWRITE";
    }
    if (first.kind == Kind::kBarrier) {
      return "PROXY_FENCE_MISSING";
    }
    if (!writes(first.kind)) {
      return "PROXY_FENCE_MISSING_WAR";  // which one is there or not: the rule is the same
    }
    const FencesKnown known = order_.fences_known(second.warp);
    if (known.shared > first.fences.shared || first.just_fenced) {
      return "PROXY_FENCE_UNCOVERED";
    }
    if (known.other_space > first.fences.other_space) {
      return "PROXY_FENCE_WRONG_SPACE";
    }
    return "PROXY_FENCE_MISSING";
  }

  void report_unordered(const Event& event,
                        std::uint32_t cta,
                        const Access& first,
                        const Access& second) {
    const std::string what = std::string{name_of(second.kind)} + " is not ordered after " +
                             name_of(first.kind) + " of " + naming().warp(first.warp) + " at " +
                             naming().site(first.site);
    const SourceSite relaxed = order_.relaxed_edge(first.warp, second.warp);
    const std::string passes_nothing = "the arrival or wait at " + naming().site(relaxed) +
                                       " is relaxed, or of CTA scope between two CTAs";
    if (generic(first.kind) && generic(second.kind) && relaxed.line != 0) {
      reporter().report("MBAR_RELAXED_NO_FENCE",
                        event,
                        place(cta, second.at),
                        what,
                        {passes_nothing,
                         mend("cluster scope there, or a releasing fence before it or an "
                              "acquiring one after")});
      return;
    }
    const auto refused = first.kind == Kind::kLoad
                             ? refused_.find({second.warp,
                                              std::uint64_t{first.completion->cta} << 32 |
                                                  first.completion->barrier})
                             : refused_.end();
    if (refused != refused_.end() && !writes(second.kind)) {
      reporter().report("MBAR_TRYWAIT_UNCHECKED",
                        event,
                        place(cta, second.at),
                        what,
                        {"the try at " + naming().site(refused->second) + " said no",
                         mend("a loop around the try, or a wait after it")});
      return;
    }
    const auto idle = idle_waits_.find(second.warp);
    if (first.kind == Kind::kStore && writes(second.kind) && idle != idle_waits_.end()) {
      reporter().report("BULK_WAIT_WRONG_THREAD",
                        event,
                        place(cta, second.at),
                        what,
                        {"the wait_group at " + naming().site(idle->second) +
                             " is by a warp that has stored nothing: it waits for nothing",
                         missing(first)});
      return;
    }
    std::vector<Detail> details{missing(first)};
    if (first.atomic && second.atomic && std::min(first.scope, second.scope) == Scope::kCta) {
      details = {"both are atomic, one of scope .cta: for a warp of another CTA it is no atomic",
                 mend(".cluster, or a barrier between the two")};
    }
    if (relaxed.line != 0) {
      details.push_back(passes_nothing);
    }
    reporter().report(id_of(first, second), event, place(cta, second.at), what, details);
  }

  void report_unfenced(const Event& event,
                       std::uint32_t cta,
                       const Access& first,
                       const Access& second) {
    reporter().report(
        id_of_unfenced(first, second),
        event,
        place(cta, second.at),
        std::string{name_of(second.kind)} + " comes after " + name_of(first.kind) + " of " +
            naming().warp(first.warp) + " at " + naming().site(first.site) +
            " with no proxy fence between them that covers it",
        {mend(first.kind == Kind::kAsyncCopy
                  ? "fence.proxy.async.shared::cta behind the wait for it, by who has waited"
                  : "fence.proxy.async.shared::cta by the accessing warps before the barrier, or "
                    "by the issuing one after it")});
  }

  struct OpenStore {
    std::uint32_t group = 0;
    std::uint32_t lane = 0;
    std::shared_ptr<Completion> completion;
  };

  Order& order_;
  SharedOrder by_order_{order_};
  ByteSet written_;                // while a read is judged
  std::vector<std::size_t> near_;  // of the known accesses, while one is added
  std::map<std::pair<std::uint32_t, std::uint64_t>, SourceSite> refused_;  // by warp and mbarrier
  ByCta<Known> ctas_;
  std::map<std::uint32_t, SourceSite> idle_waits_;  // by warp: its last wait for no store
  std::map<std::uint32_t, std::uint32_t> dirty_;    // by warp: its last access that no fence covers
  HashMap<std::uint32_t, std::shared_ptr<Completion>> loads_;  // by serial
  HashMap<std::uint32_t, std::vector<OpenStore>> stores_;      // by warp
};

}  // namespace

std::unique_ptr<Detector> make_shared_data(Reporter& reporter, Order& order) {
  return std::make_unique<SharedDataDetector>(reporter, order);
}

}  // namespace warptwin::sim
