// cp.async: copies of 4, 8 or 16 bytes that each lane makes and waits for by groups.
//
// A copy may write at any time between its issue and its wait. The model sees both ends of that
// time: at the issue a load of the source and a store that nobody knows the value of, at the wait
// the same load and the store of the data. Whoever is not ordered with both races. Who is ordered
// behind the issue, and before the wait, uses bytes that are on their way: the machine says so.

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/machine/wgmma_descriptor.hpp"

#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kCopyWordBytes = 4;  // of which all copies are made

Mask lane_bit(std::uint32_t lane) {
  return Mask{1} << lane;
}

}  // namespace

// Lines of the copies that are on their way to a CTA's words, by word; 0: none is.
std::vector<std::uint32_t>& WarpRun::words_copied(std::uint32_t rank) {
  return grid_.copied[std::array{machine_.cluster_index(), rank}];
}

// Reports a use of bytes [first, first + size) of a CTA's shared memory that a copy still writes.
void WarpRun::report_copied(const Request& request,
                            std::uint32_t rank,
                            std::uint64_t first,
                            std::uint64_t size,
                            bool writes) {
  if (grid_.copied.empty()) {
    return;
  }
  const std::vector<std::uint32_t>& words = words_copied(rank);
  const std::uint64_t end = (first + size + kCopyWordBytes - 1) / kCopyWordBytes;
  for (std::uint64_t word = first / kCopyWordBytes;
       word < std::min<std::uint64_t>(end, words.size());
       ++word) {
    if (words[word] != 0) {
      sim::LaneAccess access{kCopyWordBytes};
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(request.mask()));
      access.mask = lane_bit(lane);
      access.address[lane] = word * kCopyWordBytes;
      access.on_its_way = words[word];
      sim::Operation op = make(
          writes ? warptwin::Op::kSharedStore : warptwin::Op::kSharedLoad, request, access.mask);
      op.set<sim::operands::LaneBytes>() = {&access, rank, 0};
      perform(op);
      return;
    }
  }
}

// The same in the own CTA, or in those that a multicast names.
void WarpRun::report_copied(
    const Request& request, CtaMask ctas, std::uint64_t first, std::uint64_t size, bool writes) {
  for (std::uint32_t rank = 0; rank < machine_.cluster_size(); ++rank) {
    if (ctas.bits == 0 ? rank == machine_.cta_rank() : ctas.contains(rank)) {
      report_copied(request, rank, first, size, writes);
    }
  }
}

// What the tensor core reads of the CTA, or of both of a pair.
void WarpRun::report_copied(const Request& request, CtaGroup group, const sim::Units& units) {
  const bool pair = group == CtaGroup::kTwo;
  const auto own = static_cast<std::uint16_t>(pair ? 3U << (machine_.cta_rank() & ~1U)
                                                   : 1U << machine_.cta_rank());
  for (const auto& [first, end] : units) {
    report_copied(request, CtaMask{own}, first, end - first, false);
  }
}

// The operands in shared memory of a wgmma or a tcgen05.mma.
void WarpRun::report_copied_operands(const Request& request, const sim::Operation& op) {
  if (grid_.copied.empty()) {
    return;
  }
  const sim::operands::Product& product = op.product();
  const UmmaInstructionDescriptor& instruction = product.instruction;
  const std::uint32_t ctas = ctas_in(op.group());
  const std::uint32_t rows = op.op == warptwin::Op::kWgmma ? kWgmmaRows : instruction.m() / ctas;
  if ((op.flags & event_flag::kTmemA) == 0) {
    report_copied(request,
                  op.group(),
                  sim::units_of(product.a,
                                rows,
                                instruction.a_major(),
                                instruction.a_type(),
                                kMmaRowBytes,
                                padding_of(sim::small_a(instruction))));
  }
  report_copied(request,
                op.group(),
                sim::units_of(product.b,
                              instruction.n() / ctas,
                              instruction.b_major(),
                              instruction.b_type(),
                              instruction.b_row_bytes(),
                              padding_of(sim::small_b(instruction))));
}

// What the lanes of a load or a store are about to access.
void WarpRun::report_copied_lanes(const Request& request,
                                  std::size_t address,
                                  std::uint64_t size,
                                  bool writes) {
  if (grid_.copied.empty()) {
    return;
  }
  const auto places = places_of(request, address);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask() & lane_bit(lane)) != 0 && places[lane].space == Space::kShared) {
      report_copied(request, places[lane].rank, places[lane].address, size, writes);
    }
  }
}

Served WarpRun::load_settled(Request& request) {
  const Argument& target = *request.stop.operands[0].argument;
  const std::uint32_t parts = target.kind == Argument::Kind::kVector ? target.count : 1;
  report_copied_lanes(request, 1, std::uint64_t{parts} * bytes_of(request.modifiers.type()), false);
  if (const std::optional<Served> polled = poll(request)) {
    return *polled;
  }
  return relaxed(request, 1, true) ? Served::kDone : load(request);
}

Served WarpRun::store_settled(Request& request) {
  const std::uint64_t parts = request.stop.operands[1].values.size();
  report_copied_lanes(request, 0, parts * std::min(bytes_of(request.modifiers.type()), 8U), true);
  return relaxed(request, 0, false) ? Served::kDone : store(request);
}

