#include <utility>

#include "common/machine/umma_descriptor.hpp"

#include "sim/program/program.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kAddressMax = 1U << 20;

class Validator {
 public:
  explicit Validator(const Program& program) : program_{program} {}

  void run() {
    launch();
    for (const std::vector<Instruction>& warp : program_.warps) {
      for (const Instruction& instruction : warp) {
        at_ = &instruction;
        if (instruction.kind == Instruction::Kind::kJump) {
          jump(instruction, warp.size());
        } else {
          operation(instruction);
        }
      }
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    std::string where = program_.name;
    if (at_ != nullptr && *at_->operation.site.file != '\0') {
      where =
          std::string{at_->operation.site.file} + ":" + std::to_string(at_->operation.site.line);
    }
    throw ConfigError(where + ": " + what);
  }
  void require(bool holds, const char* what) const {
    if (!holds) {
      refuse(what);
    }
  }

  void launch() {
    const Workload& launch = program_.workload;
    require(launch.clusters >= 1 && launch.cluster_size >= 1 && launch.cluster_size <= 16,
            "a program has a cluster of 1 to 16 CTAs");
    const std::uint32_t warps = program_.warps_per_cta();
    require(warps >= 1 && warps <= 32, "a CTA has 1 to 32 warps");
    require(program_.warps.size() == std::size_t{launch.clusters} * launch.cluster_size * warps,
            "a program has a list of operations for each warp of its grid");
    require(program_.symbols.bytes <= kSharedBytesPerCtaMax,
            "the program takes more shared memory than a CTA has");
    for (const InitialWord& word : program_.words) {
      require(word.tensor < launch.tensors.size() && word.offset % 4 == 0 &&
                  word.offset + 4 <= launch.tensors[word.tensor].bytes(),
              "an initial word lies in no buffer");
    }
    for (const TensorMapSpec& spec : launch.maps) {
      const char* fault = fault_of(spec, launch);
      require(fault == nullptr, fault);
    }
  }

  void jump(const Instruction& instruction, std::size_t size) const {
    require(instruction.target <= size, "a jump leads to no instruction");
    require(instruction.tested == Instruction::kNone || instruction.tested < kProgramRegisters,
            "a jump tests no register");
  }

  void operation(const Instruction& instruction) {
    const Operation& op = instruction.operation;
    const bool exists = op.op < Op::kWarpStart || op.op == Op::kElectSync;
    require(exists && (op.lanes == kWarpLanes || op.lanes == 1) && op.lane < kWarpLanes,
            "this is no operation of a warp, or of a lane");
    const Event told = op.told();
    require((told.address & 0xFFFFFFU) < kAddressMax || is_tmem(op.op),
            "an address lies beyond shared memory");
    require((op.flags & event_flag::kRemote) != 0 || told.address < kAddressMax || is_tmem(op.op),
            "an address lies beyond shared memory");
    require(told.numbers().place < kAddressMax || (op.flags & event_flag::kTmemA) != 0,
            "an address lies beyond shared memory");
    require(told.bytes <= 1U << 24, "a count of bytes is too large");
    require(told.global < std::uint64_t{1} << 41, "an address lies beyond global memory");
    require(instruction.result == Instruction::kNone || instruction.result < kProgramRegisters,
            "a result goes to no register");
    require(instruction.fragment == Instruction::kNone || instruction.fragment < kProgramFragments,
            "there is no such fragment");
    require(op.op != Op::kClcQuery || op.as<operands::ClcQuery>().word <= 3,
            "a response has four words");
    require((op.op != Op::kTcgen05Mma && op.op != Op::kWgmma) ||
                op.product().instruction.kind <= MmaKind::kI8,
            "there is no such MMA");
    fragment(instruction);
    if (op.is<operands::SharedRows>()) {
      rows(instruction);
    }
    require(!op.is<operands::Copy>() || op.as<operands::Copy>().rank <= 5,
            "a box has at most five coordinates");
  }

  static bool is_tmem(Op op) {
    return op == Op::kTcgen05Mma || op == Op::kTcgen05Cp || op == Op::kTcgen05Ld ||
           op == Op::kTcgen05St || op == Op::kTcgen05Dealloc;
  }

  void fragment(const Instruction& instruction) {
    const Operation& op = instruction.operation;
    const std::uint32_t registers = instruction.fragment_registers;
    const bool has = instruction.fragment != Instruction::kNone;
    require(registers <= 128, "a fragment has at most 128 registers");
    if (op.op == Op::kTcgen05Ld || op.op == Op::kTcgen05St) {
      const auto& access = op.as<operands::TmemAccess>();
      require(has && access.columns == registers * (access.of_16_lanes() ? 2 : 1) && registers != 0,
              "the columns of tensor memory are not those of the fragment");
    }
    const bool sparse = op.op == Op::kWgmma && op.product().instruction.sparse_a();
    require(sparse == (op.op == Op::kWgmma && (op.flags & event_flag::kSparse) != 0) &&
                (sparse ? instruction.metadata < kProgramFragments
                        : instruction.metadata == Instruction::kNone),
            "metadata is that of a wgmma with a sparse A");
    require(!sparse || instruction.metadata != instruction.fragment, "metadata is no accumulator");
    if (op.op == Op::kWgmma) {
      const auto& wgmma = op.as<operands::Wgmma>();
      require(has && registers != 0 && wgmma.columns == 2 * registers,
              "an accumulator is not that of the wgmma's shape");
      const UmmaInstructionDescriptor& shape = wgmma.instruction;
      require(shape.n() == wgmma.columns && shape.m() == 64,
              "an accumulator is not that of the wgmma's shape");
      // The machine writes a warpgroup's four accumulators by one shape.
      require(wgmma_columns_ == 0 || wgmma_columns_ == wgmma.columns,
              "a program's wgmmas have one shape");
      wgmma_columns_ = wgmma.columns;
    }
  }

  // What the machine does not look at: the bytes of a row.
  void rows(const Instruction& instruction) const {
    const auto& tile = instruction.operation.as<operands::SharedRows>();
    const std::uint32_t registers = instruction.fragment_registers;
    const std::uint32_t size = bytes_of(tile.element);
    require(instruction.fragment != Instruction::kNone && registers != 0,
            "rows are those of a fragment");
    require(tile.row < 4096 && tile.column < 4096 && tile.row_bytes <= 4096,
            "a tile has less than 4096 rows, of at most 4096 bytes");
    if (tile.of_accumulator) {
      return;  // what lies outside of the tile's columns is left out
    }
    const std::uint32_t lines = tile.half_rows ? kWarpLanes / 2 : kWarpLanes;
    const std::uint32_t along = kWarpLanes / lines * registers;
    const auto [down, right] = tile.by_columns ? std::pair{along, lines} : std::pair{lines, along};
    // Where the machine looks for the end, and where the last bytes are.
    const std::uint32_t end = tile.tile + (tile.row + down) * tile.row_bytes;
    const std::uint32_t last =
        tile.tile + (tile.row + down - 1) * tile.row_bytes + (tile.column + right) * size;
    const std::uint32_t shared = kSharedBase + program_.symbols.bytes;
    require(end > shared || align_up(last, 128) <= shared,
            "the columns reach beyond the rows, and beyond shared memory");
  }

  const Program& program_;
  const Instruction* at_ = nullptr;
  std::uint32_t wgmma_columns_ = 0;
};

}  // namespace

