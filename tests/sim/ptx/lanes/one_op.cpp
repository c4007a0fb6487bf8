#include "tests/sim/ptx/lanes/one_op.hpp"

#include "tests/sim/ptx/lanes/warp.hpp"

namespace warptwin::ptx {

std::vector<std::uint64_t> evaluate(const std::string& instruction,
                                    const std::vector<std::string>& types,
                                    const std::vector<Sources>& inputs,
                                    bool with_second) {
  std::string text = ".entry k() {\n.reg .pred second;\n";
  std::string operands;
  for (std::size_t index = 0; index < types.size(); ++index) {
    const std::string name = "x" + std::to_string(index);
    text += ".reg ." + types[index] + " " + name + ";\n";
    operands += (index == 0 ? " " : ", ") + name + (index == 0 && with_second ? "|second" : "");
  }
  text += instruction + operands + "; ret; }\n";
  std::vector<std::uint64_t> results;
  for (std::size_t begin = 0; begin < inputs.size(); begin += kLanes) {
    const std::size_t count = std::min<std::size_t>(kLanes, inputs.size() - begin);
    TestWarp warp{text};
    for (std::size_t source = 1; source < types.size(); ++source) {
      Lanes& lanes = warp.reg("x" + std::to_string(source));
      lanes = Lanes{};
      for (std::size_t lane = 0; lane < count; ++lane) {
        lanes.value[lane] = inputs[begin + lane][source - 1];
      }
    }
    warp.run();
    for (std::size_t lane = 0; lane < count; ++lane) {
      if (warp.stops.size() != 1 || warp.reg("x0").poison[lane] != 0) {
        throw std::runtime_error(instruction + " does not execute");
      }
      const std::uint64_t second = with_second ? warp.reg("second").value[lane] << 63 : 0;
      results.push_back(warp.reg("x0").value[lane] | second);
    }
  }
  return results;
}

std::vector<Sources> combinations(const std::vector<std::uint64_t>& values, std::size_t count) {
  std::vector<Sources> inputs{Sources{}};
  for (std::size_t place = 0; place < count; ++place) {
    std::vector<Sources> longer;
    for (const Sources& begun : inputs) {
      for (const std::uint64_t value : values) {
        longer.push_back(begun);
        longer.back()[place] = value;
      }
    }
    inputs = std::move(longer);
  }
  return inputs;
}

}  // namespace warptwin::ptx
