// Loops that look at a word of global memory until it is another one: a wait of the model.

#include <algorithm>
#include <bit>

#include "sim/ptx/machine/rehearsal.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kLooksMax = 16;

// Whether the atomic leaves the word as it finds it, whatever that is.
bool leaves_word(const Modifiers& modifiers, const Stop& stop) {
  const auto every = [&](auto&& holds) {
    bool all = true;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      all = all && ((stop.mask >> lane & 1U) == 0 || holds(lane));
    }
    return all;
  };
  const Lanes& b = stop.operands[2].values[0];
  if ((b.poisoned() & stop.mask) != 0) {
    return false;
  }
  if (modifiers.has("add"_mod) || modifiers.has("or"_mod) || modifiers.has("xor"_mod)) {
    return every([&](std::uint32_t lane) { return b.value[lane] == 0; });
  }
  if (modifiers.has("and"_mod)) {
    return every([&](std::uint32_t lane) {
      return static_cast<std::uint32_t>(b.value[lane]) == ~std::uint32_t{0};
    });
  }
  return modifiers.has("cas"_mod) && every([&](std::uint32_t lane) {
           const Lanes& c = stop.operands[3].values[0];
           return c.poison[lane] == 0 && b.value[lane] == c.value[lane];
         });
}

}  // namespace

bool asks_sign_alone(const Code& code, std::uint32_t number, bool behind_xor) {
  const auto is_it = [&](const Argument& argument) {
    return argument.kind == Argument::Kind::kRegister && argument.index == number;
  };
  const auto asks_sign = [&](const Op& op) {
    const auto arguments = code.arguments_of(op);
    const Modifiers& modifiers = op.source->modifiers;
    if (bytes_of(modifiers.type()) != 4 || arguments.size() != 3 ||
        (op.guarded() && op.guard == number)) {
      return false;
    }
    const Argument& target = arguments[0];
    if (op.is("xor") && !behind_xor && target.kind == Argument::Kind::kRegister) {
      return asks_sign_alone(code, target.index, true);
    }
    const bool reversed = is_it(arguments[2]);
    const Argument& other = arguments[reversed ? 1 : 2];
    if (other.kind != Argument::Kind::kNumber) {
      return false;
    }
    const auto value = static_cast<std::uint32_t>(other.value);
    if (op.is("and")) {
      return value == sim::WordTest::kSign;
    }
    const auto test = op.is("setp") ? test_of(modifiers, reversed, value) : std::nullopt;
    return test && test->sign();
  };
  return std::all_of(code.ops.begin(), code.ops.end(), [&](const Op& op) {
    bool reads = false;
    code.for_each_register(
        op, [&](std::uint32_t one, bool written) { reads = reads || (one == number && !written); });
    return !reads || asks_sign(op);
  });
}

bool asks_one_number(const Code& code,
                     const Liveness& liveness,
                     std::uint32_t number,
                     bool behind_add) {
  std::uint32_t readers = 0;
  bool plain = true;
  const auto adds = [&](const Op& op) {
    const auto arguments = code.arguments_of(op);
    return op.is("add") && !behind_add && !op.guarded() && arguments.size() == 3 &&
           arguments[0].kind == Argument::Kind::kRegister &&
           arguments[2].kind == Argument::Kind::kNumber &&
           asks_one_number(code, liveness, arguments[0].index, true);
  };
  for (std::uint32_t at = 0; at < code.ops.size(); ++at) {
    const Op& op = code.ops[at];
    bool reads = false;
    code.for_each_register(
        op, [&](std::uint32_t one, bool written) { reads = reads || (one == number && !written); });
    if (reads) {
      const auto live = liveness.live_before(at + 1);
      plain = plain && !std::binary_search(live.begin(), live.end(), number);
      const Modifiers& modifiers = op.source->modifiers;
      ++readers;
      const bool compares = op.is("setp") && (modifiers.has("eq"_mod) || modifiers.has("ne"_mod));
      plain = plain && bytes_of(modifiers.type()) == 4 && !is_float(modifiers.type()) &&
              (compares || adds(op));
    }
  }
  return readers == 1 && plain;
}

std::vector<std::uint64_t> WarpRun::asked_by(const Strand& strand, const Stop& stop, Look look) {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  const bool atomic = op.is("atom");
  const std::size_t last = look == Look::kTry ? 2 : atomic ? stop.operands.size() - 1 : 1;
  std::vector<std::uint64_t> asks{stop.mask};
  if (stop.kind != Stop::Kind::kRequest || stop.mask == 0 || last >= stop.operands.size()) {
    return {};
  }
  const Modifiers& modifiers = op.source->modifiers;
  for (std::size_t operand = 1; operand <= last; ++operand) {
    const bool state = look == Look::kTry && operand == 2 && !modifiers.has("parity"_mod);
    for (const Lanes& lanes : stop.operands[operand].values) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        if ((stop.mask >> lane & 1U) != 0) {
          asks.push_back(lanes.value[lane]);
        }
      }
      if (!state && (lanes.poisoned() & stop.mask) != 0) {
        return {};
      }
    }
  }
  const bool word = bytes_of(modifiers.type()) == 4 && !is_float(modifiers.type());
  const bool leaves = !atomic || look == Look::kAtomic || leaves_word(modifiers, stop);
  return look == Look::kTry || (word && leaves) ? asks : std::vector<std::uint64_t>{};
}

