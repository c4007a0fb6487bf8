/// What a machine has of what warptwin can use, and what each missing thing would give.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warptwin::sim {

/// How a machine is asked.
struct Probe {
  /// The output of a program, if it is there and exits with 0.
  std::function<std::optional<std::string>(const std::string& command)> run;
  /// The text of a header, from where compilers search.
  std::function<std::optional<std::string>(const std::string& path)> header;
};

/// This machine.
Probe this_machine();

struct Examined {
  std::string what;     // "cmake"
  bool there = false;   // and of a version that will do
  std::string version;  // empty where it is not there
  std::string gives;    // what it is for
  std::string needed;   // what to get, where it is not there
};

/// `hw_command` is where this command's program for a GPU would be.
std::vector<Examined> examine(const Probe& probe, const std::string& hw_command);

struct SelfTest {
  std::size_t programs = 0;
  std::vector<std::string> wrong;  // what did not come out as it must
};

/// Runs the smallest programs of every diagnostic: the wrong ones must show it, the right ones not.
SelfTest test_self();

}  // namespace warptwin::sim
