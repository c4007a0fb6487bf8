#include "sim/oracle/values_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/oracle/values_cells.hpp"
#include "sim/oracle/values_layout.hpp"

namespace warptwin::sim::values {

namespace {

constexpr std::uint32_t kAssumedRegisters = 168;
constexpr std::uint32_t kSharedBegin = 1024;  // the hardware keeps what is below

class Planner {
 public:
  Planner(const Program& program, Plan& plan) : program_{program}, plan_{plan} {}

  void run() {
    collect_barriers();
    for (std::uint32_t warp = 0; warp < program_.warps.size() && plan_.unsupported.empty();
         ++warp) {
      for (const Instruction& instruction : program_.warps[warp]) {
        add(warp, instruction);
      }
    }
    if (!plan_.unsupported.empty()) {
      return;
    }
    trace_words();
    cells_.split();
    plan_.shared_cells = cells_.count(Space::kShared);
    plan_.tensor_cells = cells_.count(Space::kTensor);
    plan_.global_cells = cells_.count(Space::kGlobal);
    resolve();
    fill_tables();
    for (std::vector<Planned>& warp : plan_.warps) {
      find_live_registers(warp);
      find_repeated(warp, plan_.counters);
    }
  }

 private:
  struct Access {
    std::uint32_t warp = 0;
    std::size_t instruction = 0;
    std::size_t piece = 0;  // 0: of the warp's own step; else of started[piece - 1]
    Space space = Space::kShared;
    std::uint32_t cta = 0;
    std::uint32_t footprint = 0;
    bool writes = false;
  };
  // A copy whose words can be traced back.
  struct Copy {
    std::uint32_t warp = 0;
    std::size_t instruction = 0;
    bool is_load = false;
    std::vector<Run> runs;
    Range target;  // of a load: all that it writes; what no run gives is zero
  };

  void collect_barriers() {
    std::set<std::uint32_t> offsets;
    for (const std::vector<Instruction>& warp : program_.warps) {
      for (const Instruction& at : warp) {
        if (at.kind == Instruction::Kind::kJump) {
          continue;
        }
        const Operation& op = at.operation;
        if (is_load(op.op)) {
          offsets.insert(op.load_barrier() & 0xFFFFFFU);
        } else if (op.is<operands::Mbarrier>()) {
          offsets.insert(op.as<operands::Mbarrier>().address & 0xFFFFFFU);
        } else if (op.is<operands::Commit>()) {
          offsets.insert(op.as<operands::Commit>().barrier & 0xFFFFFFU);
        }
      }
    }
    plan_.barrier_offsets.assign(offsets.begin(), offsets.end());
  }

  std::uint32_t barrier(std::uint32_t cta, std::uint32_t offset) const {
    const auto& offsets = plan_.barrier_offsets;
    const auto at = std::lower_bound(offsets.begin(), offsets.end(), offset);
    return cta * static_cast<std::uint32_t>(offsets.size()) +
           static_cast<std::uint32_t>(at - offsets.begin());
  }

  std::string barrier_problem(std::uint32_t offset) const {
    return offset % 8 != 0             ? "an mbarrier that is not aligned to 8 bytes"
           : offset + 8 > shared_end() ? "an mbarrier outside of shared memory"
                                       : "";
  }

  Piece& piece(Planned& planned, std::size_t number) {
    return number == 0 ? planned.own : planned.started[number - 1];
  }

  void touch(Planned& planned,
             std::size_t number,
             Space space,
             std::uint32_t cta,
             Ranges ranges,
             bool writes) {
    normalise(ranges);
    if (ranges.empty()) {
      return;
    }
    if (space == Space::kShared) {
      if (ranges.back().end > shared_end()) {
        planned.misuse = "an address outside of shared memory";
        return;
      }
      for (const std::uint32_t offset : plan_.barrier_offsets) {
        for (const Range& range : ranges) {
          if (range.begin < offset + 8 && offset < range.end) {
            piece(planned, number).guards.push_back(barrier(cta, offset));
            overlapped_.insert(offset);
            break;
          }
        }
      }
    }
    accesses_.push_back({warp_,
                         plan_.warps[warp_].size(),
                         number,
                         space,
                         cta,
                         cells_.add(space, std::move(ranges)),
                         writes});
  }

