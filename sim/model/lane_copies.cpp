#include "sim/model/lane_copies.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "common/kernel/scenario.hpp"

namespace warptwin::sim {

namespace {

// Calls `f(lane)` for each lane of `lanes`.
template <class F>
void for_each_lane(std::uint32_t lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) {
    f(static_cast<std::uint32_t>(std::countr_zero(lanes)));
  }
}

constexpr std::uint32_t bit_of(std::uint32_t lane) {
  return std::uint32_t{1} << lane;
}

void require_sizes(const LaneCopies& copies) {
  if (copies.size != 4 && copies.size != 8 && copies.size != 16) {
    throw ConfigError("a lane copies 4, 8 or 16 bytes by cp.async, not " +
                      std::to_string(copies.size));
  }
  for_each_lane(copies.mask, [&](std::uint32_t lane) {
    if (copies.bytes[lane] > copies.size) {
      throw ConfigError("a cp.async reads no more than it writes: lane " + std::to_string(lane) +
                        " reads " + std::to_string(copies.bytes[lane]) + " bytes of " +
                        std::to_string(copies.size));
    }
  });
}

}  // namespace

void CopiesOfWarp::issue(Issuer& issuer, const LaneCopies& copies) {
  require_sizes(copies);
  // A copy over the same bytes: those before are over, or have been found.
  std::erase_if(counted_, [&](const Copy& copy) {
    const std::uint32_t both = copy.target.mask & copies.mask;
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(both));
    return both != 0 && copy.target.address[lane] == copies.to[lane];
  });
  for (std::uint32_t left = copies.mask; left != 0;) {
    const std::uint32_t bytes = copies.bytes[static_cast<std::uint32_t>(std::countr_zero(left))];
    std::uint32_t alike = 0;
    for_each_lane(
        left, [&](std::uint32_t lane) { alike |= copies.bytes[lane] == bytes ? bit_of(lane) : 0; });
    issue_alike(issuer, copies, alike);
    left &= ~alike;
  }
}

Operation CopiesOfWarp::load_of(Issuer& issuer,
                                Copy& copy,
                                LaneAccess& source,
                                std::uint32_t lanes) const {
  source.mask = lanes;
  Operation load = issuer.make(Op::kGlobalLoad, lanes);
  load.set<operands::LaneBytes>() = {&source, 0, copy.number, LaneCopyStep::kBegin};
  return load;
}

Operation CopiesOfWarp::store_of(
    Issuer& issuer, Copy& copy, LaneAccess& target, std::uint32_t lanes, LaneCopyStep step) const {
  target.mask = lanes;
  Operation store = issuer.make(Op::kSharedStore, lanes);
  store.set<operands::LaneBytes>() = {&target, rank_, 0, step, copy.lands};
  return store;
}

// Copies of lanes that read as many bytes. Until the wait their targets have neither the old bytes
// nor the new ones.
void CopiesOfWarp::issue_alike(Issuer& issuer, const LaneCopies& copies, std::uint32_t lanes) {
  const std::uint32_t size = copies.size;
  const std::uint32_t read = copies.bytes[static_cast<std::uint32_t>(std::countr_zero(lanes))];
  Copy copy{LaneAccess{read}, LaneAccess{size}, lanes, {}, {}, 0, 0, ++issued_};
  copy.group.fill(kNoGroup);
  copy.source.aligned_to = size;
  for_each_lane(lanes, [&](std::uint32_t lane) {
    copy.source.address[lane] = copies.from[lane];
    copy.target.address[lane] = copies.to[lane];
  });
  if (read != 0) {
    Operation load = load_of(issuer, copy, copy.source, lanes);
    load.flags |= event_flag::kOfCopies;
    issuer.touches(copy.source, load.op);
    issuer.perform(load);
    copy.lands = registers_->instructions.ready;
  }
  // With data who reads them too early is reported, and finds them changed.
  copy.target.poison.assign(copy.target.poison.size(), moves_data_ ? 0 : 1);
  copy.target.data.assign(copy.target.data.size(), std::byte{0xAD});
  Operation store = store_of(issuer, copy, copy.target, lanes, LaneCopyStep::kBegin);
  copy.site = store.site;
  issuer.touches(copy.target, store.op);
  issuer.perform(store);
  copy.target.poison.assign(copy.target.poison.size(), 0);
  copy.target.data.assign(copy.target.data.size(), std::byte{0});
  for (std::uint32_t lane = 0; lane < kWarpLanes && read != 0; ++lane) {
    std::memcpy(&copy.target.data[std::size_t{lane} * size],
                &copy.source.data[std::size_t{lane} * read],
                read);
    std::memcpy(&copy.target.poison[std::size_t{lane} * size],
                &copy.source.poison[std::size_t{lane} * read],
                read);
  }
  copies_.push_back(std::move(copy));
}

// A copy that an mbarrier counts is in a group, too.
void CopiesOfWarp::commit(std::uint32_t lanes) {
  for (std::vector<Copy>* copies : {&copies_, &counted_}) {
    for (Copy& copy : *copies) {
      for_each_lane(copy.left & lanes, [&](std::uint32_t lane) {
        copy.group[lane] = std::min(copy.group[lane], committed_[lane]);
      });
    }
  }
  for_each_lane(lanes, [&](std::uint32_t lane) { ++committed_[lane]; });
}

