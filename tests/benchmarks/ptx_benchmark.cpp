// How long a module takes to load: ptx_benchmark [FILE]; without a file one of 10,000 instructions.
// Prints the best of five, of CPU time; then how many scalar instructions of a warp a second of it,
// and as a ratio the same loop of one thread, which the compiler has made machine code of.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "sim/ptx/lanes/strand.hpp"

namespace {

using namespace warptwin;

std::string drawn_module() {
  std::string text =
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      ".reg .b32 %r<20001>;\n.reg .pred %p<2501>;\n.reg .b64 %rd<5>;\n"
      "ld.param.u64 %rd1, [p];\nmov.u32 %r0, %tid.x;\n";
  for (int block = 0; block < 2500; ++block) {
    const std::string next = std::to_string(block * 3 + 1);
    const std::string last = std::to_string(block * 3);
    text += "$L" + std::to_string(block) + ":\n.loc 1 " + next + " 3\n";
    text += "add.s32 %r" + next + ", %r" + last + ", 7;\n";
    text += "ld.global.v2.b32 {%r" + std::to_string(block * 3 + 2) + ", %r" +
            std::to_string(block * 3 + 3) + "}, [%rd1+" + last + "];\n";
    text += "setp.lt.s32 %p" + std::to_string(block) + ", %r" + next + ", 100;\n";
    text += "@%p" + std::to_string(block) + " bra $L" + std::to_string(block) + ";\n";
  }
  return text + "ret;\n}\n";
}

/// Of a kernel that asks for nothing.
class Nothing : public ptx::Surroundings {
 public:
  ptx::Lanes special(ptx::SpecialRegister) override { return {}; }
  std::uint64_t address_of(const ptx::VariableUse&) override { return 0; }
  std::uint64_t address_of(const ptx::Function&) override { return 0; }
  const ptx::Function* function_at(std::uint64_t) override { return nullptr; }
};

double seconds_of_cpu(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

constexpr std::uint32_t kRounds = 400'000;
constexpr std::uint32_t kOps = 8;

// A loop of integers, floats, a comparison and a branch: instructions of a warp a second.
double time_lanes() {
  const ptx::Program program{ptx::parse_module(
      ".version 9.0\n.target sm_100a\n.entry k() {\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred "
      "p;\n"
      "mov.b32 %r1, 0; mov.b32 %r2, 7; mov.f32 %f1, 0f3F800000; setp.eq.s32 p, %r1, 0;\n"
      "L: add.s32 %r1, %r1, 1; mad.lo.s32 %r2, %r2, 5, %r1; xor.b32 %r3, %r2, %r1;\n"
      "shl.b32 %r4, %r3, 3; fma.rn.f32 %f1, %f1, 0f3F7FFFFF, 0f3F800000; selp.b32 %r5, %r3, %r4, "
      "p;\n"
      "setp.lt.s32 p, %r1, " +
          std::to_string(kRounds) + "; @p bra L; ret; }",
      "benchmark")};
  Nothing nothing;
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 3; ++round) {
    const std::clock_t begin = std::clock();
    ptx::Strand strand = ptx::Strand::begin(program.kernel("k"), ~ptx::Mask{0});
    const ptx::Stop stop = strand.run(program, nothing, std::uint64_t{kRounds} * (kOps + 1));
    best = std::min(best, seconds_of_cpu(begin));
    if (stop.kind != ptx::Stop::Kind::kLeft) {
      return 0;
    }
  }
  return kRounds * kOps / best;
}

// The same for the 32 threads of a warp, one after the other, as the compiler leaves it.
double time_native() {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 3; ++round) {
    const std::clock_t begin = std::clock();
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      std::uint32_t r2 = 7;
      std::uint32_t r5 = 0;
      float f1 = 1.0F;
      for (std::uint32_t r1 = 1; r1 <= kRounds; ++r1) {
        r2 = r2 * 5 + r1;
        const std::uint32_t r3 = r2 ^ r1;
        f1 = f1 * 0x1.fffffep-1F + 1.0F;
        r5 += (r1 & 1U) != 0 ? r3 : r3 << 3;
      }
      volatile float kept = f1 + static_cast<float>(r5);
      static_cast<void>(kept);
    }
    best = std::min(best, seconds_of_cpu(begin));
  }
  return kRounds * kOps / best;
}

}  // namespace

int main(int count, char** arguments) {
  std::string text = drawn_module();
  if (count > 1) {
    std::ostringstream read;
    if (!(read << std::ifstream{arguments[1], std::ios::binary}.rdbuf())) {
      std::fprintf(stderr, "cannot read '%s'\n", arguments[1]);
      return 2;
    }
    text = read.str();
  }
  double parse_ms = std::numeric_limits<double>::max();
  double decode_ms = parse_ms;
  std::size_t instructions = 0;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t begin = std::clock();
    const ptx::Module module = ptx::parse_module(text, "benchmark");
    parse_ms = std::min(parse_ms, 1e3 * seconds_of_cpu(begin));
    const std::clock_t parsed = std::clock();
    const std::vector<ptx::Code> codes = ptx::decode(module);
    instructions = 0;
    for (const ptx::Code& code : codes) {
      instructions += code.ops.size();
      ptx::flow_of(code);
    }
    decode_ms = std::min(decode_ms, 1e3 * seconds_of_cpu(parsed));
  }
  std::printf("%zu lines, %zu instructions: parsed in %.2f ms, decoded in %.2f ms\n",
              static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
              instructions,
              parse_ms,
              decode_ms);
  const double lanes = time_lanes();
  const double native = time_native();
  std::printf(
      "%.1f million instructions of a warp a second; the same in C++ %.1f million: %.2f of it\n",
      lanes / 1e6,
      native / 1e6,
      lanes / native);
  return 0;
}
