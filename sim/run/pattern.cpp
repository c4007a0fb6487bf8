#include "sim/run/pattern.hpp"

#include <regex.h>

#include "common/machine/assert.hpp"

namespace warptwin::sim {

std::vector<std::string> groups_of(const char* expression, const std::string& text) {
  regex_t compiled;
  const int wrong = regcomp(&compiled, expression, REG_EXTENDED);
  WARPTWIN_ASSERT(wrong == 0);
  std::vector<regmatch_t> places(compiled.re_nsub + 1);
  const bool fits = regexec(&compiled, text.c_str(), places.size(), places.data(), 0) == 0;
  regfree(&compiled);
  std::vector<std::string> groups;
  if (fits) {
    for (const regmatch_t& place : places) {
      groups.push_back(place.rm_so < 0
                           ? std::string{}
                           : text.substr(static_cast<std::size_t>(place.rm_so),
                                         static_cast<std::size_t>(place.rm_eo - place.rm_so)));
    }
  }
  return groups;
}

}  // namespace warptwin::sim
