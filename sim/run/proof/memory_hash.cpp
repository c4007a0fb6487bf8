#include "sim/run/proof/memory_hash.hpp"

#include <algorithm>
#include <cstring>

#include "sim/prove/hash.hpp"

namespace warptwin::sim {

std::uint64_t hash_of(const GlobalMemory& memory, std::span<const GlobalAddress> addresses) {
  constexpr std::uint64_t kUnknown = std::uint64_t{1} << 32;
  Hash hash;
  for (const GlobalAddress address : addresses) {
    const GlobalBuffer* buffer = memory.find(address.value);
    const std::size_t bytes = buffer == nullptr ? 0 : buffer->bytes.size();
    for (std::size_t at = 0; at < bytes; at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, buffer->bytes.data() + at, std::min<std::size_t>(4, bytes - at));
      bool unknown = false;
      for (std::size_t byte = at; byte < std::min(at + 4, buffer->unknown.size()); ++byte) {
        unknown = unknown || buffer->unknown[byte];
      }
      hash.add(unknown ? kUnknown : word);
    }
  }
  return hash.value();
}

}  // namespace warptwin::sim
