/// Texts that stay for as long as the process: those that events name by number, having no room for
/// them, and names of files, which findings point to when the program they are of is gone.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warptwin {

/// The number of a text, the same each time.
std::uint32_t number_of_text(std::string_view text);
/// The text of a number that `number_of_text` has given.
std::string text_of_number(std::uint32_t number);

/// The same text, terminated by 0; the same pointer each time.
const char* kept_text(std::string_view text);

}  // namespace warptwin
