#include <algorithm>
#include <bit>

#include "sim/ptx/text/parser.hpp"

namespace warptwin::ptx {

namespace {

constexpr std::uint32_t kAlignmentMax = 1U << 20;
constexpr std::size_t kDimensionsMax = 8;

std::uint32_t read_alignment(Reader& reader) {
  const Position position = reader.peek().position;
  const std::uint32_t alignment = reader.count("an alignment", kAlignmentMax);
  if (!std::has_single_bit(alignment)) {
    Reader::refuse(
        position,
        "expected an alignment that is a power of two, found " + std::to_string(alignment));
  }
  return alignment;
}

std::uint8_t vector_named(std::string_view word) {
  return word == "v2" ? 2 : word == "v4" ? 4 : word == "v8" ? 8 : 0;
}

Type declared_type(Reader& reader) {
  const Token at = reader.peek();
  const auto type = type_named(reader.dot_word("a type"));
  if (!type) {
    Reader::fail(at, "a type");
  }
  return *type;
}

std::uint64_t float_bits(const Token& token, bool negative, Type type, Position position) {
  if (type == Type::kF64) {
    const double value = token.kind == Token::Kind::kFloat64
                             ? std::bit_cast<double>(token.number)
                             : std::bit_cast<float>(static_cast<std::uint32_t>(token.number));
    return std::bit_cast<std::uint64_t>(negative ? -value : value);
  }
  if (type == Type::kF32) {
    const float value = token.kind == Token::Kind::kFloat32
                            ? std::bit_cast<float>(static_cast<std::uint32_t>(token.number))
                            : static_cast<float>(std::bit_cast<double>(token.number));
    return std::bit_cast<std::uint32_t>(negative ? -value : value);
  }
  Reader::refuse(
      position,
      "a floating-point value initialises .f32 or .f64, not ." + std::string{name_of(type)});
}

}  // namespace

std::uint64_t Variable::bytes() const {
  std::uint64_t bytes = std::uint64_t{bytes_of(type)} * vector;
  for (const std::uint64_t extent : extents) {
    bytes *= extent;
  }
  return bytes;
}

std::uint32_t Variable::aligned_to() const {
  return alignment != 0 ? alignment : bytes_of(type) * vector;
}

void Parser::check_size(const Variable& variable) const {
  std::uint64_t bytes = std::uint64_t{bytes_of(variable.type)} * variable.vector;
  for (const std::uint64_t extent : variable.extents) {
    if (extent > reader_.limits.variable_bytes ||
        bytes > reader_.limits.variable_bytes / std::max<std::uint64_t>(extent, 1)) {
      Reader::refuse(variable.position,
                     "variable " + quoted(variable.name) + " has more than " +
                         std::to_string(reader_.limits.variable_bytes) + " bytes");
    }
    bytes *= extent;
  }
}

void Parser::declarator(Variable& variable) {
  variable.position = reader_.peek().position;
  variable.name = reader_.name("the name of a variable");
  while (reader_.take_if("[")) {
    std::uint64_t extent = 0;
    if (!reader_.peek().is("]")) {
      extent = reader_.integer("an extent");
    }
    variable.extents.push_back(extent);
    if (variable.extents.size() > kDimensionsMax) {
      Reader::refuse(variable.position, "an array has more than 8 dimensions");
    }
    reader_.expect("]");
  }
}

// Behind the space: [.align N] [.attribute(...)] [.v2] .type name[extents] [= initialiser].
Variable Parser::declaration(Space space, const Linkage& linkage) {
  Variable variable;
  variable.space = space;
  variable.linkage = linkage;
  for (;;) {
    if (reader_.take_if_dot("align")) {
      variable.alignment = read_alignment(reader_);
    } else if (reader_.take_if_dot("attribute")) {
      reader_.expect("(");
      while (!reader_.take_if(")")) {
        if (reader_.at_end()) {
          reader_.fail("')'");
        }
        reader_.take();
      }
    } else if (const std::uint8_t vector = reader_.peek().kind == Token::Kind::kDot
                                               ? vector_named(reader_.peek().text)
                                               : 0) {
      variable.vector = vector;
      reader_.take();
    } else {
      break;
    }
  }
  variable.type = declared_type(reader_);
  declarator(variable);
  if (reader_.take_if("=")) {
    initialiser(variable);
  }
  check_size(variable);
  return variable;
}

Variable Parser::parameter() {
  Variable variable;
  if (!reader_.take_if_dot("param")) {
    reader_.fail("'.param'");
  }
  variable.space = Space::kParam;
  if (reader_.take_if_dot("align")) {
    variable.alignment = read_alignment(reader_);
  }
  variable.type = declared_type(reader_);
  if (reader_.take_if_dot("ptr")) {
    variable.is_pointer = true;
    if (reader_.peek().kind == Token::Kind::kDot) {
      if (const auto pointed = variable_space(reader_.peek().text)) {
        variable.pointer_space = *pointed;
        reader_.take();
      }
    }
    if (reader_.take_if_dot("align")) {
      variable.pointer_alignment = read_alignment(reader_);
    }
  }
  declarator(variable);
  check_size(variable);
  return variable;
}

// "(" parameters ")", which may be empty.
std::vector<Variable> Parser::parameter_list() {
  std::vector<Variable> parameters;
  reader_.expect("(");
  if (reader_.take_if(")")) {
    return parameters;
  }
  do {
    parameters.push_back(parameter());
  } while (reader_.take_if(","));
  reader_.expect(")");
  return parameters;
}

InitialValue Parser::initial_value(Type type) {
  InitialValue value;
  const Position position = reader_.peek().position;
  const auto symbol = [&] {
    value.generic = reader_.peek().is_name("generic");
    value.symbol = reader_.name("a value or the name of a variable or function");
    if (value.generic && reader_.take_if("(")) {
      value.symbol = reader_.name("the name of a variable");
      reader_.expect(")");
    }
    if (reader_.peek().is("+") || reader_.peek().is("-")) {
      value.bits = reader_.integer("a number");
    }
  };
  if (reader_.peek().kind == Token::Kind::kName && !reader_.peek().is_name("WARP_SZ")) {
    symbol();
    return value;
  }
  const bool negative = reader_.peek().is("-");
  const Token token = negative ? reader_.peek_behind() : reader_.peek();
  if (token.kind == Token::Kind::kFloat32 || token.kind == Token::Kind::kFloat64) {
    reader_.take_if("-");
    reader_.take();
    value.bits = float_bits(token, negative, type, position);
    return value;
  }
  value.bits = reader_.integer("a value or the name of a variable or function");
  if (reader_.take_if("(")) {
    value.mask = value.bits;
    value.bits = 0;
    symbol();
    reader_.expect(")");
  } else if (type == Type::kF32 || type == Type::kF64) {
    const auto number = static_cast<double>(static_cast<std::int64_t>(value.bits));
    value.bits = type == Type::kF64 ? std::bit_cast<std::uint64_t>(number)
                                    : std::bit_cast<std::uint32_t>(static_cast<float>(number));
  }
  return value;
}

// Behind '{', for the elements from `first` on: rows of what the dimensions behind this one hold.
void Parser::initial_list(Variable& variable,
                          std::size_t dimension,
                          std::uint64_t first,
                          std::uint32_t depth) {
  reader_.check_depth(depth);
  std::uint64_t step = variable.vector;
  for (std::size_t next = dimension + 1; next < variable.extents.size(); ++next) {
    step *= variable.extents[next];
  }
  std::uint64_t at = first;
  std::uint64_t items = 0;
  if (reader_.take_if("}")) {
    return;
  }
  do {
    if (reader_.take_if("{")) {
      initial_list(variable, dimension + 1, at, depth + 1);
      at += step;
    } else {
      variable.initial.push_back(initial_value(variable.type));
      variable.initial.back().element = at++;
    }
    ++items;
  } while (reader_.take_if(","));
  reader_.expect("}");
  if (dimension == 0 && !variable.extents.empty() && variable.extents[0] == 0) {
    variable.extents[0] = items;
  }
}

void Parser::initialiser(Variable& variable) {
  check_size(variable);
  const Position position = reader_.peek().position;
  if (reader_.take_if("{")) {
    initial_list(variable, 0, 0, 1);
  } else {
    variable.initial.push_back(initial_value(variable.type));
  }
  std::uint64_t elements = variable.vector;
  for (const std::uint64_t extent : variable.extents) {
    elements *= extent;
  }
  for (const InitialValue& value : variable.initial) {
    if (value.element >= elements) {
      Reader::refuse(position,
                     "variable " + quoted(variable.name) + " has " + std::to_string(elements) +
                         " elements, and more initial values");
    }
  }
}

}  // namespace warptwin::ptx
