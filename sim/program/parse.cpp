#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/trace/texts.hpp"

#include "sim/program/parser.hpp"
#include "sim/program/text.hpp"

namespace warptwin::sim {

namespace {

constexpr std::size_t kInstructionsMax = std::size_t{1} << 18;  // of a program
constexpr std::size_t kStatementsMax = std::size_t{1} << 20;    // that are unrolled
constexpr int kNestingMax = 16;

/// Labels of one pass through a block, and the jumps to them.
struct Labels {
  struct Jump {
    std::size_t instruction;
    const Token* name;
  };
  std::map<std::string_view, std::uint32_t> places;
  std::vector<Jump> jumps;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : reader_{text, file} {}

  Program run() {
    program_.name = "program";
    read_header(reader_, program_, names_);
    file_ = kept_text(reader_.file());
    reader_.skip_newlines();
    do {
      section();
      reader_.skip_newlines();
    } while (!reader_.at_end());
    return std::move(program_);
  }

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };

  // `3`, `0-3` or `*`.
  Range range(const char* what, std::uint32_t count) {
    if (reader_.take_if("*")) {
      return {0, count - 1};
    }
    const auto one = [&] {
      const Token& token = reader_.peek();
      const std::uint64_t number = reader_.bits(what);
      if (number >= count) {
        reader_.fail(token, std::string{what} + " below " + std::to_string(count));
      }
      return static_cast<std::uint32_t>(number);
    };
    const std::uint32_t first = one();
    if (!reader_.take_if("-")) {
      return {first, first};
    }
    const Token& token = reader_.peek();
    const std::uint32_t last = one();
    if (last < first) {
      reader_.fail(token, "the range's end");
    }
    return {first, last};
  }

  // `cluster 0 cta 1 warps 0-3:` and the lines behind it.
  void section() {
    const Workload& launch = program_.workload;
    const std::uint32_t warps = program_.warps_per_cta();
    Range clusters{0, launch.clusters - 1};
    Range ctas{0, launch.cluster_size - 1};
    if (reader_.take_if("cluster")) {
      clusters = range("a cluster", launch.clusters);
    }
    if (reader_.take_if("cta")) {
      ctas = range("a rank in the cluster", launch.cluster_size);
    }
    if (!reader_.take_if("warp") && !reader_.take_if("warps")) {
      reader_.fail("'warp'");
    }
    const Range of = range("a warp of the CTA", warps);
    reader_.expect(":");
    reader_.expect_line_end();
    const std::size_t begin = reader_.position();
    for (std::uint32_t cluster = clusters.first; cluster <= clusters.last; ++cluster) {
      for (std::uint32_t cta = ctas.first; cta <= ctas.last; ++cta) {
        for (std::uint32_t warp = of.first; warp <= of.last; ++warp) {
          reader_.go_to(begin);
          reader_.variables = {{"cluster", cluster}, {"cta", cta}, {"warp", warp}};
          warp_ = &program_.warps[(cluster * launch.cluster_size + cta) * warps + warp];
          lines();
        }
      }
    }
    reader_.variables.clear();
  }

  // Up to the next section or the end.
  void lines() {
    labels_.emplace_back();
    for (reader_.skip_newlines(); !reader_.at_end() && !begins_section(); reader_.skip_newlines()) {
      statement();
    }
    close_labels(nullptr);
  }

  bool begins_section() const {
    const Token& token = reader_.peek();
    return token.is("cluster") || token.is("cta") || token.is("warp") || token.is("warps");
  }

  void statement() {
    const Token& first = reader_.peek();
    if (++statements_ > kStatementsMax) {
      reader_.fail(first, "at most " + std::to_string(kStatementsMax) + " lines, unrolled");
    }
    if (reader_.take_if("repeat")) {
      repeat();
    } else if (first.is("@") || first.is("bra") || first.is("exit")) {
      jump();
    } else if (!label()) {
      operation();
    }
  }

  // `name:`, alone or in front of an operation.
  bool label() {
    const std::size_t begin = reader_.position();
    const Token& name = reader_.word("an operation, a label, repeat, bra, exit or @");
    if (!reader_.take_if(":")) {
      reader_.go_to(begin);
      return false;
    }
    const auto here = static_cast<std::uint32_t>(warp_->size());
    if (!labels_.back().places.emplace(name.text, here).second) {
      reader_.fail(name, "a label that is not taken");
    }
    return true;
  }

