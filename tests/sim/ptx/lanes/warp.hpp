// A warp that executes by itself: strands in turn, memory as bytes, for the tests of `lanes`.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/ptx/lanes/strand.hpp"

namespace warptwin::ptx {

class TestWarp : public Surroundings {
 public:
  explicit TestWarp(const std::string& text, const std::string& kernel = "k");

  Lanes special(SpecialRegister special) override;
  std::uint64_t address_of(const VariableUse& use) override;
  std::uint64_t address_of(const Function& function) override;
  const Function* function_at(std::uint64_t address) override;

  /// Sets a register of the kernel before it begins, and reads it when it has ended.
  Lanes& reg(const std::string& name, std::size_t half = 0);
  /// Executes all strands to their end. `stops` then has what was no load or store.
  void run(Mask lanes = ~Mask{0});
  std::uint32_t word(std::uint64_t address) const;

  std::map<std::uint64_t, std::uint8_t> memory;  // all spaces in one
  std::map<std::string, std::uint64_t> parameters;
  std::vector<Stop> stops;
  std::uint64_t merges = 0;

 private:
  void serve(Strand& strand, const Stop& stop);

  Program program_;
  Strand first_;
  const Routine& kernel_;
  std::map<const Variable*, std::uint64_t> addresses_;
  std::uint64_t next_address_ = 0x1000;
};

}  // namespace warptwin::ptx
