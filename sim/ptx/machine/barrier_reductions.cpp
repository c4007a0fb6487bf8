// bar.red, barrier.red: a barrier that sums up a predicate of all threads that come to it.

#include <bit>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

// d, a{, b}, {!}c: barrier a of b threads. What is known of the others' predicates is known when
// the barrier is complete, so each adds his own before it comes to it.
Served WarpRun::bar_red(Request& request) {
  if (request.strand.mask != request.mask()) {
    refuse(request, "lanes at several instructions share a barrier that gives them a result");
  }
  const bool counted = request.operands() == 4;
  const auto id = static_cast<std::uint32_t>(uniform(request, 1));
  const auto threads = counted ? static_cast<std::uint32_t>(uniform(request, 2)) : 0U;
  const std::uint32_t warps = counted ? threads / kLanes : grid_.shape.warps();
  const Lanes& predicate = request.value(request.operands() - 1);
  const Mask holds = predicate.holds() & request.mask();

  const auto key = std::array{machine_.cluster_index(), machine_.cta_rank(), id};
  std::shared_ptr<BarrierReduction>& open = grid_.reductions[key];
  if (open == nullptr) {
    open = std::make_shared<BarrierReduction>();
    open->asks = request.modifiers;
  }
  for (const Modifier word : {"popc"_mod, "and"_mod, "or"_mod}) {
    if (open->asks.has(word) != request.modifiers.has(word)) {
      refuse(request, "a barrier gives results of two kinds");
    }
  }
  const std::shared_ptr<BarrierReduction> own = open;
  own->holding += static_cast<std::uint32_t>(std::popcount(holds));
  own->threads += static_cast<std::uint32_t>(std::popcount(request.mask()));
  own->unknown = own->unknown || (predicate.poisoned() & request.mask()) != 0;
  if (++own->warps >= warps) {
    open = nullptr;  // who comes now comes to the next
  }

  sim::Operation op = collective(warptwin::Op::kBarSync, request);
  op.as<sim::operands::NamedBarrier>() = {id, threads};
  perform(op);
  own->generation = own->generation.value_or(op.result);
  if (own->warps != warps || *own->generation != op.result) {
    refuse(request, "a barrier that gives a result is shared with bar.sync or bar.arrive");
  }
  const Modifiers& modifiers = request.modifiers;
  const bool all = own->holding == own->threads;
  const std::uint32_t result = modifiers.has("popc"_mod)  ? own->holding
                               : modifiers.has("and"_mod) ? std::uint32_t{all}
                                                          : std::uint32_t{own->holding != 0};
  request.strand.write(request.stop, 0, 0, own->unknown ? Lanes::unknown() : Lanes::all(result));
  return Served::kDone;
}

// How many arrivals were pending when the state was taken: the interleaving decides it, so nothing
// may depend on it.
Served WarpRun::mbarrier_pending_count(Request& request) {
  request.strand.write(request.stop, 0, 0, Lanes::unknown());
  return Served::kDone;
}

}  // namespace warptwin::ptx
