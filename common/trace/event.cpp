#include "common/trace/event.hpp"

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "common/trace/op_facts.hpp"

namespace warptwin {

namespace {

// By payload::Kind.
constexpr const char* kPayloadNames[] = {"nothing",
                                         "an mbarrier",
                                         "a named barrier",
                                         "a proxy's space",
                                         "a tensor map",
                                         "lanes that it names",
                                         "a copy",
                                         "bytes that have landed",
                                         "groups of stores",
                                         "an allocation of tensor memory",
                                         "a region of tensor memory",
                                         "a product to tensor memory",
                                         "a copy to tensor memory",
                                         "tensor memory and registers",
                                         "a wait for tensor memory",
                                         "a product to registers",
                                         "groups of wgmma",
                                         "a word of shared memory",
                                         "rows of bytes",
                                         "a word of global memory",
                                         "a request for a cluster",
                                         "a cluster's response",
                                         "a number of registers",
                                         "a stage",
                                         "a reason to end",
                                         "two lanes at one byte",
                                         "bytes on their way"};
static_assert(std::size(kPayloadNames) == static_cast<unsigned>(payload::Kind::kCount));

}  // namespace

const char* name_of(Op op) {
  return op < Op::kCount ? detail::kOpFacts[static_cast<unsigned>(op)].name : "nothing";
}

void Event::lacks(payload::Kind kind) const {
  std::fprintf(stderr,
               "internal: an event has the payload of its kind: %s has %s, not %s\n",
               name_of(op),
               kPayloadNames[static_cast<unsigned>(kind_)],
               kPayloadNames[static_cast<unsigned>(kind)]);
  std::_Exit(3);
}

namespace {

struct Numbering {
  using Numbers = payload::Numbers;

  static Numbers of(const payload::Signal& signal, Numbers more) {
    more.second = signal.mask;
    more.place = signal.barrier;
    more.place_cta = signal.barrier_cta;
    return more;
  }
  static Numbers of(const payload::BarrierState& state, Numbers more) {
    more.pending = state.pending;
    more.tx = state.tx;
    more.expected = state.expected;
    return more;
  }
  static Numbers of(const payload::Product& product, Numbers more) {
    more.first = product.a;
    more.second = product.b;
    more.count = product.columns;
    more.wanted = product.instruction;
    return more;
  }

  Numbers operator()(const payload::None&) const { return {}; }
  Numbers operator()(const payload::Mbarrier& said) const {
    return of(said, {.second = said.mask, .count = said.arrivals, .wanted = said.wanted});
  }
  Numbers operator()(const payload::NamedBarrier& said) const {
    return {.count = said.threads, .wanted = said.of_all, .pending = said.returns};
  }
  Numbers operator()(const payload::ProxyFence& said) const {
    return {.count = static_cast<std::uint32_t>(said.space)};
  }
  Numbers operator()(const payload::Map& said) const { return {.count = said.number}; }
  Numbers operator()(const payload::Members& said) const { return {.count = said.lanes}; }
  Numbers operator()(const payload::Copy& said) const {
    return of(said,
              {.first = said.source,
               .count = said.row_bytes,
               .wanted = said.swizzle | std::uint32_t{said.padding} << 8,
               .pending = said.rows,
               .tx = static_cast<std::int32_t>(said.width),
               .expected = said.pitch});
  }
  Numbers operator()(const payload::Landing& said) const {
    const payload::Signal& signal = said;
    const payload::BarrierState& state = said;
    return of(state, of(signal, {}));
  }
  Numbers operator()(const payload::BulkGroups& said) const {
    return {.count = said.left, .wanted = said.of_lane};
  }
  Numbers operator()(const payload::TmemAllocation& said) const {
    return {.count = said.columns, .place = said.base};
  }
  Numbers operator()(const payload::TmemRegion& said) const { return {.count = said.columns}; }
  Numbers operator()(const payload::Mma& said) const {
    return of(said, {.place = said.tmem_a, .pending = said.scale_a, .expected = said.scale_b});
  }
  Numbers operator()(const payload::TmemCopy& said) const {
    return {.first = said.source,
            .count = said.columns,
            .wanted = static_cast<std::uint32_t>(said.shape)};
  }
  Numbers operator()(const payload::TmemAccess& said) const {
    return {.count = said.columns, .wanted = said.lanes, .place = said.first_lane};
  }
  Numbers operator()(const payload::TmemWait& said) const { return {.wanted = said.of_registers}; }
  Numbers operator()(const payload::Wgmma& said) const {
    return of(said, {.pending = said.number, .expected = said.warps});
  }
  Numbers operator()(const payload::WgmmaGroups& said) const {
    return {.count = said.left, .pending = said.wgmmas};
  }
  Numbers operator()(const payload::SharedWord& said) const { return {.count = said.value}; }
  Numbers operator()(const payload::Rows& said) const {
    return {.first = said.copies != 0 ? said.copies : said.written,
            .second = std::uint64_t{said.of_lanes} << 32 | said.swizzle,
            .count = said.rows,
            .wanted = said.column,
            .place = said.pitch,
            .tx = said.known,
            .expected = said.element_bytes};
  }
  Numbers operator()(const payload::GlobalWord& said) const {
    return {.second = said.test_operands,
            .count = said.value,
            .wanted = said.after,
            .pending = said.before};
  }
  Numbers operator()(const payload::ClcRequest& said) const {
    return of(said, {.wanted = said.got});
  }
  Numbers operator()(const payload::ClcQuery& said) const {
    return {.count = said.word, .wanted = said.answer};
  }
  Numbers operator()(const payload::Registers& said) const { return {.count = said.count}; }
  Numbers operator()(const payload::Note& said) const {
    return {.first = said.lap,
            .second = static_cast<std::uint64_t>(said.step),
            .count = said.stages,
            .wanted = said.index};
  }
  Numbers operator()(const payload::Trap& said) const {
    return {.count = said.cause, .wanted = said.says};
  }
  Numbers operator()(const payload::LaneRace& said) const {
    return {.second = said.first_wrote, .wanted = said.first, .pending = said.line};
  }
  Numbers operator()(const payload::OnItsWay& said) const {
    return {.second = said.at_exit, .pending = said.line};
  }
};

}  // namespace

payload::Numbers Event::numbers() const {
  return visit(Numbering{});
}

}  // namespace warptwin
