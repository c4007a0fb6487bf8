#include "sim/oracle/values_layout.hpp"

#include <algorithm>
#include <optional>

#include "sim/oracle/values_footprint.hpp"

namespace warptwin::sim::values {

namespace {

constexpr std::uint32_t kUnitBytes = 16;
constexpr std::uint64_t kFarRows = 1U << 16;

constexpr std::uint64_t kOccurrences = 16;  // of one instruction that are told apart

Swizzle pattern_of(UmmaSmemDescriptor descriptor) {
  switch (descriptor.swizzle_code()) {
    case 1:
      return Swizzle::k128BAtom32B;
    case 2:
      return Swizzle::k128B;
    case 4:
      return Swizzle::k64B;
    case 6:
      return Swizzle::k32B;
    default:
      return Swizzle::kNone;
  }
}

// Of a matrix whose rows are of M or N, or of K if it is MN-major: `slice_bytes` along K.
std::vector<LayoutUnit> units_of(UmmaSmemDescriptor descriptor,
                                 std::uint32_t rows,
                                 Major major,
                                 ElementType type,
                                 std::uint32_t slice_bytes) {
  const Swizzle swizzle = pattern_of(descriptor);
  const auto span = static_cast<std::uint32_t>(swizzle);
  std::vector<LayoutUnit> units;
  if (major == Major::kMn) {
    const std::uint32_t size = bytes_of(type);
    for (std::uint32_t k = 0; k < slice_bytes / size; ++k) {
      for (std::uint32_t byte = 0; byte + kUnitBytes <= rows * size; byte += kUnitBytes) {
        units.push_back({k, byte, swizzled(descriptor.mn_address(byte, k), swizzle)});
      }
    }
    return units;
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t group = descriptor.start().value + row / 8 * descriptor.stride_bytes();
    for (std::uint32_t byte = 0; byte < slice_bytes; byte += kUnitBytes) {
      const std::uint32_t linear =
          swizzle == Swizzle::kNone
              ? group + row % 8 * kUnitBytes + byte / kUnitBytes * descriptor.leading_bytes()
              : group + row % 8 * span + byte;
      units.push_back({row, byte, swizzled(linear, swizzle)});
    }
  }
  return units;
}

// The fields of an instruction descriptor that this machine has (PTX ISA, "Instruction
// descriptor"): not saturating, not negated, not shifted, D of f32 or s32.
bool has_fields(UmmaInstructionDescriptor instruction, bool scaled) {
  constexpr std::uint32_t kTypes = 0x3FU << 7, kMajors = 3U << 15, kN = 0x3FU << 17,
                          kM = 0x1FU << 24;
  if (!scaled) {
    constexpr std::uint32_t kF32 = 1U << 4, kS32 = 2U << 4, kTypeOfD = 3U << 4;
    const std::uint32_t sparse = instruction.sparse_a() ? 7U : 0;  // with its selector
    return (instruction.bits & ~(kTypes | kMajors | kN | kM | kTypeOfD | sparse)) == 0 &&
           (instruction.bits & kTypeOfD) == (instruction.kind == MmaKind::kI8 ? kS32 : kF32);
  }
  constexpr std::uint32_t kFactors = 3U << 4 | 1U << 23 | 3U << 29;
  const std::uint32_t vector = scale_vector(instruction.kind);
  const std::uint32_t sparse = instruction.sparse_a() ? 4U : 0;  // without a selector
  return (instruction.bits & ~(kTypes | kMajors | kN | kM | kFactors | sparse)) == 0 &&
         instruction.scale_byte_a() % vector == 0 && instruction.scale_byte_b() % vector == 0;
}

bool meet(std::uint32_t a, std::uint32_t columns_of_a, std::uint32_t b, std::uint32_t columns) {
  return a < b + columns && b < a + columns_of_a;
}

std::string misuse_of_fields(const Operation& op) {
  const auto& mma = op.as<operands::Mma>();
  const UmmaInstructionDescriptor& instruction = mma.instruction;
  const bool scaled = (op.flags & event_flag::kBlockScale) != 0;
  const bool pair = mma.group == CtaGroup::kTwo;
  const TmemAddress d = mma.d;
  const bool halves = !pair && instruction.m() == 64;
  if (!has_fields(instruction, scaled)) {
    return "an instruction descriptor with fields that the MMA does not have";
  }
  if (d.lane() != 0 && !(halves && d.lane() == 16)) {
    return "an accumulator that begins at a lane where none begins";
  }
  const std::uint32_t columns = accumulator_columns(instruction, mma.group);
  const std::uint32_t factors_a = scale_columns(instruction.m() / (pair ? 2 : 1));
  const std::uint32_t factors_b = scale_columns(instruction.n());
  const bool overlap = meet(d.column(), columns, mma.scale_a.column(), factors_a) ||
                       meet(d.column(), columns, mma.scale_b.column(), factors_b);
  return scaled && overlap ? "scale factors in the columns of the result" : "";
}

// Rows of the lanes' registers: a matrix of their own, with rows far apart.
LayoutBox box_of_rows(const Planned& planned, std::uint32_t cta) {
  const auto& rows = planned.operation().as<operands::SharedRows>();
  const std::uint32_t size = bytes_of(rows.element);
  const std::uint32_t end = (rows.column + planned.instruction->fragment_registers) * size;
  LayoutBox box{planned.token, cta, kFarRows, {}};
  for (std::uint32_t row = rows.row; row < rows.row + kWarpLanes; ++row) {
    for (std::uint32_t byte = rows.column * size; byte < end; byte += kUnitBytes) {
      box.source[swizzled(rows.tile + row * rows.row_bytes + byte, rows.swizzle)] =
          row * kFarRows + byte;
    }
  }
  return box;
}

// Where byte 0 of the unit's row would be, if the box has brought the unit.
std::optional<std::int64_t> begin_of_row(const LayoutBox& box, const LayoutUnit& unit) {
  const auto at = box.source.find(unit.shared);
  return at == box.source.end() ? std::nullopt
                                : std::optional{static_cast<std::int64_t>(at->second) -
                                                static_cast<std::int64_t>(unit.byte)};
}

}  // namespace

Layouts::Layouts(const Program& program, Plan& plan) {
  for (std::uint32_t warp = 0; warp < plan.warps.size(); ++warp) {
    const std::uint32_t cta = plan.cta_of(warp);
    for (Planned& planned : plan.warps[warp]) {
      if (planned.is_jump() || !planned.misuse.empty()) {
        continue;
      }
      const Operation& op = planned.operation();
      if (op.op == Op::kTensorLoad || op.op == Op::kTensorStore) {
        add_copy(program, planned, cta);
      } else if (op.op == Op::kTcgen05Mma) {
        planned.misuse = misuse_of_fields(op);
        add_operands(planned, cta, plan.cluster_size);
      } else if (op.op == Op::kSharedStore && op.is<operands::SharedRows>()) {
        add_rows(planned, cta);
      }
    }
  }
}

// What a warp stores of a tile.
void Layouts::add_rows(Planned& planned, std::uint32_t cta) {
  const auto& rows = planned.operation().as<operands::SharedRows>();
  if (rows.swizzle != Swizzle::kNone &&
      rows.tile % (8 * static_cast<std::uint32_t>(rows.swizzle)) != 0) {
    planned.misuse = "rows of a tile that begins in the middle of its swizzle's pattern";
  } else if (!rows.by_columns && !rows.half_rows && !rows.of_accumulator) {
    boxes_.push_back(box_of_rows(planned, cta));
  }
}

void Layouts::add_copy(const Program& program, const Planned& planned, std::uint32_t cta) {
  const Operation& op = planned.operation();
  const auto& copy = op.as<operands::Copy>();
  const MapGeometry map = geometry_of(program, copy.map);
  if (map.rank != 2) {
    return;
  }
  const std::uint64_t pitch = std::max<std::uint64_t>(map.stride[1], 1);
  const std::vector<Run> runs = runs_of_tensor(copy, map);
  if (op.op == Op::kTensorStore) {
    LayoutView view{cta, Major::kK, true, {}};
    for (const Run& run : runs) {
      const std::uint64_t offset = run.global - map.address;
      view.units.push_back({static_cast<std::uint32_t>(offset / pitch),
                            static_cast<std::uint32_t>(offset % pitch),
                            run.shared});
    }
    views_[planned.token].push_back(std::move(view));
    return;
  }
  for (const Piece& piece : planned.started) {
    LayoutBox box{planned.token, piece.ctas.front(), pitch, {}};
    for (const Run& run : runs) {
      if (run.bytes == kUnitBytes) {
        box.source[run.shared] = run.global;
      }
    }
    boxes_.push_back(std::move(box));
  }
}

void Layouts::add_operands(const Planned& planned, std::uint32_t cta, std::uint32_t cluster_size) {
  const Operation& op = planned.operation();
  const auto& mma = op.as<operands::Mma>();
  const UmmaInstructionDescriptor& instruction = mma.instruction;
  const std::uint32_t ctas = mma.group == CtaGroup::kTwo ? 2 : 1;
  const std::uint32_t first = ctas == 2 ? cta - cta % cluster_size % 2 : cta;
  const auto add = [&](UmmaSmemDescriptor descriptor,
                       std::uint32_t rows,
                       Major major,
                       ElementType type,
                       std::uint32_t slice) {
    const auto span = static_cast<std::uint32_t>(pattern_of(descriptor));
    // Along K one goes within the span of a row; along M or N from panel to panel.
    const std::uint32_t offset = span == 0 ? 0 : descriptor.start().value % (8 * span);
    const bool begins = offset == 0 || (major == Major::kK && offset < span);
    for (std::uint32_t at = first; at < first + ctas; ++at) {
      views_[planned.token].push_back(
          {at, major, begins, units_of(descriptor, rows / ctas, major, type, slice)});
    }
  };
  if ((op.flags & event_flag::kTmemA) == 0) {
    add(mma.a, instruction.m(), instruction.a_major(), instruction.a_type(), 32);
  }
  add(mma.b,
      instruction.n(),
      instruction.b_major(),
      instruction.b_type(),
      instruction.sparse_a() ? 64 : 32);
}

std::string Layouts::misuse(const Planned& planned, std::vector<std::uint64_t> tokens) const {
  const auto views = views_.find(planned.token);
  if (views == views_.end() || boxes_.empty()) {
    return "";
  }
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  const auto [known, is_new] = known_.try_emplace({planned.token, tokens});
  if (!is_new) {
    return known->second;
  }
  for (const LayoutView& view : views->second) {
    std::vector<const LayoutBox*> boxes;
    for (const LayoutBox& box : boxes_) {
      const auto token = std::lower_bound(tokens.begin(), tokens.end(), box.token);
      if (box.cta == view.cta && token != tokens.end() && *token - box.token < kOccurrences) {
        boxes.push_back(&box);
      }
    }
    if (known->second.empty()) {
      known->second = misuse_of(view, boxes);
    }
  }
  return known->second;
}

std::string Layouts::misuse_of(const LayoutView& view, const std::vector<const LayoutBox*>& boxes) {
  std::vector<std::uint32_t> places;
  // Of K-major rows one column, of others one of each unit.
  std::map<std::uint32_t, std::int64_t> begins;
  for (std::size_t i = 0; i < view.units.size(); ++i) {
    const LayoutUnit& unit = view.units[i];
    const LayoutUnit* before =
        i != 0 && view.units[i - 1].row == unit.row ? &view.units[i - 1] : nullptr;
    bool brought = false;
    bool apart = true;  // from the unit before it
    bool joined = false;
    bool below = false;  // the other rows
    for (const LayoutBox* box : boxes) {
      const std::optional<std::int64_t> row = begin_of_row(*box, unit);
      if (!row) {
        continue;
      }
      brought = true;
      const std::int64_t begin =
          begins.try_emplace(view.major == Major::kK ? 0 : unit.byte, *row).first->second;
      below = below || (*row - begin) % static_cast<std::int64_t>(box->pitch) == 0;
      const auto row_before = before != nullptr ? begin_of_row(*box, *before) : std::nullopt;
      apart = apart && !row_before;
      joined = joined || row_before == row;
    }
    if (!brought) {
      continue;
    }
    if (!view.begins) {
      return "an operand that begins in the middle of its swizzle's pattern";
    }
    if ((!apart && !joined) || !below) {
      return "rows that are not those of the matrix that was written";
    }
    places.push_back(unit.shared);
  }
  std::sort(places.begin(), places.end());
  const bool twice = std::adjacent_find(places.begin(), places.end()) != places.end();
  return twice ? "an operand two rows of which are one" : "";
}

}  // namespace warptwin::sim::values
