// What an mbarrier counts when it is complete: st.async, red.async, copies from CTA to CTA.

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
  touched_.hand_over(access.target, base, touch);
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
  perform(op);
}

}  // namespace warptwin::ptx
