/// A kernel of a PTX module, ready to be launched: where its variables stand, which of its tries
/// are waits, and what each instruction is called in a report.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/machine/types.hpp"

#include "sim/ptx/lanes/strand.hpp"

namespace warptwin::ptx {

/// The generic addresses of the windows; what is in none of them is global memory.
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kSharedWindow = 0x7f0000000000;
inline constexpr std::uint64_t kLocalWindow = 0x7e0000000000;
inline constexpr std::uint64_t kParameterWindow = 0x7d0000000000;
/// Bits of a shared address, 24 and up: the rank of no CTA.
inline constexpr std::uint32_t kNoCta = 0xFF000000U;
/// Addresses that stand for functions.
inline constexpr std::uint64_t kFunctionWindow = 0x7c0000000000;

/// A variable of the module in global or constant memory.
struct ModuleVariable {
  const Variable* variable = nullptr;
  std::uint64_t bytes = 0;
};

/// A loop round a try that, told no, comes back to it without having done anything: a wait where
/// what it needs is as it was.
struct WaitLoop {
  std::vector<std::uint32_t> sets;    // slots of registers, of those that the try still needs
  std::vector<std::uint32_t> writes;  // of all that it writes, where `sets` has some
  std::uint32_t steps = 0;            // instructions from behind the try to it; 0: it sleeps
};

/// The loop round the `mbarrier.try_wait` or `.test_wait` at `op`, before which these registers are
/// live; none where it is no wait.
std::optional<WaitLoop> wait_loop(const Program& program,
                                  const Routine& routine,
                                  std::uint32_t op,
                                  const std::vector<std::uint32_t>& live);

/// Whether a strand of the warp at the try of such a loop, told no, comes back to it with all
/// registers as they are.
bool comes_back(const Program& program,
                Surroundings& warp,
                const Strand& strand,
                const Stop& tried,
                const WaitLoop& loop);

class Kernel {
 public:
  /// Throws SyntaxError for what is no PTX, ConfigError for a kernel that is not there. An empty
  /// name is the only kernel of the module.
  Kernel(Module module, std::string_view name);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const Program& program() const { return program_; }
  const Routine& routine() const { return *routine_; }
  const Function& function() const { return *routine_->code.function; }
  std::string_view name() const { return function().name; }

  /// Whether the module's target is sm_`least` or a later one.
  bool is_for_sm(std::uint32_t least) const;

  /// Where a parameter of the kernel begins among all of them, and the bytes of all.
  std::uint64_t parameter_offset(const Variable& variable) const;
  std::uint64_t parameter_bytes() const { return parameter_bytes_; }

  /// What a launch has of shared memory: the variables that the kernel and the functions it may
  /// call name, the module's first.
  const std::vector<const Variable*>& shared_variables() const { return shared_variables_; }
  /// Where one begins; dynamic shared memory is behind the static variables.
  std::uint32_t shared_offset(const Variable& variable) const;
  /// The end of static shared memory, from the window's begin, aligned as dynamic memory has to be.
  std::uint64_t shared_end() const { return shared_end_; }

  /// Global and constant variables, in the module's order: `GlobalPlaces` says where they are.
  const std::vector<ModuleVariable>& variables() const { return variables_; }

  /// Where a local variable begins among a thread's bytes, and the bytes of all.
  std::uint64_t local_offset(const Variable& variable) const;
  std::uint64_t local_bytes() const { return local_bytes_; }
  /// Some bytes of a thread's local memory that are one variable.
  struct LocalPlace {
    std::uint64_t at;
    std::uint64_t bytes;
  };
  /// Whether bytes of one local variable are at `at`.
  bool is_local(std::uint64_t at, std::uint64_t bytes) const;
  /// The variables of a function.
  const std::vector<LocalPlace>& locals_of(const Routine& routine) const {
    return facts_of(routine).locals;
  }
  /// Of a byte of local memory: ", byte 16 of __local_depot0, which has 16". Empty: it is in front
  /// of all.
  std::string local_before(std::uint64_t at) const;

  /// Whether it makes tensor maps, or changes them.
  bool changes_maps() const { return changes_maps_; }
  /// Whether it has a `cp.async.wait_group` or `.wait_all`.
  bool waits_for_groups() const { return waits_for_groups_; }

  /// What reports call an op: the user's line where a .loc says it, else the PTX's.
  SourceSite site_of(const Routine& routine, std::uint32_t op) const;
  std::string line_of(const Routine& routine, std::uint32_t op) const;  // "FILE:LINE"
  /// The instructions of which reports say such a place, in the order of the text.
  std::vector<const Instruction*> instructions_at(const SourceSite& site) const;
  /// The outermost loop that an op is in, "lines 12 to 15 of the PTX, at a.cu:7, b.hpp:3"; empty:
  /// none.
  std::string loop_around(const Routine& routine, std::uint32_t op) const;
  /// The same of the first instruction at such a place that is in a loop.
  std::string loop_at(const SourceSite& site) const;
  /// A number of an op, of none other in the kernel.
  std::uint32_t place_of(const Routine& routine, std::uint32_t op) const;
  /// Whether the try that a strand of the warp stands at is a wait.
  bool waits(Surroundings& warp, const Strand& strand, const Stop& tried) const;
  /// Slots of the registers that are needed from the try at `op` on.
  const std::vector<std::uint32_t>& needed_at_try(const Routine& routine, std::uint32_t op) const;

 private:
  struct RoutineFacts {
    std::uint32_t first = 0;  // the number of its first op
    std::vector<SourceSite> sites;
    std::vector<LocalPlace> locals;
    std::unordered_map<std::uint32_t, WaitLoop> waits;                     // by op
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> needed;  // at tries, by op
  };
  const RoutineFacts& facts_of(const Routine& routine) const {
    return &routine == routine_ ? *own_facts_ : facts_.at(&routine);
  }
  void find_routines();
  void find_shared();
  void place_shared();
  void place_parameters();
  void place_locals();

  Program program_;
  const Routine* routine_ = nullptr;
  std::vector<const Routine*> routines_;  // the kernel and what it may call, as the module has them
  std::unordered_map<const Routine*, RoutineFacts> facts_;
  const RoutineFacts* own_facts_ = nullptr;  // of the kernel itself
  std::unordered_map<const Variable*, std::uint64_t> places_;
  std::vector<const Variable*> shared_variables_;
  std::vector<ModuleVariable> variables_;
  std::uint64_t parameter_bytes_ = 0;
  std::uint64_t local_bytes_ = 0;
  std::vector<LocalPlace> locals_;  // in their order
  std::uint64_t shared_end_ = 0;
  bool changes_maps_ = false;
  bool waits_for_groups_ = false;
};

/// Whether the machine has an op that is in the table of forms.
bool executes(const Op& op);

}  // namespace warptwin::ptx
