#include "tests/support/random_protocol.hpp"

#include <algorithm>

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kBytes = 8;

// A protocol under construction.
struct Builder {
  Draw& draw;
  Protocol protocol;
  std::size_t editable = 0;  // agents that edits may change: not the asynchronous ones

  std::uint32_t barrier(std::uint32_t count, PhaseTest test = PhaseTest::kParity) {
    protocol.barriers.push_back({count, test, {}});
    return static_cast<std::uint32_t>(protocol.barriers.size() - 1);
  }
  std::uint32_t agent() {
    protocol.agents.emplace_back();
    return static_cast<std::uint32_t>(protocol.agents.size() - 1);
  }
  void add(std::uint32_t who, const ProtocolOp& op) { protocol.agents[who].ops.push_back(op); }
  // An asynchronous operation that `who` issues now.
  void issue(std::uint32_t who, const ProtocolOp& op) {
    const std::size_t done = protocol.agents[who].ops.size();
    const std::uint32_t copy = agent();
    if (done != 0) {
      add(copy, after_op(who, static_cast<std::uint32_t>(done - 1)));
    }
    add(copy, op);
  }
  // Announces bytes and arrives, in one of the ways that programs do.
  void announce(std::uint32_t who, std::uint32_t at, std::uint32_t bytes) {
    if (draw.chance(60)) {
      add(who, arrive_expect_op(at, bytes));
    } else if (draw.chance(85)) {
      add(who, expect_op(at, bytes));
      add(who, arrive_op(at));
    } else {
      add(who, arrive_op(at));
      add(who, expect_op(at, bytes));
    }
  }
};

void ring(Builder& b, bool two_classes) {
  const std::uint32_t stages = 1 + b.draw.below(2);
  const std::uint32_t trips = 1 + b.draw.below(3);
  const std::uint32_t consumers = two_classes ? 2 : 1 + b.draw.below(2);
  std::uint32_t shares[2] = {1, 1};
  if (two_classes) {
    shares[0] = 1 + b.draw.below(3);
    shares[1] = 1 + b.draw.below(4 - shares[0]);
  }
  const std::uint32_t arrivals = shares[0] + (consumers == 2 ? shares[1] : 0);
  for (std::uint32_t s = 0; s < stages; ++s) {
    b.barrier(1);
  }
  for (std::uint32_t s = 0; s < stages; ++s) {
    b.barrier(arrivals);
  }
  const std::uint32_t producer = b.agent();
  std::uint32_t readers[2] = {};
  for (std::uint32_t c = 0; c < consumers; ++c) {
    readers[c] = b.agent();
  }
  b.editable = 1 + consumers;
  for (std::uint32_t k = 0; k < trips; ++k) {
    const std::uint32_t s = k % stages;
    const auto lap = static_cast<std::int32_t>(k / stages);
    b.add(producer, wait_op(stages + s, lap - 1));
    const std::uint32_t copies = 1 + b.draw.below(2);
    const bool early = b.draw.chance(10);
    if (early) {
      b.issue(producer, complete_op(s, kBytes));
    }
    b.announce(producer, s, kBytes * copies);
    for (std::uint32_t i = early ? 1 : 0; i < copies; ++i) {
      b.issue(producer, complete_op(s, kBytes));
    }
    for (std::uint32_t c = 0; c < consumers; ++c) {
      b.add(readers[c], wait_op(s, lap));
      b.add(readers[c], arrive_op(stages + s, shares[c]));
    }
  }
}

void multicast(Builder& b) {
  const std::uint32_t trips = 1 + b.draw.below(3);
  // full[c] = c, empty[c] = 2 + c.
  b.barrier(1);
  b.barrier(1);
  b.barrier(2);
  b.barrier(2);
  std::uint32_t producer[2] = {b.agent(), b.agent()};
  std::uint32_t consumer[2] = {b.agent(), b.agent()};
  b.editable = 4;
  for (std::uint32_t k = 0; k < trips; ++k) {
    const auto lap = static_cast<std::int32_t>(k);
    for (std::uint32_t c = 0; c < 2; ++c) {
      b.add(producer[c], wait_op(2 + c, lap - 1));
      b.add(producer[c], arrive_expect_op(c, 2 * kBytes));
      for (std::uint32_t to = 0; to < 2; ++to) {
        b.issue(producer[c], complete_op(to, kBytes));
      }
    }
    for (std::uint32_t c = 0; c < 2; ++c) {
      b.add(consumer[c], wait_op(c, lap));
      for (std::uint32_t to = 0; to < 2; ++to) {
        if (to == c) {
          b.add(consumer[c], arrive_op(2 + to));
        } else {
          b.issue(consumer[c], arrive_op(2 + to));
        }
      }
    }
  }
}