// The bytes of the source that each lane reads; the rest of the copy is zeros.
std::array<std::uint32_t, kLanes> WarpRun::source_bytes(const Request& request,
                                                        std::uint32_t size) const {
  std::array<std::uint32_t, kLanes> bytes;
  bytes.fill(size);
  const bool hinted = request.modifiers.has("L2::cache_hint"_mod);
  if (request.operands() < (hinted ? 5 : 4)) {
    return bytes;
  }
  const Argument& argument = *request.stop.operands[3].argument;
  const Routine& routine = *request.strand.frame->routine;
  const bool ignores =
      argument.kind == Argument::Kind::kRegister && routine.bits_of(argument.index) == 1;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((request.mask() & lane_bit(lane)) != 0) {
      const std::uint64_t value = known(request, 3, lane_bit(lane));
      bytes[lane] = ignores ? (value != 0 ? 0 : size) : static_cast<std::uint32_t>(value);
      if (bytes[lane] > size) {
        refuse(request, "a cp.async reads no more than it writes");
      }
    }
  }
  return bytes;
}

// [dst], [src], cp-size{, src-size or ignore-src}{, cache-policy}.
Served WarpRun::async_copy(Request& request) {
  const auto size = static_cast<std::uint32_t>(uniform(request, 2));
  if (size != 16 && (request.modifiers.has("cg"_mod) || (size != 4 && size != 8))) {
    refuse(request, "a cp.async is of 4, 8 or 16 bytes, by .cg of 16");
  }
  const auto bytes = source_bytes(request, size);
  for (Mask left = request.mask(); left != 0;) {
    const std::uint32_t read = bytes[static_cast<std::uint32_t>(std::countr_zero(left))];
    Mask same = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      same |= (left & lane_bit(lane)) != 0 && bytes[lane] == read ? lane_bit(lane) : 0;
    }
    issue_copy(request, same, size, read);
    left &= ~same;
  }
  return Served::kDone;
}

void WarpRun::issue_copy(Request& request, Mask lanes, std::uint32_t size, std::uint32_t read) {
  AsyncCopy copy{sim::LaneAccess{read}, sim::LaneAccess{size}, lanes, {}, {}, 0};
  copy.group.fill(kNoIndex);
  copy.number = ++async_copies_;
  copy.source.mask = copy.target.mask = lanes;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes & lane_bit(lane)) == 0) {
      continue;
    }
    copy.source.address[lane] = known(request, 1, lane_bit(lane));
    copy.target.address[lane] = own_shared(request, known(request, 0, lane_bit(lane)));
    if (read != size && read != 0 && copy.source.address[lane] % size != 0) {
      refuse(request, "the source of a cp.async is not aligned to its size");
    }
    report_copied(request, machine_.cta_rank(), copy.target.address[lane], size, true);
  }
  // Until the wait the target has neither the old bytes nor the new ones.
  sim::Operation load = make(warptwin::Op::kGlobalLoad, request, lanes);
  load.set<sim::operands::LaneBytes>() = {&copy.source, 0, copy.number};
  load.flags |= event_flag::kOfCopies;
  sim::Operation store = make(warptwin::Op::kSharedStore, request, lanes);
  copy.site = store.site;
  sim::InstructionTime& time = machine_.registers().instructions;
  time.copy = sim::LaneCopy::kBegin;
  if (read != 0) {
    touch(request, copy.source, LaneWords::kGlobal, Touch::kLoad);
    perform(load);
  }
  copy.lands = read != 0 ? time.ready : 0;
  // With data who reads them too early is reported, and finds them changed.
  copy.target.poison.assign(copy.target.poison.size(), machine_.moves_data() ? 0 : 1);
  copy.target.data.assign(copy.target.data.size(), std::byte{0xAD});
  store.set<sim::operands::LaneBytes>() = {&copy.target, machine_.cta_rank(), 0};
  touch(request, copy.target, shared_base(machine_.cta_rank()), Touch::kStore);
  perform(store);
  time.copy = sim::LaneCopy::kNone;
  copy.target.poison.assign(copy.target.poison.size(), 0);
  copy.target.data.assign(copy.target.data.size(), std::byte{0});
  for (std::uint32_t lane = 0; lane < kLanes && read != 0; ++lane) {
    std::memcpy(&copy.target.data[std::size_t{lane} * size],
                &copy.source.data[std::size_t{lane} * read],
                read);
    std::memcpy(&copy.target.poison[std::size_t{lane} * size],
                &copy.source.poison[std::size_t{lane} * read],
                read);
  }
  copy.line = static_cast<std::uint32_t>(request.op.source->position.line);
  note_copied(copy.target, lanes, copy.line);
  copies_.push_back(std::move(copy));
}

