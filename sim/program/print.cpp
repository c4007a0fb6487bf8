#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "sim/program/operations.hpp"
#include "sim/program/text.hpp"

namespace warptwin::sim {

namespace {

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string name_of_region(const Region& region) {
  return region.part.empty() ? region.owner : region.owner + "." + region.part;
}

// The largest that places a tile where it is, behind `next`; else the largest that its size has.
std::uint32_t alignment_of(const Region& region, std::uint32_t next) {
  std::uint32_t fits = 0;
  for (std::uint32_t alignment = 1024; alignment != 0; alignment /= 2) {
    if (region.element_bytes % alignment == 0) {
      fits = std::max(fits, alignment);
      if (align_up(next, alignment) == region.address) {
        return alignment;
      }
    }
  }
  return fits;
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_{program} {
    for (std::size_t i = 0; i < program.workload.tensors.size(); ++i) {
      addresses_.push_back(program.buffer_address(i));
    }
  }

  std::string header() const;
  std::string warps() const;
  std::string lines(const std::vector<Instruction>& warp) const;
  std::string operation(const Instruction& instruction) const;

 private:
  std::string shared(std::uint32_t address, const std::string& of = "") const;
  std::string barrier(const Operation& op) const;
  std::string global(std::uint64_t address) const;
  static std::string tmem(std::uint32_t address);
  std::string descriptor(std::uint64_t bits) const;
  std::string map(std::uint32_t index) const;

  std::string regions() const;
  static std::string contract(const BarrierContract& contract);
  std::string tensors() const;
  std::string maps() const;

  static std::string suffixes(const Operation& op, const Instruction& instruction);
  std::string operands(const Instruction& instruction, const Verb& verb) const;
  std::string tensor_operands(const Instruction& instruction, const Verb& verb) const;
  std::string barrier_operands(const Operation& op,
                               const Verb& verb,
                               const std::string& result) const;
  std::string copy_operands(const Operation& op, const Verb& verb) const;
  std::string mma(const Operation& op) const;
  std::string rows(const Instruction& instruction) const;

  const Program& program_;
  std::vector<std::uint64_t> addresses_;
};

// --- Places -----------------------------------------------------------------------------------

std::string Printer::shared(std::uint32_t address, const std::string& of) const {
  const Region* region = program_.symbols.find(address);
  if (region == nullptr) {
    return "[shared+" + hex(address) + of + "]";
  }
  std::string text = "[" + name_of_region(*region);
  const std::uint32_t offset = address - region->address;
  if (region->count > 1) {
    text += "[" + number(offset / region->element_bytes) + "]";
  }
  const std::uint32_t rest = offset % region->element_bytes;
  return text + (rest == 0 ? "" : "+" + number(rest)) + of + "]";
}

std::string Printer::barrier(const Operation& op) const {
  const std::uint32_t address = op.as<operands::Mbarrier>().address;
  return (op.flags & event_flag::kRemote) == 0
             ? shared(address)
             : shared(address & 0xFFFFFFU, " of rank " + number(address >> 24));
}

std::string Printer::global(std::uint64_t address) const {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const TensorSpec& spec = program_.workload.tensors[i];
    if (address >= addresses_[i] && address < addresses_[i] + spec.bytes()) {
      const std::uint64_t offset = address - addresses_[i];
      return "[" + std::string{spec.name} + (offset == 0 ? "" : "+" + number(offset)) + "]";
    }
  }
  return "[global+" + hex(address) + "]";
}

std::string Printer::tmem(std::uint32_t address) {
  const TmemAddress at{address};
  return "[tmem " + (at.lane() == 0 ? "" : "lane " + number(at.lane()) + ", ") + "column " +
         number(at.column()) + "]";
}

std::string Printer::descriptor(std::uint64_t bits) const {
  const UmmaSmemDescriptor operand{bits};
  for (const Swizzle swizzle :
       {Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B, Swizzle::k128BAtom32B}) {
    const auto made = UmmaSmemDescriptor::make(
        operand.start(), operand.leading_bytes(), operand.stride_bytes(), swizzle);
    if (made.bits == bits) {
      return "desc(" + shared(operand.start().value) + ", swizzle " +
             number(static_cast<std::uint32_t>(swizzle)) + ", stride " +
             number(operand.stride_bytes()) +
             (operand.leading_bytes() == 16 ? "" : ", leading " + number(operand.leading_bytes())) +
             ")";
    }
  }
  return hex(bits);
}

std::string Printer::map(std::uint32_t index) const {
  return index < program_.map_names.size() ? program_.map_names[index] : "map" + number(index);
}

// --- The header -------------------------------------------------------------------------------

std::string Printer::contract(const BarrierContract& contract) {
  constexpr const char* kKinds[] = {"tma_bytes", "umma_commit", "every_lane", "elected_lane"};
  std::string text;
  if (contract.bytes != 0) {
    text += " bytes " + number(contract.bytes);
  }
  if (contract.waiter != Role::kCount) {
    text += " waiter " + std::string{name_of(contract.waiter)};
  }
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < BarrierContract::kContributorsMax; ++i) {
    const Contributor& contributor = contract.contributors[i];
    last = contributor.role != Role::kCount || contributor.arrivals != 0 ? i + 1 : last;
  }
  for (std::uint32_t i = 0; i < last; ++i) {
    const Contributor& contributor = contract.contributors[i];
    text += " from " + std::string{name_of(contributor.role)} + " " +
            kKinds[static_cast<unsigned>(contributor.kind)] + " " + number(contributor.arrivals);
  }
  return text;
}

