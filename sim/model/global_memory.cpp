#include "sim/model/global_memory.hpp"

#include <algorithm>
#include <cstring>

#include "sim/model/tensor_walk.hpp"

namespace warptwin::sim {

std::uint64_t TensorMapState::span_bytes() const {
  std::uint64_t bytes = std::uint64_t{extent[0]} / unit() * element_bytes;
  for (std::uint32_t i = 1; i < rank; ++i) {
    bytes += (extent[i] - std::uint64_t{1}) * stride_bytes[i];
  }
  return bytes;
}

std::uint32_t TensorMapState::rows(TensorMode mode) const {
  if (mode == TensorMode::kRows4) {
    return kRowsOf4;
  }
  if (kind != TensorMapKind::kTiled) {
    return pixels;
  }
  std::uint32_t rows = 1;
  for (std::uint32_t i = 1; i < rank; ++i) {
    rows *= box[i];
  }
  return rows;
}

std::uint64_t GlobalMemory::add(std::string name, std::uint64_t size, bool holds_data) {
  constexpr std::uint64_t kAlignment = 256;
  const std::uint64_t address = next_;
  add_at(address, std::move(name), size, holds_data);
  // A gap between buffers makes an overrun land nowhere instead of in its neighbour.
  next_ += (size + 2 * kAlignment - 1) / kAlignment * kAlignment;
  return address;
}

void GlobalMemory::add_at(std::uint64_t address,
                          std::string name,
                          std::uint64_t size,
                          bool holds_data) {
  GlobalBuffer buffer{std::move(name), address, size, {}, {}};
  if (holds_data) {
    buffer.bytes.resize(size);
  }
  buffers_.push_back(std::move(buffer));
}

const GlobalBuffer* GlobalMemory::find(std::uint64_t address) const {
  for (const GlobalBuffer& buffer : buffers_) {
    if (address >= buffer.address && address < buffer.address + buffer.size) {
      return &buffer;
    }
  }
  return nullptr;
}

bool GlobalMemory::holds_data() const {
  return std::any_of(buffers_.begin(), buffers_.end(), [](const GlobalBuffer& buffer) {
    return !buffer.bytes.empty();
  });
}

bool GlobalMemory::in_range(std::uint64_t address, std::uint64_t size) const {
  const GlobalBuffer* buffer = find(address);
  return buffer != nullptr && address + size <= buffer->address + buffer->size;
}

void GlobalMemory::set_unknown(std::uint64_t address, std::uint64_t size, bool unknown) {
  const GlobalBuffer* found = find(address);
  if (found == nullptr || found->bytes.empty() || (!unknown && found->unknown.empty())) {
    return;
  }
  GlobalBuffer& buffer = buffers_[static_cast<std::size_t>(found - buffers_.data())];
  buffer.unknown.resize(buffer.size);
  const std::uint64_t first = address - buffer.address;
  const std::uint64_t last = std::min<std::uint64_t>(first + size, buffer.unknown.size());
  std::fill(buffer.unknown.begin() + static_cast<std::ptrdiff_t>(first),
            buffer.unknown.begin() + static_cast<std::ptrdiff_t>(last),
            unknown);
}

bool GlobalMemory::unknown(std::uint64_t address) const {
  const GlobalBuffer* buffer = find(address);
  return buffer != nullptr && !buffer->unknown.empty() &&
         buffer->unknown[address - buffer->address];
}

bool GlobalMemory::some_unknown(std::uint64_t address) const {
  const GlobalBuffer* buffer = find(address);
  return buffer != nullptr &&
         std::find(buffer->unknown.begin(), buffer->unknown.end(), true) != buffer->unknown.end();
}

std::byte* GlobalMemory::at(std::uint64_t address, std::uint64_t size) {
  const GlobalBuffer* buffer = find(address);
  if (buffer == nullptr || buffer->bytes.empty() ||
      address + size > buffer->address + buffer->size) {
    return nullptr;
  }
  return const_cast<std::byte*>(buffer->bytes.data()) + (address - buffer->address);
}

namespace {

// Swizzling permutes 16-byte units, by the bits of the shared address.
template <class Unit>
void for_each_unit(
    std::uint32_t linear, std::uint32_t bytes, std::uint32_t base, Swizzle swizzle, Unit unit) {
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t offset = linear + done;
    const std::uint32_t size = std::min(16 - offset % 16, bytes - done);
    unit(done, swizzled(base + offset, swizzle) - base, size);
    done += size;
  }
}

}  // namespace