const std::vector<std::uint32_t>& WarpRun::needed_at(const Routine& routine, std::uint32_t op) {
  const auto [found, added] = grid_.needed[&routine].try_emplace(op);
  if (added && op < routine.code.ops.size()) {
    const auto [liveness, first] = grid_.liveness.try_emplace(&routine, routine.code, routine.flow);
    for (const std::uint32_t number : liveness->second.live_before(op)) {
      found->second.push_back(routine.slots[number]);
      if (routine.bits_of(number) > 64) {
        found->second.push_back(routine.slots[number] + 1);
      }
    }
  }
  return found->second;
}

// Nothing but a cooperative launch says that another cluster, which has written the word, is on the
// machine while this one waits for it.
void WarpRun::note_awaited(const Request& request, std::uint64_t address) {
  const std::uint64_t word = address & ~std::uint64_t{3};
  const auto first = grid_.writers.find(word);
  const bool others =
      first != grid_.writers.end() &&
      (first->second[0] != machine_.cluster_index() || grid_.words_of_clusters.contains(word));
  if (others && !grid_.shape.cooperative) {
    grid_.awaited.insert(kernel_.line_of(*request.strand.frame->routine, request.stop.op));
  }
}

// A look that is a poll of a word is a wait: it blocks where nobody else of the warp can go on,
// else it looks, and lets the others go. None of one that is no poll. Each lane may wait for a word
// of its own, one after the other: what comes behind the last wait comes behind all.
std::optional<Served> WarpRun::poll(Request& request) {
  const Modifiers& modifiers = request.modifiers;
  const bool atomic = request.op.is("atom");
  const bool acquires = modifiers.has("acquire"_mod) || modifiers.has("acq_rel"_mod);
  const bool strong =
      atomic || acquires || modifiers.has("relaxed"_mod) || modifiers.has("volatile"_mod);
  if (!strong || asked_by(request.strand, request.stop, Look::kWord).empty()) {
    return std::nullopt;
  }
  const auto places = places_of(request, 1);
  const Space space = places[static_cast<std::uint32_t>(std::countr_zero(request.mask()))].space;
  bool one_space = space == Space::kGlobal || (space == Space::kShared && !atomic);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    one_space = one_space && ((request.mask() >> lane & 1U) == 0 || places[lane].space == space);
  }
  if (!one_space) {
    return std::nullopt;
  }
  // Where it takes long to see that it is none, as in a loop that counts far, it is asked ever less
  // often.
  std::uint32_t& in_vain = grid_.far_looks[&request.op];
  if (in_vain > kLooksMax && !std::has_single_bit(in_vain)) {
    ++in_vain;
    return std::nullopt;
  }
  const Awaited found = awaited(*this, request.strand, request.stop, Look::kWord);
  if (found.unclear && !resuming_) {
    return Served::kAgain;
  }
  in_vain = found.far ? in_vain + 1 : 0;
  if (!found.waits) {
    return std::nullopt;
  }
  if (space == Space::kShared) {
    refuse(request, "a wait for a word of shared memory is not there: an mbarrier is");
  }
  const bool others = others_can_go();
  if (others && !resuming_) {
    return Served::kAgain;
  }
  Lanes brought;
  bool holds = true;
  const Mask serving = serving_;
  for_equal(request, {1}, [&](Mask lanes) {
    if (!holds) {
      return;
    }
    const Place& place = places[static_cast<std::uint32_t>(std::countr_zero(lanes))];
    require_contents(request, place.address);
    sim::Operation op = make(warptwin::Op::kGlobalWait, request, lanes);
    auto& word = op.as<sim::operands::GlobalWord>();
    word.address = place.address;
    word.value = found.test.with;
    word.test = found.test.code() | (atomic ? sim::WordTest::kUpdates : 0U);
    word.test_operands = found.test.operands();
    word.asks_known = true;
    op.flags |= others ? event_flag::kPeek : std::uint32_t{0};
    set_order(modifiers, op);
    touch_words(request, lanes, places, atomic ? Touch::kAdd : Touch::kStrongLoad);
    serving_ = lanes;
    perform(op, acquires);
    serving_ = serving;
    if (word.unknown) {
      refuse_unknown(request.strand, request.stop.op, "it waits for a word of data");
    }
    holds = found.test.holds(op.result);
    note_awaited(request, place.address);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      brought.value[lane] = (lanes >> lane & 1U) != 0 ? op.result : brought.value[lane];
    }
  });
  if (!holds) {
    return Served::kAgain;
  }
  request.strand.write(request.stop, 0, 0, brought);
  return Served::kDone;
}

}  // namespace warptwin::ptx
