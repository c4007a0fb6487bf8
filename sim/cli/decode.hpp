/// `warptwin decode`: raw mbarrier words in words.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace warptwin::sim {

/// Writes a line about each word, and one about all of them as a ring named `name`; as JSON if
/// `json`. Throws ConfigError for text that is no word, or no words.
void decode_words(const std::vector<std::string>& words,
                  const std::string& name,
                  bool json,
                  std::ostream& out);

}  // namespace warptwin::sim