std::string Printer::regions() const {
  std::string text;
  std::uint32_t next = 1024;
  for (const Region& region : program_.symbols.regions) {
    if (region.count == 0) {
      continue;  // of a ring without stages
    }
    const std::string name = name_of_region(region);
    std::uint32_t alignment = 4;
    if (region.kind == RegionKind::kBarriers) {
      alignment = 8;
      text += "barriers " + name + " " + number(region.count) + contract(region.contract);
    } else if (region.kind == RegionKind::kWord) {
      text += "word " + name;
    } else {
      alignment = alignment_of(region, next);
      text += "tile " + name + " " + number(region.count) + " x " + number(region.element_bytes) +
              (alignment == 1024 ? "" : " align " + number(alignment));
    }
    text += align_up(next, alignment) == region.address ? "" : " at " + number(region.address);
    text += "\n";
    next = region.end();
  }
  for (const Ring& ring : program_.symbols.rings) {
    text += "ring " + ring.owner + " full " + shared(ring.full) + " empty " + shared(ring.empty) +
            " stages " + number(ring.stages) + " tiles " + shared(ring.tiles) + " bytes " +
            number(ring.stage_bytes) + "\n";
  }
  if (align_up(next, 128) != 1024 + program_.symbols.bytes) {
    text += "shared " + number(program_.symbols.bytes) + "\n";
  }
  return text;
}

std::string Printer::tensors() const {
  constexpr const char* kUses[] = {"input", "output", "scratch"};
  const Workload& launch = program_.workload;
  const std::set<std::uint32_t> before{launch.from_grid_before.begin(),
                                       launch.from_grid_before.end()};
  std::string text;
  for (std::uint32_t i = 0; i < launch.tensors.size(); ++i) {
    const TensorSpec& spec = launch.tensors[i];
    text += std::string{kUses[static_cast<unsigned>(spec.use)]} + " " + spec.name + " ";
    if (spec.element == ElementType::kU8 && spec.rows == 1 && spec.columns == spec.pitch_bytes) {
      text += number(spec.pitch_bytes);
    } else {
      text += std::string{name_of(spec.element)} + " " + number(spec.rows) + " x " +
              number(spec.columns) + " pitch " + number(spec.pitch_bytes);
    }
    text += before.contains(i) ? " before\n" : "\n";
  }
  for (const InitialWord& word : program_.words) {
    text += "initial " + global(addresses_[word.tensor] + word.offset) + ", " + number(word.value) +
            "\n";
  }
  return text;
}

