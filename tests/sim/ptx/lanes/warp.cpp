#include "tests/sim/ptx/lanes/warp.hpp"

#include <algorithm>
#include <stdexcept>

namespace warptwin::ptx {

namespace {

constexpr std::uint64_t kStepsMax = 1'000'000;
constexpr std::uint64_t kFunctions = 0x10000000;

}  // namespace

TestWarp::TestWarp(const std::string& text, const std::string& kernel)
    : program_{parse_module(".version 9.0\n.target sm_100a\n.address_size 64\n" + text, "t.ptx")},
      first_{Strand::begin(program_.kernel(kernel), 0)},
      kernel_{program_.kernel(kernel)} {}

Lanes TestWarp::special(SpecialRegister special) {
  Lanes lanes;
  const std::string_view name = name_of(special);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (name == "%laneid" || name == "%tid.x") {
      lanes.value[lane] = lane;
    } else if (name == "%ntid.x") {
      lanes.value[lane] = kLanes;
    }
  }
  return lanes;
}

std::uint64_t TestWarp::address_of(const VariableUse& use) {
  const auto [known, added] = addresses_.try_emplace(use.variable, next_address_);
  if (added) {
    next_address_ += 0x1000;
    const auto parameter = parameters.find(std::string{use.variable->name});
    for (std::uint64_t byte = 0; parameter != parameters.end() && byte < 8; ++byte) {
      memory[known->second + byte] = static_cast<std::uint8_t>(parameter->second >> (byte * 8));
    }
  }
  return known->second;
}

std::uint64_t TestWarp::address_of(const Function& function) {
  return kFunctions + static_cast<std::uint64_t>(&function - program_.module().functions.data());
}

const Function* TestWarp::function_at(std::uint64_t address) {
  const auto& functions = program_.module().functions;
  return address >= kFunctions && address - kFunctions < functions.size()
             ? &functions[address - kFunctions]
             : nullptr;
}

Lanes& TestWarp::reg(const std::string& name, std::size_t half) {
  const auto& registers = kernel_.code.registers;
  for (std::size_t number = 0; number < registers.size(); ++number) {
    if (registers[number].name == name) {
      return first_.frame->slots[kernel_.slots[number] + half];
    }
  }
  throw std::out_of_range("no register " + name);
}

std::uint32_t TestWarp::word(std::uint64_t address) const {
  std::uint32_t word = 0;
  for (std::uint32_t byte = 0; byte < 4; ++byte) {
    word |= std::uint32_t{memory.at(address + byte)} << (byte * 8);
  }
  return word;
}

// Loads and stores of up to 64 bits an element; anything else is kept for the test to look at.
void TestWarp::serve(Strand& strand, const Stop& stop) {
  const Op& op = strand.frame->routine->code.ops[stop.op];
  const bool loads = op.is("ld");
  if (!loads && !op.is("st")) {
    stops.push_back(stop);
    strand.complete(stop);
    return;
  }
  const Lanes& address = stop.operands[loads ? 1 : 0].values[0];
  const OperandValue& data = stop.operands[loads ? 0 : 1];
  const std::uint32_t size = bytes_of(op.source->modifiers.type());
  const std::size_t parts =
      loads ? std::max<std::size_t>(data.argument->count, 1) : data.values.size();
  for (std::size_t part = 0; part < parts; ++part) {
    Lanes value;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      for (std::uint32_t byte = 0; byte < size && (stop.mask >> lane & 1U) != 0; ++byte) {
        const std::uint64_t at = address.value[lane] + part * size + byte;
        if (!loads) {
          memory[at] = static_cast<std::uint8_t>(data.values[part].value[lane] >> (byte * 8));
        } else {
          value.value[lane] |= std::uint64_t{memory[at]} << (byte * 8);
        }
      }
    }
    if (loads) {
      strand.write(stop, 0, part, value);
    }
  }
  strand.complete(stop);
}

void TestWarp::run(Mask lanes) {
  first_.mask = lanes;
  first_.pc = 0;
  std::vector<Strand> ready{first_};
  std::vector<Strand> waiting;  // at a join
  std::uint64_t steps = 0;
  while (!ready.empty() || !waiting.empty()) {
    if (ready.empty()) {  // those inside of most branches first
      const auto next = std::max_element(waiting.begin(), waiting.end(), [](auto& a, auto& b) {
        return a.joins.size() < b.joins.size();
      });
      ready.push_back(*next);
      waiting.erase(next);
    }
    Strand strand = ready.back();
    ready.pop_back();
    Stop stop = strand.run(program_, *this, kStepsMax);
    if (++steps > kStepsMax) {
      throw std::runtime_error("a warp does not end");
    }
    if (stop.kind == Stop::Kind::kRequest) {
      serve(strand, stop);
      ready.push_back(strand);
    } else if (stop.kind == Stop::Kind::kParted) {
      ready.push_back(strand);
      ready.insert(ready.end(), stop.others.begin(), stop.others.end());
    } else if (stop.kind == Stop::Kind::kJoin) {
      bool merged = false;
      for (Strand& other : waiting) {
        merged = merged || other.merge(strand);
      }
      merges += merged ? 1 : 0;
      if (!merged) {
        waiting.push_back(strand);
      }
    } else {
      stops.push_back(stop);
      if (stop.kind == Stop::Kind::kCall) {
        strand.complete(stop);
        ready.push_back(strand);
      }
    }
  }
}

}  // namespace warptwin::ptx
