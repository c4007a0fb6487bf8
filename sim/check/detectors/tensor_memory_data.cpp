/// Tensor memory: who may use cells that somebody else uses. Cells written before they are read,
/// MMAs and copies observed complete, loads and stores waited for, tcgen05 fences beside the
/// barriers that hand cells over, nothing in use when it is freed.
/// Source: PTX ISA, "tcgen05 memory consistency model": which operations of one thread execute in
/// order, and what orders the others.

#include <algorithm>
#include <array>
#include <bitset>

#include "sim/check/detectors/detectors.hpp"
#include "sim/model/matrix.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kLanesOfGroup = 16;  // lanes are told apart by sixteens
constexpr std::uint32_t kLaneGroups = kTmemLanes / kLanesOfGroup;
constexpr std::uint8_t kAllLanes = 0xFF;
constexpr std::uint8_t kEveryOtherGroup = 0x55;

// Cells of a CTA: some groups of lanes, columns [begin, end).
struct Cells {
  std::uint8_t lanes = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool meets(const Cells& other) const {
    return (lanes & other.lanes) != 0 && begin < other.end && other.begin < end;
  }
  bool covers(const Cells& other) const {
    return (other.lanes & ~lanes) == 0 && begin <= other.begin && other.end <= end;
  }
};

enum class CellUse : std::uint8_t {
  kLoad,
  kStore,
  kMmaD,
  kMmaA,
  kScale,
  kMetadata,
  kCopy,
  kFree,
  kAlloc
};

bool writes(CellUse use) {
  return use == CellUse::kStore || use == CellUse::kMmaD || use == CellUse::kCopy;
}

// Executed by the tensor core, in the queue of its warp; complete when a commit says so.
bool tensor(CellUse use) {
  return use == CellUse::kMmaD || use == CellUse::kMmaA || use == CellUse::kScale ||
         use == CellUse::kMetadata || use == CellUse::kCopy;
}

const char* name_of(CellUse use) {
  constexpr const char* kNames[] = {"tcgen05.ld",
                                    "tcgen05.st",
                                    "the MMA that writes them",
                                    "the MMA that reads them as A",
                                    "the MMA that reads scale factors there",
                                    "the MMA that reads metadata of A there",
                                    "tcgen05.cp",
                                    "tcgen05.dealloc",
                                    "tcgen05.alloc"};
  return kNames[static_cast<unsigned>(use)];
}

struct CellAccess {
  Cells at;
  CellUse use = CellUse::kLoad;
  bool accumulates = false;  // of an MMA's D: reads it, too
  bool pair = false;
  std::uint32_t warp = 0;
  std::uint32_t time = 0;     // operation count of its issue
  std::uint32_t number = 0;   // among the warp's tensor operations
  std::uint32_t settled = 0;  // of a load or store: operation count of the wait for it; 0: none yet
  std::uint32_t shape = 0;    // of an MMA: its instruction
  SourceSite site{};

  bool reads() const { return !writes(use) || accumulates; }
};

// Scale factors that a block-scaled MMA reads in each CTA: those of the operand's rows.
struct Scales {
  const char* operand;
  std::uint32_t rows;
  Cells at;
};

Scales scales_of(const char* operand, std::uint32_t rows, std::uint32_t address) {
  const std::uint32_t column = TmemAddress{address}.column();
  return {operand, rows, {kAllLanes, column, column + scale_columns(rows)}};
}

constexpr std::uint32_t kQuarters = kTmemLanes / kWarpLanes;
constexpr std::uint8_t kGroupsOfQuarter = 0x3;

// Who wrote a quarter of the lanes of a column last, if it was a copy or a store.
struct Source {
  CellUse use = CellUse::kFree;  // none
  TmemCopy shape = TmemCopy::k32x128bWarpx4;
  std::uint32_t warp = 0;
  std::uint32_t number = 0;  // of a copy: among its warp's tensor operations
  std::uint32_t begin = 0;   // its first column
  SourceSite site{};

  // Whether the four quarters hold the same, as far as can be told.
  bool same_factors(const Source& other) const {
    return use == other.use &&
           (use == CellUse::kStore || (warp == other.warp && number == other.number));
  }
};

