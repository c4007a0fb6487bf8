/// What the words of a program's text stand for: shared by reading and printing.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/machine/umma_descriptor.hpp"

#include "sim/program/program.hpp"

namespace warptwin::sim {

/// What stands behind the name of an operation.
enum class Operands : std::uint8_t {
  kNone,
  kBarrier,         // [bar]
  kBarrierCount,    // [bar], 1
  kArrive,          // [bar], 1 or bytes
  kWait,            // r1, [bar], phase 0
  kNamed,           // 1, 64
  kTensorLoad,      // [tile], m, {0, 0}, [bar], mask 3
  kTensorStore,     // m, {0, 0}, [tile]
  kBulkLoad,        // [tile], [src], 1024, [bar], mask 3
  kBulkStore,       // [dst], [tile], 1024
  kNumber,          // 0
  kMap,             // m
  kMapGlobal,       // m, [src]
  kMapExtent,       // m, 1, 64
  kTmemAlloc,       // [word], 64
  kTmemRegion,      // [tmem column 0], 64
  kMma,             // [tmem column 0], desc(...), desc(...), m128n16, bf16, bf16, accumulate
  kCp,              // [tmem column 0], desc(...)
  kCommit,          // [bar], mask 3
  kTmemLoad,        // f0, [tmem column 0]
  kTmemStore,       // [tmem column 0], f0
  kFragment,        // f0, or nothing
  kWgmma,           // f0, desc(...), desc(...), m64n128, bf16, accumulate
  kNumberFragment,  // 0, f0
  kSharedStore,     // [word], 5
  kSharedLoad,      // r1, [word]
  kRowsStore,       // [tile], f0, row 0, column 0, bytes 128, f32, swizzle 128
  kRowsLoad,        // f0, [tile], row 0, column 0, bytes 128, f32, swizzle 128
  kAccumulator,     // [tile], f0, row 0, column 0, bytes 128, f32, swizzle 128
  kGlobalLoad,      // r1, [src]
  kGlobalValue,     // [flag], 1
  kClcRequest,      // [response], [bar]
  kClcQuery,        // r1, [response]
  kStageNote,       // [full], 4, producer_acquired, index 0, lap 0
};

/// An operation by the name that its text begins with; suffixes follow it.
struct Verb {
  std::string_view name;
  Op op;
  Operands operands;
  /// One lane issues it: the text says which.
  bool one_lane = false;
  /// What the name says beyond the operation.
  std::uint32_t variant = 0;
};

/// The verb whose name is `mnemonic`, or the longest that it begins with, before a dot; or null.
const Verb* find_verb(std::string_view mnemonic);
const Verb* find_verb(Op op, std::uint32_t variant);
/// Which of its verbs an operation is.
std::uint32_t variant_of(const Operation& operation);
/// "barrier.cluster.arrive, bar.sync, ...": the known ones, or those nearest.
std::string known_verbs();

/// The ordering of an operation whose text names none.
Ordering standard_ordering(const Operation& operation);
/// Whether its text may name one.
bool has_ordering(Op op);

inline constexpr const char* kSemanticsWords[] = {"relaxed", "acquire", "release", "acq_rel"};
inline constexpr const char* kScopeWords[] = {"cta", "cluster", "gpu"};
inline constexpr const char* kProxyWords[] = {
    "", "shared::cta", "shared::cluster", "global"};  // by ProxySpace
inline constexpr const char* kKindWords[] = {
    "f16", "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4", "i8"};
inline constexpr const char* kStageWords[] = {"producer_acquired",
                                              "producer_released",
                                              "consumer_acquired",
                                              "consumer_released",
                                              "handle_dropped",
                                              "released_twice"};

}  // namespace warptwin::sim
