#include "sim/ptx/machine/warp.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/kernel/scenario.hpp"
#include "common/trace/words.hpp"

#include "sim/model/symbols.hpp"
#include "sim/ptx/code/flow.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint64_t kSlice = 1U << 20;
/// Instructions between two operations of the machine, beyond which a loop is said not to end.
constexpr std::uint64_t kStepsMax = std::uint64_t{1} << 25;
/// So many of these behind that, each alone, and the warp may be where it was.
constexpr std::uint64_t kRoundMax = std::uint64_t{1} << 10;
/// Instructions that tell a warp nothing, behind which it may be where it was within a sixteenth of
/// them; then behind twice as many, and so on.
constexpr std::uint64_t kBlindMin = std::uint64_t{1} << 12;
constexpr std::uint64_t kBlindParts = 16;

// "; it goes round in lines 12 to 15 of the PTX, at a.cu:7, b.hpp:3": the loop that `op` is in.
std::string words_of_loop(const Kernel& kernel, const Routine& routine, std::uint32_t op) {
  const std::string text = kernel.loop_around(routine, op);
  return text.empty() ? "" : "; it goes round in " + text;
}

}  // namespace

WarpRun::WarpRun(GridContext& grid, sim::SimMachine& machine)
    : grid_{grid},
      kernel_{*grid.kernel},
      machine_{machine},
      touched_{machine.lane_judge(), machine.number()},
      copies_{machine.cta_rank(),
              machine.moves_data(),
              machine.registers(),
              grid.kernel->waits_for_groups()} {
  const std::uint32_t first = machine.warp_index() * kLanes;
  const std::uint32_t threads = std::min(grid.shape.threads() - first, kLanes);
  live_ = began_ = static_cast<Mask>(low_bits(threads));
  local_.resize(kernel_.local_bytes() * kLanes);
  if (machine.registers().instructions.times != nullptr) {
    pace_.emplace(grid.costs, machine.registers());
  }
  local_poison_.resize(local_.size(), 1);
}

void WarpRun::run() {
  std::optional<sim::Operation> end;
  try {
    go_on();
  } catch (const OutsideMemory& outside) {
    end = outside.operation;  // executed below: other warps may act then
    served_ = nullptr;
  }
  if (end) {
    end_by(*end);
  }
  if (pace_) {
    pace_->hand_over();
  }
}

void WarpRun::go_on() {
  ready_.push_back(Strand::begin(kernel_.routine(), live_));
  while (live_ != 0) {
    if (!ready_.empty()) {
      Strand strand = std::move(ready_.back());
      ready_.pop_back();
      step(std::move(strand));
    } else if (!joining_.empty()) {
      // Those inside of most branches first: the others may be waiting for them.
      const auto next = std::max_element(joining_.begin(), joining_.end(), [](auto& a, auto& b) {
        return a.joins.size() < b.joins.size();
      });
      ready_.push_back(std::move(*next));
      joining_.erase(next);
    } else {
      gather();
    }
  }
}

// Where the warp is, `strand` included, which is in none of its lists.
std::uint64_t WarpRun::place_with(const Strand& strand) {
  served_ = &strand;
  const std::uint64_t place = fingerprint();
  served_ = nullptr;
  return place;
}

// Instructions since the last operation of the machine.
void WarpRun::count_steps(const Strand& strand, std::uint64_t more) {
  const bool few = steps_ < kStepsMax;
  steps_ += more;
  if (few && steps_ >= kStepsMax) {
    been_ = place_with(strand);
  }
  if (steps_ > kStepsMax + kRoundMax) {
    refuse(strand,
           strand.pc,
           "a loop without an operation of the machine does not end" +
               words_of_loop(kernel_, *strand.frame->routine, strand.pc));
  }
}

// A slice of them, a single one behind kStepsMax. Whether the warp is where it has been since: then
// it comes back for ever, for nothing has told it anything.
bool WarpRun::count_slice(const Strand& strand) {
  const bool few = steps_ < kStepsMax;
  if (!few && place_with(strand) == been_) {
    return true;
  }
  count_steps(strand, few ? kSlice : 1);
  return false;
}