// The cells of D in each CTA (PTX ISA, "data path layout").
Cells d_cells(const Event& event) {
  const auto& mma = event.as<payload::Mma>();
  const UmmaInstructionDescriptor instruction{mma.instruction, {}};
  const TmemAddress at{event.address};
  const bool half = instruction.m() == 64 && (event.flags & event_flag::kPair) == 0;
  const auto lanes = static_cast<std::uint8_t>(
      half ? kEveryOtherGroup << (at.lane() / kLanesOfGroup % 2) : kAllLanes);
  return {lanes, at.column(), at.column() + mma.columns};
}

class TensorMemoryDataDetector : public Detector {
 public:
  TensorMemoryDataDetector(Reporter& reporter, Order& order)
      : Detector{reporter,
                 {Op::kCtaExit,
                  Op::kFragmentRead,
                  Op::kGlobalStore,
                  Op::kSharedStore,
                  Op::kTcgen05Alloc,
                  Op::kTcgen05Cp,
                  Op::kTcgen05Dealloc,
                  Op::kTcgen05Ld,
                  Op::kTcgen05Mma,
                  Op::kTcgen05St,
                  Op::kTcgen05WaitLd,
                  Op::kTcgen05WaitSt}},
        order_{order} {
    narrow({Op::kTcgen05Cp, Op::kTcgen05Ld, Op::kTcgen05Mma, Op::kTcgen05St}, {Step::kIssued});
  }

  void on_event(const Event& event) override {
    const bool begins = event.step == Step::kIssued && event.fault == Fault::kNone;
    switch (event.op) {
      case Op::kFragmentRead:
      case Op::kGlobalStore:
      case Op::kSharedStore:
        on_registers(event);
        break;
      case Op::kTcgen05Ld:
      case Op::kTcgen05St:
        if (begins) {
          on_move(event);
        }
        break;
      case Op::kTcgen05Mma:
        if (begins) {
          on_mma(event);
        }
        break;
      case Op::kTcgen05Cp:
        if (begins) {
          on_copy(event);
        }
        break;
      case Op::kTcgen05WaitLd:
        if (!event.as<payload::TmemWait>()
                 .of_registers) {  // else of registers alone: it orders nothing
          settle(event, CellUse::kLoad);
        }
        break;
      case Op::kTcgen05WaitSt:
        settle(event, CellUse::kStore);
        break;
      case Op::kTcgen05Alloc:
        if (event.fault == Fault::kNone || event.fault == Fault::kGrows) {
          on_alloc(event);
        }
        break;
      case Op::kTcgen05Dealloc:
        if (event.fault == Fault::kNone) {
          on_free(event);
        }
        break;
      case Op::kCtaExit:
        ctas_.erase(event.cta);
        break;
      default:
        break;
    }
  }

 private:
  using Columns = std::bitset<kTmemColumns>;
  struct CtaState {
    std::vector<CellAccess> known;
    Cells whole;  // the last cells that were found, or made, all written: most are asked for again
    Columns written[kLaneGroups];                        // since they were allocated
    Columns sourced;                                     // columns with a source
    std::vector<std::array<Source, kQuarters>> sources;  // by column
  };

  // --- Operations

  CellAccess make(const Event& event, CellUse use, const Cells& at) const {
    CellAccess access;
    access.at = at;
    access.use = use;
    access.pair = (event.flags & event_flag::kPair) != 0;
    access.warp = event.warp;
    access.time = order_.now(event.warp);
    access.number = tensor(use) ? order_.tensor_issued(event.warp) : 0;
    access.site = event.site;
    return access;
  }

  void on_registers(const Event& event) {
    if (event.fault == Fault::kUnsettled) {
      reporter().report("TMEM_LD_NO_WAIT",
                        event,
                        Object::other(event.op == Op::kFragmentRead ? "the registers"
                                                                    : "the registers it stores"),
                        "used before tcgen05.wait::ld: they may not have arrived",
                        {mend("tcgen05.wait::ld of this warp between the load and this")});
    }
  }