std::string Printer::maps() const {
  std::string text;
  for (std::uint32_t i = 0; i < program_.workload.maps.size(); ++i) {
    const TensorMapSpec& spec = program_.workload.maps[i];
    text += "map " + map(i) + " over " + program_.workload.tensors[spec.tensor].name + " box " +
            number(spec.box_rows) + " x " + number(spec.box_columns) + " swizzle " +
            number(static_cast<std::uint32_t>(spec.swizzle));
    for (const MapDimension& outer : spec.outer) {
      if (outer.extent != 0) {
        text += " dimension extent " + number(outer.extent) + " stride " +
                number(outer.stride_bytes) + " box " + number(outer.box) +
                (outer.step == 1 ? "" : " step " + number(outer.step));
      }
    }
    text += "\n";
  }
  return text;
}

std::string Printer::header() const {
  const Workload& launch = program_.workload;
  const auto line = [](const char* word, std::uint64_t value, std::uint64_t standard) {
    return value == standard ? std::string{} : word + std::string{" "} + number(value) + "\n";
  };
  std::string text = "program " + program_.name + "\n" + line("cluster", launch.cluster_size, 1) +
                     line("clusters", launch.clusters, 1) +
                     line("resident", launch.resident_clusters, 0) +
                     line("registers", launch.registers_per_thread, 0) +
                     line("flops", launch.flops, 0) + (launch.has_dependents ? "dependents\n" : "");
  std::string roles;
  for (const RoleWarps& row : program_.symbols.roles) {
    roles += (roles.empty() ? " " : ", ") +
             (row.role == Role::kIdle ? "" : std::string{name_of(row.role)} + " ") +
             number(row.warps);
  }
  return text + "warps" + roles + "\n" + regions() + tensors() + maps();
}

// --- Operations -------------------------------------------------------------------------------

std::string Printer::suffixes(const Operation& op, const Instruction& instruction) {
  std::string text;
  const Ordering standard = standard_ordering(op);
  if (has_ordering(op.op) && (op.op == Op::kFence || op.ordering.semantics != standard.semantics ||
                              op.ordering.scope != standard.scope)) {
    text += std::string{"."} + kSemanticsWords[static_cast<unsigned>(op.ordering.semantics)] + "." +
            kScopeWords[static_cast<unsigned>(op.ordering.scope)];
  }
  if (op.op == Op::kFenceProxyAsync) {
    const auto space = static_cast<std::size_t>(op.as<operands::ProxyFence>().space);
    text +=
        space != 0 && space < std::size(kProxyWords) ? std::string{"."} + kProxyWords[space] : "";
  }
  if (op.op == Op::kTcgen05Ld || op.op == Op::kTcgen05St) {
    text += ".x" + number(instruction.fragment_registers);
  }
  if (op.group() == CtaGroup::kTwo) {
    text += ".cta_group::2";
  }
  return text + (op.op == Op::kTcgen05Commit && op.mask().bits != 0 ? ".multicast" : "");
}

std::string Printer::mma(const Operation& op) const {
  const auto& mma = op.as<operands::Mma>();
  const UmmaInstructionDescriptor& instruction = mma.instruction;
  const std::string kind = kKindWords[static_cast<std::size_t>(instruction.kind)];
  const bool scaled = (op.flags & event_flag::kBlockScale) != 0;
  std::string text =
      tmem(mma.d.value) + ", " +
      ((op.flags & event_flag::kTmemA) != 0 ? tmem(mma.tmem_a.value) : descriptor(mma.a.bits)) +
      ", " + descriptor(mma.b.bits) + ", ";
  const std::string shape = "m" + number(instruction.m()) + "n" + number(instruction.n());
  const bool sparse = (op.flags & event_flag::kSparse) != 0;
  auto plain = UmmaInstructionDescriptor::make(
      instruction.a_type(), instruction.b_type(), instruction.m(), instruction.n());
  if (sparse) {
    plain = plain.with_sparse_a(instruction.sparsity_selector());
  }
  auto block = UmmaInstructionDescriptor::make_block_scaled(
                   instruction.kind, instruction.a_type(), instruction.m(), instruction.n())
                   .with_scale_bytes(instruction.scale_byte_a(), instruction.scale_byte_b());
  if (sparse) {
    block = block.with_sparse_a(0);
  }
  if (!scaled && plain.bits == instruction.bits && plain.kind == instruction.kind) {
    text += shape + ", " + name_of(instruction.a_type()) + ", " + name_of(instruction.b_type()) +
            (sparse ? ", selector " + number(instruction.sparsity_selector()) : "");
  } else if (scaled && block.bits == instruction.bits) {
    text += shape + ", " + kind + ", " + name_of(instruction.a_type()) + ", bytes " +
            number(instruction.scale_byte_a()) + ", " + number(instruction.scale_byte_b());
  } else {
    text += "instruction " + hex(instruction.bits) + ", " + kind;
  }
  text += sparse ? ", " + tmem(mma.metadata.value) : "";
  text += scaled ? ", " + tmem(mma.scale_a.value) + ", " + tmem(mma.scale_b.value) : "";
  return text + ((op.flags & event_flag::kAccumulate) != 0 ? ", accumulate" : "");
}