void lanes(Builder& b) {
  const std::uint32_t stages = 1 + b.draw.below(2);
  const std::uint32_t trips = 1 + b.draw.below(3);
  for (std::uint32_t s = 0; s < 2 * stages; ++s) {
    b.barrier(1);
  }
  const std::uint32_t producer = b.agent();
  const std::uint32_t elected = b.agent();
  const std::uint32_t late = b.agent();
  b.editable = 3;
  const bool synced = b.draw.chance(70);
  for (std::uint32_t k = 0; k < trips; ++k) {
    const std::uint32_t s = k % stages;
    const auto lap = static_cast<std::int32_t>(k / stages);
    b.add(producer, wait_op(stages + s, lap - 1));
    b.add(producer, arrive_op(s));
    b.add(elected, wait_op(s, lap));
    b.add(late, wait_op(s, lap));
    if (synced) {
      const auto size = [&](std::uint32_t who) {
        return static_cast<std::uint32_t>(b.protocol.agents[who].ops.size() - 1);
      };
      b.add(elected, after_op(late, size(late)));
      b.add(late, after_op(elected, size(elected)));
    }
    b.add(elected, arrive_op(stages + s));
  }
}

void sequence(Builder& b) {
  const std::uint32_t agents = 2 + b.draw.below(2);
  const std::uint32_t trips = 1 + b.draw.below(3);
  for (std::uint32_t i = 0; i < agents; ++i) {
    b.barrier(1);
    b.agent();
  }
  b.editable = agents;
  for (std::uint32_t k = 0; k < trips; ++k) {
    for (std::uint32_t i = 0; i < agents; ++i) {
      // Whose turn it is waits for the one before; the first waits for the last of the lap before.
      const std::uint32_t before = (i + agents - 1) % agents;
      b.add(i, wait_op(before, static_cast<std::int32_t>(k) - (i == 0 ? 1 : 0)));
      b.add(i, arrive_op(i));
    }
  }
}

void named(Builder& b) {
  const std::uint32_t agents = 2 + b.draw.below(2);
  const std::uint32_t trips = 1 + b.draw.below(3);
  const std::uint32_t meeting = b.barrier(agents, PhaseTest::kExact);
  const std::uint32_t full = b.barrier(1);
  for (std::uint32_t i = 0; i < agents; ++i) {
    b.agent();
  }
  b.editable = agents;
  const bool arrives_only = b.draw.chance(30);
  for (std::uint32_t k = 0; k < trips; ++k) {
    const auto lap = static_cast<std::int32_t>(k);
    for (std::uint32_t i = 0; i < agents; ++i) {
      if (i == 0) {
        b.add(i, arrive_op(full));
      } else {
        b.add(i, wait_op(full, lap));
      }
      b.add(i, arrive_op(meeting));
      if (i != 1 || !arrives_only) {
        b.add(i, wait_op(meeting, lap));
      }
    }
  }
}

void flags(Builder& b) {
  const std::uint32_t readers = 1 + b.draw.below(2);
  const std::uint32_t trips = 1 + b.draw.below(3);
  const std::uint32_t flag = b.barrier(1, PhaseTest::kEqual);
  const std::uint32_t done = b.barrier(readers);
  const std::uint32_t writer = b.agent();
  for (std::uint32_t i = 0; i < readers; ++i) {
    b.agent();
  }
  b.editable = 1 + readers;
  for (std::uint32_t k = 0; k < trips; ++k) {
    const auto lap = static_cast<std::int32_t>(k);
    b.add(writer, wait_op(done, lap - 1));
    b.add(writer, arrive_op(flag));
    for (std::uint32_t i = 0; i < readers; ++i) {
      b.add(1 + i, wait_op(flag, lap));
      b.add(1 + i, arrive_op(done));
    }
  }
}

