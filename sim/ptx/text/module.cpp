#include "sim/ptx/text/module.hpp"

#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

#include "sim/ptx/text/parser.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint64_t kThreadsMax = 1024;
constexpr std::uint64_t kCountMax = ~std::uint32_t{0};
constexpr int kInlinedMax = 32;

std::string listed(const std::string& file, const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += (text.empty() ? "" : "\n") + file + ":" + std::to_string(problem.position.line) + ":" +
            std::to_string(problem.position.column) + ": " + problem.text;
  }
  return text;
}

}  // namespace

SyntaxError::SyntaxError(const std::string& file, std::vector<Problem> found)
    : ConfigError{listed(file, found)}, problems_{std::move(found)} {}

std::optional<Space> variable_space(std::string_view word) {
  if (word == "global") {
    return Space::kGlobal;
  }
  if (word == "shared") {
    return Space::kShared;
  }
  if (word == "const") {
    return Space::kConst;
  }
  if (word == "local") {
    return Space::kLocal;
  }
  if (word == "param") {
    return Space::kParam;
  }
  return std::nullopt;
}

void Parser::note(const Problem& problem) {
  problems_.push_back(problem);
  if (problems_.size() >= reader_.limits.problems) {
    throw TooManyProblems{};
  }
}

std::vector<Problem> Parser::run() {
  try {
    reader_.start();
    version();
  } catch (const Problem& problem) {
    // Without .version it is no PTX, and everything behind it would be an error too.
    problems_.push_back(problem);
    return std::move(problems_);
  }
  try {
    while (!reader_.at_end()) {
      try {
        top_level();
      } catch (const Problem& problem) {
        note(problem);
        reader_.skip_to_top_level();
      }
    }
  } catch (const TooManyProblems&) {
    problems_.back().text += "; further problems are not listed";
  }
  return std::move(problems_);
}

void Parser::version() {
  const Token first = reader_.peek();
  if (!reader_.take_if_dot("version")) {
    Reader::fail(first, "'.version', with which every PTX module begins");
  }
  const Token number = reader_.take();
  const std::string_view text = number.text;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  const char* end = text.data() + text.size();
  const auto [dot, bad_major] = std::from_chars(text.data(), end, major);
  if (number.kind != Token::Kind::kFloat64 || bad_major != std::errc{} || dot == end ||
      std::from_chars(dot + 1, end, minor).ptr != end || major > 99 || minor > 9) {
    Reader::fail(number, "a version as 9.0");
  }
  module_.version = major * 10 + minor;
}

Linkage Parser::linkage() {
  Linkage linkage;
  for (;;) {
    if (reader_.take_if_dot("extern")) {
      linkage.is_extern = true;
    } else if (reader_.take_if_dot("visible")) {
      linkage.is_visible = true;
    } else if (reader_.take_if_dot("weak")) {
      linkage.is_weak = true;
    } else if (reader_.take_if_dot("common")) {
      linkage.is_common = true;
    } else {
      return linkage;
    }
  }
}

void Parser::top_level() {
  const Linkage linked = linkage();
  const Token at = reader_.peek();
  if (reader_.take_if_dot("entry")) {
    function(linked, true);
  } else if (reader_.take_if_dot("func")) {
    function(linked, false);
  } else if (const auto space =
                 at.kind == Token::Kind::kDot ? variable_space(at.text) : std::nullopt) {
    reader_.take();
    module_variables(*space, linked);
  } else {
    top_level_directive();
  }
}

void Parser::top_level_directive() {
  if (reader_.take_if_dot("target")) {
    do {
      module_.targets.push_back(reader_.name("a target as sm_100a"));
    } while (reader_.take_if(","));
  } else if (reader_.take_if_dot("address_size")) {
    const Token at = reader_.peek();
    module_.address_bits = reader_.count("32 or 64", 64);
    if (module_.address_bits != 64 && module_.address_bits != 32) {
      Reader::fail(at, "32 or 64");
    }
  } else if (reader_.take_if_dot("file")) {
    file_directive();
  } else if (reader_.take_if_dot("section")) {
    section();
  } else if (reader_.take_if_dot("pragma")) {
    module_.pragmas.push_back(reader_.take().text);
    reader_.expect(";");
  } else if (!reader_.take_if(";")) {
    reader_.fail("a directive as '.entry', '.func', '.global' or '.file'");
  }
}

// .file N "name" [, timestamp, bytes]
void Parser::file_directive() {
  const std::uint32_t number = reader_.count("the number of a file", kCountMax);
  const Token name = reader_.take();
  if (name.kind != Token::Kind::kString) {
    Reader::fail(name, "the name of a file in quotes");
  }
  module_.files[number] = name.text;
  while (reader_.take_if(",")) {
    reader_.count("a time or a size", ~std::uint64_t{0});
  }
}

// Debug data says nothing about what a kernel does.
void Parser::section() {
  reader_.dot_word("the name of a section");
  while (reader_.peek().kind == Token::Kind::kDot) {
    reader_.take();
  }
  reader_.expect("{");
  reader_.skip_braces();
}

