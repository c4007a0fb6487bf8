// mma.sync and mma.sp: D = A * B + C, all four in the registers of one warp.
//
// PTX ISA, "Matrix Fragments for mma": lane 4 g + t of a register has elements that lie side by
// side along K: of A those of row g or g + 8, of B those of column g. With e elements in a register
// they are t * e and the following, and a further register goes on 4 e behind. C and D have the
// elements 2 t and 2 t + 1 of row g, then of row g + 8.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/machine/wgmma_descriptor.hpp"

#include "sim/ptx/lanes/format.hpp"
#include "sim/ptx/machine/missing_forms.hpp"
#include "sim/ptx/machine/warp.hpp"

namespace warptwin::ptx {

namespace {

/// A value that may be unknown.
template <class T>
struct Element {
  T value{};
  bool unknown = false;
};

/// Rows or columns, each of the elements along K.
template <class T>
using Elements = std::vector<Element<T>>;

// An f64 has a register of its own; of all others a register has 32 bits.
std::uint32_t elements_of_register(Type type) {
  return type == Type::kF64 ? 1 : 32 / bits_of(type);
}

bool is_integer_of_mma(Type type) {
  return type == Type::kU8 || type == Type::kS8 || type == Type::kU4 || type == Type::kS4;
}

template <class T>
T mma_value(std::uint64_t bits, Type type) {
  if constexpr (std::is_integral_v<T>) {
    const std::uint32_t spare = 64 - bits_of(type);
    const std::uint64_t shifted = bits << spare;
    return is_signed(type) ? static_cast<T>(static_cast<std::int64_t>(shifted) >> spare)
                           : static_cast<T>(shifted >> spare);
  } else if (type == Type::kF64) {
    return static_cast<T>(std::bit_cast<double>(bits));
  } else if (type == Type::kTf32) {
    return static_cast<T>(decode_float(bits >> 13 & 0x7FFFFU, kTf32));
  } else {
    return static_cast<T>(decode_float(bits & low_bits(bits_of(type)), format_of(type)));
  }
}

// Of A with `halves` 2 (rows g and g + 8 in turn) or of what has one row or column a lane.
template <class T>
Elements<T> fragment_elements(const std::vector<Lanes>& registers,
                              Type type,
                              std::uint32_t halves,
                              std::uint32_t k) {
  const std::uint32_t bits = bits_of(type);
  const std::uint32_t each = elements_of_register(type);
  Elements<T> elements(std::size_t{8} * halves * k);
  for (std::uint32_t i = 0; i < registers.size(); ++i) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t row = lane / 4 + 8 * (i % halves);
      for (std::uint32_t e = 0; e < each; ++e) {
        const std::uint32_t along = i / halves * 4 * each + lane % 4 * each + e;
        Element<T>& to = elements[std::size_t{row} * k + along];
        const auto touched = static_cast<std::uint8_t>(poison_bits(bits) << e * bits / 8);
        to.unknown = (registers[i].poison[lane] & touched) != 0;
        to.value = mma_value<T>(registers[i].value[lane] >> (e * bits), type);
      }
    }
  }
  return elements;
}

/// How a lane's registers have its elements of C and D.
struct Result {
  Type type;
  std::uint32_t each() const { return type == Type::kF16 ? 2 : 1; }
  std::uint32_t registers(std::uint32_t m) const { return m / 4 / each(); }

  template <class T>
  Element<T> read(const std::vector<Lanes>& from, std::uint32_t lane, std::uint32_t i) const {
    const Lanes& lanes = from[i / each()];
    const std::uint32_t shift = i % each() * 16;
    const std::uint64_t bits = lanes.value[lane] >> shift;
    const auto touched = static_cast<std::uint8_t>(poison_bits(bits_of(type)) << shift / 8);
    Element<T> element;
    element.unknown = (lanes.poison[lane] & touched) != 0;
    if constexpr (std::is_integral_v<T>) {
      element.value = static_cast<std::int32_t>(bits);
    } else if (type == Type::kF64) {
      element.value = static_cast<T>(std::bit_cast<double>(bits));
    } else if (type == Type::kF32) {
      element.value = static_cast<T>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    } else {
      element.value = static_cast<T>(decode_float(bits & 0xFFFFU, kF16));
    }
    return element;
  }

  template <class T>
  void write(std::vector<Lanes>& to,
             std::uint32_t lane,
             std::uint32_t i,
             Element<T> element,
             bool saturates) const {
    std::uint64_t bits = 0;
    if constexpr (std::is_integral_v<T>) {
      constexpr T kLeast = std::numeric_limits<std::int32_t>::min();
      constexpr T kMost = std::numeric_limits<std::int32_t>::max();
      const T value = saturates ? std::clamp(element.value, kLeast, kMost) : element.value;
      bits = static_cast<std::uint32_t>(value);
    } else if (type == Type::kF64) {
      bits = std::bit_cast<std::uint64_t>(static_cast<double>(element.value));
    } else if (type == Type::kF32) {
      bits = encode_f32(element.value, Rounding::kNearest);
    } else {
      bits = encode_float(element.value, kF16, Rounding::kNearest, false);
    }
    const std::uint32_t shift = i % each() * 16;
    Lanes& lanes = to[i / each()];
    lanes.value[lane] |= bits << shift;
    lanes.poison[lane] |= element.unknown
                              ? static_cast<std::uint8_t>(poison_bits(bits_of(type)) << shift / 8)
                              : std::uint8_t{0};
  }
};