  void on_move(const Event& event) {
    const TmemAddress address{event.address};
    const auto& said = event.as<payload::TmemAccess>();
    const std::uint32_t groups = said.lanes == kLanesOfGroup ? 0x1U : kGroupsOfQuarter;
    const auto lanes = static_cast<std::uint8_t>(groups << (said.first_lane / kLanesOfGroup));
    const Cells at{lanes, address.column(), address.column() + said.columns};
    const bool load = event.op == Op::kTcgen05Ld;
    if (load) {
      require_written(event, event.cta, at, "TMEM_UNINIT_READ", "loaded");
    }
    const CellAccess access = make(event, load ? CellUse::kLoad : CellUse::kStore, at);
    add(event, event.cta, access);
    if (!load) {
      add_source(event.cta, access, {});
    }
  }

  void on_mma(const Event& event) {
    const Cells d = d_cells(event);
    const bool accumulates = (event.flags & event_flag::kAccumulate) != 0;
    for_ctas(event, [&](std::uint32_t cta) {
      if (accumulates) {
        require_written(event, cta, d, "TMEM_UNINIT_ACC", "accumulated on");
      }
      if ((event.flags & event_flag::kTmemA) != 0) {
        const std::uint32_t column = TmemAddress{event.as<payload::Mma>().tmem_a}.column();
        const Cells a{d.lanes, column, column + kTmemAColumns};
        require_written(event, cta, a, "TMEM_UNINIT_READ", "read as A");
        add(event, cta, make(event, CellUse::kMmaA, a));
      }
      if ((event.flags & event_flag::kBlockScale) != 0) {
        on_scales(event, cta, d);
      }
      if ((event.flags & event_flag::kSparse) != 0) {
        on_metadata(event, cta);
      }
      CellAccess access = make(event, CellUse::kMmaD, d);
      access.accumulates = accumulates;
      access.shape = shape_of(event);
      add(event, cta, access);
      forget_sources(cta, d);
    });
  }

  // The same shape on the same D, wherever its scale factors or its metadata are.
  static std::uint32_t shape_of(const Event& event) {
    constexpr std::uint32_t kScaleBytes = 0x60000030U;
    constexpr std::uint32_t kSelector = 3;
    const bool scaled = (event.flags & event_flag::kBlockScale) != 0;
    const bool sparse = (event.flags & event_flag::kSparse) != 0;
    const std::uint32_t bits = event.as<payload::Mma>().instruction;
    return scaled ? bits & ~kScaleBytes : sparse ? bits & ~kSelector : bits;
  }

  void on_scales(const Event& event, std::uint32_t cta, const Cells& d) {
    const auto& mma = event.as<payload::Mma>();
    const UmmaInstructionDescriptor instruction{mma.instruction, {}};
    const std::uint32_t ctas = (event.flags & event_flag::kPair) != 0 ? 2 : 1;
    for (const Scales& scales : {scales_of("A", instruction.m() / ctas, mma.scale_a),
                                 scales_of("B", instruction.n(), mma.scale_b)}) {
      if (scales.at.meets(d)) {
        report_overlap(event, cta, scales, "which are columns of its own D");
        continue;
      }
      if (scales_written(event, cta, scales) && scales_replicated(event, cta, scales)) {
        check_scale_layout(event, cta, scales);
      }
      add(event, cta, make(event, CellUse::kScale, scales.at));
    }
  }

  // Each lane has the metadata of rows of its own.
  void on_metadata(const Event& event, std::uint32_t cta) {
    const auto& mma = event.as<payload::Mma>();
    const UmmaInstructionDescriptor instruction{mma.instruction, mma.kind};
    const std::uint32_t column = TmemAddress{mma.tmem_a}.column() + instruction.sparsity_selector();
    const std::uint32_t columns = sparse_elements(instruction.a_type()).columns();
    const Cells at{kAllLanes, column, column + columns};
    require_written(event, cta, at, "TMEM_UNINIT_READ", "read as metadata of A");
    add(event, cta, make(event, CellUse::kMetadata, at));
  }

  void on_copy(const Event& event) {
    const std::uint32_t column = TmemAddress{event.address}.column();
    const auto& said = event.as<payload::TmemCopy>();
    const Cells at{kAllLanes, column, column + said.columns};
    for_ctas(event, [&](std::uint32_t cta) {
      const CellAccess access = make(event, CellUse::kCopy, at);
      add(event, cta, access);
      add_source(cta, access, said.shape);
    });
  }

