/// Lanes of a warp that are at one place in a program, and what they ask the machine for.
///
/// A warp begins as one strand. Where its lanes part, it becomes one strand for each way; strands
/// of one warp share the registers of their function's activation, for no lane is in two of them.
/// Nothing here knows memory: what is no scalar instruction stops the strand, as a Stop that says
/// what is asked for, all operands read.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/ptx/lanes/routine.hpp"

namespace warptwin::ptx {

struct Strand;
class TensorBases;

/// What instructions read from outside.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// The value of a special register in every lane.
  virtual Lanes special(SpecialRegister special) = 0;
  /// Where a variable stands, in its own space; of a parameter in the space of parameters.
  virtual std::uint64_t address_of(const VariableUse& use) = 0;
  /// Lanes return from a function: what it had in local memory is no more.
  virtual void leaves(const Routine& routine, Mask lanes) {
    static_cast<void>(routine);
    static_cast<void>(lanes);
  }
  /// Whether nobody knows what the strand's approximation comes to.
  virtual bool leaves_open(const Strand& strand) {
    static_cast<void>(strand);
    return false;
  }
  /// What stands for a function of the module in a register.
  virtual std::uint64_t address_of(const Function& function) = 0;
  /// The function that such a number stands for; nullptr where there is none.
  virtual const Function* function_at(std::uint64_t address) = 0;
  /// Numbers that move with an allocation of tensor memory; nullptr: they are as all others.
  virtual TensorBases* tensor_bases() { return nullptr; }
  /// What the strand's scalar instruction makes of such numbers depends on where that is.
  virtual void asks_tensor_base(const Strand& strand) { static_cast<void>(strand); }
  /// The scalar instruction at the strand's place reads or writes a busy register, number `slot` of
  /// its frame.
  virtual void touches_busy(const Strand& strand, std::uint32_t slot) {
    static_cast<void>(strand);
    static_cast<void>(slot);
  }
  /// In these lanes it computes with a value that has poison, while some register of its frame is
  /// busy.
  virtual void computes_with(const Strand& strand, const Lanes& value, Mask lanes) {
    static_cast<void>(strand);
    static_cast<void>(value);
    static_cast<void>(lanes);
  }
  /// Some lanes, and not all, have given another name to a value that has poison, meanwhile.
  virtual void names_apart() {}
};

/// Is told of each scalar and control instruction that a strand executes, before it does.
class InstructionWatch {
 public:
  virtual void executes(const Strand& strand) = 0;

 protected:
  ~InstructionWatch() = default;
};

/// What a function takes or returns, of every lane.
struct ParameterBytes {
  std::uint64_t size = 0;
  std::vector<std::uint8_t> bytes;   // lane by lane
  std::vector<std::uint8_t> poison;  // 1: never written

  explicit ParameterBytes(std::uint64_t bytes_of_a_lane = 0)
      : size{bytes_of_a_lane},
        bytes(bytes_of_a_lane * kLanes),
        poison(bytes_of_a_lane * kLanes, 1) {}
};

/// How the machine works on a register by itself.
enum class Busy : std::uint8_t {
  kNo,
  kRead,     // nobody may write it, and only `mov` may read it
  kWritten,  // nobody may write anything else to it
};

/// One activation of a function: its registers, and what it passes to those that it calls.
struct Frame {
  explicit Frame(const Routine& executed)
      : routine{&executed}, slots(executed.slot_count, Lanes::unknown()) {}

  const Routine* routine;
  std::vector<Lanes> slots;
  std::vector<Busy> busy;             // of each slot; empty: none is
  std::vector<std::uint8_t> written;  // of each slot, 1: by an instruction; empty: not noted
  std::vector<std::uint64_t> ready;   // of each slot: when its value is there; empty: not noted
  Mask carry = 0;
  Mask carry_poison = ~Mask{0};
  std::unordered_map<const Variable*, ParameterBytes> parameters;
  std::shared_ptr<Frame> caller;
  std::uint32_t call = 0;   // of the caller: the op that called
  std::uint32_t depth = 0;  // of calls
};

/// An operand, read in every lane.
struct OperandValue {
  const Argument* argument = nullptr;
  /// Of an address its base and offset added, then its coordinates; of a vector its elements; of
  /// 128 bits two. Of what is written nothing, nor of an accumulator of wgmma: it is in the frame's
  /// registers, and so are the lanes of every strand that comes to the same wgmma.
  std::vector<Lanes> values;
};

/// Why a strand does not go on by itself.
struct Stop {
  enum class Kind : std::uint8_t {
    kRequest,  // an instruction of the machine; `Strand::complete` goes behind it
    kCall,     // of a function without a body; likewise
    kParted,   // lanes went apart: `others` are the other strands
    kJoin,     // lanes that parted may come together here: let those with most joins go first
    kLeft,     // `mask` ended: by exit, or by ret of the kernel
    kTrap,     // `mask` came to a trap
    kPoison,   // a branch, or a call through a register, depends on what nobody has written
    kMissing,  // an instruction that the table, or `lanes`, does not have
    kFault,    // what no program may do: `text` says it
    kSteps,    // as many instructions as were allowed
  };
  Kind kind = Kind::kLeft;
  std::uint32_t op = 0;  // of the frame's routine
  Mask mask = 0;
  Mask unknown_guard = 0;  // lanes whose guard is poison: they may or may not execute it
  std::vector<OperandValue> operands;
  std::vector<Strand> others;
  const Function* function = nullptr;  // of kCall
  std::uint64_t instructions = 0;      // that were executed, with the one that it is at
  std::string text;
};

struct Strand {
  std::shared_ptr<Frame> frame;
  std::uint32_t pc = 0;  // of the frame's routine
  Mask mask = 0;
  /// Where lanes of it have parted from others, and these may come together again.
  struct Join {
    const Frame* frame = nullptr;
    std::uint32_t op = 0;
  };
  std::vector<Join> joins;

  /// At a kernel's first instruction, with nothing written to any register.
  static Strand begin(const Routine& kernel, Mask lanes);

  /// Executes until something stops it, at most `steps` instructions. Without a lane it is over.
  /// `watch` may be null.
  Stop run(const Program& program,
           Surroundings& surroundings,
           std::uint64_t steps,
           InstructionWatch* watch = nullptr);

  /// Writes element `part` of operand `operand` of the op that a stop names, in the lanes of the
  /// stop. Of 128 bits the parts are halves.
  void write(const Stop& stop, std::size_t operand, std::size_t part, const Lanes& value);
  /// Goes behind the op of a kRequest or kCall.
  void complete(const Stop& stop) { pc = stop.op + 1; }

  /// Bytes of a parameter of a call, for what a function without a body takes and returns.
  ParameterBytes& parameter(const Variable& variable);

  /// Takes the lanes of a strand that stands at the same place. Says whether it did.
  bool merge(const Strand& other);
};

}  // namespace warptwin::ptx