/// The operands of one instruction, as they stand in its lanes.
struct Mma {
  Shape shape;
  Type d;
  Type a;
  Type b;
  Type c;
  bool saturates = false;
  bool sparse = false;
  std::uint32_t selector = 0;  // whose lanes' metadata is that of a sparse A
  const Lanes* metadata = nullptr;

  std::uint32_t halves() const { return shape.m / 8U; }
  std::uint32_t k_of_a() const { return sparse ? shape.k / 2U : shape.k; }
  static std::uint32_t registers_along(Type type, std::uint32_t k) {
    return k / (4 * elements_of_register(type));
  }

  /// Where 16 bits of metadata are, of row `row`: those that are `part` of the instruction's.
  struct MetadataCell {
    std::uint32_t lane;
    std::uint32_t shift;
  };
  SparseElements sparse_elements() const { return {bits_of(a) / 8}; }
  // An instruction of half the K has half of the lanes, and twice as many selectors.
  bool is_half() const { return shape.k < sparse_elements().instruction_k(); }
  std::uint32_t selectors() const { return sparse_elements().selectors() * (is_half() ? 2 : 1); }
  MetadataCell metadata_of(std::uint32_t row, std::uint32_t part) const {
    if (is_half() && bits_of(a) != 8) {
      return {row % 8 * 4 + selector, row / 8 * 16};
    }
    if (is_half()) {
      return {row % 8 * 4 + selector * 2 + row / 8, part * 16};
    }
    const auto cell = WgmmaMetadataCell::of(sparse_elements(), row, part, selector);
    return {cell.lane, cell.shift};
  }
  /// A with its zeros.
  template <class T>
  Elements<T> spread(const Elements<T>& packed) const {
    const SparseElements elements = sparse_elements();
    Elements<T> dense(std::size_t{shape.m} * shape.k);
    for (std::uint32_t row = 0; row < shape.m; ++row) {
      for (std::uint32_t chunk = 0; chunk < shape.k / elements.chunk(); ++chunk) {
        const MetadataCell cell = metadata_of(row, chunk / 4);
        const std::uint32_t shift = cell.shift + chunk % 4 * 4;
        const std::uint64_t bits = metadata->value[cell.lane] >> shift;
        const bool unknown = (metadata->poison[cell.lane] >> shift / 8 & 1U) != 0;
        Element<T>* const to = &dense[std::size_t{row} * shape.k + chunk * elements.chunk()];
        for (std::uint32_t i = 0; i < elements.chunk(); ++i) {
          to[i].unknown = unknown;
        }
        for (std::uint32_t i = 0; i < elements.kept(); ++i) {
          const std::uint32_t place = elements.place(static_cast<std::uint32_t>(bits), i);
          const auto& from = packed[std::size_t{row} * k_of_a() + chunk * elements.kept() + i];
          to[place].value += from.value;  // two at one place, which the manual does not define
          to[place].unknown = to[place].unknown || from.unknown;
        }
      }
    }
    return dense;
  }

  /// T: what a product is summed up in.
  template <class T>
  std::vector<Lanes> multiply(const std::vector<Lanes>& a_registers,
                              const std::vector<Lanes>& b_registers,
                              const std::vector<Lanes>& c_registers) const {
    const std::uint32_t k = shape.k;
    Elements<T> left = fragment_elements<T>(a_registers, a, halves(), k_of_a());
    left = sparse ? spread(left) : left;
    const Elements<T> right = fragment_elements<T>(b_registers, b, 1, k);
    std::vector<Lanes> result(Result{d}.registers(shape.m));
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t i = 0; i < 2 * halves(); ++i) {
        const std::uint32_t row = lane / 4 + i / 2 * 8;
        const std::uint32_t column = lane % 4 * 2 + i % 2;
        Element<T> sum = Result{c}.template read<T>(c_registers, lane, i);
        for (std::uint32_t at = 0; at < k; ++at) {
          const Element<T>& x = left[std::size_t{row} * k + at];
          const Element<T>& y = right[std::size_t{column} * k + at];
          sum.unknown = sum.unknown || x.unknown || y.unknown;
          if constexpr (std::is_same_v<T, double>) {
            sum.value = std::fma(x.value, y.value, sum.value);
          } else {
            sum.value += x.value * y.value;  // exact, so that one rounding is left
          }
        }
        Result{d}.write(result, lane, i, sum, saturates);
      }
    }
    return result;
  }
};