void Parser::module_variables(Space space, const Linkage& linked) {
  do {
    Variable variable = declaration(space, linked);
    const auto [known, added] = variables_.try_emplace(variable.name, variable.position);
    const bool again = linked.is_extern || linked.is_weak || linked.is_common;
    if (functions_.contains(variable.name) || (!added && !again)) {
      note({variable.position,
            quoted(variable.name) + " is declared twice" +
                (added ? "" : ", first in line " + std::to_string(known->second.line))});
    }
    module_.variables.push_back(std::move(variable));
  } while (reader_.take_if(","));
  reader_.expect(";");
}

void Parser::extents(std::uint32_t (&into)[3], std::uint64_t most) {
  std::size_t index = 0;
  do {
    if (index == 3) {
      reader_.fail("at most three extents");
    }
    into[index++] = reader_.u32("an extent", 1, most);
  } while (reader_.take_if(","));
  for (; index < 3; ++index) {
    into[index] = 1;
  }
}

bool Parser::directive(Function& function) {
  Directives& set = function.directives;
  if (reader_.take_if_dot("reqntid")) {
    extents(set.required_threads, kThreadsMax);
  } else if (reader_.take_if_dot("maxntid")) {
    extents(set.maximal_threads, kThreadsMax);
  } else if (reader_.take_if_dot("reqnctapercluster")) {
    extents(set.cluster, kCountMax);
  } else if (reader_.take_if_dot("minnctapersm")) {
    set.ctas_per_sm_min = reader_.u32("a number of CTAs", 0, kCountMax);
  } else if (reader_.take_if_dot("maxnctapersm")) {
    static_cast<void>(reader_.u32("a number of CTAs", 0, kCountMax));  // for ptxas alone
  } else if (reader_.take_if_dot("maxclusterrank")) {
    set.cluster_rank_max = reader_.u32("a number of CTAs", 0, kCountMax);
  } else if (reader_.take_if_dot("maxnreg")) {
    set.registers_max = reader_.u32("a number of registers", 1, kCountMax);
  } else if (reader_.take_if_dot("explicitcluster")) {
    set.explicit_cluster = true;
  } else if (reader_.take_if_dot("blocksareclusters")) {
    set.blocks_are_clusters = true;
  } else if (reader_.take_if_dot("noreturn")) {
    function.prototype.no_return = true;
  } else if (reader_.take_if_dot("abi_preserve") || reader_.take_if_dot("abi_preserve_control")) {
    reader_.count("a number of registers", kCountMax);
  } else if (reader_.take_if_dot("pragma")) {
    set.pragmas.push_back(reader_.take().text);
    reader_.expect(";");
  } else {
    return false;
  }
  return true;
}

void Parser::function(const Linkage& linked, bool is_entry) {
  Function made;
  made.linkage = linked;
  made.is_entry = is_entry;
  while (directive(made)) {
  }
  if (!is_entry && reader_.peek().is("(")) {
    made.prototype.returns = parameter_list();
  }
  made.position = reader_.peek().position;
  made.name = reader_.name("the name of a function");
  if (reader_.peek().is("(")) {
    made.prototype.parameters = parameter_list();
  }
  while (directive(made)) {
  }
  const Position position = made.position;
  if (!reader_.take_if(";")) {
    if (!reader_.peek().is("{")) {
      reader_.fail("'{', ';' or a directive as '.reqntid'");
    }
    body(made);
  }
  add_function(std::move(made), position);
}

void Parser::add_function(Function&& made, Position position) {
  const auto [known, added] =
      functions_.try_emplace(made.name, static_cast<std::uint32_t>(module_.functions.size()));
  if (variables_.contains(made.name)) {
    note({position, quoted(made.name) + " is declared twice, as a variable and as a function"});
  }
  if (added) {
    module_.functions.push_back(std::move(made));
    return;
  }
  Function& before = module_.functions[known->second];
  if (before.has_body && made.has_body) {
    note({position,
          "function " + quoted(made.name) + " has two bodies, the first in line " +
              std::to_string(before.position.line)});
  } else if (made.has_body) {
    made.prototype.no_return = made.prototype.no_return || before.prototype.no_return;
    before = std::move(made);
  }
}

Module parse_module(std::string text, std::string file, const Limits& limits) {
  if (text.size() > limits.text_bytes) {
    throw ConfigError(file + ": has " + std::to_string(text.size()) +
                      " bytes; a module of at most " + std::to_string(limits.text_bytes) +
                      " is read");
  }
  Module module;
  module.file = std::move(file);
  module.text = std::make_shared<const std::string>(std::move(text));
  std::vector<Problem> problems = Parser{module, limits}.run();
  if (!problems.empty()) {
    throw SyntaxError{module.file, std::move(problems)};
  }
  return module;
}

Module read_module(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    throw ConfigError("cannot read '" + path + "'; give a file of PTX");
  }
  return parse_module(std::move(text).str(), path);
}

std::string source_of(const Module& module, std::uint32_t location) {
  std::string text;
  for (int depth = 0; location != kNoIndex && depth < kInlinedMax; ++depth) {
    const Location& place = module.locations[location];
    const auto file = module.files.find(place.file);
    text += text.empty() ? "" : ", inlined at ";
    text += file == module.files.end() ? "file " + std::to_string(place.file)
                                       : std::string{file->second};
    text += ":" + std::to_string(place.line);
    location = place.inlined_at;
  }
  return text;
}

}  // namespace warptwin::ptx