// The same of instructions that use the machine and are told nothing by it.
bool WarpRun::count_blind(const Strand& strand, bool blind) {
  blind_ = blind ? blind_ + 1 : 0;
  const std::uint64_t since = blind_ - std::bit_floor(blind_);
  if (blind_ < kBlindMin || since > std::bit_floor(blind_) / kBlindParts) {
    return false;
  }
  const std::uint64_t here = place_with(strand);
  const bool back = since != 0 && here == been_blindly_;
  been_blindly_ = since == 0 ? here : been_blindly_;
  return back;
}

// Ends the run: `strand` goes round for ever.
void WarpRun::go_round(const Strand& strand) {
  sim::Operation op{warptwin::Op::kTrap};
  op.site = kernel_.site_of(*strand.frame->routine, strand.pc);
  op.as<sim::operands::Trap>().cause = sim::TrapCause::kForEver;
  end_by(op);
}

void WarpRun::step(Strand strand) {
  const auto lanes = static_cast<std::uint64_t>(std::popcount(strand.mask));
  const std::uint64_t slice = steps_ < kStepsMax ? kSlice : 1;
  Stop stop = strand.run(kernel_.program(), *this, slice, pace_ ? &*pace_ : nullptr);
  *grid_.thread_instructions += lanes * stop.instructions;
  switch (stop.kind) {
    case Stop::Kind::kRequest:
      serve(std::move(strand), std::move(stop));
      return;
    case Stop::Kind::kParted:
      parted_ = true;
      for (Strand& other : stop.others) {
        ready_.push_back(std::move(other));
      }
      ready_.push_back(std::move(strand));
      return;
    case Stop::Kind::kJoin:
      for (Strand& other : joining_) {
        if (other.merge(strand)) {
          return;
        }
      }
      joining_.push_back(std::move(strand));
      return;
    case Stop::Kind::kLeft:
      live_ &= ~stop.mask;
      if (strand.mask != 0) {
        ready_.push_back(std::move(strand));
      }
      return;
    case Stop::Kind::kCall:
      called(strand, stop);
      ready_.push_back(std::move(strand));
      return;
    case Stop::Kind::kSteps:
      if (count_slice(strand)) {
        go_round(strand);
        return;
      }
      ready_.push_back(std::move(strand));
      return;
    case Stop::Kind::kTrap:
      trap(strand, stop, 0);
      return;
    case Stop::Kind::kPoison:
      refuse_unknown(strand,
                     stop.op,
                     "what is executed next depends on a register that nobody has written, on data "
                     "that is still on its way to it, or on what another run may find otherwise (a "
                     "clock, %smid, %warpid, activemask behind lanes that have parted)");
    case Stop::Kind::kMissing:
    case Stop::Kind::kFault:
      refuse(strand, stop.op, stop.text);
  }
}

void WarpRun::refuse(const Strand& strand, std::uint32_t op, const std::string& why) const {
  throw ConfigError(place_of(strand, op, why));
}

void WarpRun::refuse_unknown(const Strand& strand, std::uint32_t op, const std::string& why) const {
  std::string also;
  for (const std::string& place : grid_.asked_bases) {
    also += (also.empty() ? ", or on which columns tcgen05.alloc has got (--rule tmem_base=lowest "
                            "takes the lowest), of which something is made at "
                          : ", ") +
            place;
  }
  if (!machine_.moves_data()) {
    throw DependsOnData(place_of(strand, op, why + also));
  }
  refuse(strand, op, why + also);
}

void WarpRun::asks_tensor_base(const Strand& strand) {
  constexpr std::size_t kShown = 3;
  if (grid_.asked_bases.size() < kShown) {
    grid_.asked_bases.insert(kernel_.line_of(*strand.frame->routine, strand.pc));
  }
}

std::string WarpRun::place_of(const Strand& strand,
                              std::uint32_t op,
                              const std::string& why) const {
  const Routine& routine = *strand.frame->routine;
  std::string what;
  if (op < routine.code.ops.size()) {
    const Instruction& source = *routine.code.ops[op].source;
    what = " (" + std::string{source.text} + ", line " + std::to_string(source.position.line) +
           " of the PTX)";
  }
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(strand.mask));
  return kernel_.line_of(routine, op) + ": " + why + what + "; cluster " +
         std::to_string(machine_.cluster_index()) + ", CTA rank " +
         std::to_string(machine_.cta_rank()) + ", warp " + std::to_string(machine_.warp_index()) +
         ", lane " + std::to_string(lane);
}

