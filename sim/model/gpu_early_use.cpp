// What operations use of shared memory that a cp.async still writes: whoever is ordered behind its
// issue, and before the wait for it, is in no race with it.

#include <algorithm>
#include <bit>
#include <optional>

#include "sim/model/gpu.hpp"
#include "sim/model/matrix.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kCopyWordBytes = 4;  // of which all copies are made
constexpr std::uint32_t kResponseBytes = 16;

// The first word found that a copy is on its way to, of what an operation uses.
class EarlyUse {
 public:
  EarlyUse(const std::vector<Cta>& ctas,
           std::uint32_t own,
           const std::vector<SourceSite>& copy_sites)
      : ctas_{ctas}, own_{own}, copy_sites_{copy_sites} {}

  // Bytes of a CTA slot's shared memory.
  void of(std::uint32_t cta, std::uint64_t first, std::uint64_t size, bool writes) {
    const std::vector<std::uint32_t>& words = ctas_[cta].copied;
    const std::uint64_t last = (first + size + kCopyWordBytes - 1) / kCopyWordBytes;
    const std::uint64_t end = std::min<std::uint64_t>(last, words.size());
    for (std::uint64_t word = first / kCopyWordBytes; word < end && !found_; ++word) {
      if (words[word] != 0) {
        const auto address = static_cast<std::uint32_t>(word * kCopyWordBytes);
        found_ = {{address, copy_sites_[words[word] - 1]}, cta, writes};
      }
    }
  }
  void of_own(std::uint64_t first, std::uint64_t size, bool writes) {
    of(own_, first, size, writes);
  }
  // Of those of the cluster that the mask names, or the own one.
  void of(CtaMask mask, std::uint64_t first, std::uint64_t size, bool writes) {
    const Cta& own = ctas_[own_];
    for (std::uint32_t rank = 0; rank < own.size; ++rank) {
      if (mask.bits == 0 ? rank == own.rank : mask.contains(rank)) {
        of(own.first + rank, first, size, writes);
      }
    }
  }
  // What the tensor core reads of the CTA, or of both of a pair.
  void of(CtaGroup group, const Units& units) {
    const std::uint32_t rank = ctas_[own_].rank;
    const auto pair = static_cast<std::uint16_t>(3U << (rank & ~1U));
    for (const auto& [first, end] : units) {
      of(CtaMask{group == CtaGroup::kTwo ? pair : std::uint16_t{0}}, first, end - first, false);
    }
  }
  void of(const LaneAccess& access, std::uint32_t cta, bool writes) {
    for (std::uint32_t left = access.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      of(cta, access.address[lane], access.bytes, writes);
    }
  }
  const Cta& own() const { return ctas_[own_]; }
  std::uint32_t slot_of(std::uint32_t rank) const {
    return own().first + std::min(rank, own().size - 1);
  }

  struct Found {
    CopiedWord word;
    std::uint32_t cta = 0;  // slot
    bool writes = false;
  };
  const std::optional<Found>& found() const { return found_; }

 private:
  const std::vector<Cta>& ctas_;
  std::uint32_t own_;
  const std::vector<SourceSite>& copy_sites_;
  std::optional<Found> found_;
};

// The operands in shared memory of a wgmma or a tcgen05.mma.
void find_operands(EarlyUse& use, const Operation& op) {
  const operands::Product& product = op.product();
  const UmmaInstructionDescriptor& instruction = product.instruction;
  const std::uint32_t ctas = ctas_in(op.group());
  const std::uint32_t rows = op.op == Op::kWgmma ? kWgmmaRows : instruction.m() / ctas;
  if ((op.flags & event_flag::kTmemA) == 0) {
    use.of(op.group(),
           units_of(product.a,
                    rows,
                    instruction.a_major(),
                    instruction.a_type(),
                    kMmaRowBytes,
                    padding_of(small_a(instruction))));
  }
  use.of(op.group(),
         units_of(product.b,
                  instruction.n() / ctas,
                  instruction.b_major(),
                  instruction.b_type(),
                  instruction.b_row_bytes(),
                  padding_of(small_b(instruction))));
}

// Rows or columns of a tile, as `Gpu::shared_row` has them.
void find_rows(EarlyUse& use, const Operation& op, bool writes) {
  const auto& rows = op.as<operands::SharedRows>();
  const std::uint32_t size = bytes_of(rows.element);
  const std::uint32_t registers = op.fragment == nullptr ? 0 : op.fragment->registers;
  const std::uint32_t lines = rows.half_rows ? kWarpLanes / 2 : kWarpLanes;
  const std::uint32_t along = kWarpLanes / lines * registers;
  std::uint32_t down = rows.by_columns ? along : lines;
  std::uint32_t bytes = (rows.by_columns ? lines : along) * size;
  std::uint32_t column = rows.column * size;
  if (rows.of_accumulator) {
    down = kWgmmaWarpRows;
    bytes = rows.row_bytes;
    column = 0;
  }
  for (std::uint32_t row = rows.row; row < rows.row + down; ++row) {
    const std::uint32_t linear = rows.tile + row * rows.row_bytes + column;
    for (std::uint32_t byte = 0; byte < bytes; byte += size) {
      use.of_own(swizzled(linear + byte, rows.swizzle), size, writes);
    }
  }
}

