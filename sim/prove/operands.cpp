#include "sim/prove/operands.hpp"

#include <cstddef>

namespace warptwin::sim {

namespace {

// What was found, and whether it was: the phase, an answer, how far a loop or the warp's other
// lanes are. All other flags are of the operation, those that are still to come among them.
constexpr std::uint32_t kFlagsOfMoments =
    event_flag::kPhaseCompleted | event_flag::kTraps | event_flag::kLateLanes | event_flag::kFalse |
    event_flag::kPeek | event_flag::kCountsTries | event_flag::kArrivedBefore;

// Converts to a field of any type, and to a base.
struct Anything {
  template <class T>
  constexpr operator T() const;
};

// How many bases and fields an aggregate has.
template <class T, class... Fields>
constexpr std::size_t fields_of() {
  if constexpr (requires { T{Fields{}..., Anything{}}; }) {
    return fields_of<T, Fields..., Anything>();
  } else {
    return sizeof...(Fields);
  }
}

// Each kind of payload, with as many bases and fields as it is known here to have: who adds one
// decides whether it is of the operation.
class Operands {
 public:
  Operands(std::uint32_t first_cta, bool in_global_memory, Hash& hash)
      : first_cta_{first_cta}, in_global_memory_{in_global_memory}, hash_{hash} {}

  void operator()(const payload::None&) {}
  // Which phase is waited for says more than `wanted`.
  void operator()(const payload::Mbarrier& said) { add<5>(said, said.arrivals, said.mask); }
  void operator()(const payload::NamedBarrier& said) { add<3>(said, said.threads, said.of_all); }
  void operator()(const payload::ProxyFence& said) { add<1>(said, said.space); }
  // Which map it is, is a place; what is written there is data.
  void operator()(const payload::Map& said) { add<3>(said, said.field); }
  void operator()(const payload::Members& said) { add<1>(said, said.lanes); }
  // Rows, pitch and width, and the map that says them, are of the bytes that it touches.
  void operator()(const payload::Copy& said) {
    add_signal(said);
    add<12>(said, said.row_bytes, said.source, said.swizzle, said.reduction);
    add<12>(said, said.shape_fault, said.padding);
  }
  void operator()(const payload::Landing& said) {
    add_signal(said);
    add<2>(said);
  }
  void operator()(const payload::BulkGroups& said) { add<3>(said, said.left, said.of_lane); }
  void operator()(const payload::TmemAllocation& said) { add<2>(said, said.columns); }
  void operator()(const payload::TmemRegion& said) { add<1>(said, said.columns); }
  void operator()(const payload::Mma& said) {
    add_product(said);
    add<4>(said, said.tmem_a, said.scale_a, said.scale_b);
  }
  void operator()(const payload::TmemCopy& said) {
    add<4>(said, said.source, said.columns, said.shape, said.padding);
  }
  void operator()(const payload::TmemAccess& said) {
    add<3>(said, said.columns, said.first_lane, said.lanes);
  }
  void operator()(const payload::TmemWait& said) { add<1>(said, said.of_registers); }
  void operator()(const payload::Wgmma& said) {
    add_product(said);
    add<3>(said);
  }
  void operator()(const payload::WgmmaGroups& said) { add<3>(said, said.left); }
  void operator()(const payload::SharedWord& said) { add<1>(said); }
  void operator()(const payload::Rows& said) {
    add<10>(said, said.rows, said.row, said.column, said.element_bytes, said.swizzle);
    add<10>(said, said.of_lanes, said.known, in_global_memory_ ? 0 : said.pitch);
  }
  void operator()(const payload::GlobalWord& said) {
    add<5>(said, said.value, said.test, said.test_operands);
  }
  void operator()(const payload::ClcRequest& said) {
    add_signal(said);
    add<2>(said);
  }
  void operator()(const payload::ClcQuery& said) { add<2>(said, said.word); }
  void operator()(const payload::Registers& said) { add<1>(said, said.count); }
  void operator()(const payload::Note& said) { add<4>(said, said.stages, said.index, said.step); }
  void operator()(const payload::Trap& said) { add<2>(said, said.cause, said.says); }
  // A fault's, which is told beside the operation.
  void operator()(const payload::LaneRace& said) { add<4>(said); }
  void operator()(const payload::OnItsWay& said) { add<3>(said); }

 private:
  template <std::size_t kFields, class T>
  void add(const T&, auto... parts) {
    static_assert(fields_of<T>() == kFields, "is the field that is new of the operation?");
    (hash_.add(static_cast<std::uint64_t>(parts)), ...);
  }
  void add_signal(const payload::Signal& said) {
    const std::uint32_t from = said.barrier != 0 ? first_cta_ : 0;
    add<3>(said, said.barrier, said.barrier_cta - from, said.mask);
  }
  void add_product(const payload::Product& said) {
    add<5>(said, said.a, said.b, said.instruction, said.columns, said.kind);
  }

  std::uint32_t first_cta_;
  bool in_global_memory_;
  Hash& hash_;
};

}  // namespace

std::uint32_t flags_of_work(std::uint32_t flags) {
  return flags & ~kFlagsOfMoments;
}

void add_operands(const Event& event, std::uint32_t first_cta, Hash& hash) {
  event.visit(Operands{first_cta, event.global != 0, hash});
}

}  // namespace warptwin::sim