// What takes a mask of members has it as its last operand.
bool WarpRun::names_members(const Op& op) {
  return op.form->group == Group::kWarp && op.form->name != "activemask";
}

// Those of the lanes that name the members which the first of them names. Refuses a lane that does
// not name itself: PTX leaves open what it does.
Mask WarpRun::members_alike(const Strand& strand, const Stop& stop) const {
  const Lanes& members = stop.operands.back().values[0];
  if ((members.poisoned() & stop.mask) != 0) {
    refuse_unknown(strand, stop.op, "nobody has written the mask of its members");
  }
  const auto first = static_cast<std::uint32_t>(std::countr_zero(stop.mask));
  const Mask others = stop.mask & ~members.equal_to(first);
  if (others == 0 && (stop.mask & ~static_cast<Mask>(members.value[first])) == 0) {
    return stop.mask;
  }
  Mask alike = 0;
  for (std::uint32_t lane = first; lane < kLanes; ++lane) {
    if ((stop.mask >> lane & 1U) == 0) {
      continue;
    }
    if ((static_cast<Mask>(members.value[lane]) >> lane & 1U) == 0) {
      refuse(strand,
             stop.op,
             "lane " + std::to_string(lane) + " is not among the members that it names");
    }
    alike |= Mask{static_cast<Mask>(members.value[lane]) == static_cast<Mask>(members.value[first])}
             << lane;
  }
  return alike;
}

// Lanes of the warp that have to be at the instruction before it is executed.
Mask WarpRun::needed_by(const Strand& strand, const Stop& stop) const {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  const HandlerRow* row = handler_of(op);
  if (row == nullptr || !row->gathers) {
    return stop.mask;
  }
  if (!names_members(op)) {
    return live_;
  }
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(stop.mask));
  return static_cast<Mask>(stop.operands.back().values[0].value[lane]) & live_;
}

void WarpRun::serve(Strand strand, Stop stop) {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  if (stop.unknown_guard != 0) {
    refuse_unknown(
        strand, stop.op, "whether it is executed depends on a register that nobody has written");
  }
  const HandlerRow* row = handler_of(op);
  if (row == nullptr) {
    refuse(strand, stop.op, "the simulator does not have this instruction");
  }
  if (names_members(op)) {
    if (const Mask alike = members_alike(strand, stop); alike != stop.mask) {
      // Lanes that name others go to an instruction of their own.
      Waiter others{strand, stop};
      others.strand.mask = others.stop.mask = stop.mask & ~alike;
      strand.mask &= ~others.strand.mask;
      stop.mask = alike;
      serve(std::move(others.strand), std::move(others.stop));
    }
  }
  if (row->gathers && stop.mask != strand.mask) {
    // Those that the guard passes by go on.
    Strand others = strand;
    others.mask = strand.mask & ~stop.mask;
    others.pc = stop.op + 1;
    parted_ = true;
    ready_.push_back(std::move(others));
    strand.mask = stop.mask;
  }
  if (row->gathers && (needed_by(strand, stop) & ~stop.mask) != 0) {
    gathering_.push_back({std::move(strand), std::move(stop)});
    return;
  }
  if (row->gathers && alone(stop.mask)) {
    parted_ = waited_apart_ = false;
  }
  note_ended(strand, stop);
  if (count_blind(strand, row->blind)) {
    go_round(strand);
    return;
  }
  serving_ = stop.mask;
  Request request{strand, stop, op, op.source->modifiers};
  if (handle(request) == Served::kAgain) {
    waiting_.push_back({std::move(strand), std::move(stop)});
    return;
  }
  strand.complete(stop);
  ready_.push_back(std::move(strand));
}