  // What is allocated is nobody's before: whoever uses it comes after.
  void on_alloc(const Event& event) {
    const auto& said = event.as<payload::TmemAllocation>();
    const Cells at{kAllLanes, said.base, said.base + said.columns};
    set_written(event.cta, at, false);
    CellAccess access = make(event, CellUse::kAlloc, at);
    access.settled = access.time;
    ctas_[event.cta].known.push_back(access);
  }

  // Each CTA of a pair frees its own columns, and its peer's MMAs may still use them.
  void on_free(const Event& event) {
    const std::uint32_t column = TmemAddress{event.address}.column();
    const Cells at{kAllLanes, column, column + event.as<payload::TmemRegion>().columns};
    add(event, event.cta, make(event, CellUse::kFree, at));
    std::erase_if(ctas_[event.cta].known,
                  [&](const CellAccess& known) { return at.covers(known.at); });
  }

  // The CTA, or both CTAs of its pair.
  template <class F>
  static void for_ctas(const Event& event, F&& f) {
    const bool pair = (event.flags & event_flag::kPair) != 0;
    const std::uint32_t first = pair ? event.cta & ~1U : event.cta;
    for (std::uint32_t cta = first; cta < first + (pair ? 2 : 1); ++cta) {
      f(cta);
    }
  }

  // A wait covers the earlier loads, or stores, of its warp.
  void settle(const Event& event, CellUse use) {
    for (CellAccess& access : ctas_[event.cta].known) {
      if (access.warp == event.warp && access.use == use && access.settled == 0) {
        access.settled = order_.now(event.warp);
      }
    }
  }

  // --- What was written

  static Columns columns(const Cells& at) {
    const std::uint32_t end = std::min(at.end, kTmemColumns);
    return at.begin < end ? (~Columns{} >> (kTmemColumns - (end - at.begin))) << at.begin
                          : Columns{};
  }

  void require_written(
      const Event& event, std::uint32_t cta, const Cells& at, const char* id, const char* how) {
    CtaState& state = ctas_[cta];
    if (state.whole.covers(at)) {
      return;
    }
    const Columns wanted = columns(at);
    for (std::uint32_t group = 0; group < kLaneGroups; ++group) {
      if ((at.lanes >> group & 1U) != 0 && (state.written[group] & wanted) != wanted) {
        reporter().report(id,
                          event,
                          place(cta, at),
                          std::string{how} +
                              ", and not all of them have been written since their "
                              "allocation");
        return;
      }
    }
    state.whole = at;
  }

  void set_written(std::uint32_t cta, const Cells& at, bool value) {
    CtaState& state = ctas_[cta];
    if (value && state.whole.covers(at)) {
      return;
    }
    state.whole = value ? at : Cells{};
    const Columns which = columns(at);
    for (std::uint32_t group = 0; group < kLaneGroups; ++group) {
      if ((at.lanes >> group & 1U) != 0) {
        state.written[group] = value ? state.written[group] | which : state.written[group] & ~which;
      }
    }
  }

  // --- Scale factors

  void add_source(std::uint32_t cta, const CellAccess& access, TmemCopy shape) {
    CtaState& state = ctas_[cta];
    state.sources.resize(kTmemColumns);
    const Source source{
        access.use, shape, access.warp, access.number, access.at.begin, access.site};
    for (std::uint32_t column = access.at.begin; column < access.at.end; ++column) {
      for (std::uint32_t quarter = 0; quarter < kQuarters; ++quarter) {
        if ((access.at.lanes >> (2 * quarter) & kGroupsOfQuarter) != 0) {
          state.sources[column][quarter] = source;
        }
      }
    }
    state.sourced |= columns(access.at);
  }

  // An MMA has written them.
  void forget_sources(std::uint32_t cta, const Cells& at) {
    CtaState& state = ctas_[cta];
    const Columns lost = state.sourced & columns(at);
    if (lost.none()) {
      return;
    }
    for (std::uint32_t column = at.begin; column < at.end; ++column) {
      state.sources[column] = {};
    }
    state.sourced &= ~lost;
  }

