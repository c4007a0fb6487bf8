// mbarriers, barriers of a CTA and a cluster, fences.

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/model/mbarrier.hpp"
#include "sim/ptx/machine/opaque.hpp"
#include "sim/ptx/machine/rehearsal.hpp"

namespace warptwin::ptx {

warptwin::Scope scope_of(const Modifiers& modifiers, warptwin::Scope standard) {
  if (modifiers.has("cta"_mod)) {
    return warptwin::Scope::kCta;
  }
  if (modifiers.has("cluster"_mod)) {
    return warptwin::Scope::kCluster;
  }
  if (modifiers.has("gpu"_mod) || modifiers.has("sys"_mod) || modifiers.has("gl"_mod)) {
    return warptwin::Scope::kGpu;
  }
  return standard;
}

namespace {

using warptwin::Ordering;
using warptwin::Semantics;

// Of an operation on an mbarrier: CTA scope unless it says another one.
Ordering ordering_of(const Modifiers& modifiers, Semantics standard) {
  const Semantics semantics = modifiers.has("relaxed"_mod) ? Semantics::kRelaxed : standard;
  return {semantics, scope_of(modifiers, warptwin::Scope::kCta)};
}

// The operand that is an address.
std::size_t address_operand(const Request& request) {
  std::size_t operand = 0;
  while (request.stop.operands[operand].argument->kind != Argument::Kind::kAddress) {
    ++operand;
  }
  return operand;
}

}  // namespace

void WarpRun::touch_mbarrier(const Request& request, Mask lanes, std::uint32_t address) {
  sim::LaneAccess access{sim::kMbarrierBytes};
  access.mask = lanes;
  access.address.fill(address);
  touch(request, access, shared_base(machine_.cta_rank()), Touch::kInit);
}

Served WarpRun::mbarrier_init(Request& request) {
  for_equal(request, {0, 1}, [&](Mask lanes) {
    sim::Operation op = make(warptwin::Op::kMbarrierInit, request, lanes);
    auto& bar = op.as<sim::operands::Mbarrier>();
    bar.address = own_shared(request, known(request, 0, lanes));
    touch_mbarrier(request, lanes, bar.address);
    mbarrier_life(bar.address) = ++grid_.mbarriers;
    bar.count = static_cast<std::uint32_t>(known(request, 1, lanes));
    perform(op);
  });
  return Served::kDone;
}

Served WarpRun::mbarrier_inval(Request& request) {
  for_equal(request, {0}, [&](Mask lanes) {
    sim::Operation op = make(warptwin::Op::kMbarrierInval, request, lanes);
    op.as<sim::operands::Mbarrier>().address = own_shared(request, known(request, 0, lanes));
    perform(op);
  });
  return Served::kDone;
}

// Names `.shared::cta`, which `.shared` is short for.
bool WarpRun::names_own_shared(const Modifiers& modifiers) {
  return modifiers.has("shared"_mod) || modifiers.has("shared::cta"_mod);
}

// The mbarrier that an operation acts on from afar, or in the own CTA. Of an address of another CTA
// PTX leaves open what one does that names `.shared::cta`: it is of no CTA.
void WarpRun::aim_at_barrier(const Request& request,
                             std::size_t operand,
                             Mask lanes,
                             sim::Operation& op) const {
  const std::uint32_t address = shared_of(request, known(request, operand, lanes));
  const bool cluster = request.modifiers.has("shared::cluster"_mod);
  const bool own = address >> 24 == machine_.cta_rank();
  auto& bar = op.as<sim::operands::Mbarrier>();
  if (cluster || !own) {
    bar.address = names_own_shared(request.modifiers) ? address | kNoCta : address;
    op.flags |= event_flag::kRemote;
  } else {
    bar.address = address & 0xFFFFFFU;
  }
}

Served WarpRun::mbarrier_tx(Request& request) {
  const bool expects = request.op.is("mbarrier.expect_tx");
  for_equal(request, {0, 1}, [&](Mask lanes) {
    sim::Operation op =
        make(expects ? warptwin::Op::kMbarrierExpectTx : warptwin::Op::kMbarrierCompleteTx,
             request,
             lanes);
    aim_at_barrier(request, 0, lanes, op);
    op.as<sim::operands::Mbarrier>().bytes = static_cast<std::uint32_t>(known(request, 1, lanes));
    perform(op);
  });
  return Served::kDone;
}

namespace {

// The state that an arrival returns: the life of the mbarrier, which an initialisation begins, and
// the phase.
std::uint64_t state_of(std::uint32_t life, std::uint32_t phase) {
  return opaque_of(std::uint64_t{life} << 32 | phase);
}

std::uint32_t phase_in(std::uint64_t state) {
  return static_cast<std::uint32_t>(number_in(state));
}

}  // namespace

// A number of the mbarrier that stands at a shared address of the own CTA: another one each time
// that one is initialised there.
std::uint32_t& WarpRun::mbarrier_life(std::uint32_t address) {
  return grid_.mbarrier_lives[std::array{
      machine_.cluster_index(), machine_.cta_rank(), address & 0xFFFFFFU}];
}

// The phase of the state in `lanes`, which an arrival at `mbarrier` has to have given.
std::uint32_t WarpRun::phase_of_state(const Request& request,
                                      std::size_t operand,
                                      std::uint32_t mbarrier,
                                      Mask lanes) {
  const Lanes& states = request.value(operand);
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes));
  const std::uint32_t phase = phase_in(states.value[first]);
  bool opaque = true;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    opaque = opaque && ((lanes >> lane & 1U) == 0 || states.poison[lane] == 0xff);
  }
  if (!opaque || states.value[first] != state_of(mbarrier_life(mbarrier), phase)) {
    const std::string what =
        "operand " + std::to_string(operand) +
        " is no state that an arrival at this mbarrier has returned, since it was initialised";
    if (opaque && !machine_.moves_data()) {
      refuse_unknown(request.strand, request.stop.op, what);  // data may say which one it is
    }
    refuse(request, what);
  }
  return phase;
}

