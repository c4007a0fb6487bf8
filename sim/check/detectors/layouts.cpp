/// Who writes a tile of shared memory and who reads it mean the same layout: swizzle, rows, start.
/// Source: PTX ISA, "Shared memory descriptor" (tcgen05), "Swizzling modes" (tensor copies).

#include <cstdlib>
#include <map>

#include "common/machine/umma_descriptor.hpp"
#include "common/machine/wgmma_descriptor.hpp"

#include "sim/check/detectors/detectors.hpp"
#include "sim/model/matrix.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kRowsOfCore = 8;  // of a core matrix, without a swizzle
constexpr std::uint32_t kUnitBytes = 16;  // that no swizzle tears apart
constexpr std::uint32_t kStepBytes = 32;  // of K, of one instruction

// The swizzle that a descriptor names, by the number that events have of one; 0: none.
std::uint32_t swizzle_of(UmmaSmemDescriptor descriptor) {
  for (const Swizzle swizzle :
       {Swizzle::k128BAtom32B, Swizzle::k128B, Swizzle::k64B, Swizzle::k32B}) {
    if (UmmaSmemDescriptor::code_of(swizzle) == descriptor.swizzle_code()) {
      return static_cast<std::uint32_t>(swizzle);
    }
  }
  return 0;
}

// Bytes of a row within which it permutes, and the bytes after which its pattern begins anew.
std::uint32_t bytes_of_span(std::uint32_t swizzle) {
  return span_of(static_cast<Swizzle>(swizzle));
}
std::uint32_t bytes_of_group(std::uint32_t swizzle) {
  return alignment_of(static_cast<Swizzle>(swizzle));
}
std::string rows_of_group(std::uint32_t swizzle) {
  return bytes_of_group(swizzle) / bytes_of_span(swizzle) == 4 ? "four rows" : "eight rows";
}

std::string swizzle_name(std::uint32_t of) {
  const auto swizzle = static_cast<Swizzle>(of);
  const std::string units = unit_of(swizzle) == kUnitBytes ? "" : ", by units of 32";
  return of == 0 ? "no swizzle"
                 : "a swizzle of " + std::to_string(span_of(swizzle)) + " bytes" + units;
}