namespace {

// Elements of six bits, one in each of 16 bytes, as they lie in global memory.
void pack_six_bits(std::byte* packed, const std::byte* bytes) {
  for (std::uint32_t four = 0; four < 4; ++four) {
    std::uint32_t bits = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      bits |= (std::to_integer<std::uint32_t>(bytes[4 * four + i]) & 0x3FU) << (6 * i);
    }
    std::memcpy(packed + std::size_t{3} * four, &bits, 3);
  }
}

}  // namespace

void copy_box_to_shared(GlobalMemory& memory,
                        const TensorMapState& map,
                        const TensorPlace& place,
                        std::byte* shared,
                        std::uint32_t shared_address) {
  std::vector<std::byte> row(map.row_bytes());
  const std::uint32_t padding = map.padding();
  const std::size_t spread = map.element_bytes + padding;
  for_each_row(
      map,
      place,
      [&](std::uint32_t linear, std::uint64_t global, std::uint32_t count, std::uint32_t skip) {
        std::fill(row.begin(), row.end(), std::byte{0});
        const std::size_t bytes = std::size_t{count} * map.element_bytes;
        const std::byte* const source = bytes == 0 ? nullptr : memory.at(global, bytes);
        for (std::uint32_t unit = 0; source != nullptr && padding != 0 && unit < count; ++unit) {
          std::memcpy(row.data() + (skip + unit) * spread,
                      source + std::size_t{unit} * map.element_bytes,
                      map.element_bytes);
        }
        if (source != nullptr && padding == 0) {
          std::memcpy(row.data() + skip * spread, source, bytes);
        }
        for_each_unit(linear,
                      map.row_bytes(),
                      shared_address,
                      map.swizzle,
                      [&](std::uint32_t from, std::uint32_t to, std::uint32_t size) {
                        std::memcpy(shared + to, row.data() + from, size - padding);
                      });
      });
}

void copy_box_to_global(GlobalMemory& memory,
                        const TensorMapState& map,
                        const TensorPlace& place,
                        const std::byte* source,
                        std::uint32_t shared_address,
                        CopyReduction reduction) {
  std::vector<std::byte> row(map.row_bytes());
  for_each_row(
      map,
      place,
      [&](std::uint32_t linear, std::uint64_t global, std::uint32_t count, std::uint32_t skip) {
        const auto bytes = count * map.element_bytes;
        std::byte* target = bytes == 0 ? nullptr : memory.at(global, bytes);
        if (target == nullptr) {
          return;
        }
        for_each_unit(linear,
                      map.row_bytes(),
                      shared_address,
                      map.swizzle,
                      [&](std::uint32_t to, std::uint32_t from, std::uint32_t size) {
                        std::memcpy(row.data() + to, source + from, size);
                      });
        const std::size_t spread = map.element_bytes + map.padding();
        const std::byte* taken = row.data() + skip * spread;
        for (std::uint32_t unit = 0; map.padding() != 0 && unit < count; ++unit) {
          pack_six_bits(target + std::size_t{unit} * map.element_bytes, taken + unit * spread);
        }
        if (map.padding() != 0) {
          return;
        }
        if (reduction.reduces()) {
          reduction.apply(target, taken, bytes);
        } else {
          std::memcpy(target, taken, bytes);
        }
      });
}

}  // namespace warptwin::sim
