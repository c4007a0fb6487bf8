// The forms that most code is made of, each as one plain loop that the compiler makes vectors of.
// They do what the general ones do; a test holds the two together.

#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sim/ptx/lanes/format.hpp"
#include "sim/ptx/lanes/scalar.hpp"

// For the processor it runs on: with AVX2 the loops are two to four times as fast.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WARPTWIN_FOR_ALL_X86 __attribute__((target_clones("arch=haswell", "default")))
#else
#define WARPTWIN_FOR_ALL_X86
#endif

// Into each version of the loops.
#define WARPTWIN_INLINE __attribute__((always_inline))

namespace warptwin::ptx {

namespace {

using U64 = std::uint64_t;
using U32 = std::uint32_t;
using I64 = std::int64_t;
using I32 = std::int32_t;

static_assert(std::is_standard_layout_v<Lanes>);

// The lanes' values, which stand first.
WARPTWIN_INLINE inline U64* values_of(Lanes* lanes) {
  return reinterpret_cast<U64*>(lanes);
}
WARPTWIN_INLINE inline const U64* values_of(const Lanes* lanes) {
  return reinterpret_cast<const U64*>(lanes);
}

// A lane's result may take the place of a source of the same lane, and of no other.
template <class F>
WARPTWIN_INLINE inline void each(ScalarCall& call, const F& f) {
  const U64* a = values_of(call.in[0]);
  const U64* b = values_of(call.in[1]);
  const U64* c = values_of(call.in[2]);
  U64* out = values_of(call.out);
#pragma GCC ivdep
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    out[lane] = f(a[lane], b[lane], c[lane]);
  }
}

WARPTWIN_INLINE inline U64 low(U64 value) {
  return value & 0xFFFFFFFFU;
}
WARPTWIN_INLINE inline U64 as_signed(U64 value) {
  return static_cast<U64>(static_cast<I64>(static_cast<I32>(static_cast<U32>(value))));
}
WARPTWIN_INLINE inline float as_float(U64 bits) {
  return std::bit_cast<float>(static_cast<U32>(bits));
}
// A NaN is 0x7fffffff, whatever it came from.
WARPTWIN_INLINE inline U64 of_float(float value) {
  const U32 bits = std::bit_cast<U32>(value);
  return (bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FFFFFFFU : bits;
}

WARPTWIN_FOR_ALL_X86 void add_32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return low(a + b); });
}
WARPTWIN_FOR_ALL_X86 void add_64(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return a + b; });
}
WARPTWIN_FOR_ALL_X86 void sub_32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return low(a - b); });
}
WARPTWIN_FOR_ALL_X86 void sub_64(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return a - b; });
}
WARPTWIN_FOR_ALL_X86 void mul_32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return low(low(a) * low(b)); });
}
WARPTWIN_FOR_ALL_X86 void mad_32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64 c) WARPTWIN_INLINE { return low(low(a) * low(b) + c); });
}
WARPTWIN_FOR_ALL_X86 void mul_wide_u32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return low(a) * low(b); });
}
WARPTWIN_FOR_ALL_X86 void mul_wide_s32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return as_signed(a) * as_signed(b); });
}
WARPTWIN_FOR_ALL_X86 void and_bits(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return a & b; });
}
WARPTWIN_FOR_ALL_X86 void or_bits(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return a | b; });
}
WARPTWIN_FOR_ALL_X86 void xor_bits(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return a ^ b; });
}
WARPTWIN_FOR_ALL_X86 void copy(ScalarCall& call) {
  each(call, [](U64 a, U64, U64) WARPTWIN_INLINE { return a; });
}
WARPTWIN_FOR_ALL_X86 void shl_32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return low(b) > 31 ? 0 : low(a << low(b)); });
}
WARPTWIN_FOR_ALL_X86 void shr_u32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return low(b) > 31 ? 0 : low(a) >> low(b); });
}
WARPTWIN_FOR_ALL_X86 void select(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64 c) WARPTWIN_INLINE { return (c & 1U) != 0 ? a : b; });
}
WARPTWIN_FOR_ALL_X86 void add_f32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return of_float(as_float(a) + as_float(b)); });
}
WARPTWIN_FOR_ALL_X86 void sub_f32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return of_float(as_float(a) - as_float(b)); });
}
WARPTWIN_FOR_ALL_X86 void mul_f32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64) WARPTWIN_INLINE { return of_float(as_float(a) * as_float(b)); });
}
WARPTWIN_FOR_ALL_X86 void fma_f32(ScalarCall& call) {
  each(call, [](U64 a, U64 b, U64 c) WARPTWIN_INLINE {
    return of_float(__builtin_fmaf(as_float(a), as_float(b), as_float(c)));
  });
}

// Which relations of two values hold, as bits: `ScalarCall::relations`.
template <class F>
WARPTWIN_INLINE inline void compare(ScalarCall& call, const F& view) {
  const U64 less = call.relations & kLess ? 1 : 0;
  const U64 equal = call.relations & kEqual ? 1 : 0;
  const U64 greater = call.relations & kGreater ? 1 : 0;
  const U64 unordered = call.relations & kUnordered ? 1 : 0;
  each(call, [&](U64 a, U64 b, U64) WARPTWIN_INLINE {
    const auto x = view(a);
    const auto y = view(b);
    return (U64{x < y} & less) | (U64{x == y} & equal) | (U64{x > y} & greater) |
           (U64{x != x || y != y} & unordered);
  });
  // Of p|q the other is of the opposite.
  for (std::uint32_t lane = 0; call.second != nullptr && lane < kLanes; ++lane) {
    call.second->value[lane] = call.out->value[lane] ^ 1U;
  }
}