void find_words(EarlyUse& use, const Operation& op) {
  const bool writes = op.op == Op::kSharedStore;
  if (op.is<operands::SharedRows>()) {
    find_rows(use, op, writes);
  } else if (op.is<operands::SharedWord>()) {
    use.of_own(op.as<operands::SharedWord>().address, sizeof(std::uint32_t), writes);
  } else if ((op.flags & event_flag::kCopiesAreOver) == 0) {
    const auto& bytes = op.as<operands::LaneBytes>();
    if (bytes.step == LaneCopyStep::kNone || bytes.step == LaneCopyStep::kBegin) {
      use.of(*bytes.access, use.slot_of(bytes.rank), writes);
    }
  }
}

void find_copy(EarlyUse& use, const Operation& op, std::uint32_t bytes) {
  const auto& copy = op.as<operands::Copy>();
  if ((op.flags & event_flag::kSharedSource) != 0) {
    use.of(use.slot_of(copy.to_rank), copy.shared, bytes, true);
    use.of_own(copy.source, bytes, false);
  } else {
    use.of(copy.mask, copy.shared, bytes, is_load(op.op));
  }
}

void find_counted(EarlyUse& use, const Operation& op) {
  const auto& bar = op.as<operands::Mbarrier>();
  const bool remote = (op.flags & event_flag::kRemote) != 0;
  for (std::size_t i = 0; bar.copies != nullptr && i < bar.copies->size(); ++i) {
    const AsyncAccess& access = (*bar.copies)[i];
    if (!access.began_before) {
      const std::uint32_t rank = remote ? bar.address >> 24 : use.own().rank;
      use.of(access.target, use.slot_of(rank), true);
    }
  }
}

}  // namespace

void Gpu::report_early_use(WarpSlot slot, const Operation& op) {
  EarlyUse use{ctas_, warps_[slot].cta, copy_sites_};
  switch (op.op) {
    case Op::kSharedLoad:
    case Op::kSharedStore:
      find_words(use, op);
      break;
    case Op::kTensorLoad:
    case Op::kTensorStore:
    case Op::kBulkLoad:
    case Op::kBulkStore:
      find_copy(use, op, shared_bytes_of(op));
      break;
    case Op::kMbarrierArrive:
    case Op::kMbarrierCompleteTx:
      find_counted(use, op);
      break;
    case Op::kWgmma:
    case Op::kTcgen05Mma:
      find_operands(use, op);
      break;
    case Op::kTcgen05Cp: {
      const auto& copy = op.as<operands::TmemCopy>();
      use.of(copy.group, units_of(copy.from, copy.shape, copy.padding));
      break;
    }
    case Op::kClcTryCancel:
      use.of(op.mask(), op.as<operands::ClcRequest>().response, kResponseBytes, true);
      break;
    case Op::kTcgen05Alloc:
      use.of_own(op.as<operands::TmemAllocation>().word, sizeof(std::uint32_t), true);
      break;
    default:
      return;
  }
  if (use.found()) {
    emit_early_use(slot, op, use.found()->writes, use.found()->cta, use.found()->word);
  }
}

void Gpu::emit_early_use(
    WarpSlot slot, const Operation& op, bool writes, std::uint32_t cta, const CopiedWord& word) {
  Operation one{writes ? Op::kSharedStore : Op::kSharedLoad};
  one.lanes = 1;
  one.lane = op.some != 0 ? static_cast<std::uint8_t>(std::countr_zero(op.some)) : op.lane;
  one.site = op.site;
  Event event = event_of(slot, one);
  event.fault = Fault::kOnItsWay;
  event.cta = ctas_[cta].number;
  event.flags |= cta == warps_[slot].cta ? std::uint32_t{0} : event_flag::kRemote;
  event.address = word.address;
  event.bytes = kCopyWordBytes;
  event.set<payload::OnItsWay>() = {word.copy.line, word.copy.file, word.at_exit};
  emit(event);
}

std::uint32_t Gpu::number_of(const SourceSite& copy) {
  const auto known = std::find_if(copy_sites_.begin(), copy_sites_.end(), [&](const auto& site) {
    return same_instruction(site, copy);
  });
  const auto number = static_cast<std::uint32_t>(known - copy_sites_.begin()) + 1;
  if (known == copy_sites_.end()) {
    copy_sites_.push_back(copy);
  }
  return number;
}

// That the words of these lanes are on their way, from the copy of this number, or with 0 that they
// have come.
void Gpu::note_copied(Cta& cta, const LaneAccess& target, std::uint32_t number) {
  for (std::uint32_t left = target.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t first = target.address[lane] / kCopyWordBytes;
    const std::uint64_t words = target.bytes / kCopyWordBytes;
    cta.copied.resize(std::max<std::size_t>(cta.copied.size(), first + words));
    std::fill_n(cta.copied.begin() + static_cast<std::ptrdiff_t>(first), words, number);
  }
}

}  // namespace warptwin::sim