Served WarpRun::mbarrier_arrive(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const std::size_t at = address_operand(request);
  const bool counted = request.has(at + 1);
  const bool returns =
      at == 1 && request.stop.operands[0].argument->kind == Argument::Kind::kRegister;
  Lanes state = Lanes::unknown();
  const auto each = [&](Mask lanes) {
    sim::Operation op = make(warptwin::Op::kMbarrierArrive, request, lanes);
    auto& bar = op.as<sim::operands::Mbarrier>();
    aim_at_barrier(request, at, lanes, op);
    bar.count = 1;
    op.ordering = ordering_of(modifiers, Semantics::kRelease);
    if (modifiers.has("expect_tx"_mod)) {
      op.flags |= event_flag::kExpectTx;
      bar.bytes = static_cast<std::uint32_t>(known(request, at + 1, lanes));
    } else if (counted) {
      bar.count = static_cast<std::uint32_t>(known(request, at + 1, lanes));
    }
    op.flags |= request.op.is("mbarrier.arrive_drop") ? event_flag::kDrop : std::uint32_t{0};
    op.flags |= modifiers.has("noComplete"_mod) ? event_flag::kNoComplete : std::uint32_t{0};
    perform(op);
    // "mbarrier.arrive" in another CTA cannot return a value.
    const bool own =
        (op.flags & event_flag::kRemote) == 0 || bar.address >> 24 == machine_.cta_rank();
    const std::uint64_t given =
        returns && own ? state_of(mbarrier_life(bar.address), op.result) : 0;
    for (std::uint32_t lane = 0; lane < kLanes && returns; ++lane) {
      state.value[lane] = (lanes >> lane & 1U) != 0 ? given : state.value[lane];
    }
  };
  if (counted) {
    for_equal(request, {at, at + 1}, each);
  } else {
    for_equal(request, {at}, each);
  }
  if (returns) {
    request.strand.write(request.stop, 0, 0, state);
  }
  return Served::kDone;
}

