/// A finding as a value: what a report says, in parts. Text, JSON and the rest render it.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/machine/shared_layout.hpp"
#include "common/machine/types.hpp"
#include "common/report/catalogue.hpp"
#include "common/trace/event.hpp"

namespace warptwin::sim {

/// Warps of one CTA that do the same.
struct Agent {
  std::uint32_t cta = 0;             // in the grid
  std::vector<std::uint32_t> warps;  // in the CTA, ascending; empty: nobody
  Role role = Role::kCount;          // kCount: the CTA has none

  bool empty() const { return warps.empty(); }
};

enum class ObjectKind : std::uint8_t {
  kNothing,         // a finding of the run as a whole
  kMbarrier,        // `name` in the layout, `address` in shared memory
  kNamedBarrier,    // `address`: its id
  kClusterBarrier,  //
  kStage,           // of a ring: `name`
  kSharedMemory,    // `bytes` from `address`
  kTensorMemory,    // `name` says which columns and lanes
  kGlobalMemory,    // `bytes` from `address`
  kRegisters,       // of the CTA
  kTensorMap,       //
  kCta,             // `cta`
  kWarp,            // `name`, in words
  kOther,           // `name` says all of it
};

/// What a finding is about.
struct Object {
  static constexpr std::uint32_t kNoCta = ~std::uint32_t{0};

  ObjectKind kind = ObjectKind::kNothing;
  std::string name;            // without its CTA: "input.full[2]"
  std::uint32_t cta = kNoCta;  // in the grid
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: not known

  static Object cta_of(std::uint32_t number) { return {ObjectKind::kCta, "", number}; }
  static Object named_barrier(std::uint32_t cta, std::uint32_t id) {
    return {ObjectKind::kNamedBarrier, "named barrier " + std::to_string(id), cta, id};
  }
  static Object cluster_barrier() { return {ObjectKind::kClusterBarrier, "cluster barrier"}; }
  static Object tensor_memory(std::uint32_t cta) {
    return {ObjectKind::kTensorMemory, "tensor memory", cta};
  }
  static Object registers(std::uint32_t cta) { return {ObjectKind::kRegisters, "registers", cta}; }
  static Object global(std::uint64_t address) {
    return {ObjectKind::kGlobalMemory, "global+" + std::to_string(address), kNoCta, address};
  }
  static Object other(std::string name) { return {ObjectKind::kOther, std::move(name)}; }
};

/// What a warp that does not end waits for, or does.
enum class WaitKind : std::uint8_t {
  kMbarrier,        // `object` and, where it is known, `barrier`
  kNamedBarrier,    // `object`; `have` of `wanted` threads have come
  kClusterBarrier,  // `have` warps have come
  kBulkGroups,      //
  kColumns,         // of tensor memory: `wanted` of them, held by `holders`
  kPeer,            // that frees tensor memory, too
  kRegisters,       // `have` a thread are free
  kGlobalWord,      // to become `wanted`; it is `have`
  kTensorAccesses,  //
  kWgmmas,          //
  kLateLanes,       // of its own, at `op`
  kOperation,       // `op`; more is not known
  kNotBegun,        // the others wait for nothing
  kRuns,
  kEnded,
};

/// How an mbarrier stands that somebody waits for.
struct BarrierStand {
  /// The phase it is in; none: its parity alone is known.
  std::optional<std::int64_t> phase;
  std::uint32_t parity = 0;    // of that phase
  std::uint32_t pending = 0;   // arrivals that the phase lacks
  std::uint32_t expected = 0;  // arrivals of a phase
  std::int64_t tx = 0;         // bytes that it lacks; less than 0: that came unannounced
  /// Of a barrier whose parity alone is known: the phase it must be in, where that is later than
  /// the one that is waited for.
  std::optional<std::int64_t> passed;
};

struct Wait {
  /// A CTA beside it that has tensor memory.
  struct Holder {
    std::uint32_t cta = 0;
    bool may_ask = false;  // it has not given up the permit to allocate
  };

  WaitKind kind = WaitKind::kOperation;
  Op op = Op::kCount;
  Object object;
  std::optional<std::int32_t> phase;  // of an mbarrier, where the wait says it
  std::uint64_t wanted = 0;           // of an mbarrier: the parity
  std::optional<std::uint64_t> have;
  std::optional<BarrierStand> barrier;
  std::vector<Holder> holders;
};

/// Who could still make an arrival that a phase lacks.
struct Owed {
  /// A warp of the role, the nearest one, and what it does.
  struct Supplier {
    Agent agent;
    Wait wait;
  };