  // Each quarter of the tensor core reads its own quarter of the lanes.
  bool scales_written(const Event& event, std::uint32_t cta, const Scales& scales) {
    CtaState& state = ctas_[cta];
    const Columns wanted = columns(scales.at);
    std::uint8_t lanes = 0;
    for (std::uint32_t group = 0; group < kLaneGroups; ++group) {
      const bool all = (state.written[group] & wanted) == wanted;
      lanes = static_cast<std::uint8_t>(lanes | (all ? 1U << group : 0U));
    }
    if (lanes == kAllLanes) {
      return true;
    }
    const std::string factors = std::string{"the scale factors of "} + scales.operand;
    if (lanes == 0) {
      reporter().report(
          "TMEM_UNINIT_READ",
          event,
          place(cta, scales.at),
          "read as " + factors + ", and not all of them have been written since their allocation");
    } else {
      report_replica(event,
                     cta,
                     scales,
                     factors + " are in " + lanes_of(lanes) +
                         " alone, and each quarter of the lanes reads its own copy");
    }
    return false;
  }

  bool scales_replicated(const Event& event, std::uint32_t cta, const Scales& scales) {
    const CtaState& state = ctas_[cta];
    for (std::uint32_t column = scales.at.begin; column < scales.at.end; ++column) {
      if (!state.sourced.test(column)) {
        report_overlap(event, cta, scales, "and an MMA has written its D there");
        return false;
      }
      const auto& quarters = state.sources[column];
      const Source& first = quarters[0];
      if (first.use == CellUse::kCopy && first.shape != TmemCopy::k32x128bWarpx4) {
        report_replica(event,
                       cta,
                       scales,
                       written_by(first) +
                           " put other rows into each quarter of the lanes; the MMA reads the same "
                           "rows in all four");
        return false;
      }
      for (std::uint32_t quarter = 1; quarter < kQuarters; ++quarter) {
        if (!first.same_factors(quarters[quarter])) {
          report_replica(event,
                         cta,
                         scales,
                         "lanes 0..31 hold what " + written_by(first) + " wrote, and lanes " +
                             std::to_string(kWarpLanes * quarter) + ".." +
                             std::to_string(kWarpLanes * (quarter + 1) - 1) + " what " +
                             written_by(quarters[quarter]) + " wrote");
          return false;
        }
      }
    }
    return true;
  }

  // A copy brings the factors of 128 rows, 32 to a column. Where an operand's rows divide into
  // those, or those into an operand's, it begins where one of them does.
  void check_scale_layout(const Event& event, std::uint32_t cta, const Scales& scales) {
    constexpr std::uint32_t kRowsOfCopy = 128;
    const std::uint32_t rows = std::min(scales.rows, kRowsOfCopy);
    const Source& source = ctas_[cta].sources[scales.at.begin][0];
    const std::uint32_t row = kScaleRowsInColumn * (scales.at.begin - source.begin);
    const bool divides = scales.rows % rows == 0 && kRowsOfCopy % rows == 0;
    if (source.use == CellUse::kCopy && divides && row % rows != 0) {
      reporter().report("LAYOUT_SCALES",
                        event,
                        place(cta, scales.at),
                        std::string{"the MMA reads the scale factors of rows 0.."} +
                            std::to_string(kScaleRowsInColumn - 1) + " of " + scales.operand +
                            " in column " + std::to_string(scales.at.begin) + "; " +
                            written_by(source) + " put there those of rows " + std::to_string(row) +
                            ".." + std::to_string(row + kScaleRowsInColumn - 1) +
                            " of its tile, which begins in column " + std::to_string(source.begin));
    }
  }

  std::string written_by(const Source& source) const {
    return source.use == CellUse::kFree
               ? "an MMA"
               : std::string{name_of(source.use)} + " of " + naming().warp(source.warp) + " at " +
                     naming().site(source.site);
  }

  void report_replica(const Event& event,
                      std::uint32_t cta,
                      const Scales& scales,
                      const std::string& message) {
    reporter().report("TCGEN05_SCALE_REPLICA",
                      event,
                      place(cta, scales.at),
                      message,
                      {"tcgen05.cp.32x128b.warpx4 writes the same 32 lanes to all four quarters"});
  }

