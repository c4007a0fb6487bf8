// Lanes of a warp between each other, and what belongs to the launch.

#include <algorithm>
#include <bit>

#include "sim/ptx/machine/opaque.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

bool in(Mask mask, std::uint32_t lane) {
  return lane < kLanes && (mask >> lane & 1U) != 0;
}

Lanes of_mask(Mask mask) {
  return Lanes::all(mask);
}

}  // namespace

// PTX ISA, "shfl.sync": d|p, a, b, c, membermask.
Served WarpRun::shfl(Request& request) {
  const Lanes& a = request.value(1);
  const Modifiers& modifiers = request.modifiers;
  Lanes result;
  Lanes valid;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const auto b = static_cast<std::uint32_t>(request.value(2).value[lane]) & 0x1FU;
    const auto c = static_cast<std::uint32_t>(request.value(3).value[lane]);
    const std::uint32_t segment = c >> 8 & 0x1FU;
    const std::uint32_t least = lane & segment;
    const std::uint32_t most = (lane & segment) | (c & 0x1FU & ~segment);
    std::uint32_t from = lane;
    bool holds = false;
    if (modifiers.has("up"_mod)) {
      holds = static_cast<std::int32_t>(lane - b) >= static_cast<std::int32_t>(most);
      from = lane - b;
    } else if (modifiers.has("down"_mod)) {
      from = lane + b;
      holds = from <= most;
    } else if (modifiers.has("bfly"_mod)) {
      from = lane ^ b;
      holds = from <= most;
    } else {
      from = least | (b & ~segment);
      holds = from <= most;
    }
    from = holds ? from : lane;
    valid.value[lane] = holds ? 1 : 0;
    // Who does not know which lane it asks has nothing; nor who asks one that is not there.
    const bool asks = request.value(2).poison[lane] == 0 && request.value(3).poison[lane] == 0;
    valid.poison[lane] = asks ? 0 : 0xFF;
    if (asks && in(request.mask(), from)) {
      result.value[lane] = a.value[from];
      result.poison[lane] = a.poison[from];
    } else {
      result.poison[lane] = 0xFF;
    }
  }
  request.strand.write(request.stop, 0, 0, result);
  if (request.stop.operands[0].argument->kind == Argument::Kind::kPair) {
    request.strand.write(request.stop, 0, 1, valid);
  }
  return Served::kDone;
}

// PTX ISA, "vote.sync": d, {!}a, membermask.
Served WarpRun::vote(Request& request) {
  if ((request.value(1).poisoned() & request.mask()) != 0) {
    request.strand.write(request.stop, 0, 0, Lanes::unknown());
    return Served::kDone;
  }
  const Mask holds = request.value(1).holds() & request.mask();
  const Modifiers& modifiers = request.modifiers;
  const bool all = holds == request.mask();
  Lanes result = of_mask(holds);
  if (!modifiers.has("ballot"_mod)) {
    const bool answer = modifiers.has("all"_mod)   ? all
                        : modifiers.has("any"_mod) ? holds != 0
                                                   : all || holds == 0;
    result = Lanes::all(answer ? 1 : 0);
  }
  request.strand.write(request.stop, 0, 0, result);
  return Served::kDone;
}

// PTX ISA, "match.sync": d|p, a, membermask.
Served WarpRun::match(Request& request) {
  const Lanes& a = request.value(1);
  Lanes result;
  Lanes every;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    Mask same = 0;
    for (std::uint32_t other = 0; other < kLanes; ++other) {
      same |= Mask{in(request.mask(), other) && a.value[other] == a.value[lane]} << other;
    }
    const bool all = same == request.mask();
    every.value[lane] = all ? 1 : 0;
    result.value[lane] = request.modifiers.has("any"_mod) || all ? same : 0;
    result.poison[lane] = every.poison[lane] = (a.poisoned() & request.mask()) != 0 ? 0xFF : 0;
  }
  request.strand.write(request.stop, 0, 0, result);
  if (request.stop.operands[0].argument->kind == Argument::Kind::kPair) {
    request.strand.write(request.stop, 0, 1, every);
  }
  return Served::kDone;
}

