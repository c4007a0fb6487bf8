/// A program made ready for oracle V: memory split into cells at the boundaries of all accesses,
/// and for each instruction what it and what it starts touch.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/oracle/values.hpp"
#include "sim/oracle/values_footprint.hpp"
#include "sim/program/program.hpp"

namespace warptwin::sim::values {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// Numbers of cells: shared memory CTA by CTA, tensor memory CTA by CTA, global memory.
using Cells = std::vector<std::uint32_t>;

/// Where the value of a word that a copy writes comes from: a cell, or zeros (kNone).
struct WordMove {
  std::uint32_t to = 0;
  std::uint32_t from = kNone;
};

struct Columns {
  std::uint32_t cta = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// What one step touches: of a warp's operation, or of one agent that it starts.
struct Piece {
  std::vector<std::uint32_t> ctas;    // whose shared or tensor memory, or barrier, it is
  std::uint32_t barrier = kNone;      // that it acts on, or signals
  std::vector<std::uint32_t> guards;  // barriers on the bytes of its accesses
  Cells reads;
  Cells writes;
  std::vector<WordMove> moves;
  std::vector<Columns> columns;  // of tensor memory, that have to be allocated
};

struct Planned {
  const Instruction* instruction = nullptr;
  std::string misuse;  // what is wrong with it wherever it is executed; empty if nothing
  Piece own;           // of the warp's step
  std::vector<Piece> started;
  bool is_remote = false;   // an arrival on its way to another CTA
  std::uint32_t bytes = 0;  // of a copy
  std::uint32_t fragment = kNone;
  std::uint32_t counter = kNone;     // counts its executions, where a jump may repeat it
  std::uint32_t live_registers = 0;  // before it, one bit each
  std::uint64_t token = 0;           // names its writes

  const Operation& operation() const { return instruction->operation; }
  bool is_jump() const { return instruction->kind == Instruction::Kind::kJump; }
};

class Layouts;

struct Plan {
  std::shared_ptr<const Layouts> layouts;
  const Program* program = nullptr;
  ValuesOptions options;
  std::string unsupported;  // why V cannot judge it; empty if it can

  std::uint32_t ctas = 0;
  std::uint32_t cluster_size = 0;
  std::uint32_t clusters = 0;
  std::uint32_t resident = 0;
  std::uint32_t warps_per_cta = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t fragments = 0;
  std::uint32_t counters = 0;
  std::uint32_t registers = 0;  // of a warp: as far as jumps test them
  std::uint32_t named = 0;      // named barriers of a CTA
  bool has_requests = false;    // cluster launch control
  bool has_pairs = false;       // allocations or frees of two CTAs

  std::vector<std::uint32_t> barrier_offsets;  // in shared memory; the same in every CTA
  std::uint32_t shared_cells = 0;              // of a CTA
  std::uint32_t tensor_cells = 0;              // of a CTA
  std::uint32_t global_cells = 0;
  std::vector<bool> is_word;                 // by cell: whether its value matters
  std::vector<std::uint32_t> global_values;  // at the start
  std::vector<bool> global_known;            // whether they are said
  /// Of global memory, cells that the grid before this one may still write.
  Cells before;
  /// By barrier of `barrier_offsets`: the shared cells of CTA 0 that hold its bytes.
  std::vector<Cells> barrier_cells;
  /// By group of 32 columns: the cells of CTA 0's tensor memory that lie in it.
  std::vector<Cells> column_cells;
  std::vector<std::vector<Planned>> warps;

  std::uint32_t cells() const { return ctas * (shared_cells + tensor_cells) + global_cells; }
  std::uint32_t first_tensor(std::uint32_t cta) const {
    return ctas * shared_cells + cta * tensor_cells;
  }
  std::uint32_t first_global() const { return ctas * (shared_cells + tensor_cells); }
  std::uint32_t barriers() const {
    return ctas * static_cast<std::uint32_t>(barrier_offsets.size());
  }
  std::uint32_t cta_of(std::uint32_t warp) const { return warp / warps_per_cta; }
  std::uint32_t cluster_of(std::uint32_t cta) const { return cta / cluster_size; }
  /// The other CTA of its pair.
  std::uint32_t peer_of(std::uint32_t cta) const {
    const std::uint32_t rank = cta % cluster_size;
    return cta - rank + (rank ^ 1U);
  }
};

/// The program is referred to, and has to outlive the plan.
Plan make_plan(const Program& program, const ValuesOptions& options);

/// Why a program does not fit its own launch, or this oracle; empty if it does.
std::string size_problem(const Program& program);
/// Why an operation cannot be judged; empty if it can.
std::string unsupported(const Operation& op);
/// Columns that it allocates or frees.
std::uint32_t columns_of(const Operation& op);
/// Notes the registers that a jump may still test, before each instruction of a warp.
void find_live_registers(std::vector<Planned>& warp);
/// Gives a counter to each instruction between a jump back and its target: it may be executed
/// again. Looking again is not counted: a spin comes back to the state that it was in.
void find_repeated(std::vector<Planned>& warp, std::uint32_t& counters);

/// A good mixer of 64 bits.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

}  // namespace warptwin::sim::values