// That the words of these lanes are on their way, or with line 0 that they have come.
void WarpRun::note_copied(const sim::LaneAccess& target, Mask lanes, std::uint32_t line) {
  std::vector<std::uint32_t>& words = words_copied(machine_.cta_rank());
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if ((lanes & lane_bit(lane)) == 0) {
      continue;
    }
    const std::uint64_t first = target.address[lane] / kCopyWordBytes;
    words.resize(std::max<std::size_t>(words.size(), first + target.bytes / kCopyWordBytes));
    std::fill_n(
        words.begin() + static_cast<std::ptrdiff_t>(first), target.bytes / kCopyWordBytes, line);
  }
}

// Each lane has groups of its own, numbered as it commits them. A copy that an mbarrier counts is
// in a group, too.
void WarpRun::commit_copies(Mask lanes) {
  for (std::vector<AsyncCopy>* copies : {&copies_, &counted_}) {
    for (AsyncCopy& copy : *copies) {
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        if ((copy.left & lanes & lane_bit(lane)) != 0 && copy.group[lane] == kNoIndex) {
          copy.group[lane] = committed_[lane];
        }
      }
    }
  }
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    committed_[lane] += (lanes & lane_bit(lane)) != 0 ? 1 : 0;
  }
}

Served WarpRun::async_group(Request& request) {
  const bool all = request.op.is("cp.async.wait_all");
  if (all || request.op.is("cp.async.commit_group")) {
    commit_copies(request.mask());
  }
  if (request.op.is("cp.async.commit_group")) {
    return Served::kDone;
  }
  const std::uint64_t pending = all ? 0 : uniform(request, 0);
  const auto over_of = [&](const AsyncCopy& copy) {
    Mask over = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const bool waits = (copy.left & request.mask() & lane_bit(lane)) != 0;
      over |= waits && copy.group[lane] != kNoIndex && copy.group[lane] + pending < committed_[lane]
                  ? lane_bit(lane)
                  : 0;
    }
    return over;
  };
  const auto none_left = [](const AsyncCopy& copy) { return copy.left == 0; };
  for (AsyncCopy& copy : copies_) {
    if (const Mask over = over_of(copy); over != 0) {
      land_copy(request, copy, over);
    }
  }
  std::erase_if(copies_, none_left);
  for (AsyncCopy& copy : counted_) {
    const Mask over = over_of(copy);
    copy.left &= ~over;
    if (over != 0 && copy.left == 0) {
      tell_over(request, copy);
    }
  }
  std::erase_if(counted_, none_left);
  return Served::kDone;
}

// Copies that an mbarrier counts: each lane that made them has waited for its own. The bytes were
// written before, and others, whom the mbarrier has told, may have used them since.
void WarpRun::tell_over(const Request& request, AsyncCopy& copy) {
  const Mask lanes = copy.target.mask;
  const auto tell = [&](warptwin::Op kind, const sim::LaneAccess& at) {
    const bool shared = kind == warptwin::Op::kSharedLoad;
    sim::LaneAccess bytes{at.bytes};
    bytes.mask = lanes;
    bytes.address = at.address;
    sim::Operation op = make(kind, request, lanes);
    op.site = copy.site;
    op.set<sim::operands::LaneBytes>() = {&bytes, shared ? machine_.cta_rank() : 0, copy.serial};
    op.flags |= event_flag::kCopiesAreOver;
    perform(op);
  };
  if (copy.source.bytes != 0) {
    tell(warptwin::Op::kGlobalLoad, copy.source);
  }
  touch(request, copy.target, shared_base(machine_.cta_rank()), Touch::kStore);
  tell(warptwin::Op::kSharedLoad, copy.target);
}

// The copies of these lanes are over.
void WarpRun::land_copy(const Request& request, AsyncCopy& copy, Mask lanes) {
  sim::InstructionTime& time = machine_.registers().instructions;
  time.copy = sim::LaneCopy::kEnd;
  time.lands = copy.lands;
  if (copy.source.bytes != 0) {
    sim::LaneAccess again = copy.source;
    again.mask = lanes;
    sim::Operation load = make(warptwin::Op::kGlobalLoad, request, lanes);
    load.site = copy.site;
    load.set<sim::operands::LaneBytes>() = {&again, 0, copy.number};
    perform(load);
  }
  sim::LaneAccess target = copy.target;
  target.mask = lanes;
  sim::Operation store = make(warptwin::Op::kSharedStore, request, lanes);
  store.site = copy.site;
  store.set<sim::operands::LaneBytes>() = {&target, machine_.cta_rank(), 0};
  touch(request, target, shared_base(machine_.cta_rank()), Touch::kStore);
  perform(store);
  time.copy = sim::LaneCopy::kNone;
  note_copied(copy.target, lanes, 0);
  copy.left &= ~lanes;
}

// Nothing makes the end of a CTA wait for what still writes its shared memory.
void WarpRun::check_end() {
  if (copies_.empty()) {
    return;
  }
  AsyncCopy& copy = copies_.front();
  copy.target.on_its_way = copy.line;
  copy.target.at_exit = true;
  copy.target.mask = copy.left;
  sim::Operation op{warptwin::Op::kSharedStore};
  op.lanes = kLanes;
  op.site = copy.site;
  op.set<sim::operands::LaneBytes>() = {&copy.target, machine_.cta_rank(), 0};
  perform(op);
}

}  // namespace warptwin::ptx