const char* fault_of(const TensorMapSpec& spec, const Workload& launch) {
  if (spec.tensor >= launch.tensors.size()) {
    return "a tensor map is over no buffer";
  }
  const TensorSpec& tensor = launch.tensors[spec.tensor];
  std::uint64_t box = std::uint64_t{spec.box_columns} * bytes_of(tensor.element);
  std::uint64_t reach = std::uint64_t{tensor.units()} * bytes_of(tensor.element);
  if (box == 0 || reach == 0) {
    return "a tensor map has no elements";
  }
  if (spec.swizzle != Swizzle::kNone && box > static_cast<std::uint32_t>(spec.swizzle)) {
    return "a row of a tensor map's box is longer than its swizzle";
  }
  if (box % 16 != 0) {
    return "a row of a tensor map's box has not a multiple of 16 bytes";
  }
  for (const MapDimension& outer : outer_dimensions(spec, tensor)) {
    if (outer.box < 1 || outer.step < 1 || outer.step > 8 || outer.extent < 1) {
      return "a dimension of a tensor map has no elements";
    }
    box *= outer.box;
    if (box >= kAddressMax) {
      return "a tensor map's box does not fit into shared memory";
    }
    reach += (outer.extent - std::uint64_t{1}) * outer.stride_bytes;
  }
  return reach > tensor.bytes() ? "a tensor map reaches beyond its buffer" : nullptr;
}

void validate(const Program& program) {
  Validator{program}.run();
}

}  // namespace warptwin::sim