  Role role = Role::kCount;
  ArrivalKind kind = ArrivalKind::kElectedLane;
  std::optional<Supplier> by;  // none: nobody can
  bool ended = false;          // the role's warps have, which is why
};

/// What an mbarrier saw last.
struct LastChange {
  Op op = Op::kCount;
  Agent by;
  std::uint32_t phase = 0;
  bool completed = false;  // the phase
  std::uint64_t step = 0;
  SourceSite site{};
};

/// Warps that wait for what does not come: an edge of the wait-for graph to each of `owed`.
struct Blocked {
  Agent agent;
  Wait wait;
  SourceSite site{};
  std::vector<Owed> owed;
  std::optional<LastChange> last;
};

/// A warp that asks again and again.
struct Polls {
  Agent agent;
  Op op = Op::kCount;
  SourceSite site{};
};

/// What is like the facts before and is not told.
struct LeftOut {
  std::uint64_t count = 0;
  const char* what = "";  // "more group"
  const char* of = "";    // " of waiting warps"
};

/// CTAs that wait for a place on the machine.
struct NotBegun {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t resident = 0;  // at a time
};

/// Warps of one role that have the same number of registers a thread.
struct RegistersHeld {
  std::uint32_t warps = 0;
  Role role = Role::kCount;
  std::uint32_t registers = 0;
  std::uint32_t ended = 0;  // of the warps
};

/// One of two operations that are in no order.
struct Act {
  bool second = false;
  Op op = Op::kCount;
  Agent agent;
  SourceSite site{};
};

/// A sentence.
struct Said {
  enum class Kind : std::uint8_t {
    kPlain,
    kMissing,  // what would mend it
    kThen,     // what comes of it
    kShown,    // by which schedule
    kWrong,    // which elements
    kProblem,  // internal error
  };
  Kind kind = Kind::kPlain;
  std::string text;
};

/// One fact of a finding.
class Detail {
 public:
  using Value = std::variant<Said, Blocked, Polls, LeftOut, NotBegun, RegistersHeld, Act>;

  Detail(const char* text) : value_{Said{Said::Kind::kPlain, text}} {}
  Detail(std::string text) : value_{Said{Said::Kind::kPlain, std::move(text)}} {}
  template <class Part>
    requires std::is_constructible_v<Value, Part> Detail(Part part) : value_{std::move(part)} {}

    const Value& value() const {
      return value_;
    }
    /// Null where it is another kind of fact.
    template <class Part>
    const Part* as() const {
      return std::get_if<Part>(&value_);
    }

   private:
    Value value_;
};

/// What would mend the fault: "sync_warp() between the two".
inline Detail mend(std::string what) {
  return Said{Said::Kind::kMissing, std::move(what)};
}

/// A diagnostic that was found.
struct Finding {
  const DiagnosticInfo* info = nullptr;
  Severity severity = Severity::kFatal;  // at most; the rules may say less
  Object object;
  Agent agent;
  std::string message;  // what happened, with the numbers
  std::vector<Detail> details;
  SourceSite site{};
  std::uint64_t step = 0;
  std::uint32_t repeated = 0;  // how often more it was found
  std::map<std::string, Object>
      others{};  // found at then, but for `object`; by what they are called
};

// --- In words ---------------------------------------------------------------------------------

/// "cta 0 warp 5 (load)", "cta 0 warps 1,2 (mma)"; empty for nobody.
std::string text_of(const Agent& agent);
/// "input.full[2] of cta 0"; empty for nothing.
std::string text_of(const Object& object);
/// "file.hpp:12", the last two parts of the path; empty where there is none.
std::string text_of(const SourceSite& site);
/// "waits for input.full[2] of cta 0 (parity 1): phase 1 lacks 1 arrival of 2"
std::string text_of(const Wait& wait);
/// "ring.load (elected lane): cta 0 warp 5 (load), which waits for ..."
std::string text_of(const Owed& owed);
/// A line or several, without their ends: "blocked  cta 0 warp 5 (load)  waits for ...".
std::vector<std::string> lines_of(const Detail& detail);
/// Of all details, in their order.
std::vector<std::string> lines_of(const Finding& finding);

}  // namespace warptwin::sim
