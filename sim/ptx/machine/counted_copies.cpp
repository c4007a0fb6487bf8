// What an mbarrier counts when it is complete: cp.async that it tracks, st.async, red.async.
//
// From its issue until a wait for the phase that counts it, such a copy is on its way: who uses its
// bytes before is reported by the detectors (`AsyncAccess`). It publishes what it has written, and
// nothing that its thread did before.

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

Mask bit_of(std::uint32_t lane) {
  return Mask{1} << lane;
}

}  // namespace

// The cp.async of these lanes that nobody has waited for: the mbarrier has them now.
std::vector<sim::AsyncAccess> WarpRun::hand_over_copies(Mask lanes) {
  std::vector<sim::AsyncAccess> handed;
  for (AsyncCopy& copy : copies_) {
    const Mask over = copy.left & lanes;
    if (over == 0) {
      continue;
    }
    sim::AsyncAccess access{copy.target, std::nullopt, copy.site, {}};
    access.target.mask = over;
    if (copy.source.bytes != 0) {
      access.source = copy.source;
      access.source->mask = over;
    }
    touched_.hand_over(access.target, shared_base(machine_.cta_rank()));
    note_copied(copy.target, over, 0);
    copy.left &= ~over;
    if (kernel_.waits_for_groups()) {
      AsyncCopy& counted = counted_.emplace_back(copy);
      counted.left = counted.target.mask = over;
    }
    handed.push_back(std::move(access));
  }
  std::erase_if(copies_, [](const AsyncCopy& copy) { return copy.left == 0; });
  return handed;
}

// cp.async.mbarrier.arrive{.noinc} [mbarrier]. Without .noinc the pending count grows by one now,
// and the arrival takes that back. The model's tx-count does the same: a phase is complete when
// both counts are zero, and neither half acts in another phase than the other.
Served WarpRun::async_arrive(Request& request) {
  const bool arrives = request.modifiers.has("noinc"_mod);
  for_equal(request, {0}, [&](Mask lanes) {
    sim::Operation op =
        make(arrives ? warptwin::Op::kMbarrierArrive : warptwin::Op::kMbarrierCompleteTx,
             request,
             lanes);
    auto& bar = op.as<sim::operands::Mbarrier>();
    bar.address = own_shared(request, known(request, 0, lanes));
    op.flags = event_flag::kOfCopies;
    bar.count = 1;
    if (!arrives) {
      sim::Operation more = make(warptwin::Op::kMbarrierExpectTx, request, lanes);
      auto& expected = more.as<sim::operands::Mbarrier>();
      expected.address = bar.address;
      more.flags = event_flag::kOfCopies;
      expected.bytes = bar.bytes = 1;
      perform(more);
      bar.phase = more.result;
      op.flags |= event_flag::kExactPhase;
    }
    const std::vector<sim::AsyncAccess> copies = hand_over_copies(lanes);
    bar.copies = &copies;
    perform(op);
    for (AsyncCopy& copy : counted_) {
      copy.serial = copy.serial == 0 ? op.result : copy.serial;
    }
  });
  return Served::kDone;
}

// [address], value, [mbarrier] of st.async and red.async: calls `f(lanes, mbarrier, access)` for
// the lanes of one mbarrier, with their addresses and values.
void WarpRun::for_each_counted(
    Request& request, const std::function<void(Mask, std::uint32_t, sim::AsyncAccess&)>& f) {
  const auto& values = request.stop.operands[1].values;
  const std::uint32_t step = std::min(bytes_of(request.modifiers.type()), 8U);
  for (const Lanes& value : values) {
    if (flight_in(value, request.mask()) != kNoIndex) {
      refuse(request, "its value is still on its way to its register");
    }
  }
  for (Mask left = request.mask(); left != 0;) {
    const Mask first = left & ~(left - 1);
    const std::uint32_t barrier = shared_of(request, known(request, 2, first));
    sim::AsyncAccess access{
        sim::LaneAccess{static_cast<std::uint32_t>(values.size()) * step}, {}, {}, {}};
    sim::LaneAccess& target = access.target;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const Mask bit = bit_of(lane);
      if ((left & bit) == 0 || shared_of(request, known(request, 2, bit)) != barrier) {
        continue;
      }
      const std::uint32_t address = shared_of(request, known(request, 0, bit));
      if (address >> 24 != barrier >> 24) {
        refuse(request, "its mbarrier is not in the CTA whose shared memory it writes");
      }
      target.mask |= bit;
      target.address[lane] = address & 0xFFFFFFU;
      report_copied(request, barrier >> 24, target.address[lane], target.bytes, true);
      for (std::size_t part = 0; part < values.size(); ++part) {
        const std::size_t at = std::size_t{lane} * target.bytes + part * step;
        std::memcpy(&target.data[at], &values[part].value[lane], step);
        for (std::uint32_t byte = 0; byte < step; ++byte) {
          target.poison[at + byte] = values[part].poison[lane] >> byte & 1U;
        }
      }
    }
    access.site = kernel_.site_of(*request.strand.frame->routine, request.stop.op);
    f(target.mask, barrier, access);
    left &= ~target.mask;
  }
}