std::string Printer::rows(const Instruction& instruction) const {
  const auto& rows = instruction.operation.as<operands::SharedRows>();
  return ", row " + number(rows.row) + ", column " + number(rows.column) + ", bytes " +
         number(rows.row_bytes) + ", " + name_of(rows.element) + ", swizzle " +
         number(static_cast<std::uint32_t>(rows.swizzle)) + ", registers " +
         number(instruction.fragment_registers);
}

std::string Printer::copy_operands(const Operation& op, const Verb& verb) const {
  if (verb.operands == Operands::kMap) {
    return map(op.as<operands::MapFence>().map);
  }
  if (verb.operands == Operands::kMapGlobal) {
    const auto& change = op.as<operands::MapChange>();
    return map(change.map) + ", " + global(change.address);
  }
  if (verb.operands == Operands::kMapExtent) {
    const auto& change = op.as<operands::MapChange>();
    return map(change.map) + ", " + number(change.dimension) + ", " + number(change.extent);
  }
  if (verb.operands == Operands::kClcRequest) {
    const auto& request = op.as<operands::ClcRequest>();
    return shared(request.response) + ", " + shared(request.barrier);
  }
  const auto& copy = op.as<operands::Copy>();
  std::string at;
  for (std::uint32_t i = 0; i < copy.rank; ++i) {
    at += (i == 0 ? "" : ", ") + std::to_string(copy.at[i]);
  }
  const std::string target =
      ", " + shared(copy.barrier) + (copy.mask.bits == 0 ? "" : ", mask " + hex(copy.mask.bits));
  switch (verb.operands) {
    case Operands::kTensorLoad:
      return shared(copy.shared) + ", " + map(copy.map) + ", {" + at + "}" + target;
    case Operands::kTensorStore:
      return map(copy.map) + ", {" + at + "}, " + shared(copy.shared);
    case Operands::kBulkLoad:
      return shared(copy.shared) + ", " + global(copy.global) + ", " + number(copy.bytes) + target;
    default:  // a bulk store
      return global(copy.global) + ", " + shared(copy.shared) + ", " + number(copy.bytes);
  }
}

std::string Printer::tensor_operands(const Instruction& instruction, const Verb& verb) const {
  const Operation& op = instruction.operation;
  const std::string fragment =
      instruction.fragment == Instruction::kNone ? "" : "f" + number(instruction.fragment);
  switch (verb.operands) {
    case Operands::kTmemAlloc: {
      const auto& asked = op.as<operands::TmemAllocation>();
      return shared(asked.word) + ", " + number(asked.columns);
    }
    case Operands::kTmemRegion: {
      const auto& region = op.as<operands::TmemRegion>();
      return tmem(region.address.value) + ", " + number(region.columns);
    }
    case Operands::kMma:
      return mma(op);
    case Operands::kCp: {
      const auto& copy = op.as<operands::TmemCopy>();
      return tmem(copy.to.value) + ", " + descriptor(copy.from.bits);
    }
    case Operands::kCommit: {
      const auto& commit = op.as<operands::Commit>();
      return shared(commit.barrier) +
             (commit.mask.bits == 0 ? "" : ", mask " + hex(commit.mask.bits));
    }
    case Operands::kTmemLoad:
      return fragment + ", " + tmem(op.as<operands::TmemAccess>().address.value);
    case Operands::kTmemStore:
      return tmem(op.as<operands::TmemAccess>().address.value) + ", " + fragment;
    case Operands::kFragment:
      return fragment;
    case Operands::kWgmma: {
      const auto& wgmma = op.as<operands::Wgmma>();
      const bool mn_a = wgmma.instruction.a_major() == Major::kMn;
      const bool mn_b = wgmma.instruction.b_major() == Major::kMn;
      return fragment + ", " + descriptor(wgmma.a.bits) + ", " + descriptor(wgmma.b.bits) +
             ", m64n" + number(wgmma.columns) + ", " + name_of(wgmma.instruction.a_type()) +
             (wgmma.instruction.sparse_a() ? ", f" + number(instruction.metadata) + ", selector " +
                                                 number(wgmma.instruction.sparsity_selector())
                                           : "") +
             (mn_a || mn_b ? ", mn_major" : "") + (mn_a ? " a" : "") + (mn_b ? " b" : "") +
             ((op.flags & event_flag::kAccumulate) != 0 ? ", accumulate" : "");
    }
    case Operands::kNumberFragment:
      return number(op.as<operands::WgmmaWait>().pending) +
             (fragment.empty() ? "" : ", " + fragment);
    case Operands::kRowsLoad:
      return fragment + ", " + shared(op.as<operands::SharedRows>().tile) + rows(instruction);
    default:  // rows of a store
      return shared(op.as<operands::SharedRows>().tile) + ", " + fragment + rows(instruction);
  }
}

