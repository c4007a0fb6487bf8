/// One machine operation of one warp, as the model executes it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/machine/types.hpp"
#include "common/trace/event.hpp"

#include "sim/model/lane_access.hpp"
#include "sim/model/operands.hpp"

namespace warptwin::sim {

/// The registers of one `tcgen05.ld` or of an accumulator of wgmma: `registers` of each of 32
/// lanes, lane by lane. Shared with the asynchronous operation that fills them.
struct FragmentData {
  std::uint32_t registers = 0;
  std::uint32_t last_wgmma = 0;   // of an accumulator: wgmmas of the warp until its last one
  std::uint64_t touched = 0;      // when a wgmma's register last was, by `WarpRegisters::time`
  bool touched_early = false;     // before a wait settled it; not reported yet
  bool settled = false;           // the wait has covered it
  bool of_tensor_memory = false;  // of an accumulator: a tcgen05.ld fills it, not a wgmma
  bool reported = false;
  std::vector<std::uint32_t> bits;  // empty when no data moves
  /// Of tcgen05.ld and .st and of wgmma, as `bits`: 1 where nobody has written it. Empty: that is
  /// not asked, or all is written.
  std::vector<std::uint8_t> unwritten;
};

/// The place of a thread's register, from the operation's first lane and column on.
struct TmemCell {
  std::uint32_t lane = 0;
  std::uint32_t column = 0;

  /// PTX ISA, "tcgen05 matrix fragments".
  static constexpr TmemCell of(TmemShape shape, std::uint32_t thread, std::uint32_t index) {
    switch (shape) {
      case TmemShape::k16x64b:
        return {thread / 4 + 8 * (thread % 2), 2 * index + thread / 2 % 2};
      case TmemShape::k16x128b:
        return {thread / 4 + 8 * (index % 2), index / 2 * 4 + thread % 4};
      case TmemShape::k16x256b:
        return {thread / 4 + 8 * (index / 2 % 2), index / 4 * 8 + thread % 4 * 2 + index % 2};
      case TmemShape::k32x32b:
        break;
    }
    return {thread, index};
  }
};

/// Where an agent is in its program, its registers included, as one number: another one where it
/// has not come back to the same.
class AgentState {
 public:
  virtual std::uint64_t fingerprint() const = 0;

 protected:
  ~AgentState() = default;
};

/// Whether both are one instruction of a kernel's text, by which a try that is made again is known.
/// Two on one line are not the same. Instructions of PTX that share a line have no column: their
/// `operands::Mbarrier::place` tells them apart.
inline bool same_instruction(const SourceSite& a, const SourceSite& b) {
  return a.line == b.line && a.column == b.column &&
         (a.file == b.file || std::string_view{a.file} == b.file);
}

/// What one warp, or lanes of it, do together. What it says beside that stands in its operands,
/// whose type is that of its kind. Small fields stand together: an operation is made, and often
/// copied, for each step of a run.
struct Operation {
  Op op = Op::kCount;  // changes only to one with the same operands
  std::uint8_t lanes = 32;
  std::uint8_t lane = 0;  // which one, of a single lane
  Ordering ordering{Semantics::kRelaxed, Scope::kCta};
  std::uint32_t flags = 0;
  std::uint32_t some = 0;    // which lanes, where they are several but not all, as bits
  std::uint32_t result = 0;  // of a word load, a try, an allocation; of a wgmma 1: it has begun
  std::shared_ptr<FragmentData> fragment;    // registers that it fills, stores or waits for
  std::shared_ptr<FragmentData> fragment_a;  // of a wgmma: A, or the metadata of a sparse one
  const LaneRace* race = nullptr;     // with what its lanes did before; whoever performs it has it
  const AgentState* state = nullptr;  // of whoever performs it, who can tell where he is
  SourceSite site{};

  Operation() = default;
  /// With the operands of its kind, all as they are by default: of a load or store those of a word,
  /// until `set` gives it others.
  explicit Operation(Op kind);

  /// The operands, where they are of type `T`. Else the process ends, as by a broken invariant, and
  /// names what was asked of which operation.
  template <class T>
  T& as() {
    if (T* const of = std::get_if<T>(&operands_)) {
      return *of;
    }
    lacks(kIndexOf<T>);
  }
  template <class T>
  const T& as() const {
    if (const T* const of = std::get_if<T>(&operands_)) {
      return *of;
    }
    lacks(kIndexOf<T>);
  }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(operands_);
  }
  /// Gives it operands of this type.
  template <class T>
  T& set() {
    return operands_.emplace<T>();
  }

  /// Of both kinds of MMA.
  operands::Product& product();
  const operands::Product& product() const;
  /// Address of the mbarrier that counts the bytes of a load.
  std::uint32_t& load_barrier();
  std::uint32_t load_barrier() const;
  /// CTAs of a load, a commit or a request for clusters; none of all else, nor where none is named.
  CtaMask mask() const;
  void set_mask(CtaMask mask);
  /// Of tcgen05 and of copies; of all else one CTA.
  CtaGroup group() const;
  void set_group(CtaGroup group);
  /// Bytes at an address for each lane, or an atomic of one; null where it has neither.
  LaneAccess* access() const;
  /// Drops what whoever performs it has, once it has been taken up.
  void let_go();
  /// Sets what an event of this operation says of the operands.
  void tell(Event& event) const;
  /// What an event says of it, whoever executes it.
  Event told() const;

 private:
  template <class T>
  static constexpr std::size_t kIndexOf = AnyOperands{std::in_place_type<T>}.index();
  [[noreturn]] void lacks(std::size_t index) const;

  AnyOperands operands_;
};

}  // namespace warptwin::sim