Served WarpRun::handle(Request& request) {
  note_registers(request);
  served_ = &request.strand;
  if (pace_) {
    pace_->begins(request.strand, request.stop.op);
  }
  come_together(request);
  acted_ |= names_members(request.op) ? Mask{0} : request.mask();
  const Served result = (this->*handler_of(request.op)->handler)(request);
  if (pace_) {
    pace_->ends(request.strand, request.stop.op);
  }
  served_ = nullptr;
  return result;
}

namespace {

class Hash {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9E3779B97F4A7C15U;
    value_ ^= value_ >> 29;
  }
  template <class T>
  void add(const std::vector<T>& bytes) {
    static_assert(std::has_unique_object_representations_v<T>);
    add(std::hash<std::string_view>{}(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size() * sizeof(T)}));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

// All of a frame but its registers.
void add_besides(Hash& hash, const Frame& frame) {
  hash.add(std::uint64_t{frame.call} << 32 | frame.carry);
  hash.add(std::uint64_t{frame.carry_poison});
  std::uint64_t parameters = 0;  // in no order
  for (const auto& [variable, bytes] : frame.parameters) {
    Hash one;
    one.add(bytes.bytes);
    one.add(bytes.poison);
    parameters += one.value();
  }
  hash.add(parameters);
}

void add_frames(Hash& hash, const Frame* frame) {
  for (; frame != nullptr; frame = frame->caller.get()) {
    hash.add(frame->slots);
    add_besides(hash, *frame);
  }
}

void add(Hash& hash, const Strand& strand) {
  hash.add(std::uint64_t{strand.pc} << 32 | strand.mask);
  add_frames(hash, strand.frame.get());
}

}  // namespace

// Where its strands are, and what their registers and their local memory hold.
std::uint64_t WarpRun::fingerprint() const {
  Hash hash;
  if (served_ != nullptr) {
    add(hash, *served_);
  }
  for (const std::vector<Strand>* strands : {&ready_, &joining_}) {
    for (const Strand& strand : *strands) {
      add(hash, strand);
    }
  }
  for (const std::vector<Waiter>* waiters : {&gathering_, &waiting_}) {
    for (const Waiter& waiter : *waiters) {
      add(hash, waiter.strand);
    }
  }
  hash.add(local_);
  return hash.value();
}

// What may decide where a strand goes from a try: the registers that it still needs, and its
// lanes' local memory.
std::uint64_t WarpRun::needed_by_try(const Request& request) const {
  Hash hash;
  const Frame& frame = *request.strand.frame;
  for (const std::uint32_t slot : kernel_.needed_at_try(*frame.routine, request.stop.op)) {
    const Lanes& lanes = frame.slots[slot];
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((request.mask() >> lane & 1U) != 0) {
        hash.add(lanes.value[lane]);
        hash.add(lanes.poison[lane]);
      }
    }
  }
  add_besides(hash, frame);
  add_frames(hash, frame.caller.get());
  hash.add(local_);
  return hash.value();
}

// Nobody can go on by himself: lanes that have come together do, then those that wait.
void WarpRun::gather() {
  for (std::size_t first = 0; first < gathering_.size(); ++first) {
    if (gather_at(first)) {
      return;
    }
  }
  if (resume_waiter()) {
    return;
  }
  if (gathering_.empty()) {
    live_ = 0;  // cannot be: every live lane is somewhere
    return;
  }
  // The others never come. The machine says what that means for what it executes; the rest cannot.
  Waiter waiter = std::move(gathering_.front());
  gathering_.erase(gathering_.begin());
  const Op& op = waiter.strand.frame->routine->code.ops[waiter.stop.op];
  if (op.form->group == Group::kWarp && !op.is("bar.warp.sync")) {
    refuse(waiter.strand, waiter.stop.op, "not all lanes that it names come to it");
  }
  serving_ = waiter.stop.mask;
  Request request{waiter.strand, waiter.stop, op, op.source->modifiers};
  handle(request);
  waiter.strand.complete(waiter.stop);
  ready_.push_back(std::move(waiter.strand));
}

namespace {

// What counts the warp once, wherever its lanes stand, is neither.
bool is_aligned(const Op& op) {
  return op.source->modifiers.has("aligned"_mod) || op.is("bar.sync") || op.is("bar.arrive");
}

}  // namespace