  // `repeat 4 i {`, lines, `}`: a block of its own for each i.
  void repeat() {
    const std::uint32_t count = reader_.u32("how often", kStatementsMax);
    std::string name = "i";
    if (reader_.peek().kind == Token::Kind::kWord) {
      const Token& token = reader_.take();
      name = std::string{token.text};
      if (reader_.variables.contains(name)) {
        reader_.fail(token, "a variable that is not taken");
      }
    } else if (reader_.variables.contains(name)) {
      reader_.fail("the name of a variable: %i is taken");
    }
    if (++nesting_ > kNestingMax) {
      reader_.fail("at most " + std::to_string(kNestingMax) + " blocks, one in the other");
    }
    reader_.expect("{");
    const std::size_t begin = reader_.position();
    const std::size_t instructions = warp_->size();
    for (std::uint32_t i = 0; i < std::max(count, 1U); ++i) {
      reader_.go_to(begin);
      reader_.variables[name] = i;
      block();
    }
    if (count == 0) {  // it was read for its errors
      total_ -= warp_->size() - instructions;
      warp_->resize(instructions);
      Labels& around = labels_.back();
      std::erase_if(around.jumps,
                    [&](const Labels::Jump& jump) { return jump.instruction >= instructions; });
    }
    reader_.variables.erase(name);
    --nesting_;
  }

  void block() {
    labels_.emplace_back();
    for (reader_.skip_newlines(); !reader_.take_if("}"); reader_.skip_newlines()) {
      if (reader_.at_end() || begins_section()) {
        reader_.fail("'}'");
      }
      statement();
    }
    // An empty block is a line too.
    if (++statements_ > kStatementsMax) {
      reader_.fail("at most " + std::to_string(kStatementsMax) + " lines, unrolled");
    }
    Labels* around = &labels_[labels_.size() - 2];
    close_labels(around);
  }

  // Jumps to labels of this block are settled; the others go to the block around.
  void close_labels(Labels* around) {
    const Labels mine = std::move(labels_.back());
    labels_.pop_back();
    for (const Labels::Jump& jump : mine.jumps) {
      const auto place = mine.places.find(jump.name->text);
      if (place != mine.places.end()) {
        (*warp_)[jump.instruction].target = place->second;
      } else if (around != nullptr) {
        around->jumps.push_back(jump);
      } else {
        reader_.fail(*jump.name, "a label of this warp");
      }
    }
  }

  // `bra L`, `exit`, `@r1 == 0 bra L`, `@r1 != 0 exit`.
  void jump() {
    const Token& first = reader_.peek();
    Instruction instruction;
    instruction.kind = Instruction::Kind::kJump;
    instruction.operation.site = {file_, first.line};
    if (reader_.take_if("@")) {
      instruction.tested = register_number();
      instruction.negated = reader_.take_if("!=");
      if (!instruction.negated) {
        reader_.expect("==");
      }
      instruction.value = reader_.u32("a value of 32 bits");
    }
    if (reader_.take_if("exit")) {
      instruction.target = Instruction::kNone;
    } else {
      reader_.expect("bra");
      const Token& name = reader_.word("a label");
      labels_.back().jumps.push_back({warp_->size(), &name});
    }
    reader_.expect_line_end();
    push(std::move(instruction));
  }

  std::uint32_t register_number() {
    const Token& token = reader_.word("a register, r0 to r15");
    for (std::uint32_t i = 0; i < kProgramRegisters; ++i) {
      if (token.text == "r" + std::to_string(i)) {
        return i;
      }
    }
    reader_.fail(token, "a register, r0 to r15");
  }

  void operation() {
    const std::uint32_t line = reader_.peek().line;
    Executing who;
    if (reader_.take_if("elect")) {
      who = {1, 0};
    } else if (reader_.take_if("lane")) {
      who = {1, static_cast<std::uint8_t>(reader_.u32("a lane", kWarpLanes - 1))};
    }
    Instruction instruction = read_operation(reader_, program_, names_, who);
    instruction.operation.site = {file_, line};
    if (!reader_.peek().is("}")) {
      reader_.expect_line_end();
    }
    push(std::move(instruction));
  }

  void push(Instruction instruction) {
    if (++total_ > kInstructionsMax) {
      reader_.fail("at most " + std::to_string(kInstructionsMax) + " operations of the program");
    }
    warp_->push_back(std::move(instruction));
  }

  Reader reader_;
  Program program_;
  Names names_;
  const char* file_ = "";
  std::vector<Instruction>* warp_ = nullptr;
  std::vector<Labels> labels_;
  std::size_t total_ = 0;
  std::size_t statements_ = 0;
  int nesting_ = 0;
};

}  // namespace

Program parse_program(std::string_view text, std::string_view file) {
  Program program = Parser{text, file}.run();
  for (std::vector<Instruction>& warp : program.warps) {
    for (Instruction& instruction : warp) {
      if (instruction.kind == Instruction::Kind::kJump &&
          instruction.target == Instruction::kNone) {
        instruction.target = static_cast<std::uint32_t>(warp.size());  // exit
      }
    }
  }
  validate(program);
  return program;
}

Program read_program(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    throw ConfigError("cannot read the program '" + path + "'");
  }
  return parse_program(text.str(), path);
}

}  // namespace warptwin::sim