void WarpRun::issue_counted(Request& request,
                            Mask lanes,
                            std::uint32_t barrier,
                            const sim::AsyncAccess& access,
                            Touch touch) {
  const std::uint64_t base = shared_base(barrier >> 24);
  this->touch(request, access.target, base, touch);
  touched_.hand_over(access.target, base);
  const std::vector<sim::AsyncAccess> copies{access};
  sim::Operation op = make(warptwin::Op::kMbarrierCompleteTx, request, lanes);
  auto& bar = op.as<sim::operands::Mbarrier>();
  bar.address = barrier;
  op.flags = event_flag::kOfCopies | event_flag::kRemote;
  bar.bytes = access.target.bytes;
  bar.copies = &copies;
  // To whom red.async is atomic.
  op.ordering.scope = scope_of(request.modifiers, warptwin::Scope::kCluster);
  perform(op);
}

Served WarpRun::async_store(Request& request) {
  require_form(request);
  for_each_counted(request, [&](Mask lanes, std::uint32_t barrier, sim::AsyncAccess& access) {
    issue_counted(request, lanes, barrier, access, Touch::kStore);
  });
  return Served::kDone;
}

// Those of several warps on one word leave the same in whatever order only if they do the same.
Served WarpRun::async_reduce(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  require_form(request);
  for_each_counted(request, [&](Mask lanes, std::uint32_t barrier, sim::AsyncAccess& access) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((lanes & bit_of(lane)) == 0) {
        continue;
      }
      const Place place{Space::kShared, barrier >> 24, access.target.address[lane]};
      const SharedAtomics word = note_shared_atomic(request, place, false);
      if (word.several && (!word.alike || word.told)) {
        refuse(request, "what it leaves depends on which of several atomics of the word is first");
      }
    }
    access.target.kind = sim::AccessKind::kAtomic;
    access.update = [&](std::uint32_t lane, std::uint64_t old) {
      std::uint64_t value = 0;
      std::memcpy(&value,
                  &access.target.data[std::size_t{lane} * access.target.bytes],
                  access.target.bytes);
      return updated(modifiers, false, old, value, 0);
    };
    issue_counted(request, lanes, barrier, access, Touch::kAdd);
  });
  return Served::kDone;
}

// cp{.reduce}.async.bulk.shared::cluster.shared::cta [there], [here], bytes, [mbarrier there].
void WarpRun::copy_to_cta(Request& request, Mask lane, sim::CopyReduction reduction) {
  constexpr std::uint32_t kOffset = 0xFFFFFF;
  const std::uint32_t to = shared_of(request, known(request, 0, lane));
  const std::uint32_t barrier = shared_of(request, known(request, 3, lane));
  if (to >> 24 != barrier >> 24) {
    refuse(request, "its mbarrier is not in the CTA whose shared memory it writes");
  }
  sim::Operation op = make(warptwin::Op::kBulkLoad, request, lane);
  auto& copy = op.as<sim::operands::Copy>();
  copy.shared = to & kOffset;
  copy.barrier = barrier & kOffset;
  copy.to_rank = to >> 24;
  copy.source = own_shared(request, known(request, 1, lane));
  copy.bytes = static_cast<std::uint32_t>(known(request, 2, lane));
  copy.reduction = reduction;
  op.flags = event_flag::kSharedSource;
  op.flags |= copy.to_rank != machine_.cta_rank() ? event_flag::kRemote : std::uint32_t{0};
  report_copied(request, copy.to_rank, copy.shared, copy.bytes, true);
  report_copied(request, machine_.cta_rank(), copy.source, copy.bytes, false);
  perform(op);
}

}  // namespace warptwin::ptx
