#include "sim/check/layouts.hpp"

#include <map>

#include "common/machine/umma_descriptor.hpp"

namespace warptwin::sim {

namespace {

constexpr std::uint32_t kRowsOfGroup = 8;  // after which a swizzle pattern begins anew
constexpr std::uint32_t kUnitBytes = 16;   // that no swizzle tears apart

// The swizzle span that a descriptor names, in bytes; 0: none.
std::uint32_t span_of(UmmaSmemDescriptor descriptor) {
  constexpr std::uint32_t kSpans[8] = {0, 0, 128, 0, 64, 0, 32, 0};
  return kSpans[descriptor.swizzle_code()];
}

std::string swizzle_name(std::uint32_t span) {
  return span == 0 ? "no swizzle" : "a swizzle of " + std::to_string(span) + " bytes";
}

class Impl : public Detector {
 public:
  Impl(Reporter& reporter, Order&)
      : Detector{reporter,
                 {Op::kCtaExit,
                  Op::kSharedLoad,
                  Op::kSharedStore,
                  Op::kTcgen05Cp,
                  Op::kTcgen05Mma,
                  Op::kTensorLoad,
                  Op::kTensorStore,
                  Op::kWgmma}} {}

  void on_event(const Event& event) override {
    if (event.op == Op::kCtaExit) {
      ctas_.erase(event.cta);
    } else if (event.op == Op::kSharedLoad || event.op == Op::kSharedStore) {
      if (event.peer != 0) {
        on_rows(event);
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
  void on_rows(const Event& event) {
    const auto span = static_cast<std::uint32_t>(event.extra);
    if (span != 0 && event.address % (kRowsOfGroup * span) != 0) {
      report_alignment(event, shared(event.cta, event.address), event.address, span);
    }
    if (event.op == Op::kSharedStore) {
      ctas_[event.cta][event.address] = {event, event.address + event.peer, span, event.peer};
    }
  }

  void on_copy_or_operand(const Event& event) {
    switch (event.op) {
      case Op::kTensorLoad:
        ctas_[event.cta][event.address] = {
            event, event.address + event.bytes, event.wanted, event.count};
        break;
      case Op::kTensorStore:
        check_store(event);
        break;
      default:
        if ((event.flags & event_flag::kTmemA) == 0) {
          check_operand(event, {event.global}, event.op == Op::kTcgen05Cp ? "source" : "A");
        }
        if (event.op == Op::kTcgen05Mma || event.op == Op::kWgmma) {
          check_operand(event, {event.extra}, "B");
        }
        break;
    }
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

  std::string shared(std::uint32_t cta, std::uint32_t address) const {
    return naming().symbols().name(address) + " of cta " + std::to_string(cta);
  }

  std::string written_by(const Tile& tile) const {
    return std::string{name_of(tile.writer.op)} + " by " + naming().warp(tile.writer.warp) +
           " at " + naming().site(tile.writer.site);
  }

  // TMA swizzles by the address, wherever its box begins. Who counts from the beginning of a tile,
  // as descriptors without base offset do, needs the pattern to begin there.
  void report_alignment(const Event& event,
                        const std::string& object,
                        std::uint32_t address,
                        std::uint32_t span) {
    reporter().report("LAYOUT_ALIGN",
                      event,
                      object,
                      "a tile with " + swizzle_name(span) + " at shared+" +
                          std::to_string(address) + ", not a multiple of " +
                          std::to_string(kRowsOfGroup * span));
  }

  void check_store(const Event& event) {
    const Tile* tile = find(event.cta, event.address);
    if (tile != nullptr && tile->writer.op == Op::kSharedStore && tile->span != event.wanted) {
      reporter().report("LAYOUT_SWIZZLE",
                        event,
                        shared(event.cta, event.address),
                        "stored through a tensor map with " + swizzle_name(event.wanted) +
                            "; written with " + swizzle_name(tile->span) + ", " +
                            written_by(*tile));
    }
  }

  void check_operand(const Event& event, UmmaSmemDescriptor descriptor, const char* operand) {
    const std::uint32_t start = descriptor.start().value;
    const Tile* tile = find(event.cta, start);
    if (tile == nullptr || tile->writer.op != Op::kTensorLoad) {
      return;
    }
    const auto object = [&] {
      return std::string{"descriptor of "} + operand + ", " +
             shared(event.cta, tile->writer.address);
    };
    const std::uint32_t span = span_of(descriptor);
    const std::uint32_t offset = start - tile->writer.address;
    if (span != tile->span) {
      reporter().report("LAYOUT_SWIZZLE",
                        event,
                        object(),
                        "read with " + swizzle_name(span) + "; written with " +
                            swizzle_name(tile->span) + ", " + written_by(*tile));
    } else if (span != 0 && tile->row_bytes == span &&
               descriptor.stride_bytes() % (kRowsOfGroup * span) != 0) {
      reporter().report(
          "LAYOUT_STRIDE",
          event,
          object(),
          "groups of eight rows every " + std::to_string(descriptor.stride_bytes()) +
              " bytes; the rows written are " + std::to_string(tile->row_bytes) + " bytes long, " +
              written_by(*tile),
          {"a group of eight rows takes " + std::to_string(kRowsOfGroup * span) + " bytes"});
    } else if (span == 0 && event.op == Op::kTcgen05Cp && tile->row_bytes == kUnitBytes &&
               descriptor.stride_bytes() != kRowsOfGroup * kUnitBytes) {
      reporter().report(
          "LAYOUT_STRIDE",
          event,
          object(),
          "groups of eight rows every " + std::to_string(descriptor.stride_bytes()) +
              " bytes; the rows written are " + std::to_string(tile->row_bytes) + " bytes long, " +
              written_by(*tile),
          {"a group of eight rows takes " + std::to_string(kRowsOfGroup * kUnitBytes) + " bytes"});
    } else if (span != 0 && offset < span && tile->writer.address % (kRowsOfGroup * span) != 0) {
      report_alignment(event, object(), tile->writer.address, span);
    } else if (span != 0 && (start / span % kRowsOfGroup != 0 || start % 32 != 0)) {
      reporter().report("LAYOUT_START",
                        event,
                        object(),
                        "begins " + std::to_string(offset) +
                            " bytes into the tile: neither at a group of eight rows nor at a "
                            "multiple of 32 bytes along K within one, " +
                            written_by(*tile));
    }
  }

  HashMap<std::uint32_t, Tiles> ctas_;
};

}  // namespace

std::unique_ptr<Detector> make_layouts(Reporter& reporter, Order& order) {
  return std::make_unique<Impl>(reporter, order);
}

}  // namespace warptwin::sim