bool is_small_float(Type type) {
  return type == Type::kE4m3 || type == Type::kE5m2;
}

// The shapes of PTX ISA, "mma": m16n8 of 16 to 32 bytes of K, m8n8 of one register each. Of mma.sp
// that is A without its zeros.
bool mma_shape_is_there(const Mma& mma) {
  const Shape& shape = mma.shape;
  const bool integers = is_integer_of_mma(mma.a);
  if (shape.n != 8 || (shape.m != 16 && shape.m != 8)) {
    return false;
  }
  if (mma.a == Type::kF64) {
    return shape.m == 8 ? shape.k == 4 : shape.k == 4 || shape.k == 8 || shape.k == 16;
  }
  const std::uint32_t bits = mma.k_of_a() * bits_of(mma.a);
  if (mma.sparse &&
      (bits_of(mma.a) == 4 || shape.m == 8 || (bits == 128 && is_small_float(mma.a)))) {
    return false;
  }
  return shape.m == 8 ? integers && bits == 128 : bits == 128 || bits == 256;
}

bool mma_types_are_there(const Mma& mma) {
  const auto both = [&](Type type) { return mma.a == type && mma.b == type; };
  const bool to_f32 = mma.c == Type::kF32 && mma.d == Type::kF32;
  const bool to_f16 = mma.c == Type::kF16 && mma.d == Type::kF16;
  if (both(Type::kF16)) {
    return to_f32 || to_f16;
  }
  if (both(Type::kBf16) || both(Type::kTf32)) {
    return to_f32;
  }
  if (both(Type::kF64)) {
    return mma.c == Type::kF64 && mma.d == Type::kF64;
  }
  if (is_small_float(mma.a) && is_small_float(mma.b)) {
    return to_f32 || to_f16;
  }
  return is_integer_of_mma(mma.a) && is_integer_of_mma(mma.b) && bits_of(mma.a) == bits_of(mma.b) &&
         mma.c == Type::kS32 && mma.d == Type::kS32;
}

Mma mma_of(const Modifiers& modifiers) {
  return {modifiers.shape,
          modifiers.type(0),
          modifiers.type(1),
          modifiers.type(2),
          modifiers.type(3),
          modifiers.has("satfinite"_mod),
          modifiers.has("sp"_mod) || modifiers.has("sp::ordered_metadata"_mod)};
}

}  // namespace

const char* missing_mma(const Modifiers& modifiers) {
  const Mma mma = mma_of(modifiers);
  const bool there = !modifiers.has("block_scale"_mod) && !modifiers.has("kind::f8f6f4"_mod) &&
                     mma_types_are_there(mma) && mma_shape_is_there(mma);
  return there ? nullptr : "mma of these types and this shape is not there";
}

// d, a, b, c, and of .sp metadata and selector.
Served WarpRun::mma(Request& request) {
  require_whole_warp(request);
  require_form(request);
  Mma mma = mma_of(request.modifiers);
  const auto registers = [&](std::size_t operand, std::size_t expected) -> const auto& {
    const auto& values = request.stop.operands[operand].values;
    if (values.size() != expected) {
      refuse(request,
             "operand " + std::to_string(operand) + " has " + std::to_string(expected) +
                 " registers, not " + std::to_string(values.size()));
    }
    return values;
  };
  const auto& a =
      registers(1, std::size_t{mma.halves()} * Mma::registers_along(mma.a, mma.k_of_a()));
  const auto& b = registers(2, Mma::registers_along(mma.b, mma.shape.k));
  const auto& c = registers(3, Result{mma.c}.registers(mma.shape.m));
  if (mma.sparse) {
    mma.metadata = &registers(4, 1)[0];
    mma.selector = static_cast<std::uint32_t>(uniform(request, 5));
    if (mma.selector >= mma.selectors()) {
      refuse(request, "this sparsity selector is undefined for this shape");
    }
  }
  const Argument& target = *request.stop.operands[0].argument;
  const std::uint32_t written = target.kind == Argument::Kind::kVector ? target.count : 1;
  if (written != Result{mma.d}.registers(mma.shape.m)) {
    refuse(request, "D has another number of registers than the shape");
  }
  const bool exact = mma.d == Type::kS32;
  if (!exact) {
    leaves_open(request.strand);
  }
  auto result = mma.d == Type::kS32   ? mma.multiply<std::int64_t>(a, b, c)
                : mma.d == Type::kF64 ? mma.multiply<double>(a, b, c)
                                      : mma.multiply<float>(a, b, c);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!exact && !machine_.moves_data()) {
      result[i] = Lanes::unknown();  // in which order it sums no manual says
    }
    request.strand.write(request.stop, 0, i, result[i]);
  }
  return Served::kDone;
}

}  // namespace warptwin::ptx
