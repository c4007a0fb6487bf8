/// A judgement as JUnit's XML: a suite a command, a case a scenario.

#pragma once

#include <string>

#include "sim/report/judged.hpp"

namespace warptwin::sim {

/// A case fails where the command does: with a finding's text, or because nothing was decided. An
/// internal error, and an end of the command before its time, are errors. Warnings that fail
/// nothing, and known findings, stand in `system-out`.
std::string junit_of(const Judgement& judgement);

}  // namespace warptwin::sim