  void report_overlap(const Event& event,
                      std::uint32_t cta,
                      const Scales& scales,
                      const std::string& why) {
    reporter().report(
        "TCGEN05_SCALE_OVERLAP",
        event,
        place(cta, scales.at),
        std::string{"the MMA reads the scale factors of "} + scales.operand + " there, " + why);
  }

  // --- Pairs

  void add(const Event& event, std::uint32_t cta, const CellAccess& access) {
    std::vector<CellAccess>& known = ctas_[cta].known;
    if (!known.empty() && goes_on(known.back(), access)) {
      known.back() = access;
      return;
    }
    const std::uint64_t errors = reporter().errors();
    std::erase_if(known, [&](const CellAccess& first) {
      if (!first.at.meets(access.at)) {
        return false;
      }
      const bool conflict = writes(first.use) || writes(access.use) ||
                            access.use == CellUse::kFree || first.use == CellUse::kAlloc;
      if (conflict && reporter().errors() == errors) {
        judge(event, cta, first, access);
      }
      // Whoever comes after this one comes after what it replaces.
      const bool again = first.use == access.use && first.warp == access.warp && first.settled == 0;
      return access.at.covers(first.at) && (writes(access.use) || again);
    });
    if (access.use != CellUse::kFree) {
      known.push_back(access);
    }
    if (writes(access.use)) {
      set_written(cta, access.at, true);
    }
  }

  // Whether the latest access is an MMA by the same warp to the same D, and in the pipe with this
  // one. What comes before the first, comes before the second: nothing is left to compare.
  static bool goes_on(const CellAccess& latest, const CellAccess& access) {
    return latest.use == CellUse::kMmaD && latest.warp == access.warp &&
           latest.at.covers(access.at) && access.at.covers(latest.at) && pipelined(latest, access);
  }

  // Pairs that execute in the order of their issue, though asynchronous.
  static bool pipelined(const CellAccess& first, const CellAccess& second) {
    if (!tensor(first.use) || !tensor(second.use) || first.pair != second.pair) {
      return false;
    }
    if (first.use == CellUse::kCopy) {
      return second.use != CellUse::kCopy;
    }
    return first.use == CellUse::kMmaD && second.use == CellUse::kMmaD &&
           first.shape == second.shape && first.at.begin == second.at.begin;
  }

  bool complete(const CellAccess& first, std::uint32_t observer) const {
    if (tensor(first.use)) {
      return order_.tensor_over(first.warp, observer) >= first.number;
    }
    return first.settled != 0 && order_.tensor_after(observer, first.warp, first.settled);
  }

  // With tcgen05 fences beside what orders them.
  bool fenced(const CellAccess& first, std::uint32_t observer) const {
    if (!tensor(first.use)) {
      return order_.tensor_fenced(first.warp, first.settled, observer);
    }
    return order_.tensor_complete_at_fence(first.warp, observer) >= first.number ||
           order_.tensor_fenced(first.warp, first.time, observer);
  }

  void judge(const Event& event,
             std::uint32_t cta,
             const CellAccess& first,
             const CellAccess& second) {
    if (first.use == CellUse::kAlloc) {
      judge_allocated(event, cta, first, second);
      return;
    }
    const bool same = first.warp == second.warp;
    const bool in_pipe =
        pipelined(first, second) && order_.tensor_after(second.warp, first.warp, first.time);
    if (!in_pipe && !complete(first, second.warp)) {
      report_unordered(event, cta, first, second);
    } else if (!same && second.use != CellUse::kFree && !fenced(first, second.warp)) {
      report_unfenced(event, cta, first, second);
    }
  }

  // Of what a pair's operation does in its other CTA, cta_start speaks.
  void judge_allocated(const Event& event,
                       std::uint32_t cta,
                       const CellAccess& first,
                       const CellAccess& second) {
    if (naming().cta_of_warp(second.warp) != cta ||
        order_.after(second.warp, first.warp, first.time)) {
      return;
    }
    reporter().report("TMEM_UNALLOCATED",
                      event,
                      place(cta, second.at),
                      std::string{name_of(second.use)} +
                          " is in no order with the tcgen05.alloc of " + naming().warp(first.warp) +
                          " at " + naming().site(first.site),
                      {mend("a barrier between the allocation and this")});
  }

