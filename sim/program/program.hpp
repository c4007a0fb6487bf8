/// A program as a value: a launch, and for each of its warps a list of machine operations. It is
/// what a text of operations says, what a run of a scenario did, and what the oracles judge.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sim/model/launch.hpp"
#include "sim/model/operation.hpp"

namespace warptwin::sim {

inline constexpr std::uint32_t kProgramRegisters = 16;    // of a warp, 32 bits each, 0 at its start
inline constexpr std::uint32_t kProgramFragments = 1024;  // of a warp

/// One line of a program: an operation, or a jump.
struct Instruction {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  enum class Kind : std::uint8_t { kOperation, kJump };
  Kind kind = Kind::kOperation;

  /// What the machine executes: `lanes` says who (32: the warp; 1: lane `lane`), `site` the line of
  /// the text, or of the kernel text that it came from. Its `fragment` is empty: see below.
  Operation operation{};
  /// The register that takes `Operation::result`: of a try, a word load, a query.
  std::uint32_t result = kNone;
  /// The warp's fragment that it fills, stores, waits for or reads, and the registers it has.
  std::uint32_t fragment = kNone;
  std::uint32_t fragment_registers = 0;
  /// Of a wgmma with a sparse A: the fragment, of one register, that has its metadata.
  std::uint32_t metadata = kNone;

  /// Of a jump: to instruction `target` of its warp (the number of instructions is its end), where
  /// register `tested` is `value`, or is not if `negated`; always where `tested` is kNone.
  std::uint32_t tested = kNone;
  std::uint32_t value = 0;
  bool negated = false;
  std::uint32_t target = 0;
};

/// A word of a buffer that does not begin as 0.
struct InitialWord {
  std::uint32_t tensor = 0;  // index into Workload::tensors
  std::uint64_t offset = 0;  // in bytes
  std::uint32_t value = 0;
};

/// Buffers lie at the addresses that `buffer_address` gives.
struct Program : Launch {
  std::string name;
  std::vector<InitialWord> words;
  /// By the warp's number in the grid.
  std::vector<std::vector<Instruction>> warps;
  /// What the tensors' names point to, where nothing else keeps it. Copies of a program share it.
  std::shared_ptr<std::deque<std::string>> strings;
  /// Names of `Workload::maps`, as far as they have any.
  std::vector<std::string> map_names;

  /// Where tensor `index` of the workload lies: as `GlobalMemory::add` places them in turn.
  std::uint64_t buffer_address(std::size_t index) const;
  /// The same text, as long as this program or a copy lives.
  const char* keep(std::string text);
};

/// Throws ConfigError, with the site of the line, for what no machine could take: sizes beyond what
/// this simulator holds, jumps to nowhere, operations without what they work on. What a kernel can
/// do wrong is not refused: the detectors say it.
void validate(const Program& program);

/// What is wrong with a tensor map of the launch; null: nothing.
const char* fault_of(const TensorMapSpec& spec, const Workload& launch);

}  // namespace warptwin::sim
