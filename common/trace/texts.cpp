#include "common/trace/texts.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

namespace warptwin {

namespace {

struct Texts {
  std::mutex mutex;
  std::deque<std::string> all;
};

Texts& texts() {
  static Texts kept;
  return kept;
}

}  // namespace

std::uint32_t number_of_text(std::string_view text) {
  const std::lock_guard lock{texts().mutex};
  std::deque<std::string>& all = texts().all;
  const auto found = std::find(all.begin(), all.end(), text);
  const auto number = static_cast<std::uint32_t>(found - all.begin());
  if (found == all.end()) {
    all.emplace_back(text);
  }
  return number;
}

std::string text_of_number(std::uint32_t number) {
  const std::lock_guard lock{texts().mutex};
  const std::deque<std::string>& all = texts().all;
  return number < all.size() ? all[number] : std::string{};
}

}  // namespace warptwin