// Whether the lanes come back to a try that has told them no, without an operation in between, and
// are not where they were: they count, and may give up.
bool WarpRun::counts_tries(const Request& request) {
  const std::uint64_t now = needed_by_try(request);
  const auto before =
      std::find_if(refused_.begin(), refused_.end(), [&](const RefusedTry& refused) {
        return refused.op == &request.op && refused.mask == request.mask();
      });
  if (before == refused_.end()) {
    refused_.push_back({&request.op, request.mask(), now});
    return false;
  }
  return std::exchange(before->state, now) != now;
}

void WarpRun::forget_refused(Mask lanes) {
  std::erase_if(refused_, [&](const RefusedTry& refused) { return (refused.mask & lanes) != 0; });
}

// Whether the try is a wait. Of one that is none it is taken that it never is.
bool WarpRun::is_wait(const Request& request, bool& unclear) {
  if (kernel_.waits(*this, request.strand, request.stop)) {
    return true;
  }
  if (grid_.no_waits.contains(&request.op)) {
    return false;
  }
  const Awaited found = awaited(*this, request.strand, request.stop, Look::kTry);
  unclear = found.unclear;
  if (!found.waits && !found.unclear) {
    grid_.no_waits.insert(&request.op);
  }
  return found.waits;
}

// A wait blocks where nobody else of the warp can go on; else it looks, and lets the others go.
Served WarpRun::mbarrier_try(Request& request) {
  bool unclear = false;
  const bool wait = is_wait(request, unclear);
  if (unclear && !resuming_) {
    return Served::kAgain;
  }
  const bool others = others_can_go();
  if (wait && others && !resuming_) {
    return Served::kAgain;
  }
  Mask yes = 0;
  const bool counts = !wait && counts_tries(request);
  for_equal(request, {1, 2}, [&](Mask lanes) {
    const bool blocks = wait && !others;
    sim::Operation op =
        make(wait ? warptwin::Op::kMbarrierWait : warptwin::Op::kMbarrierTryWait, request, lanes);
    auto& bar = op.as<sim::operands::Mbarrier>();
    op.flags |= wait && others ? event_flag::kPeek : std::uint32_t{0};
    op.flags |= counts ? event_flag::kCountsTries : std::uint32_t{0};
    bar.place = kernel_.place_of(*request.strand.frame->routine, request.stop.op);
    bar.address = own_shared(request, known(request, 1, lanes));
    if (request.modifiers.has("parity"_mod)) {
      bar.phase = static_cast<std::uint32_t>(known(request, 2, lanes));
    } else {
      bar.phase = phase_of_state(request, 2, bar.address, lanes);
      op.flags |= event_flag::kExactPhase;
    }
    op.ordering = ordering_of(request.modifiers, Semantics::kAcquire);
    perform(op);
    yes |= blocks || op.result != 0 ? lanes : 0;
  });
  if (wait && (request.mask() & ~yes) != 0) {
    return Served::kAgain;
  }
  if (yes == request.mask()) {
    forget_refused(yes);
  }
  Lanes answer;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    answer.value[lane] = yes >> lane & 1U;
  }
  request.strand.write(request.stop, 0, 0, answer);
  return Served::kDone;
}

Served WarpRun::bar(Request& request) {
  const bool arrives = request.op.is("bar.arrive") || request.op.is("barrier.arrive");
  sim::Operation op =
      collective(arrives ? warptwin::Op::kBarArrive : warptwin::Op::kBarSync, request);
  op.as<sim::operands::NamedBarrier>() = {
      static_cast<std::uint32_t>(uniform(request, 0)),
      request.has(1) ? static_cast<std::uint32_t>(uniform(request, 1)) : 0};
  perform(op);
  return Served::kDone;
}