// Where an .aligned instruction is executed by what is left of a warp: in another order those that
// have ended might not have, yet. What these did since the warp met is taken to be known behind a
// barrier, though PTX says that of the barrier's own threads alone.
void WarpRun::note_ended(const Strand& strand, const Stop& stop) {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  if (live_ == began_ || !handler_of(op)->gathers || names_members(op)) {
    return;
  }
  if (is_aligned(op)) {
    grid_.ended.insert(kernel_.line_of(*strand.frame->routine, stop.op));
  }
  if ((performed_ & ~live_) != 0) {
    grid_.known_of_ended.insert(kernel_.line_of(*strand.frame->routine, stop.op));
  }
}

namespace {

// What the instruction has written for the lanes of a strand with registers of its own.
void take_results(const Stop& stop, Strand& to, const Strand& from) {
  const Routine& routine = *from.frame->routine;
  if (to.frame == from.frame || to.frame->routine != &routine) {
    return;
  }
  routine.code.for_each_register(routine.code.ops[stop.op], [&](std::uint32_t number, bool writes) {
    for (std::uint32_t lane = 0; lane < kLanes && writes; ++lane) {
      if ((stop.mask >> lane & 1U) != 0) {
        const Lanes& written = from.frame->slots[routine.slots[number]];
        Lanes& slot = to.frame->slots[routine.slots[number]];
        slot.value[lane] = written.value[lane];
        slot.poison[lane] = written.poison[lane];
      }
    }
  });
}

// Whether two strands ask for the same: a barrier by its number and count.
bool same_operands(const Stop& one, const Stop& other) {
  const auto a = static_cast<std::uint32_t>(std::countr_zero(one.mask));
  const auto b = static_cast<std::uint32_t>(std::countr_zero(other.mask));
  const auto equal = [&](const OperandValue& left, const OperandValue& right) {
    return std::equal(left.values.begin(),
                      left.values.end(),
                      right.values.begin(),
                      right.values.end(),
                      [&](const Lanes& x, const Lanes& y) { return x.value[a] == y.value[b]; });
  };
  return std::equal(one.operands.begin(),
                    one.operands.end(),
                    other.operands.begin(),
                    other.operands.end(),
                    equal);
}

}  // namespace

// Each lane's operands are as they were when it came there, which may be later than others.
void WarpRun::join_stops(Stop& whole, const Stop& other) {
  whole.mask |= other.mask;
  for (std::size_t at = 0; at < std::min(whole.operands.size(), other.operands.size()); ++at) {
    auto& into = whole.operands[at].values;
    const auto& from = other.operands[at].values;
    for (std::size_t part = 0; part < std::min(into.size(), from.size()); ++part) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        if ((other.mask >> lane & 1U) != 0) {
          into[part].value[lane] = from[part].value[lane];
          into[part].poison[lane] = from[part].poison[lane];
        }
      }
    }
  }
}