  // --- Reports

  static std::string lanes_of(std::uint8_t lanes) {
    std::uint32_t first = 0;
    std::uint32_t last = kLaneGroups - 1;
    while ((lanes >> first & 1U) == 0) {
      ++first;
    }
    while ((lanes >> last & 1U) == 0) {
      --last;
    }
    return "lanes " + std::to_string(first * kLanesOfGroup) + ".." +
           std::to_string((last + 1) * kLanesOfGroup - 1);
  }

  static Object place(std::uint32_t cta, const Cells& at) {
    return {ObjectKind::kTensorMemory,
            "tensor memory " + (at.lanes == kAllLanes ? "" : lanes_of(at.lanes) + ", ") +
                "columns " + std::to_string(at.begin) + ".." + std::to_string(at.end - 1),
            cta,
            at.begin};
  }

  static const char* id_of(const CellAccess& first, const CellAccess& second) {
    if (second.use == CellUse::kFree) {
      return "TMEM_DEALLOC_IN_USE";
    }
    const bool one_queue = first.warp == second.warp && tensor(first.use) && tensor(second.use) &&
                           first.pair == second.pair;
    if (one_queue && !(first.use == CellUse::kMmaD && second.use == CellUse::kMmaD)) {
      return "TMEM_PIPE_ORDER";
    }
    if (!writes(first.use)) {
      return "TMEM_WAR";
    }
    if (!second.reads() || (first.use == CellUse::kMmaD && second.use == CellUse::kMmaD)) {
      return "TMEM_WAW";
    }
    return first.use == CellUse::kStore && first.settled == 0 ? "TMEM_ST_NO_WAIT"
                                                              : "TMEM_READ_BEFORE_COMMIT";
  }

  Detail missing(const CellAccess& first, const CellAccess& second) const {
    if (tensor(first.use)) {
      return mend("tcgen05.commit after it, to a barrier that " + naming().warp(second.warp) +
                  " waits for");
    }
    const char* wait = first.use == CellUse::kLoad ? "tcgen05.wait::ld" : "tcgen05.wait::st";
    return first.settled == 0
               ? mend(std::string{wait} + " by " + naming().warp(first.warp) +
                      (first.warp == second.warp ? "" : " before it hands them over"))
               : mend("an arrival after " + std::string{wait} + ", and a wait for it by " +
                      naming().warp(second.warp));
  }

  void report_unordered(const Event& event,
                        std::uint32_t cta,
                        const CellAccess& first,
                        const CellAccess& second) {
    const bool peer = second.use == CellUse::kFree &&
                      naming().cta_of_warp(first.warp) != naming().cta_of_warp(second.warp);
    reporter().report(peer ? "TMEM_DEALLOC_PEER_UNSYNCED" : id_of(first, second),
                      event,
                      place(cta, second.at),
                      std::string{name_of(second.use)} + " comes after " + name_of(first.use) +
                          " of " + naming().warp(first.warp) + " at " + naming().site(first.site) +
                          ", which is not known to be complete",
                      {missing(first, second)});
  }

  void report_unfenced(const Event& event,
                       std::uint32_t cta,
                       const CellAccess& first,
                       const CellAccess& second) {
    const bool commit = tensor(first.use) && complete(first, second.warp);
    reporter().report("TMEM_FENCE_MISSING",
                      event,
                      place(cta, second.at),
                      std::string{name_of(second.use)} + " comes after " + name_of(first.use) +
                          " of " + naming().warp(first.warp) + " at " + naming().site(first.site) +
                          ", ordered by a barrier but by no tcgen05 fence",
                      {commit ? mend("tcgen05.fence::after_thread_sync after the wait")
                              : mend("tcgen05.fence::before_thread_sync before its arrival, "
                                     "or ::after_thread_sync after the wait for it")});
  }

  Order& order_;
  ByCta<CtaState> ctas_;
};

}  // namespace

std::unique_ptr<Detector> make_tensor_memory_data(Reporter& reporter, Order& order) {
  return std::make_unique<TensorMemoryDataDetector>(reporter, order);
}

}  // namespace warptwin::sim