void arbitrary(Builder& b) {
  const std::uint32_t barriers = 1 + b.draw.below(3);
  for (std::uint32_t i = 0; i < barriers; ++i) {
    b.barrier(1 + b.draw.below(2));
  }
  const std::uint32_t agents = 2 + b.draw.below(3);
  for (std::uint32_t a = 0; a < agents; ++a) {
    b.agent();
  }
  b.editable = agents;
  for (std::uint32_t a = 0; a < agents; ++a) {
    std::int32_t lap[3];
    for (std::int32_t& l : lap) {
      l = b.draw.chance(33) ? -1 : 0;
    }
    for (std::uint32_t i = 0, n = 1 + b.draw.below(4); i < n; ++i) {
      const std::uint32_t at = b.draw.below(barriers);
      const std::uint32_t pick = b.draw.below(100);
      const std::uint32_t bytes = 4 * (1 + b.draw.below(2));
      if (pick < 30) {
        b.add(a, arrive_op(at));
      } else if (pick < 60) {
        b.add(a, wait_op(at, lap[at]++));
      } else if (pick < 70) {
        b.add(a, expect_op(at, bytes));
        b.issue(a, complete_op(at, bytes));
      } else if (pick < 85) {
        b.add(a, arrive_expect_op(at, bytes));
        if (b.draw.chance(80)) {
          b.issue(a, complete_op(at, bytes));
        }
      } else {
        b.add(a, complete_op(at, bytes));
      }
    }
  }
}

void edit(Builder& b) {
  std::vector<ProtocolOp>& ops =
      b.protocol.agents[b.draw.below(static_cast<std::uint32_t>(b.editable))].ops;
  if (ops.size() < 2) {
    return;
  }
  const auto size = static_cast<std::uint32_t>(ops.size());
  const auto barriers = static_cast<std::uint32_t>(b.protocol.barriers.size());
  ProtocolOp& one = ops[b.draw.below(size)];
  ProtocolOp& two = ops[b.draw.below(size)];
  switch (b.draw.below(6)) {
    case 0:
      std::swap(one, two);
      break;
    case 1:
      if (one.kind != ProtocolKind::kAfter) {
        one = arrive_op(b.draw.below(barriers));
      }
      break;
    case 2:
      if (one.kind != ProtocolKind::kAfter) {
        one.barrier = b.draw.below(barriers);
      }
      break;
    case 3:
      if (one.kind == ProtocolKind::kWait) {
        one.phase = std::max(-1, one.phase + (b.draw.chance(50) ? 1 : -1));
      }
      break;
    case 4:
      // A wait that is left out: its place is kept, so that what is issued after it still is.
      if (one.kind == ProtocolKind::kWait) {
        one.phase = -1;
      }
      break;
    default:
      if (one.kind == ProtocolKind::kArriveExpect) {
        one = expect_op(one.barrier, one.bytes);
      } else if (one.kind == ProtocolKind::kArrive) {
        one.count = 1 + b.draw.below(2);
      }
      break;
  }
}

}  // namespace

const char* name_of(ProtocolShape shape) {
  constexpr const char* kNames[] = {"ring",
                                    "two classes",
                                    "multicast",
                                    "lanes",
                                    "sequence",
                                    "named barrier",
                                    "flags",
                                    "arbitrary"};
  return kNames[static_cast<unsigned>(shape)];
}

Protocol random_protocol(Draw& draw, ProtocolShape shape, std::uint32_t edits_max) {
  Builder builder{draw, {}, 0};
  switch (shape) {
    case ProtocolShape::kRing:
      ring(builder, false);
      break;
    case ProtocolShape::kTwoClasses:
      ring(builder, true);
      break;
    case ProtocolShape::kMulticast:
      multicast(builder);
      break;
    case ProtocolShape::kLanes:
      lanes(builder);
      break;
    case ProtocolShape::kSequence:
      sequence(builder);
      break;
    case ProtocolShape::kNamed:
      named(builder);
      break;
    case ProtocolShape::kFlags:
      flags(builder);
      break;
    default:
      arbitrary(builder);
      break;
  }
  for (std::uint32_t i = 0, n = draw.below(edits_max + 1); i < n; ++i) {
    edit(builder);
  }
  return std::move(builder.protocol);
}

}  // namespace warptwin::sim
