#include "sim/program/parser.hpp"

namespace warptwin::sim {

namespace {

constexpr int kDepthMax = 64;  // of parentheses

}  // namespace

bool Reader::take_if(std::string_view text) {
  if (!peek().is(text) || at_line_end()) {
    return false;
  }
  ++at_;
  return true;
}

void Reader::skip_newlines() {
  while (peek().kind == Token::Kind::kNewline) {
    ++at_;
  }
}

void Reader::expect(std::string_view mark) {
  if (!take_if(mark)) {
    fail("'" + std::string{mark} + "'");
  }
}

void Reader::expect_line_end() {
  if (!at_line_end()) {
    fail("the end of the line");
  }
}

const Token& Reader::word(std::string_view what) {
  if (peek().kind != Token::Kind::kWord) {
    fail(what);
  }
  return take();
}

std::int64_t Reader::number(std::string_view what, std::int64_t least, std::int64_t most) {
  const Token& first = peek();
  const std::int64_t value = sum(what, 0);
  if (value < least || value > most) {
    Token found = first;
    const std::string text = std::to_string(value);
    found.kind = Token::Kind::kWord;
    found.text = text;
    fail(found,
         std::string{what} + " from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::uint64_t Reader::bits(std::string_view what) {
  if (peek().kind != Token::Kind::kNumber) {
    fail(what);
  }
  return take().number;
}

std::int64_t Reader::sum(std::string_view what, int depth) {
  std::int64_t value = product(what, depth);
  for (;;) {
    const Token& sign = peek();
    if (!sign.is("+") && !sign.is("-")) {
      return value;
    }
    take();
    const std::int64_t next = product(what, depth);
    if (sign.is("+") ? __builtin_add_overflow(value, next, &value)
                     : __builtin_sub_overflow(value, next, &value)) {
      fail(sign, "a sum of 64 bits");
    }
  }
}

std::int64_t Reader::product(std::string_view what, int depth) {
  std::int64_t value = factor(what, depth);
  for (;;) {
    const Token& sign = peek();
    if (!sign.is("*") && !sign.is("/") && !sign.is("%")) {
      return value;
    }
    take();
    const Token& second = peek();
    const std::int64_t next = factor(what, depth);
    if (sign.is("*")) {
      if (__builtin_mul_overflow(value, next, &value)) {
        fail(sign, "a product of 64 bits");
      }
    } else if (next <= 0) {
      fail(second, "a divisor above 0");
    } else {
      value = sign.is("/") ? value / next : value % next;
    }
  }
}

std::int64_t Reader::factor(std::string_view what, int depth) {
  if (depth > kDepthMax) {
    fail("fewer parentheses");
  }
  if (take_if("-")) {
    std::int64_t value = factor(what, depth + 1);
    if (__builtin_sub_overflow(std::int64_t{0}, value, &value)) {
      fail("a number of 64 bits");
    }
    return value;
  }
  if (take_if("(")) {
    const std::int64_t value = sum(what, depth + 1);
    expect(")");
    return value;
  }
  if (take_if("%")) {
    const auto found = variables.find(peek().text);
    if (peek().kind != Token::Kind::kWord || found == variables.end()) {
      std::string known;
      for (const auto& [name, value] : variables) {
        known += (known.empty() ? "%" : ", %") + name;
      }
      fail(known.empty() ? "a number (there is no variable here)" : "one of " + known);
    }
    take();
    return found->second;
  }
  if (peek().kind != Token::Kind::kNumber) {
    fail(what);
  }
  const Token& token = take();
  if (token.number > static_cast<std::uint64_t>(INT64_MAX)) {
    fail(token, "a number of 63 bits");
  }
  return static_cast<std::int64_t>(token.number);
}

// --- Places -----------------------------------------------------------------------------------

namespace {

std::uint32_t read_offset(Reader& reader, std::uint32_t base) {
  if (!reader.peek().is("+") && !reader.peek().is("-")) {
    return base;
  }
  const Token& sign = reader.take();
  const std::int64_t offset = reader.number("an offset in bytes", 0, kSharedAddressMax);
  const std::int64_t at = sign.is("+") ? base + offset : base - offset;
  if (at < 0 || at > kSharedAddressMax) {
    reader.fail(sign, "a place in shared memory");
  }
  return static_cast<std::uint32_t>(at);
}

// Behind the name of a region: an index, an offset, a rank.
Place place_in_region(Reader& reader, const Region& region) {
  Place place;
  place.address = region.address;
  if (reader.take_if("[")) {
    place.address += reader.u32("an index", region.count - 1) * region.element_bytes;
    reader.expect("]");
  }
  place.address = read_offset(reader, place.address);
  return place;
}

std::uint32_t read_tmem(Reader& reader) {
  std::uint32_t lane = 0;
  if (reader.take_if("lane")) {
    lane = reader.u32("a lane of tensor memory", 0xFFFF);
    reader.expect(",");
  }
  reader.expect("column");
  return (lane << 16) | reader.u32("a column of tensor memory", 0xFFFF);
}

std::string known_places(const Names& names) {
  std::string known = "a place: shared, global, tmem";
  for (const auto& [name, index] : names.regions) {
    known += ", " + name;
  }
  for (const auto& [name, index] : names.tensors) {
    known += ", " + name;
  }
  return known;
}

}  // namespace

Place read_place(Reader& reader, const Program& program, const Names& names) {
  reader.expect("[");
  const Token& name = reader.word(known_places(names));
  Place place;
  const auto region = names.regions.find(name.text);
  const auto tensor = names.tensors.find(name.text);
  if (region != names.regions.end()) {
    place = place_in_region(reader, program.symbols.regions[region->second]);
  } else if (tensor != names.tensors.end()) {
    place.space = Place::Space::kGlobal;
    place.global = names.tensor_addresses[tensor->second];
    if (reader.take_if("+")) {
      place.global += static_cast<std::uint64_t>(
          reader.number("an offset in bytes", 0, static_cast<std::int64_t>(kGlobalAddressMax / 2)));
    }
  } else if (name.is("shared")) {
    place.address = read_offset(reader, 0);
  } else if (name.is("global")) {
    place.space = Place::Space::kGlobal;
    reader.expect("+");
    place.global = static_cast<std::uint64_t>(
        reader.number("a global address", 0, static_cast<std::int64_t>(kGlobalAddressMax)));
  } else if (name.is("tmem")) {
    place.space = Place::Space::kTmem;
    place.address = read_tmem(reader);
  } else {
    reader.fail(name, known_places(names));
  }
  if (place.space == Place::Space::kShared && reader.take_if("of")) {
    reader.expect("rank");
    place.space = Place::Space::kRemote;
    place.address |= reader.u32("a rank in the cluster", 255) << 24;
  }
  reader.expect("]");
  return place;
}

std::uint32_t read_shared(Reader& reader, const Program& program, const Names& names) {
  const Token& first = reader.peek();
  const Place place = read_place(reader, program, names);
  if (place.space != Place::Space::kShared) {
    reader.fail(first, "a place in the CTA's own shared memory");
  }
  return place.address;
}

std::uint64_t read_global(Reader& reader, const Program& program, const Names& names) {
  const Token& first = reader.peek();
  const Place place = read_place(reader, program, names);
  if (place.space != Place::Space::kGlobal) {
    reader.fail(first, "a place in global memory");
  }
  return place.global;
}

// --- Words that several lines have ------------------------------------------------------------

std::optional<Role> role_named(std::string_view name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(Role::kCount); ++i) {
    if (name == name_of(static_cast<Role>(i))) {
      return static_cast<Role>(i);
    }
  }
  return std::nullopt;
}

std::optional<ElementType> element_named(std::string_view name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(ElementType::kI8); ++i) {
    if (name == name_of(static_cast<ElementType>(i))) {
      return static_cast<ElementType>(i);
    }
  }
  return std::nullopt;
}

Swizzle read_swizzle(Reader& reader) {
  reader.expect("swizzle");
  const Token& token = reader.peek();
  constexpr const char* kWanted = "a swizzle: 0, 32, 64 or 128, or 129, which keeps 32 together";
  const std::uint32_t span = reader.u32(kWanted, 129);
  if (span != 0 && span != 32 && span != 64 && span != 128 && span != 129) {
    reader.fail(token, kWanted);
  }
  return static_cast<Swizzle>(span);
}

}  // namespace warptwin::sim
