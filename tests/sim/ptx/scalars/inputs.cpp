#include "tests/sim/ptx/scalars/inputs.hpp"

#include <algorithm>
#include <string_view>

#include "sim/ptx/lanes/lanes.hpp"

namespace warptwin::ptx::scalars {

namespace {

using U64 = std::uint64_t;

constexpr U64 kFnvBasis = 0xcbf29ce484222325;
constexpr U64 kFnvPrime = 0x100000001b3;

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::string_view seed) {
    for (const char each : seed) {
      state_ = (state_ ^ static_cast<unsigned char>(each)) * kFnvPrime;
    }
  }
  U64 next() {
    state_ += 0x9e3779b97f4a7c15;
    U64 word = state_;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }
  U64 below(U64 end) { return next() % end; }

 private:
  U64 state_ = kFnvBasis;
};

struct Digits {
  std::uint32_t exponent = 0;
  std::uint32_t mantissa = 0;
  std::uint32_t bits() const { return 1 + exponent + mantissa; }
  U64 bias() const { return (U64{1} << (exponent - 1)) - 1; }
  U64 power(int of_two) const { return (bias() + static_cast<U64>(of_two)) << mantissa; }
};

/// Of one element; without an exponent the type is no float with signs and infinities.
Digits digits_of(Type type) {
  switch (type) {
    case Type::kF16:
    case Type::kF16x2:
      return {5, 10};
    case Type::kBf16:
    case Type::kBf16x2:
      return {8, 7};
    case Type::kF32:
    case Type::kF32x2:
      return {8, 23};
    case Type::kF64:
      return {11, 52};
    default:
      return {};
  }
}

// Middles between neighbours of narrower formats, and where those end.
std::vector<U64> ties_of(Type type) {
  if (type == Type::kF32 || type == Type::kF32x2) {
    return {0x3f801000, 0x3f803000, 0x3f808000, 0x3f818000, 0x3f800800, 0x3f802800, 0x477fefff,
            0x477ff000, 0x477fe000, 0x33000000, 0x33000001, 0x33c00000, 0x387fe000, 0x43e00000,
            0x43e80000, 0x43f00000, 0x3a800000, 0x3b000000, 0x47600000, 0x47680000, 0x7f7f8000,
            0x00008000, 0x0000c000, 0x40f80000, 0x40d00000, 0x42fe0000, 0x42ff0000, 0x437f8000,
            0x40490fdb, 0x3fc90fdb, 0x3dcccccd, 0x4effffff, 0x5effffff};
  }
  if (type == Type::kF64) {
    return {0x3ff0000010000000,
            0x3ff0000030000000,
            0x3ff0000010000001,
            0x47efffffefffffff,
            0x47effffff0000000,
            0x36a0000000000000,
            0x3690000000000000,
            0x3690000000000001,
            0x380fffffe0000000,
            0x3ff0020000000000,
            0x3ff0060000000000,
            0x40effdffffffffff,
            0x40effe0000000000,
            0x3e60000000000000,
            0x400921fb54442d18,
            0x3fb999999999999a,
            0x41dfffffffe00000,
            0x43dfffffffffffff};
  }
  return {0x3555, 0x4248, 0x1234};
}

std::vector<U64> float_edges(Type type) {
  const Digits digits = digits_of(type);
  const U64 one = digits.power(0);
  const U64 quarter = U64{1} << (digits.mantissa - 2);
  const U64 infinity = ((U64{1} << digits.exponent) - 1) << digits.mantissa;
  const U64 normal = U64{1} << digits.mantissa;
  std::vector<U64> sizes = {0,
                            1,
                            2,
                            normal - 1,
                            normal,
                            normal + 1,
                            one,
                            one - 1,
                            one + 1,
                            digits.power(-1),
                            one + 2 * quarter,               // 1.5
                            digits.power(1) + quarter,       // 2.5
                            digits.power(1) + 3 * quarter,   // 3.5
                            digits.power(-1) + 2 * quarter,  // 0.75
                            infinity,
                            infinity - 1,
                            infinity + 1,            // a signalling NaN
                            infinity + 2 * quarter,  // a quiet one
                            infinity + 2 * quarter + 1,
                            infinity + normal - 1};
  for (const int power : {7, 8, 15, 16, 31, 32, 63, 64}) {
    if (static_cast<U64>(power) <= digits.bias()) {
      sizes.push_back(digits.power(power));
      sizes.push_back(digits.power(power) - 1);
      sizes.push_back(digits.power(-power + 1));
    }
  }
  for (const U64 tie : ties_of(type)) {
    sizes.push_back(tie);
  }
  std::vector<U64> edges;
  for (const U64 size : sizes) {
    edges.push_back(size);
    edges.push_back(size | U64{1} << (digits.bits() - 1));
  }
  return edges;
}