  bool in_buffer(std::uint64_t address, std::uint64_t bytes) const {
    for (const Range& buffer : buffers()) {
      if (address >= buffer.begin && address <= buffer.end && bytes <= buffer.end - address) {
        return true;
      }
    }
    return false;
  }
  const Ranges& buffers() const {
    if (buffers_.empty()) {
      for (std::size_t i = 0; i < program_.workload.tensors.size(); ++i) {
        const std::uint64_t begin = program_.buffer_address(i);
        buffers_.push_back({begin, begin + program_.workload.tensors[i].bytes()});
      }
    }
    return buffers_;
  }

  void add(std::uint32_t warp, const Instruction& instruction) {
    warp_ = warp;
    cta_ = plan_.cta_of(warp);
    Planned planned;
    planned.instruction = &instruction;
    planned.token = mixed((std::uint64_t{warp} << 32) + plan_.warps[warp].size() + 1);
    planned.own.ctas = {cta_};
    if (planned.is_jump()) {
      const std::uint32_t tested = instruction.tested;
      plan_.registers = std::max(plan_.registers, tested == Instruction::kNone ? 0 : tested + 1);
    } else {
      const Operation& op = instruction.operation;
      if (std::string why = unsupported(op); !why.empty()) {
        plan_.unsupported = std::move(why);
      }
      if (instruction.fragment != Instruction::kNone) {
        planned.fragment = fragment(warp, instruction.fragment);
      }
      if (op.lanes != 1 && op.lanes != kWarpLanes) {
        planned.misuse = "an operation of neither one lane nor all";
      } else {
        add_operation(planned, op);
      }
    }
    plan_.warps[warp].push_back(std::move(planned));
  }

  std::uint32_t fragment(std::uint32_t warp, std::uint32_t name) {
    const auto [at, is_new] = fragments_.try_emplace({warp, name}, plan_.fragments);
    plan_.fragments += is_new ? 1 : 0;
    return at->second;
  }

  void add_operation(Planned& planned, const Operation& op);
  void add_barrier(Planned& planned, const Operation& op);
  void add_word(Planned& planned, const Operation& op);
  void add_copy(Planned& planned, const Operation& op);
  void add_request(Planned& planned, const Operation& op);
  void add_tensor(Planned& planned, const Operation& op);
  void add_mma(Planned& planned, const Operation& op, const std::vector<std::uint32_t>& ctas);
  void add_tensor_port(Planned& planned, const Operation& op);
  void add_commit(Planned& planned, const Operation& op);
  void trace_words();
  void trace_word(Space space, std::uint64_t address);
  void resolve();
  void resolve_moves(const Copy& copy);
  void fill_tables();
  std::uint32_t absolute(Space space, std::uint32_t cta, std::uint32_t cell) const {
    return space == Space::kShared   ? cta * plan_.shared_cells + cell
           : space == Space::kTensor ? plan_.first_tensor(cta) + cell
                                     : plan_.first_global() + cell;
  }
  std::uint32_t shared_end() const { return kSharedBegin + program_.symbols.bytes; }
  std::uint32_t first_of_cluster() const { return plan_.cluster_of(cta_) * plan_.cluster_size; }