std::string Printer::barrier_operands(const Operation& op,
                                      const Verb& verb,
                                      const std::string& result) const {
  const auto& bar = op.as<operands::Mbarrier>();
  switch (verb.operands) {
    case Operands::kBarrier:
      return shared(bar.address);
    case Operands::kBarrierCount:
      return barrier(op) + ", " + number(op.op == Op::kMbarrierInit ? bar.count : bar.bytes);
    case Operands::kArrive:
      return barrier(op) + ", " +
             number((op.flags & event_flag::kExpectTx) != 0 ? bar.bytes : bar.count);
    default:  // a wait or a try
      return result + shared(bar.address) +
             ((op.flags & event_flag::kExactPhase) != 0
                  ? ", phase " + std::to_string(static_cast<std::int32_t>(bar.phase))
                  : ", parity " + number(bar.phase));
  }
}

std::string Printer::operands(const Instruction& instruction, const Verb& verb) const {
  const Operation& op = instruction.operation;
  const std::string result =
      instruction.result == Instruction::kNone ? "" : "r" + number(instruction.result) + ", ";
  switch (verb.operands) {
    case Operands::kNone:
      return "";
    case Operands::kBarrier:
    case Operands::kBarrierCount:
    case Operands::kArrive:
    case Operands::kWait:
      return barrier_operands(op, verb, result);
    case Operands::kNamed: {
      const auto& named = op.as<operands::NamedBarrier>();
      return number(named.id) + (named.threads == 0 ? "" : ", " + number(named.threads));
    }
    case Operands::kNumber:
      return number(op.op == Op::kSetmaxnreg ? op.as<operands::Registers>().count
                                             : op.as<operands::BulkWait>().pending);
    case Operands::kSharedStore: {
      const auto& word = op.as<operands::SharedWord>();
      return shared(word.address) + ", " + number(word.value);
    }
    case Operands::kSharedLoad:
      return result + shared(op.as<operands::SharedWord>().address);
    case Operands::kClcQuery:
      return result + shared(op.as<operands::ClcQuery>().response);
    case Operands::kGlobalLoad:
      return result + global(op.as<operands::GlobalWord>().address);
    case Operands::kGlobalValue: {
      const auto& word = op.as<operands::GlobalWord>();
      return global(word.address) + ", " + number(word.value);
    }
    case Operands::kStageNote: {
      const auto& note = op.as<operands::Note>();
      return shared(note.full) + ", " + number(note.stages) + ", " +
             kStageWords[static_cast<std::size_t>(note.step)] + ", index " + number(note.index) +
             ", lap " + number(note.lap);
    }
    case Operands::kTensorLoad:
    case Operands::kTensorStore:
    case Operands::kBulkLoad:
    case Operands::kBulkStore:
    case Operands::kMap:
    case Operands::kMapGlobal:
    case Operands::kMapExtent:
    case Operands::kClcRequest:
      return copy_operands(op, verb);
    default:
      return tensor_operands(instruction, verb);
  }
}