// Whether the strands at the instruction of `first` are all that it needs: then they are served.
bool WarpRun::gather_at(std::size_t first) {
  const Mask needed = needed_by(gathering_[first].strand, gathering_[first].stop);
  const Op& op = gathering_[first].strand.frame->routine->code.ops[gathering_[first].stop.op];
  const bool anywhere =
      op.is("bar.warp.sync") || (op.form->group == Group::kBarrier && !is_aligned(op));
  std::vector<std::size_t> others;
  Mask there = gathering_[first].stop.mask;
  for (std::size_t at = 0; at < gathering_.size(); ++at) {
    const Waiter& other = gathering_[at];
    const Waiter& one = gathering_[first];
    const Op& its = other.strand.frame->routine->code.ops[other.stop.op];
    // Lanes that have called a function apart may come together in it.
    const bool in_one = names_members(op)
                            ? other.strand.frame->routine == one.strand.frame->routine &&
                                  needed_by(other.strand, other.stop) == needed
                            : other.strand.frame == one.strand.frame;
    const bool same = in_one && other.stop.op == one.stop.op;
    const bool alike = its.form == op.form &&
                       its.source->modifiers.words == op.source->modifiers.words &&
                       same_operands(one.stop, other.stop);
    if (at != first && (same || (anywhere && alike))) {
      others.push_back(at);
      there |= other.stop.mask;
    }
  }
  if ((needed & ~there) != 0) {
    return false;
  }
  Waiter whole = std::move(gathering_[first]);
  std::vector<Waiter> apart;
  for (const std::size_t at : others) {
    Waiter& other = gathering_[at];
    join_stops(whole.stop, other.stop);
    if (!whole.strand.merge(other.strand)) {
      apart.push_back(std::move(other));
    }
  }
  others.push_back(first);
  std::sort(others.begin(), others.end(), std::greater<>{});
  for (const std::size_t at : others) {
    gathering_.erase(gathering_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  note_ended(whole.strand, whole.stop);
  serving_ = whole.stop.mask;
  Request request{whole.strand, whole.stop, op, op.source->modifiers};
  handle(request);
  whole.strand.complete(whole.stop);
  for (Waiter& other : apart) {
    if (names_members(op)) {
      take_results(other.stop, other.strand, whole.strand);
    }
    other.strand.complete(other.stop);
    ready_.push_back(std::move(other.strand));
  }
  ready_.push_back(std::move(whole.strand));
  return true;
}

// Who was told no tries again, in turn.
bool WarpRun::resume_waiter() {
  if (waiting_.empty()) {
    return false;
  }
  Waiter waiter = std::move(waiting_.front());
  waiting_.erase(waiting_.begin());
  const Op& op = waiter.strand.frame->routine->code.ops[waiter.stop.op];
  serving_ = waiter.stop.mask;
  Request request{waiter.strand, waiter.stop, op, op.source->modifiers};
  resuming_ = true;
  const Served served = handle(request);
  resuming_ = false;
  if (served == Served::kAgain) {
    waiting_.push_back(std::move(waiter));
    return true;
  }
  waiter.strand.complete(waiter.stop);
  ready_.push_back(std::move(waiter.strand));
  return true;
}

Lanes WarpRun::special(SpecialRegister special) {
  const std::string_view name = name_of(special);
  const LaunchShape& shape = grid_.shape;
  const std::uint32_t cluster = machine_.cluster_index();
  const std::uint32_t rank = machine_.cta_rank();
  const auto component = [&] { return static_cast<std::size_t>(name.back() - 'x'); };
  const auto of = [](std::uint32_t linear, const Extent3& extent) {
    return Extent3{
        linear % extent[0], linear / extent[0] % extent[1], linear / extent[0] / extent[1]};
  };
  const Extent3 clusters{shape.grid[0] / shape.cluster[0],
                         shape.grid[1] / shape.cluster[1],
                         shape.grid[2] / shape.cluster[2]};
  const Extent3 cluster_at = of(cluster, clusters);
  const Extent3 in_cluster = of(rank, shape.cluster);
  Lanes lanes;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t thread = machine_.warp_index() * kLanes + lane;
    std::uint64_t& value = lanes.value[lane];
    if (name.starts_with("%tid.")) {
      value = of(thread, shape.block)[component()];
    } else if (name.starts_with("%ntid.")) {
      value = shape.block[component()];
    } else if (name.starts_with("%ctaid.")) {
      value = cluster_at[component()] * shape.cluster[component()] + in_cluster[component()];
    } else if (name.starts_with("%nctaid.")) {
      value = shape.grid[component()];
    } else if (name.starts_with("%cluster_ctaid.")) {
      value = in_cluster[component()];
    } else if (name.starts_with("%cluster_nctaid.")) {
      value = shape.cluster[component()];
    } else if (name.starts_with("%clusterid.")) {
      value = cluster_at[component()];
    } else if (name.starts_with("%nclusterid.")) {
      value = clusters[component()];
    } else if (name == "%cluster_ctarank") {
      value = rank;
    } else if (name == "%cluster_nctarank") {
      value = shape.cluster_size();
    } else if (name == "%is_explicit_cluster") {
      value = shape.explicit_cluster || shape.cluster_size() > 1 ? 1 : 0;
    } else if (name == "%laneid") {
      value = lane;
    } else if (name == "%lanemask_eq") {
      value = 1U << lane;
    } else if (name == "%lanemask_lt") {
      value = (1U << lane) - 1;
    } else if (name == "%lanemask_le") {
      value = low_bits(lane + 1);
    } else if (name == "%lanemask_gt") {
      value = ~static_cast<std::uint32_t>(low_bits(lane + 1));
    } else if (name == "%lanemask_ge") {
      value = ~((1U << lane) - 1);
    } else if (name == "%dynamic_smem_size") {
      value = shape.dynamic_shared_bytes;
    } else if (name == "%total_smem_size") {
      constexpr std::uint64_t kGranularity = 128;  // an H100's
      const auto bytes = kernel_.shared_end() - sim::kSharedBase + shape.dynamic_shared_bytes;
      value = (bytes + kGranularity - 1) / kGranularity * kGranularity;
    } else if (name == "%envreg1") {
      value = grid_.workspace >> 32;
    } else if (name == "%envreg2") {
      value = grid_.workspace & 0xFFFFFFFFU;
    } else {
      return Lanes::unknown();  // a clock, an SM's number: another run gives another value
    }
  }
  return lanes;
}

std::uint64_t WarpRun::address_of(const VariableUse& use) {
  const Variable& variable = *use.variable;
  switch (variable.space) {
    case Space::kShared:
      return window_of(kernel_.shared_offset(variable));
    case Space::kParam:
      return kernel_.parameter_offset(variable);
    case Space::kLocal:
      return kernel_.local_offset(variable);
    default:
      return grid_.global_places.at(&variable);
  }
}

// How an approximation is rounded no manual says: with data it is as here, and that is named.
bool WarpRun::leaves_open(const Strand& strand) {
  const Routine& routine = *strand.frame->routine;
  if (machine_.moves_data() && grid_.rounded_ops.insert(&routine.code.ops[strand.pc]).second) {
    grid_.rounded.insert(kernel_.line_of(routine, strand.pc));
  }
  return !machine_.moves_data();
}

void WarpRun::leaves(const Routine& routine, Mask lanes) {
  forget_locals(routine, lanes, local_, local_poison_);
}

// What a function leaves in local memory nobody knows.
void WarpRun::forget_locals(const Routine& routine,
                            Mask lanes,
                            std::vector<std::uint8_t>& bytes,
                            std::vector<std::uint8_t>& poison) const {
  for (const Kernel::LocalPlace& local : kernel_.locals_of(routine)) {
    for (Mask left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      const std::size_t first = lane * kernel_.local_bytes() + local.at;
      std::fill_n(&bytes[first], local.bytes, std::uint8_t{0});
      std::fill_n(&poison[first], local.bytes, std::uint8_t{1});
    }
  }
}

std::uint64_t WarpRun::address_of(const Function& function) {
  const auto& functions = kernel_.program().module().functions;
  return kFunctionWindow + static_cast<std::uint64_t>(&function - functions.data());
}

const Function* WarpRun::function_at(std::uint64_t address) {
  const auto& functions = kernel_.program().module().functions;
  return address >= kFunctionWindow && address - kFunctionWindow < functions.size()
             ? &functions[address - kFunctionWindow]
             : nullptr;
}

// Asked for each instruction that is served, so by the place of its form in the table.
const WarpRun::HandlerRow* WarpRun::handler_of(const Op& op) {
  static const std::vector<const HandlerRow*> kOfForm = [] {
    std::vector<const HandlerRow*> rows(forms().size(), nullptr);
    for (std::size_t form = 0; form < rows.size(); ++form) {
      const auto found =
          std::find_if(handlers().begin(), handlers().end(), [&](const HandlerRow& row) {
            return row.name == forms()[form].name;
          });
      rows[form] = found == handlers().end() ? nullptr : &*found;
    }
    return rows;
  }();
  static const Form* const kFirst = forms().data();
  return kOfForm[static_cast<std::size_t>(op.form - kFirst)];
}

bool executes(const Op& op) {
  const Group group = op.form->group;
  return group == Group::kScalar || group == Group::kControl || WarpRun::has_handler(op);
}

}  // namespace warptwin::ptx
