/// What the two micro-programs of a diagnostic do, warp by warp, from a run of each.

#pragma once

#include <string>
#include <vector>

#include "sim/micro/programs.hpp"

namespace warptwin::sim {

struct ListedOperation {
  std::string text;
  bool found = false;    // here the diagnostic is reported
  bool differs = false;  // the other program does not do this here
};

struct WarpListing {
  std::string warp;  // "warp 0", "cta 1 warp 0"
  std::vector<ListedOperation> operations;
};

struct MicroListing {
  std::vector<WarpListing> wrong;
  std::vector<WarpListing> right;
};

/// The program for a diagnostic; null where there is none.
const MicroProgram* find_micro(std::string_view id);

MicroListing list_micro(const MicroProgram& micro);

}  // namespace warptwin::sim