Served WarpRun::cluster_barrier(Request& request) {
  const bool arrives = request.op.is("barrier.cluster.arrive");
  sim::Operation op =
      collective(arrives ? warptwin::Op::kClusterArrive : warptwin::Op::kClusterWait, request);
  if (arrives) {
    op.ordering = {request.modifiers.has("relaxed"_mod) ? Semantics::kRelaxed : Semantics::kRelease,
                   warptwin::Scope::kCluster};
  }
  perform(op);
  return Served::kDone;
}

Served WarpRun::sync_warp(Request& request) {
  sim::Operation op = collective(warptwin::Op::kSyncWarp, request);
  op.as<sim::operands::Members>().lanes = needed_by(request.strand, request.stop);
  perform(op);
  return Served::kDone;
}

Served WarpRun::fence(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  require_form(request);
  const Semantics semantics = modifiers.has("acquire"_mod)   ? Semantics::kAcquire
                              : modifiers.has("release"_mod) ? Semantics::kRelease
                                                             : Semantics::kAcqRel;
  const auto by = [&](Mask lanes) {
    sim::Operation op = make(warptwin::Op::kFence, request, lanes);
    op.ordering = {semantics, scope_of(modifiers, warptwin::Scope::kGpu)};
    serving_ = lanes;
    perform(op);
  };
  // Each lane fences for itself: those that have looked alone acquire, whoever else is there. What
  // one of them has waited for the others have not, yet.
  const Mask looked = request.mask() & looked_alone_;
  const Mask waited = request.mask() & waited_alone_;
  if (looked != 0 && looked != request.mask()) {
    std::vector<Mask> apart = std::exchange(used_apart_, {});
    by(waited != 0 ? request.mask() & ~looked : looked);
    used_apart_.clear();
    by(waited != 0 ? looked : request.mask());
    used_apart_ = std::move(apart);
  } else {
    by(request.mask());
  }
  looked_alone_ &= ~request.mask();
  waited_alone_ &= ~request.mask();
  return Served::kDone;
}

Served WarpRun::fence_mbarrier_init(Request& request) {
  sim::Operation op = make(warptwin::Op::kFenceMbarrierInit, request, request.mask());
  perform(op);
  return Served::kDone;
}

Served WarpRun::fence_proxy(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  if (modifiers.has("alias"_mod)) {
    return Served::kDone;  // nothing has two virtual addresses here
  }
  if (modifiers.has("tensormap::generic"_mod)) {
    sim::Operation op = make(warptwin::Op::kFenceProxyTensormap, request, request.mask());
    const bool acquires = modifiers.has("acquire"_mod);
    if (!acquires) {
      release_maps(request);
    }
    op.ordering = {acquires ? Semantics::kAcquire : Semantics::kRelease,
                   scope_of(modifiers, warptwin::Scope::kGpu)};
    if (acquires) {
      if (uniform(request, 1) != kTensorMapBytes) {
        refuse(request, "it is of the 128 bytes of a tensor map");
      }
      op.as<sim::operands::MapFence>().map = map_of(request, uniform(request, 0));
    }
    perform(op);
    return Served::kDone;
  }
  if (!modifiers.has("async"_mod)) {
    refuse(request, "this proxy fence is not there");
  }
  sim::Operation op = make(warptwin::Op::kFenceProxyAsync, request, request.mask());
  const ProxySpace space = modifiers.has("global"_mod)            ? ProxySpace::kGlobal
                           : modifiers.has("shared::cta"_mod)     ? ProxySpace::kSharedCta
                           : modifiers.has("shared::cluster"_mod) ? ProxySpace::kSharedCluster
                                                                  : ProxySpace::kAll;
  op.as<sim::operands::ProxyFence>().space = space;
  perform(op);
  return Served::kDone;
}

}  // namespace warptwin::ptx