  const Program& program_;
  Plan& plan_;
  CellSplitter cells_;
  std::vector<Access> accesses_;
  std::vector<Copy> copies_;
  std::set<std::pair<Space, std::uint64_t>> words_;
  std::vector<std::pair<Space, std::uint64_t>> untraced_;
  std::set<std::uint32_t> overlapped_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> fragments_;
  mutable Ranges buffers_;
  std::uint32_t warp_ = 0;
  std::uint32_t cta_ = 0;
};

void Planner::add_operation(Planned& planned, const Operation& op) {
  switch (op.op) {
    case Op::kMbarrierInit:
    case Op::kMbarrierInval:
    case Op::kMbarrierArrive:
    case Op::kMbarrierExpectTx:
    case Op::kMbarrierCompleteTx:
    case Op::kMbarrierWait:
    case Op::kMbarrierTryWait:
      return add_barrier(planned, op);
    case Op::kBarSync:
    case Op::kBarArrive: {
      const auto& named = op.as<operands::NamedBarrier>();
      if (named.id >= kNamedBarriers) {
        planned.misuse = "a named barrier that does not exist";
      } else if (named.threads % kWarpLanes != 0 ||
                 named.threads > plan_.warps_per_cta * kWarpLanes ||
                 (named.threads == 0 && op.op == Op::kBarArrive)) {
        planned.misuse = "a count of threads that a named barrier cannot have";
      } else {
        plan_.named = std::max(plan_.named, named.id + 1);
      }
      return;
    }
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      return add_copy(planned, op);
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
    case Op::kTcgen05Mma:
    case Op::kTcgen05Cp:
    case Op::kTcgen05Commit:
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return add_tensor(planned, op);
    case Op::kSharedLoad:
    case Op::kSharedStore:
    case Op::kGlobalLoad:
    case Op::kGlobalLoadAcquire:
    case Op::kGlobalStoreRelease:
    case Op::kGlobalRedAdd:
    case Op::kGlobalWait:
      return add_word(planned, op);
    case Op::kClcTryCancel:
    case Op::kClcQuery:
      return add_request(planned, op);
    case Op::kSetmaxnreg:
      if (const std::uint32_t count = op.as<operands::Registers>().count;
          count < 24 || count > 256 || count % 8 != 0) {
        planned.misuse = "a count of registers outside 24 to 256, or no multiple of 8";
      }
      return;
    default:
      return;
  }
}

void Planner::add_barrier(Planned& planned, const Operation& op) {
  const auto& bar = op.as<operands::Mbarrier>();
  std::uint32_t cta = cta_;
  std::uint32_t offset = bar.address;
  if ((op.flags & event_flag::kRemote) != 0) {
    const std::uint32_t rank = bar.address >> 24;
    offset = bar.address & 0xFFFFFFU;
    if (rank >= plan_.cluster_size) {
      planned.misuse = "an address of no CTA of the cluster";
      return;
    }
    cta = first_of_cluster() + rank;
    const bool arrives = op.op == Op::kMbarrierArrive || op.op == Op::kMbarrierExpectTx ||
                         op.op == Op::kMbarrierCompleteTx;
    if (!arrives && cta != cta_) {
      planned.misuse = "an init, inval or wait on another CTA's mbarrier";
      return;
    }
  } else if (bar.address >> 24 != 0) {
    planned.misuse = "an mbarrier outside of shared memory";
    return;
  }
  planned.misuse = barrier_problem(offset);
  const bool init = op.op == Op::kMbarrierInit;
  if (init && (bar.count == 0 || bar.count > kMbarrierCountMax)) {
    planned.misuse = "a count that an mbarrier cannot have";
  }
  planned.is_remote = cta != cta_;
  Piece& at = planned.is_remote ? planned.started.emplace_back() : planned.own;
  at.ctas = {cta};
  at.barrier = barrier(cta, offset);
}

void Planner::add_word(Planned& planned, const Operation& op) {
  const bool shared = op.op == Op::kSharedLoad || op.op == Op::kSharedStore;
  const bool writes =
      op.op == Op::kSharedStore || op.op == Op::kGlobalStoreRelease || op.op == Op::kGlobalRedAdd;
  if (op.is<operands::SharedRows>()) {
    const auto& rows = op.as<operands::SharedRows>();
    const std::uint64_t last = std::uint64_t{rows.row} + kWarpLanes * kWarpLanes;
    if (planned.instruction->fragment_registers > kTmemColumns ||
        last * rows.row_bytes > (1U << 30) || rows.column > (1U << 20)) {
      planned.misuse = "an address outside of shared memory";
      return;
    }
    touch(planned,
          0,
          Space::kShared,
          cta_,
          rows_of_tile(rows, planned.instruction->fragment_registers),
          writes);
    return;
  }
  const std::uint64_t address =
      shared ? op.as<operands::SharedWord>().address : op.as<operands::GlobalWord>().address;
  if (address % 4 != 0) {
    planned.misuse = "a word that is not aligned";
  } else if (!shared && !in_buffer(address, 4)) {
    planned.misuse = "an address outside of global memory";
  } else {
    const Space space = shared ? Space::kShared : Space::kGlobal;
    touch(planned, 0, space, cta_, {{address, address + 4}}, writes);
    if (op.op == Op::kGlobalWait || planned.instruction->result != Instruction::kNone || !shared) {
      trace_word(space, address);
    }
  }
}

void Planner::add_copy(Planned& planned, const Operation& op) {
  const auto& told = op.as<operands::Copy>();
  const bool tensor = op.op == Op::kTensorLoad || op.op == Op::kTensorStore;
  const bool load = is_load(op.op);
  std::uint32_t bytes = told.bytes;
  std::uint64_t reach = told.bytes;  // of shared memory
  Copy copy{warp_, plan_.warps[warp_].size(), load, {}, {}};
  if (tensor) {
    if (told.map >= program_.workload.maps.size()) {
      planned.misuse = "a tensor map that does not exist";
      return;
    }
    const MapGeometry map = geometry_of(program_, told.map);
    bytes = map.box_bytes();
    reach = std::uint64_t{bytes} / std::max(map.row_bytes(), 1U) * map.row_pitch();
    bool negative = false;
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(told.rank, 5); ++i) {
      negative = negative || told.at[i] < 0;
    }
    if (told.rank != map.rank || (!load && negative)) {
      planned.misuse = "coordinates that do not fit the tensor map";
    } else if (std::int64_t{told.at[0]} * map.element_bytes % 16 != 0) {
      planned.misuse = "a row that begins at no multiple of 16 bytes";
    } else if (bytes == 0) {
      planned.misuse = "a box that is empty or larger than shared memory";
    } else {
      copy.runs = runs_of_tensor(told, map);
    }
  } else {
    copy.runs = runs_of_bulk(told);
  }
  if (told.shared % (tensor ? 128 : 16) != 0 || bytes % 16 != 0 ||
      (!tensor && told.global % 16 != 0)) {
    planned.misuse = "an address or a size that a copy cannot have";
  } else if (told.shared + reach > shared_end()) {
    planned.misuse = "an address outside of shared memory";
  } else if (!tensor && !in_buffer(told.global, bytes)) {
    planned.misuse = "an address outside of global memory";
  } else if (load && told.mask.bits >> plan_.cluster_size != 0) {
    planned.misuse = "a mask with CTAs that the cluster does not have";
  } else if (load && planned.misuse.empty()) {
    planned.misuse = barrier_problem(told.barrier);
  }
  if (!planned.misuse.empty()) {
    return;
  }
  Ranges global;
  Ranges shared;
  for (const Run& run : copy.runs) {
    global.push_back({run.global, run.global + run.bytes});
    shared.push_back({run.shared, std::uint64_t{run.shared} + run.bytes});
  }
  planned.bytes = bytes;
  copy.target = {told.shared, std::uint64_t{told.shared} + bytes};
  const std::uint32_t own_rank = cta_ - first_of_cluster();
  for (std::uint32_t rank = 0; rank < plan_.cluster_size; ++rank) {
    const bool meant = load && told.mask.bits != 0 ? told.mask.contains(rank) : rank == own_rank;
    if (!meant) {
      continue;
    }
    const std::uint32_t cta = first_of_cluster() + rank;
    Piece& to = planned.started.emplace_back();
    to.ctas = {cta};
    const std::size_t number = planned.started.size();
    if (load) {
      // Of a pair, the even CTA's barrier is signalled.
      const std::uint32_t signal = told.group == CtaGroup::kTwo ? cta - (rank & 1U) : cta;
      to.barrier = barrier(signal, told.barrier);
      if (signal != cta) {
        to.ctas.push_back(signal);
      }
      touch(planned, number, Space::kGlobal, 0, global, false);
      touch(planned, number, Space::kShared, cta, {copy.target}, true);
    } else {
      touch(planned, number, Space::kShared, cta, shared, false);
      touch(planned, number, Space::kGlobal, 0, global, true);
    }
  }
  copies_.push_back(std::move(copy));
}

void Planner::add_request(Planned& planned, const Operation& op) {
  const bool queries = op.op == Op::kClcQuery;
  const std::uint64_t address =
      queries ? op.as<operands::ClcQuery>().response : op.as<operands::ClcRequest>().response;
  if (address % kClcResponseBytes != 0) {
    planned.misuse = "a response that is not aligned to 16 bytes";
    return;
  }
  const Range response{address, address + kClcResponseBytes};
  if (queries) {
    if (op.as<operands::ClcQuery>().word > 1) {
      planned.misuse = "a query of no kind";
    }
    touch(planned, 0, Space::kShared, cta_, {response}, false);
    return;
  }
  plan_.has_requests = true;
  const auto& asked = op.as<operands::ClcRequest>();
  planned.misuse = barrier_problem(asked.barrier);
  if (asked.mask.bits >> plan_.cluster_size != 0) {
    planned.misuse = "a mask with CTAs that the cluster does not have";
  }
  for (std::uint32_t rank = 0; rank < plan_.cluster_size; ++rank) {
    const std::uint32_t cta = first_of_cluster() + rank;
    if (asked.mask.bits != 0 ? asked.mask.contains(rank) : cta == cta_) {
      Piece& to = planned.started.emplace_back();
      to.ctas = {cta};
      to.barrier = barrier(cta, asked.barrier);
      touch(planned, planned.started.size(), Space::kShared, cta, {response}, true);
    }
  }
}

void Planner::add_tensor(Planned& planned, const Operation& op) {
  std::vector<std::uint32_t> ctas{cta_};
  if (op.group() == CtaGroup::kTwo) {
    const std::uint32_t even = first_of_cluster() + ((cta_ - first_of_cluster()) & ~1U);
    if (even + 1 >= first_of_cluster() + plan_.cluster_size) {
      planned.misuse = "a pair of CTAs that the cluster does not have";
      return;
    }
    ctas = {even, even + 1};
  }
  switch (op.op) {
    case Op::kTcgen05Alloc:
    case Op::kTcgen05Dealloc:
      if (const std::uint32_t columns = columns_of(op);
          columns < 32 || columns > kTmemColumns || (columns & (columns - 1)) != 0) {
        planned.misuse = "a number of columns that cannot be allocated";
      } else if (op.op == Op::kTcgen05Alloc) {
        const std::uint64_t word = op.as<operands::TmemAllocation>().word;
        planned.misuse = word % 4 != 0 ? "a word that is not aligned" : "";
        if (planned.misuse.empty()) {
          touch(planned, 0, Space::kShared, cta_, {{word, word + 4}}, true);
        }
      }
      plan_.has_pairs = plan_.has_pairs || ctas.size() == 2;
      return;
    case Op::kTcgen05Commit:
      return add_commit(planned, op);
    case Op::kTcgen05Ld:
    case Op::kTcgen05St:
      return add_tensor_port(planned, op);
    default:
      return add_mma(planned, op, ctas);
  }
}

void Planner::add_mma(Planned& planned,
                      const Operation& op,
                      const std::vector<std::uint32_t>& ctas) {
  const auto group = static_cast<std::uint32_t>(ctas.size());
  const bool copies = op.op == Op::kTcgen05Cp;
  const auto copy = copies ? op.as<operands::TmemCopy>() : operands::TmemCopy{};
  const auto mma = copies ? operands::Mma{} : op.as<operands::Mma>();
  const UmmaInstructionDescriptor& instruction = mma.instruction;
  const UmmaSmemDescriptor a = copies ? copy.from : mma.a;
  const UmmaSmemDescriptor b = mma.b;
  const bool a_in_tmem = (op.flags & event_flag::kTmemA) != 0;
  const bool scaled = !copies && (op.flags & event_flag::kBlockScale) != 0;
  const bool sparse = !copies && (op.flags & event_flag::kSparse) != 0;
  if (copies ? copy.shape > TmemCopy::k32x128bWarpx4 : !is_legal_mma(op)) {
    planned.misuse = "a shape outside the manual's table";
    return;
  }
  const bool words = !copies && instruction.kind == MmaKind::kTf32;
  if ((!a_in_tmem && !is_legal(a, words && instruction.a_major() == Major::kMn)) ||
      (!copies && !is_legal(b, words && instruction.b_major() == Major::kMn))) {
    planned.misuse = "a descriptor with a field that is not legal";
    return;
  }
  Piece& piece_of_it = planned.started.emplace_back();
  piece_of_it.ctas = ctas;
  struct Region {
    std::uint32_t address, columns;
  };
  std::vector<Region> regions;
  for (const std::uint32_t cta : ctas) {
    const TmemAddress d = copies ? copy.to : mma.d;
    if (copies) {
      const auto shape = copy.shape;
      touch(planned, 1, Space::kShared, cta, copy_source(a, shape), false);
      regions = {{d.value, columns_of(shape)}};
      Ranges to;
      add_tensor_cells(to, 0, kTmemLanes, d.column(), columns_of(shape));
      touch(planned, 1, Space::kTensor, cta, to, true);
      continue;
    }
    const std::uint32_t m = instruction.m() / group;
    regions = {{d.value, accumulator_columns(instruction, mma.group)}};
    if (a_in_tmem) {
      const TmemAddress from = mma.tmem_a;
      Ranges cells;
      add_tensor_cells(cells, from.lane(), m, from.column(), 8);
      regions.push_back({from.value, 8});
      touch(planned, 1, Space::kTensor, cta, cells, false);
    } else {
      touch(planned,
            1,
            Space::kShared,
            cta,
            operand_bytes(a, m, instruction.a_major(), instruction.a_type()),
            false);
    }
    touch(planned, 1, Space::kShared, cta, bytes_of_b(b, instruction, group), false);
    std::vector<Region> beside;  // A and B: scale factors, metadata
    if (scaled) {
      beside = {{mma.scale_a.value, scale_columns(m)},
                {mma.scale_b.value, scale_columns(instruction.n())}};
    }
    if (sparse) {
      const auto at = mma.metadata.at_column(instruction.sparsity_selector());
      beside.push_back({at.value, bytes_of(instruction.a_type()) == 1 ? 2U : 1U});
    }
    for (const Region& at : beside) {
      Ranges cells;
      add_tensor_cells(cells, 0, kTmemLanes, TmemAddress{at.address}.column(), at.columns);
      regions.push_back(at);
      touch(planned, 1, Space::kTensor, cta, cells, false);
    }
    const Ranges accumulator = accumulator_cells(instruction, mma.group, d);
    if ((op.flags & event_flag::kAccumulate) != 0) {
      touch(planned, 1, Space::kTensor, cta, accumulator, false);
    }
    touch(planned, 1, Space::kTensor, cta, accumulator, true);
  }
  for (const std::uint32_t cta : ctas) {
    for (const Region& region : regions) {
      planned.started[0].columns.push_back(
          {cta, TmemAddress{region.address}.column(), region.columns});
    }
  }
  for (const Region& region : regions) {
    if (TmemAddress{region.address}.column() + region.columns > kTmemColumns ||
        TmemAddress{region.address}.lane() >= kTmemLanes) {
      planned.misuse = "columns or lanes outside of tensor memory";
    }
  }
}

void Planner::add_tensor_port(Planned& planned, const Operation& op) {
  const auto& access = op.as<operands::TmemAccess>();
  const TmemAddress at = access.address;
  const std::uint32_t quarter = plan_.warps_per_cta == 0 ? 0 : warp_ % plan_.warps_per_cta % 4;
  if (at.column() + std::uint64_t{access.columns} > kTmemColumns) {
    planned.misuse = "columns or lanes outside of tensor memory";
  } else if (at.lane() != quarter * kWarpLanes &&
             !(access.of_16_lanes() && at.lane() == quarter * kWarpLanes + kWarpLanes / 2)) {
    planned.misuse = "lanes of tensor memory that are another warp's";
  } else if (op.lanes != kWarpLanes) {
    planned.misuse = "a collective operation of one lane";
  }
  if (!planned.misuse.empty()) {
    return;
  }
  Piece& to = planned.started.emplace_back();
  to.ctas = {cta_};
  to.columns = {{cta_, at.column(), access.columns}};
  Ranges cells;
  const std::uint32_t lanes = access.of_16_lanes() ? kWarpLanes / 2 : kWarpLanes;
  add_tensor_cells(cells, at.lane(), lanes, at.column(), access.columns);
  touch(planned, 1, Space::kTensor, cta_, cells, op.op == Op::kTcgen05St);
}

void Planner::add_commit(Planned& planned, const Operation& op) {
  const auto& commit = op.as<operands::Commit>();
  planned.misuse = barrier_problem(commit.barrier);
  if (commit.mask.bits >> plan_.cluster_size != 0) {
    planned.misuse = "a mask with CTAs that the cluster does not have";
  }
  for (std::uint32_t rank = 0; rank < plan_.cluster_size && planned.misuse.empty(); ++rank) {
    const std::uint32_t cta = first_of_cluster() + rank;
    if (commit.mask.bits != 0 ? commit.mask.contains(rank) : cta == cta_) {
      Piece& to = planned.started.emplace_back();
      to.ctas = {cta};
      to.barrier = barrier(cta, commit.barrier);
    }
  }
}

// A word whose value may decide; what a copy brings there is traced to where it came from.
void Planner::trace_word(Space space, std::uint64_t address) {
  if (words_.insert({space, address}).second) {
    untraced_.push_back({space, address});
    cells_.add(space, {{address, address + 4}});
  }
}

void Planner::trace_words() {
  while (!untraced_.empty()) {
    const auto [space, address] = untraced_.back();
    untraced_.pop_back();
    for (const Copy& copy : copies_) {
      if (copy.is_load != (space == Space::kShared)) {
        continue;
      }
      for (const Run& run : copy.runs) {
        const std::uint64_t to = copy.is_load ? run.shared : run.global;
        if (address >= to && address + 4 <= to + run.bytes) {
          const std::uint64_t from = copy.is_load ? run.global : run.shared;
          trace_word(copy.is_load ? Space::kGlobal : Space::kShared, from + (address - to));
        }
      }
    }
  }
}

void Planner::resolve() {
  for (const Access& access : accesses_) {
    Piece& to = piece(plan_.warps[access.warp][access.instruction], access.piece);
    Cells& list = access.writes ? to.writes : to.reads;
    for (const std::uint32_t cell : cells_.cells_of(access.footprint)) {
      list.push_back(absolute(access.space, access.cta, cell));
    }
  }
  for (std::vector<Planned>& warp : plan_.warps) {
    for (Planned& planned : warp) {
      for (std::size_t i = 0; i <= planned.started.size(); ++i) {
        for (Cells* list : {&piece(planned, i).reads, &piece(planned, i).writes}) {
          std::sort(list->begin(), list->end());
          list->erase(std::unique(list->begin(), list->end()), list->end());
        }
      }
    }
  }
  for (const Copy& copy : copies_) {
    resolve_moves(copy);
  }
}

void Planner::resolve_moves(const Copy& copy) {
  Planned& planned = plan_.warps[copy.warp][copy.instruction];
  const Space to_space = copy.is_load ? Space::kShared : Space::kGlobal;
  const Space from_space = copy.is_load ? Space::kGlobal : Space::kShared;
  for (const auto& [space, address] : words_) {
    if (space != to_space) {
      continue;
    }
    const std::optional<std::uint32_t> to = cells_.word(space, address);
    std::optional<std::uint32_t> from;
    bool covered = copy.is_load && address >= copy.target.begin && address + 4 <= copy.target.end;
    bool zero = covered;
    for (const Run& run : copy.runs) {
      const std::uint64_t begin = copy.is_load ? run.shared : run.global;
      if (address < begin + run.bytes && begin < address + 4) {
        covered = true;
        zero = false;
        const std::uint64_t source = copy.is_load ? run.global : run.shared;
        if (address >= begin && address + 4 <= begin + run.bytes) {
          from = cells_.word(from_space, source + (address - begin));
        }
      }
    }
    if (!covered || !to || (!zero && !from)) {
      continue;  // nothing of it, or nothing that is known
    }
    for (Piece& each : planned.started) {
      const std::uint32_t cta = each.ctas.front();
      each.moves.push_back(
          {absolute(to_space, cta, *to), zero ? kNone : absolute(from_space, cta, *from)});
    }
  }
}

void Planner::fill_tables() {
  plan_.is_word.assign(plan_.cells(), false);
  plan_.global_values.assign(plan_.global_cells, 0);
  plan_.global_known.assign(plan_.global_cells, true);
  for (const auto& [space, address] : words_) {
    if (const std::optional<std::uint32_t> cell = cells_.word(space, address)) {
      for (std::uint32_t cta = 0; cta < (space == Space::kShared ? plan_.ctas : 1); ++cta) {
        plan_.is_word[absolute(space, cta, *cell)] = true;
      }
    }
  }
  // What inputs hold is not said, but for the words that are.
  for (const auto& [space, address] : words_) {
    const std::optional<std::uint32_t> cell = cells_.word(space, address);
    if (space == Space::kGlobal && cell) {
      for (std::size_t i = 0; i < buffers().size(); ++i) {
        const bool inside = address >= buffers_[i].begin && address < buffers_[i].end;
        if (inside && program_.workload.tensors[i].use == TensorUse::kInput) {
          plan_.global_known[*cell] = false;
        }
      }
    }
  }
  for (const InitialWord& word : program_.words) {
    if (word.tensor < program_.workload.tensors.size()) {
      const std::uint64_t address = program_.buffer_address(word.tensor) + word.offset;
      if (words_.contains({Space::kGlobal, address})) {
        if (const auto cell = cells_.word(Space::kGlobal, address)) {
          plan_.global_values[*cell] = word.value;
          plan_.global_known[*cell] = true;
        }
      }
    }
  }
  for (const std::uint32_t offset : plan_.barrier_offsets) {
    plan_.barrier_cells.push_back(overlapped_.contains(offset)
                                      ? cells_.cells_in(Space::kShared, {offset, offset + 8ULL})
                                      : Cells{});
  }
  for (const std::uint32_t tensor : program_.workload.from_grid_before) {
    for (const std::uint32_t cell : cells_.cells_in(Space::kGlobal, buffers()[tensor])) {
      plan_.before.push_back(plan_.first_global() + cell);
    }
  }
  for (std::uint32_t first = 0; first < kTmemColumns; first += 32) {
    std::set<std::uint32_t> cells;
    for (std::uint32_t lane = 0; lane < kTmemLanes; lane += kLaneGroup) {
      const std::uint64_t begin = tensor_cell(lane, first);
      for (const std::uint32_t cell : cells_.cells_in(Space::kTensor, {begin, begin + 32})) {
        cells.insert(plan_.first_tensor(0) + cell);
      }
    }
    plan_.column_cells.emplace_back(cells.begin(), cells.end());
  }
}

}  // namespace

Plan make_plan(const Program& program, const ValuesOptions& options) {
  Plan plan;
  plan.program = &program;
  plan.options = options;
  plan.unsupported = size_problem(program);
  if (!plan.unsupported.empty()) {
    return plan;
  }
  plan.clusters = program.workload.clusters;
  plan.cluster_size = program.workload.cluster_size;
  plan.ctas = plan.clusters * plan.cluster_size;
  plan.resident = program.workload.resident_clusters == 0
                      ? plan.clusters
                      : std::min(plan.clusters, program.workload.resident_clusters);
  plan.warps_per_cta = program.warps_per_cta();
  plan.registers_per_thread = program.workload.registers_per_thread == 0
                                  ? kAssumedRegisters
                                  : program.workload.registers_per_thread;
  plan.warps.resize(program.warps.size());
  Planner{program, plan}.run();
  if (plan.unsupported.empty()) {
    plan.layouts = std::make_shared<const Layouts>(program, plan);
  }
  return plan;
}

}  // namespace warptwin::sim::values
