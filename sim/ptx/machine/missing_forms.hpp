/// Instructions that are refused whatever their operands are: their mnemonic says so.

#pragma once

#include "sim/ptx/code/code.hpp"

namespace warptwin::ptx {

/// What is not there; null where operands and the run decide.
const char* missing_form(const Op& op);

/// The same of `mma` and `wgmma.mma_async`.
const char* missing_mma(const Modifiers& modifiers);
const char* missing_wgmma(const Modifiers& modifiers);

}  // namespace warptwin::ptx
