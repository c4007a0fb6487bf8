/// Texts that events name by number: an event itself has no room for them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warptwin {

/// The number of a text, the same each time.
std::uint32_t number_of_text(std::string_view text);
/// The text of a number that `number_of_text` has given.
std::string text_of_number(std::uint32_t number);

}  // namespace warptwin
