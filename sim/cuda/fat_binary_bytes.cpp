// Apart from the rest, which needs libraries: a program's stand-ins have this alone.

#include <cstdint>
#include <cstring>

#include "sim/cuda/fat_binary.hpp"

namespace warptwin::cuda {

std::size_t fat_binary_bytes(const void* at) {
  constexpr std::uint32_t kFatMagic = 0xBA55ED50;
  struct {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t bytes;
  } header{};
  std::memcpy(&header.magic, at, sizeof header.magic);
  if (header.magic != kFatMagic) {
    return 0;
  }
  std::memcpy(&header, at, sizeof header);
  return header.header_bytes + header.bytes;
}

}  // namespace warptwin::cuda