// PTX ISA, "redux.sync": integers and bits; dst, src, membermask.
Served WarpRun::redux(Request& request) {
  const Lanes& a = request.value(1);
  const Modifiers& modifiers = request.modifiers;
  if (modifiers.type() == Type::kF32) {
    refuse(request, "redux.sync of f32 is not there");
  }
  const bool is_signed = ptx::is_signed(modifiers.type());
  const auto at_least = [&](std::uint32_t x, std::uint32_t y) {
    return is_signed ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
  };
  bool first = true;
  std::uint32_t whole = 0;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!in(request.mask(), lane)) {
      continue;
    }
    const auto value = static_cast<std::uint32_t>(a.value[lane]);
    if (first) {
      whole = value;
    } else if (modifiers.has("add"_mod)) {
      whole += value;
    } else if (modifiers.has("min"_mod)) {
      whole = at_least(value, whole) ? value : whole;
    } else if (modifiers.has("max"_mod)) {
      whole = at_least(whole, value) ? value : whole;
    } else if (modifiers.has("and"_mod)) {
      whole &= value;
    } else if (modifiers.has("or"_mod)) {
      whole |= value;
    } else {
      whole ^= value;
    }
    first = false;
  }
  const bool unknown = (a.poisoned() & request.mask()) != 0;
  request.strand.write(request.stop, 0, 0, unknown ? Lanes::unknown() : Lanes::all(whole));
  return Served::kDone;
}

// PTX ISA, "elect.sync": d|p, membermask. One lane for each mask, the same in the whole launch.
Served WarpRun::elect(Request& request) {
  std::uint32_t elected = machine_.elected_lane();
  if (!in(request.mask(), elected)) {
    const Mask above = request.mask() & (~Mask{0} << elected);
    elected = elected == kLanes - 1 ? kLanes - 1 - std::countl_zero(request.mask())
                                    : std::countr_zero(above != 0 ? above : request.mask());
  }
  machine_.registers().lanes_by_number = true;
  const auto members = static_cast<Mask>(known(request, request.operands() - 1, request.mask()));
  if (elects_of_ != 0 && elects_of_ != members) {
    grid_.elections.insert(kernel_.line_of(*request.strand.frame->routine, request.stop.op));
  }
  elects_of_ = members;
  Lanes holds;
  holds.value[elected] = 1;
  request.strand.write(request.stop, 0, 0, Lanes::all(elected));
  request.strand.write(request.stop, 0, 1, holds);
  return Served::kDone;
}

// Which lanes are together is not the program's to know: those that have parted may come together
// later than at the next join. A proof is of all that came the same way, and of each alone; where
// waits lie between, it depends on the interleaving who came when.
Served WarpRun::activemask(Request& request) {
  const bool whole = alone(request.mask()) && !parted_;
  if (whole) {
    request.strand.write(request.stop, 0, 0, of_mask(live_));
    return Served::kDone;
  }
  if (waited_apart_) {
    request.strand.write(request.stop, 0, 0, Lanes::unknown());
    return Served::kDone;
  }
  machine_.registers().asks_active = true;
  grid_.active_masks.insert(kernel_.line_of(*request.strand.frame->routine, request.stop.op));
  if (machine_.active_alone()) {
    part_all(request);
  }
  request.strand.write(request.stop, 0, 0, of_mask(request.mask()));
  return Served::kDone;
}

// The other lanes execute the instruction as strands of their own.
void WarpRun::part_all(Request& request) {
  Strand& strand = request.strand;
  const Mask first = request.mask() & ~(request.mask() - 1);
  for (Mask left = strand.mask & ~first; left != 0; left &= left - 1) {
    Strand other = strand;
    other.mask = left & ~(left - 1);
    other.pc = request.stop.op;
    ready_.push_back(std::move(other));
  }
  strand.mask = request.stop.mask = first;
}

