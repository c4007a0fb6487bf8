#include "sim/ptx/text/modifier.hpp"

#include <charconv>

namespace warptwin::ptx {

static_assert(std::is_sorted(kModifierNames.begin(), kModifierNames.end()));

namespace {

// One letter and its number from the front of `word`.
bool take_extent(std::string_view& word, char letter, std::uint16_t& extent) {
  if (word.empty() || word.front() != letter) {
    return false;
  }
  const auto [stop, error] = std::from_chars(word.data() + 1, word.data() + word.size(), extent);
  if (error != std::errc{}) {
    return false;
  }
  word.remove_prefix(static_cast<std::size_t>(stop - word.data()));
  return true;
}

std::optional<Shape> shape_named(std::string_view word) {
  Shape shape;
  if (!take_extent(word, 'm', shape.m) || !take_extent(word, 'n', shape.n)) {
    return std::nullopt;
  }
  take_extent(word, 'k', shape.k);
  return word.empty() ? std::optional{shape} : std::nullopt;
}

}  // namespace

void Modifiers::add(std::string_view word) {
  if (const auto type = type_named(word); type && type_count < kTypesMax) {
    types[type_count++] = *type;
  } else if (const auto modifier = modifier_named(word)) {
    words.set(modifier->index);
  } else if (const auto extents = shape_named(word); extents && shape.m == 0) {
    shape = *extents;
  } else {
    unknown.push_back(word);
  }
}

}  // namespace warptwin::ptx