class LayoutsDetector : public Detector {
 public:
  LayoutsDetector(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kCtaExit,
                  Op::kSharedLoad,
                  Op::kSharedStore,
                  Op::kTcgen05Cp,
                  Op::kTcgen05Mma,
                  Op::kTensorLoad,
                  Op::kTensorStore,
                  Op::kWgmma}} {
    narrow({Op::kTcgen05Cp, Op::kTcgen05Mma, Op::kTensorLoad, Op::kTensorStore, Op::kWgmma},
           {Step::kIssued});
  }

  void on_event(const Event& event) override {
    if (event.op == Op::kCtaExit) {
      ctas_.erase(event.cta);
    } else if (event.op == Op::kSharedLoad || event.op == Op::kSharedStore) {
      if (const payload::Rows* const rows = event.rows(); rows != nullptr && rows->pitch != 0) {
        on_rows(event, *rows);
      }
    } else if (event.step == Step::kIssued && event.fault == Fault::kNone) {
      on_copy_or_operand(event);
    }
  }

 private:
  // A tile as its writer laid it out.
  struct Tile {
    Event writer{};
    std::uint32_t end = 0;
    std::uint32_t span = 0;  // of its swizzle; 0: none
    std::uint32_t row_bytes = 0;
  };
  using Tiles = std::map<std::uint32_t, Tile>;  // by first byte

  // Rows of a tile, one to a lane, which are addressed from the tile's first byte.
  void on_rows(const Event& event, const payload::Rows& rows) {
    if (rows.of_lanes) {
      if (event.op == Op::kSharedStore) {
        ctas_[event.cta].erase(event.address);
      }
      return;
    }
    const std::uint32_t span = rows.swizzle;
    // Who counts from the beginning of a tile needs the pattern to begin there.
    if (const std::uint32_t group = bytes_of_group(span); span != 0 && event.address % group != 0) {
      reporter().report("LAYOUT_ALIGN",
                        event,
                        naming().shared(event.cta, event.address),
                        "a tile with " + swizzle_name(span) + " at shared+" +
                            std::to_string(event.address) + ", not a multiple of " +
                            std::to_string(group));
    }
    if (event.op == Op::kSharedStore) {
      ctas_[event.cta][event.address] = {event, event.address + rows.pitch, span, rows.pitch};
    }
  }

  void on_copy_or_operand(const Event& event) {
    switch (event.op) {
      case Op::kTensorLoad: {
        const auto& copy = event.as<payload::Copy>();
        const std::uint32_t bytes = copy.row_bytes;
        const std::uint32_t row =
            std::max(bytes, warptwin::span_of(static_cast<Swizzle>(copy.swizzle)));
        const std::uint32_t rows = bytes == 0 ? 0 : event.bytes / bytes;
        ctas_[event.cta][event.address] = {event, event.address + rows * row, copy.swizzle, row};
        break;
      }
      case Op::kTensorStore:
        check_store(event);
        break;
      default:
        check_operands(event);
        break;
    }
  }

  // What one instruction reads through a descriptor.
  struct Operand {
    const char* name;
    UmmaSmemDescriptor descriptor;
    std::uint32_t rows = 0;  // of M or N, in one CTA; 0: not an MMA's
    Major major = Major::kK;
    ElementType type{};
    std::uint32_t k_bytes = kMmaRowBytes;  // of an MMA's: of K

    std::uint32_t k_rows() const { return k_rows_of(type, k_bytes); }
  };

  void check_operands(const Event& event) {
    if (event.op == Op::kTcgen05Cp) {
      check_operand(event, {"source", {event.as<payload::TmemCopy>().source}});
      return;
    }
    const payload::Product& product = event.product();
    const UmmaInstructionDescriptor mma{product.instruction, product.kind};
    const std::uint32_t ctas = (event.flags & event_flag::kPair) != 0 ? 2 : 1;
    if ((event.flags & event_flag::kTmemA) == 0) {
      const std::uint32_t rows = event.op == Op::kWgmma ? kWgmmaRows : mma.m() / ctas;
      check_operand(event, {"A", {product.a}, rows, mma.a_major(), mma.a_type()});
    }
    check_operand(
        event, {"B", {product.b}, mma.n() / ctas, mma.b_major(), mma.b_type(), mma.b_row_bytes()});
  }

  const Tile* find(std::uint32_t cta, std::uint32_t address) {
    Tiles& tiles = ctas_[cta];
    auto tile = tiles.upper_bound(address);
    if (tile == tiles.begin()) {
      return nullptr;
    }
    --tile;
    return address < tile->second.end ? &tile->second : nullptr;
  }

  std::string written_by(const Tile& tile) const {
    return std::string{name_of(tile.writer.op)} + " by " + naming().warp(tile.writer.warp) +
           " at " + naming().site(tile.writer.site);
  }

  void check_store(const Event& event) {
    const Tile* tile = find(event.cta, event.address);
    const auto& copy = event.as<payload::Copy>();
    const bool outside = copy.width == 0;  // its box lies beyond the tensor: nothing is stored
    if (tile != nullptr && !outside && tile->writer.op == Op::kSharedStore &&
        tile->span != copy.swizzle) {
      reporter().report("LAYOUT_SWIZZLE",
                        event,
                        naming().shared(event.cta, event.address),
                        "stored through a tensor map with " + swizzle_name(copy.swizzle) +
                            "; written with " + swizzle_name(tile->span) + ", " +
                            written_by(*tile));
    }
  }

  void check_operand(const Event& event, const Operand& operand) {
    const Tile* tile = find(event.cta, operand.descriptor.start().value);
    if (tile == nullptr || tile->writer.op != Op::kTensorLoad) {
      return;
    }
    const std::uint32_t swizzle = swizzle_of(operand.descriptor);
    if (swizzle != tile->span) {
      reporter().report("LAYOUT_SWIZZLE",
                        event,
                        object(event, operand, *tile),
                        "read with " + swizzle_name(swizzle) + "; written with " +
                            swizzle_name(tile->span) + ", " + written_by(*tile));
    } else if (swizzle != 0) {
      check_swizzled(event, operand, *tile, swizzle);
    } else if (event.op == Op::kTcgen05Cp && tile->row_bytes == kUnitBytes &&
               operand.descriptor.stride_bytes() != kRowsOfCore * kUnitBytes) {
      report_stride(event, operand, *tile, kRowsOfCore * kUnitBytes, "eight rows");
    }
  }

  void check_swizzled(const Event& event,
                      const Operand& operand,
                      const Tile& tile,
                      std::uint32_t swizzle) {
    const std::uint32_t start = operand.descriptor.start().value;
    const std::uint32_t offset = start - tile.writer.address;
    const std::uint32_t span = bytes_of_span(swizzle);
    const std::uint32_t group = bytes_of_group(swizzle);
    const bool whole_rows = tile.row_bytes == span;
    const bool mn_major = operand.major == Major::kMn;
    const bool panels = mn_major && operand.rows * bytes_of(operand.type) > span;
    // TMA swizzles by the address, and so does a descriptor without base offset: where the tile
    // begins does not matter.
    const auto in_group = [&](std::uint32_t at) {
      return mn_major ? at % group == 0 : at % group < span && at % kStepBytes == 0;
    };
    const bool begins = in_group(start) || in_group(offset);
    if (whole_rows && operand.descriptor.stride_bytes() % group != 0) {
      report_stride(event, operand, tile, group, rows_of_group(swizzle));
    } else if (panels && operand.descriptor.leading_bytes() % group != 0) {
      reporter().report(
          "LAYOUT_STRIDE",
          event,
          object(event, operand, tile),
          "what follows the first " + std::to_string(span) + " bytes of a row lies " +
              std::to_string(operand.descriptor.leading_bytes()) + " bytes further, " +
              written_by(tile),
          {"a group of " + rows_of_group(swizzle) + " takes " + std::to_string(group) + " bytes"});
    } else if (!begins) {
      reporter().report(
          "LAYOUT_START",
          event,
          object(event, operand, tile),
          "begins " + std::to_string(offset) + " bytes into the tile: neither at a group of " +
              rows_of_group(swizzle) + " nor" +
              (mn_major ? " along K" : " at a multiple of 32 bytes along K within one") + ", " +
              written_by(tile));
    } else if (const Tile* other = swizzled_otherwise(event.cta, operand, tile, swizzle)) {
      reporter().report("LAYOUT_SWIZZLE",
                        event,
                        object(event, operand, tile),
                        "goes on " + std::to_string(other->writer.address - tile.writer.address) +
                            " bytes behind with " + swizzle_name(swizzle) +
                            "; written there with " + swizzle_name(other->span) + ", " +
                            written_by(*other));
    } else if (whole_rows) {
      check_major(event, operand, tile, swizzle);
    }
  }

  // A box with another swizzle that holds the beginning of a group of rows of the operand.
  const Tile* swizzled_otherwise(std::uint32_t cta,
                                 const Operand& operand,
                                 const Tile& tile,
                                 std::uint32_t swizzle) {
    const std::uint32_t span = bytes_of_span(swizzle);
    const std::uint32_t of_group = bytes_of_group(swizzle) / span;
    const bool mn_major = operand.major == Major::kMn;
    const std::uint32_t start = operand.descriptor.start().value;
    const std::uint32_t rows = mn_major ? operand.k_rows() : operand.rows;
    const std::uint32_t panels =
        mn_major ? ceil_div(operand.rows * bytes_of(operand.type), span) : 1;
    const std::uint32_t last = start + (panels - 1) * operand.descriptor.leading_bytes() +
                               (rows - 1) / of_group * operand.descriptor.stride_bytes();
    if (rows == 0 || (tile.writer.address <= start && last < tile.end)) {
      return nullptr;
    }
    for (std::uint32_t panel = 0; panel < panels; ++panel) {
      for (std::uint32_t row = 0; row < rows; row += of_group) {
        const std::uint32_t at = start + panel * operand.descriptor.leading_bytes() +
                                 row / of_group * operand.descriptor.stride_bytes();
        const bool own = tile.writer.address <= at && at < tile.end;
        const Tile* other = own ? nullptr : find(cta, at);
        if (other != nullptr && other->writer.op == Op::kTensorLoad && other->span != swizzle) {
          return other;
        }
      }
    }
    return nullptr;
  }

  // An operand that goes on in other boxes than it begins in is still one piece of the matrix: its
  // rows have the same columns, and the panels of an MN-major one the same rows.
  void check_major(const Event& event,
                   const Operand& operand,
                   const Tile& tile,
                   std::uint32_t swizzle) {
    const std::uint32_t span = bytes_of_span(swizzle);
    const std::uint32_t of_group = bytes_of_group(swizzle) / span;
    const std::uint32_t start = operand.descriptor.start().value / span * span;
    const bool mn_major = operand.major == Major::kMn;
    const std::uint32_t stride = operand.descriptor.stride_bytes();
    const std::uint32_t groups = (mn_major ? operand.k_rows() : operand.rows) / of_group;
    const bool goes_on = start + (groups - 1) * stride >= tile.end;
    for (std::uint32_t group = 1; goes_on && group < groups; ++group) {
      const std::uint32_t at = start + group * stride;
      if (const Tile* other = other_box(event.cta, at, tile);
          other != nullptr && distance(tile, start, *other, at) % pitch_of(tile) != 0) {
        report_major(event, operand, tile, *other, "columns");
        return;
      }
    }
    const std::uint32_t panels =
        mn_major ? ceil_div(operand.rows * bytes_of(operand.type), span) : 1;
    for (std::uint32_t panel = 1; panel < panels; ++panel) {
      const std::uint32_t at = start + panel * operand.descriptor.leading_bytes();
      if (const Tile* other = other_box(event.cta, at, tile);
          other != nullptr && std::abs(distance(tile, start, *other, at)) >= pitch_of(tile)) {
        report_major(event, operand, tile, *other, "rows");
        return;
      }
    }
  }

  // Of a tile that a tensor load brings: bytes from row to row of its box in global memory.
  static std::uint32_t pitch_of(const Tile& tile) { return tile.writer.as<payload::Copy>().pitch; }

  // The box that holds `address`, if that is another than `tile`, of the same matrix.
  const Tile* other_box(std::uint32_t cta, std::uint32_t address, const Tile& tile) {
    if (address - tile.writer.address < tile.end - tile.writer.address) {
      return nullptr;
    }
    const Tile* other = find(cta, address);
    const auto described = [](const Tile& one) {
      return one.writer.op == Op::kTensorLoad && (one.writer.flags & event_flag::kMatrix) != 0 &&
             one.writer.as<payload::Copy>().rows != 0 && pitch_of(one) != 0;
    };
    const bool comparable =
        other != nullptr && described(tile) && described(*other) &&
        other->writer.as<payload::Copy>().map == tile.writer.as<payload::Copy>().map;
    return comparable ? other : nullptr;
  }

  // In global memory, from the row that lies at `from` of one box to that at `to` of another.
  static std::int64_t distance(const Tile& first,
                               std::uint32_t from,
                               const Tile& second,
                               std::uint32_t to) {
    const auto row_at = [](const Tile& tile, std::uint32_t address) {
      const std::uint32_t row = (address - tile.writer.address) / tile.row_bytes;
      return static_cast<std::int64_t>(tile.writer.global) +
             static_cast<std::int64_t>(row) * pitch_of(tile);
    };
    return row_at(second, to) - row_at(first, from);
  }

  Object object(const Event& event, const Operand& operand, const Tile& tile) const {
    Object object = naming().shared(event.cta, tile.writer.address);
    object.name = std::string{"descriptor of "} + operand.name + ", " + object.name;
    return object;
  }

  void report_stride(const Event& event,
                     const Operand& operand,
                     const Tile& tile,
                     std::uint32_t group,
                     const std::string& rows) {
    reporter().report("LAYOUT_STRIDE",
                      event,
                      object(event, operand, tile),
                      "groups of " + rows + " every " +
                          std::to_string(operand.descriptor.stride_bytes()) +
                          " bytes; the rows written are " + std::to_string(tile.row_bytes) +
                          " bytes long, " + written_by(tile),
                      {"a group of " + rows + " takes " + std::to_string(group) + " bytes"});
  }

  void report_major(const Event& event,
                    const Operand& operand,
                    const Tile& tile,
                    const Tile& other,
                    const char* what) {
    const bool mn_major = operand.major == Major::kMn;
    reporter().report("LAYOUT_MAJOR",
                      event,
                      object(event, operand, tile),
                      std::string{mn_major ? "MN-major" : "K-major"} + ", it goes on " +
                          std::to_string(other.writer.address - tile.writer.address) +
                          " bytes behind, where other " + what + " of the matrix are, " +
                          written_by(other),
                      {mn_major ? "rows of the tile are of M or N where it is K-major"
                                : "rows of the tile are of K where it is MN-major: the instruction "
                                  "descriptor says which"});
  }

  ByCta<Tiles> ctas_;
};

}  // namespace

std::unique_ptr<Detector> make_layouts(Reporter& reporter, Order& order) {
  return std::make_unique<LayoutsDetector>(reporter, order);
}

}  // namespace warptwin::sim
