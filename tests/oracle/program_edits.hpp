/// Changes to programs that may break them, and programs without a plan.

#pragma once

#include <string>

#include "sim/program/program.hpp"
#include "tests/oracle/random_program.hpp"

namespace warptwin::sim {

/// The place that an operation is at, but for one in global memory, and how much it says: arrivals,
/// threads, columns, groups, a word. Null where it has none.
std::uint32_t* address_in(Operation& op);
std::uint32_t* count_in(Operation& op);

/// Changes one operation, or where it stands, and says how. `lanes`: mostly who in a warp acts.
std::string edit(Program& program, Dice& dice, bool lanes = false);

/// Takes out instruction `at` of warp `warp`; jumps go where they went.
void drop_instruction(Program& program, std::size_t warp, std::size_t at);

/// Puts an instruction in front of number `at`; jumps to what stood there or later go one further.
void insert_instruction(Program& program,
                        std::size_t warp,
                        std::size_t at,
                        const Instruction& instruction);

/// Whether a warp can jump back to where it came from without an operation in between.
bool spins(const Program& program);

/// A few operations of any kind for each warp. Barriers are mostly initialised.
Program unplanned_program(Dice& dice, const std::string& name);
/// Lanes of one or two warps, some together, that store, load, copy and hand over one word.
Program lanes_apart_program(Dice& dice, const std::string& name);
/// Lanes of a warp that initialise mbarriers of two CTAs late, fence and hand over.
Program inits_apart_program(Dice& dice, const std::string& name);

}  // namespace warptwin::sim
