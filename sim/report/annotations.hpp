/// A judgement as workflow commands of GitHub: "::error file=...,line=...::message".

#pragma once

#include <string>

#include "sim/report/judged.hpp"

namespace warptwin::sim {

/// One line for each finding that is not known: an error where it fails, else a warning. One for
/// each scenario that fails without such a finding. Files are named from the folder `root`.
std::string annotations_of(const Judgement& judgement, const std::string& root);

}  // namespace warptwin::sim
