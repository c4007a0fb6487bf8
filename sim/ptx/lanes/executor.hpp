/// How a strand executes: inside of Strand::run.

#pragma once

#include <cstddef>
#include <new>
#include <optional>

#include "sim/ptx/lanes/strand.hpp"
#include "sim/ptx/lanes/tensor_bases.hpp"

namespace warptwin::ptx {

/// Writes the lanes of `mask`, cut to `bits`.
void write_lanes(Lanes& into, const Lanes& value, std::uint32_t bits, Mask mask);

/// Room for the lanes of a value, with nothing in it.
class RoomForLanes {
 public:
  Lanes& operator*() { return *std::launder(reinterpret_cast<Lanes*>(bytes_)); }
  Lanes* operator->() { return &**this; }

 private:
  alignas(Lanes) std::byte bytes_[sizeof(Lanes)];
};

class Executor {
 public:
  /// `watch` may be null.
  Executor(const Program& program,
           Surroundings& surroundings,
           Strand& strand,
           InstructionWatch* watch)
      : program_{program}, surroundings_{surroundings}, strand_{strand}, watch_{watch} {}

  Stop run(std::uint64_t steps);
  std::uint64_t executed() const { return executed_; }

 private:
  /// What a guard lets through.
  struct Guarded {
    Mask executes = 0;
    Mask unknown = 0;  // lanes whose guard is poison; not in `executes`
  };

  const Routine& routine() const { return *strand_.frame->routine; }
  const Code& code() const { return routine().code; }
  Guarded guard_of(const Op& op) const;

  std::optional<Stop> step();
  std::optional<Mask> guarded_by(const ScalarStep& step) const;
  bool fast(const ScalarStep& step);
  bool leaves_open(const Scalar& scalar, const ScalarStep& step, ScalarCall& call, Mask executes);
  bool fast_branch(const ScalarStep& step);
  void scalar(const Op& op, const Guarded& guarded);
  TensorBases::Outcome of_tensor_bases(const Scalar& found, const ScalarCall& call, Mask lanes);
  void move_wide(const Op& op, const Guarded& guarded);
  void move_to_vector(const Op& op, const Guarded& guarded);
  std::optional<Stop> control(const Op& op, const Guarded& guarded);
  std::optional<Stop> branch(const Op& op, const Guarded& guarded);
  std::optional<Stop> switch_branch(const Op& op, const Guarded& guarded);
  std::optional<Stop> part(std::vector<std::pair<std::uint32_t, Mask>> ways, std::uint32_t join);
  std::optional<Stop> leave(const Op& op, Mask lanes);
  std::optional<Stop> call(const Op& op, Mask lanes);
  std::optional<Stop> enter(const Op& op, const Function& function, Mask lanes);
  std::optional<Stop> return_from(Mask lanes);
  std::optional<Stop> parameter_access(const Op& op, const Guarded& guarded);
  Stop request(const Op& op, const Guarded& guarded);
  Stop stop(Stop::Kind kind, Mask lanes) const;
  Stop not_uniform(Mask lanes) const;
  const char* unlike(const Op& op, const Function& function) const;
  bool behind_its_call(const Variable& variable) const;

  /// One operand of at most 64 bits, into `store` where it is no register or number.
  const Lanes* source(const Argument& argument, Lanes& store);
  Lanes element(const Argument& argument);
  /// Elements side by side, of so many bits each.
  Lanes packed(const Argument& argument, std::uint32_t bits);
  std::vector<Lanes> values_of(const Argument& argument);
  void add_values(const Argument& argument, std::vector<Lanes>& values);
  void write_back(const Argument& argument, const Lanes& value, const Guarded& guarded);
  void note_write(std::uint32_t slot, const Lanes& value, const Guarded& guarded);
  void note_reads(std::span<const Argument> sources, Mask lanes);

  const Program& program_;
  Surroundings& surroundings_;
  Strand& strand_;
  InstructionWatch* watch_;
  std::uint64_t executed_ = 0;
  // Of one scalar instruction. Clearing them would take as long as most instructions.
  RoomForLanes stores_[ScalarCall::kSources];
  RoomForLanes out_;
  RoomForLanes second_;
  std::uint32_t renamed_ = kNoIndex;  // of `mov` from one register: its slot
};

}  // namespace warptwin::ptx