std::vector<U64> integer_edges(std::uint32_t bits) {
  const U64 all = low_bits(bits);
  const U64 top = U64{1} << (bits - 1);
  std::vector<U64> edges = {0, 1, all, top, top - 1, 2, all - 1, top + 1, top - 2, 3, 5, 7, 8};
  for (const U64 each : {15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256}) {
    edges.push_back(each & all);
  }
  for (const U64 each : {U64{0x5555555555555555},
                         U64{0xaaaaaaaaaaaaaaaa},
                         U64{0x00ff00ff00ff00ff},
                         U64{0x8000800080008000},
                         U64{0x7fff7fff7fff7fff},
                         U64{0x80000000},
                         U64{0xffffffff},
                         U64{0x7fffffff},
                         U64{0x01000001},
                         U64{0x0020000000000001},
                         U64{0x8000008000000001}}) {
    edges.push_back(each & all);
  }
  return edges;
}

struct Domain {
  Source source;
  Digits digits;
  std::uint32_t bits = 0;  // of an element
  std::vector<U64> edges;

  explicit Domain(const Source& of) : source{of}, digits{digits_of(of.type)} {
    bits = digits.exponent != 0 ? digits.bits() : of.bits;
    edges = digits.exponent != 0 ? float_edges(of.type) : integer_edges(std::max(of.bits, 16U));
    if (of.bits == 1) {
      edges = {0, 1};
    }
  }
  U64 element(Random& random, bool edge) const {
    if (edge) {
      return edges[random.below(edges.size())];
    }
    const U64 word = random.next() & low_bits(std::max(bits, bits == 1 ? 1U : 16U));
    if (digits.exponent == 0 || random.below(3) == 0) {
      // Small numbers as often as large ones.
      return digits.exponent == 0 && bits > 1 ? word >> random.below(bits) : word;
    }
    const U64 field = digits.bias() + random.below(17) - 8;
    const U64 others = low_bits(digits.mantissa) | U64{1} << (digits.bits() - 1);
    return (word & others) | field << digits.mantissa;
  }
  U64 draw(Random& random, bool edge) const {
    U64 word = element(random, edge);
    for (std::uint32_t shift = bits; shift < source.bits; shift += bits) {
      word |= element(random, edge) << shift;
    }
    return word;
  }
};

}  // namespace

std::vector<Words> inputs_of(const Specimen& specimen, std::size_t count) {
  Random random{specimen.key};
  std::vector<Domain> domains;
  for (const Source& source : specimen.sources) {
    domains.emplace_back(source);
  }
  // Of one source each edge once, in any order; of several half of the cases are edges alone.
  std::vector<U64> once;
  if (domains.size() == 1 && domains[0].bits == domains[0].source.bits) {
    once = domains[0].edges;
    for (std::size_t left = once.size(); left > 1; --left) {
      std::swap(once[left - 1], once[random.below(left)]);
    }
  }
  std::vector<Words> cases;
  for (std::size_t index = 0; index < count; ++index) {
    Words& words = cases.emplace_back();
    if (index < once.size()) {
      words.push_back(once[index]);
      continue;
    }
    for (std::size_t source = 0; source < domains.size(); ++source) {
      const bool edge = index % 4 < 2 || (index % 4 == 2 && (index / 4 + source) % 2 == 0);
      words.push_back(domains[source].draw(random, edge));
      // Seldom equal by chance.
      const bool alike = source == 1 && domains[0].source.bits == domains[1].source.bits;
      if (alike && index % 8 == 5) {
        words[1] = words[0];
      }
    }
  }
  return cases;
}

std::uint64_t hash_of(const std::vector<Words>& cases) {
  U64 hash = kFnvBasis;
  for (const Words& words : cases) {
    for (const U64 word : words) {
      for (std::uint32_t shift = 0; shift < 64; shift += 8) {
        hash = (hash ^ (word >> shift & 0xff)) * kFnvPrime;
      }
    }
  }
  return hash;
}

}  // namespace warptwin::ptx::scalars
