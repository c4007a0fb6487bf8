/// The chip files that are built in, so that an installed command finds them.

#pragma once

#include <vector>

namespace warptwin::sim {

struct ShippedChip {
  const char* name;
  const char* text;
};

const std::vector<ShippedChip>& shipped_chip_texts();

}  // namespace warptwin::sim