std::string Printer::operation(const Instruction& instruction) const {
  const Operation& op = instruction.operation;
  const Verb* verb = find_verb(op.op, variant_of(op));
  if (verb == nullptr) {
    return "// " + std::string{name_of(op.op)};
  }
  // A wait for bulk groups is one lane's, whether the warp or one lane calls it.
  const bool whole = op.lanes == kWarpLanes ||
                     (op.op == Op::kBulkWaitGroup && !op.as<operands::BulkWait>().of_lane);
  const std::string what = operands(instruction, *verb);
  return std::string{whole          ? ""
                     : op.lane == 0 ? "elect "
                                    : "lane " + number(op.lane) + " "} +
         std::string{verb->name} + suffixes(op, instruction) + (what.empty() ? "" : " ") + what;
}

std::string Printer::lines(const std::vector<Instruction>& warp) const {
  std::map<std::uint32_t, std::string> labels;
  for (const Instruction& instruction : warp) {
    if (instruction.kind == Instruction::Kind::kJump && instruction.target < warp.size()) {
      labels[instruction.target];
    }
  }
  std::uint32_t next = 0;
  for (auto& [place, name] : labels) {
    name = "L" + number(next++);
  }
  std::string text;
  for (std::uint32_t i = 0; i < warp.size(); ++i) {
    const Instruction& instruction = warp[i];
    const auto label = labels.find(i);
    text += label == labels.end() ? "" : label->second + ":\n";
    if (instruction.kind == Instruction::Kind::kOperation) {
      text += "  " + operation(instruction) + "\n";
      continue;
    }
    text += "  ";
    if (instruction.tested != Instruction::kNone) {
      text += "@r" + number(instruction.tested) + (instruction.negated ? " != " : " == ") +
              number(instruction.value) + " ";
    }
    text += (instruction.target < warp.size() ? "bra " + labels[instruction.target] : "exit") +
            std::string{"\n"};
  }
  return text;
}

// Warps that do the same are said once: the same of all clusters, of all ranks, side by side.
std::string Printer::warps() const {
  const Workload& launch = program_.workload;
  const std::uint32_t of_cta = program_.warps_per_cta();
  const std::uint32_t of_cluster = of_cta * launch.cluster_size;
  std::vector<std::string> texts;
  for (const std::vector<Instruction>& warp : program_.warps) {
    texts.push_back(lines(warp));
  }
  const auto same = [&](std::uint32_t unit) {
    for (std::size_t i = unit; i < texts.size(); ++i) {
      if (texts[i] != texts[i % unit]) {
        return false;
      }
    }
    return true;
  };
  const bool every_cta = same(of_cta);
  const bool every_cluster = every_cta || same(of_cluster);
  const std::size_t said = every_cta ? of_cta : every_cluster ? of_cluster : texts.size();
  std::string text;
  for (std::size_t first = 0; first < said;) {
    std::size_t last = first;
    while ((last + 1) % of_cta != 0 && last + 1 < said && texts[last + 1] == texts[first]) {
      ++last;
    }
    if (!texts[first].empty()) {
      text += "\n";
      text += every_cluster ? "" : "cluster " + number(first / of_cluster) + " ";
      text += every_cta || launch.cluster_size == 1
                  ? ""
                  : "cta " + number(first / of_cta % launch.cluster_size) + " ";
      text += first == last ? "warp " + number(first % of_cta)
                            : "warps " + number(first % of_cta) + "-" + number(last % of_cta);
      text += ":\n" + texts[first];
    }
    first = last + 1;
  }
  return text.empty() ? "\nwarp 0:\n" : text;  // nobody does anything
}

}  // namespace

std::string text_of(const Program& program, const Instruction& instruction) {
  return instruction.kind == Instruction::Kind::kJump ? "a jump"
                                                      : Printer{program}.operation(instruction);
}

std::string text_of(const Program& program, const std::vector<Instruction>& warp) {
  return Printer{program}.lines(warp);
}

std::string text_of(const Program& program) {
  const Printer printer{program};
  return printer.header() + printer.warps();
}

}  // namespace warptwin::sim