void CopiesOfWarp::wait(Issuer& issuer, std::uint32_t lanes, std::uint64_t pending) {
  const auto over_of = [&](const Copy& copy) {
    std::uint32_t over = 0;
    for_each_lane(copy.left & lanes, [&](std::uint32_t lane) {
      const bool is_over =
          copy.group[lane] != kNoGroup && copy.group[lane] + pending < committed_[lane];
      over |= is_over ? bit_of(lane) : 0;
    });
    return over;
  };
  const auto none_left = [](const Copy& copy) { return copy.left == 0; };
  for (Copy& copy : copies_) {
    if (const std::uint32_t over = over_of(copy); over != 0) {
      land(issuer, copy, over);
    }
  }
  std::erase_if(copies_, none_left);
  for (Copy& copy : counted_) {
    const std::uint32_t over = over_of(copy);
    copy.left &= ~over;
    if (over != 0 && copy.left == 0) {
      tell_over(issuer, copy);
    }
  }
  std::erase_if(counted_, none_left);
}

// The copies of these lanes are over.
void CopiesOfWarp::land(Issuer& issuer, Copy& copy, std::uint32_t lanes) {
  if (copy.source.bytes != 0) {
    LaneAccess again = copy.source;
    Operation load = load_of(issuer, copy, again, lanes);
    load.as<operands::LaneBytes>().step = LaneCopyStep::kEnd;
    load.site = copy.site;
    issuer.perform(load);
  }
  LaneAccess target = copy.target;
  Operation store = store_of(issuer, copy, target, lanes, LaneCopyStep::kEnd);
  store.site = copy.site;
  issuer.touches(target, store.op);
  issuer.perform(store);
  copy.left &= ~lanes;
}

// Copies that an mbarrier counts: each lane that made them has waited for its own. The bytes were
// written before, and others, whom the mbarrier has told, may have used them since.
void CopiesOfWarp::tell_over(Issuer& issuer, const Copy& copy) const {
  const auto tell = [&](Op kind, const LaneAccess& at) {
    LaneAccess bytes{at.bytes};
    bytes.mask = copy.target.mask;
    bytes.address = at.address;
    Operation op = issuer.make(kind, bytes.mask);
    op.site = copy.site;
    op.set<operands::LaneBytes>() = {&bytes, kind == Op::kSharedLoad ? rank_ : 0, copy.serial};
    op.flags |= event_flag::kCopiesAreOver;
    issuer.perform(op);
  };
  if (copy.source.bytes != 0) {
    tell(Op::kGlobalLoad, copy.source);
  }
  issuer.touches(copy.target, Op::kSharedStore);
  tell(Op::kSharedLoad, copy.target);
}

// The copies of these lanes that nobody has waited for: the mbarrier has them now. `lands`: when
// the last of them is there.
std::vector<AsyncAccess> CopiesOfWarp::hand_over(Issuer& issuer,
                                                 std::uint32_t lanes,
                                                 std::uint64_t& lands) {
  std::vector<AsyncAccess> handed;
  for (Copy& copy : copies_) {
    const std::uint32_t over = copy.left & lanes;
    if (over == 0) {
      continue;
    }
    AsyncAccess access{copy.target, std::nullopt, copy.site, {}, true};
    access.target.mask = over;
    if (copy.source.bytes != 0) {
      access.source = copy.source;
      access.source->mask = over;
    }
    issuer.hands_over(access.target);
    copy.left &= ~over;
    lands = std::max(lands, copy.lands);
    if (tells_groups_) {
      Copy& counted = counted_.emplace_back(copy);
      counted.left = counted.target.mask = over;
    }
    handed.push_back(std::move(access));
  }
  std::erase_if(copies_, [](const Copy& copy) { return copy.left == 0; });
  return handed;
}

// Without .noinc the pending count grows by one now, and the arrival takes that back. The model's
// tx-count does the same: a phase is complete when both counts are zero, and neither half acts in
// another phase than the other.
void CopiesOfWarp::arrive(Issuer& issuer,
                          std::uint32_t lanes,
                          std::uint32_t mbarrier,
                          bool counted) {
  Operation op = issuer.make(counted ? Op::kMbarrierArrive : Op::kMbarrierCompleteTx, lanes);
  auto& bar = op.as<operands::Mbarrier>();
  bar.address = mbarrier;
  op.flags = event_flag::kOfCopies;
  bar.count = 1;
  if (!counted) {
    Operation more = issuer.make(Op::kMbarrierExpectTx, lanes);
    auto& expected = more.as<operands::Mbarrier>();
    expected.address = mbarrier;
    more.flags = event_flag::kOfCopies;
    expected.bytes = bar.bytes = 1;
    issuer.perform(more);
    bar.phase = more.result;
    op.flags |= event_flag::kExactPhase;
  }
  const std::vector<AsyncAccess> copies = hand_over(issuer, lanes, bar.lands);
  bar.copies = &copies;
  issuer.perform(op);
  for (Copy& copy : counted_) {
    copy.serial = copy.serial == 0 ? op.result : copy.serial;
  }
}

// Nothing makes the end of a CTA wait for what still writes its shared memory.
std::optional<Operation> CopiesOfWarp::end() {
  if (copies_.empty()) {
    return std::nullopt;
  }
  Copy& copy = copies_.front();
  copy.target.mask = copy.left;
  Operation op{Op::kSharedStore};
  op.site = copy.site;
  op.set<operands::LaneBytes>() = {&copy.target, rank_, 0, LaneCopyStep::kLeft};
  return op;
}

}  // namespace warptwin::sim
