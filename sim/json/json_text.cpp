#include "sim/json/json_text.hpp"

namespace warptwin {

template <class Json>
Json parsed_json(std::string_view text) {
  return Json::parse(text);
}

template <class Json>
Json json_if_any(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

template <class Json>
std::string text_of_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template nlohmann::json parsed_json(std::string_view);
template nlohmann::ordered_json parsed_json(std::string_view);
template nlohmann::json json_if_any(std::string_view);
template nlohmann::ordered_json json_if_any(std::string_view);
template std::string text_of_json(const nlohmann::json&, int);
template std::string text_of_json(const nlohmann::ordered_json&, int);

}  // namespace warptwin
