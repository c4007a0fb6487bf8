// Where the lanes of a warp are in their program order: each that ever acts alone is on a way of
// its own, all others are on one.

#include <utility>

#include "common/trace/op_facts.hpp"

#include "sim/oracle/relation_record.hpp"

namespace warptwin::sim::relation {

Record::WarpRecord& Record::warp_of(const Event& event) {
  const auto [warp, is_new] = warps_.try_emplace(event.warp);
  if (is_new) {
    met(event.warp, warp->second, kNoNode);
  }
  return warp->second;
}

// All lanes are at one node.
void Record::met(std::uint32_t number, WarpRecord& warp, Node at) {
  warp.tail = warp.rest = at;
  warp.apart.clear();
  if (const auto lanes = alone.find(number); lanes != alone.end()) {
    for (const std::uint32_t lane : lanes->second) {
      warp.apart[lane] = at;
    }
  }
}

// Where the lanes that execute the event are in their program order: each lane that acts alone is
// on a way of its own, the first of them on that of all together.
Node& Record::way_of(const Event& event) {
  WarpRecord& warp = warp_of(event);
  if (event.lanes != 1) {
    return warp.tail;
  }
  warp.first_alone = warp.first_alone == kWarpLanes ? event.lane : warp.first_alone;
  if (event.lane == warp.first_alone) {
    return warp.tail;
  }
  alone[event.warp].insert(event.lane);
  return warp.apart.try_emplace(event.lane, warp.rest).first->second;
}

// Whether all lanes come together there, in memory order too.
bool Record::meets(const Event& event) const {
  return (event.lanes == kWarpLanes || event.op == Op::kWarpExit) &&
         (has_trait(event.op, op_trait::kMeets) ||
          (options_.elections_meet && event.op == Op::kElectSync));
}

// The next node of the warp's program order. What all do without coming together is a node of each
// lane that acts alone, and one of the rest.
Node Record::step(const Event& event,
                  Nodes memory,
                  Nodes execution,
                  Nodes tensor,
                  const std::pair<ByWay, ByWay>& own) {
  WarpRecord& warp = warp_of(event);
  const bool all = event.lanes == kWarpLanes || event.op == Op::kWarpExit;
  const bool meet = meets(event);
  std::map<std::uint32_t, Nodes> late;
  if (all) {
    late = std::exchange(warp.late, {});
  }
  const auto add = [](Nodes& known, const ByWay& more, std::uint32_t of) {
    if (const auto found = more.find(of); found != more.end()) {
      known.insert(known.end(), found->second.begin(), found->second.end());
    }
  };
  const auto add_late = [&](Nodes& known, std::uint32_t of) { add(known, late, of); };
  Node& way = way_of(event);
  if (all && !meet) {
    // `.sync` of these holds each lane back until all have come, and orders no memory.
    const bool held = event.op == Op::kElectSync || event.op == Op::kWgmma ||
                      event.op == Op::kWgmmaFence || event.op == Op::kWgmmaCommit ||
                      event.op == Op::kWgmmaWait;
    const Nodes before = execution;
    Nodes ways{way, warp.rest};
    for (const auto& [lane, node] : warp.apart) {
      ways.push_back(node);
    }
    const auto go_on = [&](std::uint32_t of, Node& other) {
      Nodes known = memory;
      known.push_back(other);
      add_late(known, of);
      add(known, own.first, of);
      Nodes cells = tensor;
      add(cells, own.second, of);
      Nodes come = before;
      if (held) {
        come.insert(come.end(), ways.begin(), ways.end());
      }
      other = order.add(known, come, cells);
    };
    go_on(kRest, warp.rest);
    for (auto& [lane, node] : warp.apart) {
      go_on(lane, node);
    }
    if (held) {
      execution.insert(execution.end(), ways.begin(), ways.end());
    }
  }
  memory.push_back(way);
  add_late(memory, kTail);
  add(memory, own.first, key_of(event));
  add(tensor, own.second, key_of(event));
  if (meet) {
    memory.push_back(warp.rest);
    add_late(memory, kRest);
    for (const auto& [lane, node] : warp.apart) {
      memory.push_back(node);
      add_late(memory, lane);
    }
    for (std::vector<Source>* seen : {&warp.unacquired, &warp.untold}) {
      for (Source& source : *seen) {
        source.way = kAnyWay;
      }
    }
  }
  const Node node = order.add(memory, execution, tensor);
  way = node;
  if (meet) {
    met(event.warp, warp, node);
  }
  warp.look = kNoNode;
  return node;
}

// The other lanes' nodes of what has just been stepped over; none where the warp has come together,
// or one lane has acted.
Nodes Record::others_of(const Event& event) const {
  const auto warp = warps_.find(event.warp);
  const bool apart = event.lanes == kWarpLanes && !meets(event);
  Nodes others;
  if (apart && warp != warps_.end() && warp->second.rest != kNoNode) {
    others.push_back(warp->second.rest);
    for (const auto& [lane, node] : warp->second.apart) {
      others.push_back(node);
    }
  }
  return others;
}

// What has just been stepped over, by each lane that executes it: `node` is the first's.
Nodes Record::by_lanes(const Event& event, Node node) const {
  Nodes all = others_of(event);
  all.insert(all.begin(), node);
  return all;
}

std::uint32_t Record::key_of(const Event& event) const {
  const auto warp = warps_.find(event.warp);
  const bool own =
      event.lanes == 1 && warp != warps_.end() && event.lane != warp->second.first_alone;
  return own ? event.lane : kTail;
}

// `first` is on the way of who executes the event, `others` on those of others_of, in its order.
Record::Looks Record::by_way(const Event& event, Node first, const Nodes& others) const {
  Looks ways{{key_of(event), first}};
  if (!others.empty()) {
    auto lane = warps_.at(event.warp).apart.begin();
    for (std::size_t i = 0; i < others.size(); ++i) {
      ways.emplace_back(i == 0 ? kRest : lane++->first, others[i]);
    }
  }
  return ways;
}

// The same as by_lanes, by way.
Record::Looks Record::ways_of(const Event& event, Node node) const {
  return by_way(event, node, others_of(event));
}

// An access in the generic proxy, by the lanes that make it.
void Record::access_of_words(const Event& event, Access access) {
  const bool word = access.space == Space::kShared && event.rows() == nullptr;
  access.group = word ? accesses.size() : 0;
  access.value =
      access.write && event.is<payload::SharedWord>() ? event.as<payload::SharedWord>().value : 0;
  for (const auto& [way, node] : ways_of(event, access.end)) {
    if (way != key_of(event)) {
      access.start = access.end = node;
      access.needs_data = false;  // asked of the first lane
    }
    access.rest = way != kTail;
    access.lane = word ? way : kWarpLanes;
    accesses.push_back(access);
  }
}

// The lanes stand before the operation, and know no more than before.
Node Record::come_to(const Event& event) {
  WarpRecord& warp = warp_of(event);
  Node& way = way_of(event);
  if (event.lanes == kWarpLanes && meets(event)) {
    // No lane executes it before all have come.
    Nodes ways{way, warp.rest};
    for (const auto& [lane, node] : warp.apart) {
      ways.push_back(node);
    }
    warp.other_looks.clear();
    met(event.warp, warp, order.add(ways));
    return warp.tail;
  }
  way = order.add({way});
  if (event.lanes == kWarpLanes) {
    warp.rest = order.add({warp.rest});
    warp.other_looks = {warp.rest};
    for (auto& [lane, node] : warp.apart) {
      node = order.add({node});
      warp.other_looks.push_back(node);
    }
  }
  return way;
}

// Where the warp came to the operation: when it was blocked there, or now.
Node Record::look(const Event& event) {
  WarpRecord& warp = warp_of(event);
  if (warp.look != kNoNode && warp.looked == event.op) {
    return std::exchange(warp.look, kNoNode);
  }
  return come_to(event);
}

}  // namespace warptwin::sim::relation
