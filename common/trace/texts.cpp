#include "common/trace/texts.hpp"

#include <deque>
#include <mutex>
#include <unordered_map>

namespace warptwin {

namespace {

struct Texts {
  std::mutex mutex;
  std::deque<std::string> all;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
};

Texts& texts() {
  static Texts kept;
  return kept;
}

}  // namespace

std::uint32_t number_of_text(std::string_view text) {
  const std::lock_guard lock{texts().mutex};
  std::deque<std::string>& all = texts().all;
  const auto found = texts().numbers.find(text);
  if (found != texts().numbers.end()) {
    return found->second;
  }
  const auto number = static_cast<std::uint32_t>(all.size());
  texts().numbers.emplace(all.emplace_back(text), number);
  return number;
}

std::string text_of_number(std::uint32_t number) {
  const std::lock_guard lock{texts().mutex};
  const std::deque<std::string>& all = texts().all;
  return number < all.size() ? all[number] : std::string{};
}

const char* kept_text(std::string_view text) {
  const std::uint32_t number = number_of_text(text);
  const std::lock_guard lock{texts().mutex};
  return texts().all[number].c_str();
}

}  // namespace warptwin
