#include "sim/ptx/machine/missing_forms.hpp"

#include <initializer_list>
#include <string_view>

namespace warptwin::ptx {

namespace {

bool has_any(const Modifiers& modifiers, std::initializer_list<Modifier> words) {
  for (const Modifier word : words) {
    if (modifiers.has(word)) {
      return true;
    }
  }
  return false;
}

bool is_vector(const Modifiers& modifiers) {
  return has_any(modifiers, {"v2"_mod, "v4"_mod, "v8"_mod});
}

bool names_shared(const Modifiers& modifiers) {
  return has_any(modifiers, {"shared"_mod, "shared::cta"_mod, "shared::cluster"_mod});
}

bool orders(const Modifiers& modifiers) {
  return has_any(modifiers, {"acquire"_mod, "release"_mod, "acq_rel"_mod});
}

// Of a generic address the run tells which memory it is.
const char* missing_access(const Modifiers& modifiers) {
  if (names_shared(modifiers)) {
    return orders(modifiers) ? "acquiring and releasing accesses of shared memory are not there"
                             : nullptr;
  }
  const bool word = bytes_of(modifiers.type()) == 4 && !is_vector(modifiers);
  if (!modifiers.has("global"_mod) || word) {
    return nullptr;
  }
  if (has_any(modifiers, {"relaxed"_mod, "volatile"_mod})) {
    return "relaxed and volatile accesses of global memory are of one word of 32 bits";
  }
  return orders(modifiers) ? "flags of other than 32 bits are not there" : nullptr;
}

const char* missing_reduction(const Modifiers& modifiers) {
  const Type type = modifiers.type();
  const bool wide = bytes_of(type) == 16 && has_any(modifiers, {"exch"_mod, "cas"_mod});
  if (!is_vector(modifiers) && bytes_of(type) != 4 && bytes_of(type) != 8 && !wide) {
    return "atomics of 16 bits are not there, but of vectors; of 128 bits .exch and .cas are";
  }
  return names_shared(modifiers) && orders(modifiers)
             ? "acquiring and releasing atomics of shared memory are not there"
             : nullptr;
}

// Some count and are asked who is the last: the run tells which do.
const char* missing_atomic(const Modifiers& modifiers) {
  const bool counts = has_any(modifiers, {"add"_mod, "inc"_mod}) && !is_vector(modifiers) &&
                      !is_float(modifiers.type()) && bytes_of(modifiers.type()) == 4;
  return counts ? nullptr : missing_reduction(modifiers);
}

const char* missing_matrix(const Modifiers& modifiers) {
  const bool there =
      modifiers.type() == Type::kB16 && modifiers.shape.m == 8 && modifiers.shape.n == 8;
  return there ? nullptr : "of matrices in fragments only m8n8 of b16 is there";
}

const char* missing_tmem_access(const Modifiers& modifiers) {
  return has_any(modifiers, {"pack::16b"_mod, "unpack::16b"_mod}) && !modifiers.has("32x32b"_mod)
             ? "elements that are packed on the way are there of .32x32b only"
             : nullptr;
}

const char* missing_tmem_copy(const Modifiers& modifiers) {
  const bool warps = modifiers.has("32x128b"_mod) && modifiers.has("warpx4"_mod);
  if (!warps && !has_any(modifiers, {"128x256b"_mod, "128x128b"_mod})) {
    return "this shape of tcgen05.cp is not there";
  }
  return modifiers.has("b8x16"_mod) != has_any(modifiers, {"b4x16_p64"_mod, "b6x16_p32"_mod})
             ? "elements are of .b4x16_p64 or .b6x16_p32, and become .b8x16"
             : nullptr;
}

const char* missing_tmem_mma(const Modifiers& modifiers) {
  const bool kind = has_any(modifiers,
                            {"kind::f16"_mod,
                             "kind::tf32"_mod,
                             "kind::f8f6f4"_mod,
                             "kind::i8"_mod,
                             "kind::mxf8f6f4"_mod,
                             "kind::mxf4"_mod,
                             "kind::mxf4nvf4"_mod});
  if (has_any(modifiers, {"collector::a::use"_mod, "collector::a::lastuse"_mod})) {
    return "operands that a collector buffer has kept are not there";
  }
  if (!kind || modifiers.has("ashift"_mod)) {
    return "this kind of tcgen05.mma is not there";
  }
  // Of each kind one length of vectors: with a sparse A they are twice as long, and `block32` and
  // `scale_vec` are the same number of factors.
  const bool of_16 = has_any(modifiers, {"scale_vec::4X"_mod, "block16"_mod});
  const bool of_one = modifiers.has("scale_vec::1X"_mod);
  const bool of_two = modifiers.has("scale_vec::2X"_mod);
  const bool other = modifiers.has("kind::mxf8f6f4"_mod) ? of_16 || of_two
                     : modifiers.has("kind::mxf4"_mod)   ? of_16 || of_one
                     : modifiers.has("kind::mxf4nvf4"_mod)
                         ? !of_16
                         : of_16 || of_one || of_two || modifiers.has("block32"_mod);
  return other ? "scale factors of vectors of this length are not there of this kind" : nullptr;
}

const char* missing_copy(const Modifiers& modifiers) {
  if (modifiers.has("im2col::w"_mod)) {
    return "copies by .im2col::w are not there";
  }
  if (modifiers.has("im2col::w::128"_mod)) {
    return "copies by .im2col::w::128 are not there";
  }
  return has_any(modifiers, {"cp_mask"_mod, "ignore_oob"_mod})
             ? "copies of some of the bytes are not there"
             : nullptr;
}

const char* missing_fence(const Modifiers& modifiers) {
  return has_any(modifiers,
                 {"sync_restrict::shared::cluster"_mod, "sync_restrict::shared::cta"_mod})
             ? "fences with sync_restrict are not there"
             : nullptr;
}

}  // namespace

const char* missing_form(const Op& op) {
  if (op.form == nullptr) {
    return nullptr;
  }
  struct Row {
    std::string_view name;
    const char* (*missing)(const Modifiers&);
  };
  static constexpr Row kRows[] = {
      {"ld", missing_access},
      {"st", missing_access},
      {"atom", missing_atomic},
      {"red", missing_reduction},
      {"ldmatrix", missing_matrix},
      {"stmatrix", missing_matrix},
      {"mma", missing_mma},
      {"wgmma.mma_async", missing_wgmma},
      {"tcgen05.ld", missing_tmem_access},
      {"tcgen05.st", missing_tmem_access},
      {"tcgen05.cp", missing_tmem_copy},
      {"tcgen05.mma", missing_tmem_mma},
      {"cp.async.bulk", missing_copy},
      {"cp.async.bulk.tensor", missing_copy},
      {"cp.reduce.async.bulk.tensor", missing_copy},
      {"fence", missing_fence},
      {"red.async",
       [](const Modifiers& modifiers) {
         return has_any(modifiers, {"inc"_mod, "dec"_mod})
                    ? "red.async by .inc and .dec is not there"
                    : nullptr;
       }},
      {"st.async",
       [](const Modifiers& modifiers) {
         return modifiers.has("mbarrier::complete_tx::bytes"_mod)
                    ? nullptr
                    : "st.async to global memory is not there";
       }},
  };
  for (const Row& row : kRows) {
    if (op.is(row.name)) {
      return row.missing(op.source->modifiers);
    }
  }
  return nullptr;
}

}  // namespace warptwin::ptx