WARPTWIN_FOR_ALL_X86 void setp_u32(ScalarCall& call) {
  compare(call, [](U64 value) WARPTWIN_INLINE { return static_cast<U32>(value); });
}
WARPTWIN_FOR_ALL_X86 void setp_s32(ScalarCall& call) {
  compare(call,
          [](U64 value) WARPTWIN_INLINE { return static_cast<I32>(static_cast<U32>(value)); });
}
WARPTWIN_FOR_ALL_X86 void setp_u64(ScalarCall& call) {
  compare(call, [](U64 value) WARPTWIN_INLINE { return value; });
}
WARPTWIN_FOR_ALL_X86 void setp_s64(ScalarCall& call) {
  compare(call, [](U64 value) WARPTWIN_INLINE { return static_cast<I64>(value); });
}
WARPTWIN_FOR_ALL_X86 void setp_f32(ScalarCall& call) {
  compare(call, [](U64 value) WARPTWIN_INLINE { return as_float(value); });
}

struct Row {
  std::string_view name;
  Type type;
  std::string_view modifier;  // it has this one of those that change what is done
  Execute execute;
};

constexpr Row kRows[] = {
    {"add", Type::kU32, "", add_32},
    {"add", Type::kS32, "", add_32},
    {"add", Type::kU64, "", add_64},
    {"add", Type::kS64, "", add_64},
    {"sub", Type::kU32, "", sub_32},
    {"sub", Type::kS32, "", sub_32},
    {"sub", Type::kU64, "", sub_64},
    {"sub", Type::kS64, "", sub_64},
    {"mul", Type::kU32, "lo", mul_32},
    {"mul", Type::kS32, "lo", mul_32},
    {"mul", Type::kU32, "wide", mul_wide_u32},
    {"mul", Type::kS32, "wide", mul_wide_s32},
    {"mad", Type::kU32, "lo", mad_32},
    {"mad", Type::kS32, "lo", mad_32},
    {"and", Type::kB32, "", and_bits},
    {"and", Type::kB64, "", and_bits},
    {"or", Type::kB32, "", or_bits},
    {"or", Type::kB64, "", or_bits},
    {"xor", Type::kB32, "", xor_bits},
    {"xor", Type::kB64, "", xor_bits},
    {"shl", Type::kB32, "", shl_32},
    {"shr", Type::kU32, "", shr_u32},
    {"shr", Type::kB32, "", shr_u32},
    {"mov", Type::kB32, "", copy},
    {"mov", Type::kU32, "", copy},
    {"mov", Type::kS32, "", copy},
    {"mov", Type::kF32, "", copy},
    {"mov", Type::kB64, "", copy},
    {"mov", Type::kU64, "", copy},
    {"mov", Type::kS64, "", copy},
    {"selp", Type::kB32, "", select},
    {"selp", Type::kU32, "", select},
    {"selp", Type::kS32, "", select},
    {"selp", Type::kF32, "", select},
    {"selp", Type::kB64, "", select},
    {"add", Type::kF32, "", add_f32},
    {"add", Type::kF32, "rn", add_f32},
    {"sub", Type::kF32, "", sub_f32},
    {"sub", Type::kF32, "rn", sub_f32},
    {"mul", Type::kF32, "", mul_f32},
    {"mul", Type::kF32, "rn", mul_f32},
    {"fma", Type::kF32, "rn", fma_f32},
};

constexpr std::pair<Type, Execute> kComparisons[] = {{Type::kU32, setp_u32},
                                                     {Type::kB32, setp_u32},
                                                     {Type::kS32, setp_s32},
                                                     {Type::kU64, setp_u64},
                                                     {Type::kB64, setp_u64},
                                                     {Type::kS64, setp_s64},
                                                     {Type::kF32, setp_f32}};

}  // namespace

Execute find_common(const Op& op) {
  const Modifiers& modifiers = op.source->modifiers;
  if (modifiers.type_count != 1) {
    return nullptr;
  }
  const std::string_view name = op.form->name;
  const Type type = modifiers.type();
  if (name == "setp") {
    // One relation of two sources; those of unsigned order by name are of no signed type.
    const bool plain = op.count == 3 && modifiers.words.count() == 1 && !modifiers.has("lo"_mod) &&
                       !modifiers.has("ls"_mod) && !modifiers.has("hi"_mod) &&
                       !modifiers.has("hs"_mod);
    for (const auto& [of_type, execute] : kComparisons) {
      if (plain && of_type == type) {
        return execute;
      }
    }
    return nullptr;
  }
  for (const Row& row : kRows) {
    if (row.name == name && row.type == type &&
        (row.modifier.empty()
             ? modifiers.words.none()
             : modifiers.words.count() == 1 && modifiers.has(*modifier_named(row.modifier)))) {
      return row.execute;
    }
  }
  return nullptr;
}

}  // namespace warptwin::ptx
