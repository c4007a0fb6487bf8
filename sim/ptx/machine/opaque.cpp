#include "sim/ptx/machine/opaque.hpp"

#include "sim/ptx/lanes/lanes.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint64_t kDigits = 255;
constexpr std::uint64_t kMask = low_bits(63);           // below kDigits ^ 8
constexpr std::uint64_t kFactor = 0xD6E8FEB86659FD93U;  // odd
constexpr std::uint64_t kShift = 32;
// Of a response: no state of an arrival has the first bit.
constexpr std::uint64_t kIsResponse = std::uint64_t{1} << 62;
constexpr std::uint64_t kIsThere = std::uint64_t{1} << 32;

}  // namespace

std::uint64_t opaque_of(std::uint64_t number) {
  number &= kMask;
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    number = (number ^ number >> kShift) * kFactor & kMask;
  }
  std::uint64_t opaque = 0;
  for (std::uint32_t byte = 0; byte < 8; ++byte) {
    opaque |= (number % kDigits + 1) << (byte * 8);
    number /= kDigits;
  }
  return opaque;
}

std::uint64_t number_in(std::uint64_t opaque) {
  std::uint64_t inverse = kFactor;  // modulo 8; each step has twice the bits
  for (std::uint32_t step = 0; step < 5; ++step) {
    inverse *= 2 - kFactor * inverse;
  }
  std::uint64_t number = 0;
  for (std::uint32_t byte = 8; byte-- > 0;) {
    number = number * kDigits + (opaque >> (byte * 8) & 0xff) - 1;
  }
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    number = number * inverse & kMask;
    number ^= number >> kShift;
  }
  return number;
}

std::uint64_t response_of(ClaimedCluster cluster) {
  return opaque_of(kIsResponse | (cluster.is_there ? kIsThere : 0) | cluster.first_cta);
}

std::optional<ClaimedCluster> response_in(std::uint64_t opaque) {
  const std::uint64_t number = number_in(opaque);
  const ClaimedCluster cluster{(number & kIsThere) != 0, static_cast<std::uint32_t>(number)};
  return response_of(cluster) == opaque ? std::optional{cluster} : std::nullopt;
}

}  // namespace warptwin::ptx