Served WarpRun::setmaxnreg(Request& request) {
  sim::Operation op = collective(warptwin::Op::kSetmaxnreg, request);
  op.as<sim::operands::Registers>().count = static_cast<std::uint32_t>(uniform(request, 0));
  op.flags = request.modifiers.has("inc"_mod) ? event_flag::kIncrease : std::uint32_t{0};
  grid_.changes_registers = true;
  perform(op);
  return Served::kDone;
}

Served WarpRun::griddepcontrol(Request& request) {
  const bool waits = request.modifiers.has("wait"_mod);
  sim::Operation op =
      make(waits ? warptwin::Op::kGriddepcontrolWait : warptwin::Op::kGriddepcontrolLaunch,
           request,
           request.mask());
  (waits ? grid_.grid_waits : grid_.grid_starts)
      .insert(std::string{op.site.file} + ":" + std::to_string(op.site.line));
  perform(op);
  return Served::kDone;
}

Served WarpRun::nanosleep(Request& request) {
  count_steps(request.strand, request.stop.instructions);
  return Served::kDone;
}

// clusterlaunchcontrol.try_cancel [address], [mbarrier], by each lane that executes it.
Served WarpRun::try_cancel(Request& request) {
  const bool multicast = request.modifiers.has("multicast::cluster::all"_mod);
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const Mask lane = left & ~(left - 1);
    sim::Operation op = make(warptwin::Op::kClcTryCancel, request, lane);
    auto& asked = op.as<sim::operands::ClcRequest>();
    asked.response = own_shared(request, known(request, 0, lane));
    asked.barrier = own_shared(request, known(request, 1, lane));
    asked.mask.bits =
        static_cast<std::uint16_t>(multicast ? (1U << machine_.cluster_size()) - 1 : 0U);
    grid_.responses.insert(asked.response);
    perform(op);
  }
  return Served::kDone;
}

// Of a response that a load has brought, each half of which tells the same.
Served WarpRun::query_cancel(Request& request) {
  std::array<ClaimedCluster, kLanes> claimed;
  for (Mask left = request.mask(); left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const auto half = [&](std::size_t part) {
      const Lanes& bits = request.value(1, part);
      return bits.poison[lane] == 0xff ? response_in(bits.value[lane]) : std::nullopt;
    };
    if (!half(0) || request.value(1, 0).value[lane] != request.value(1, 1).value[lane] ||
        !half(1)) {
      refuse(request, "operand 1 is no response that a request for a cluster has brought");
    }
    claimed[lane] = *half(0);
  }
  if (request.modifiers.has("is_canceled"_mod)) {
    Lanes result;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      result.value[lane] = claimed[lane].is_there ? 1 : 0;
    }
    request.strand.write(request.stop, 0, 0, result);
    return Served::kDone;
  }
  const Extent3& grid = grid_.shape.grid;
  const Extent3& cluster = grid_.shape.cluster;
  const Extent3 clusters{grid[0] / cluster[0], grid[1] / cluster[1], grid[2] / cluster[2]};
  std::array<Lanes, 4> place;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t number = claimed[lane].first_cta / volume(cluster);
    const Extent3 at{number % clusters[0],
                     number / clusters[0] % clusters[1],
                     number / clusters[0] / clusters[1]};
    for (std::size_t i = 0; i < place.size(); ++i) {
      place[i].value[lane] = i < 3 ? at[i] * cluster[i] : 0;
      // Of a request that failed there is none: "behavior is undefined".
      place[i].poison[lane] = claimed[lane].is_there ? 0 : 0xff;
    }
  }
  if (request.modifiers.has("v4"_mod)) {
    for (std::size_t i = 0; i < place.size(); ++i) {
      request.strand.write(request.stop, 0, i, place[i]);
    }
  } else {
    const std::size_t i = request.modifiers.has("get_first_ctaid::x"_mod)   ? 0
                          : request.modifiers.has("get_first_ctaid::y"_mod) ? 1
                                                                            : 2;
    request.strand.write(request.stop, 0, 0, place[i]);
  }
  return Served::kDone;
}

}  // namespace warptwin::ptx
