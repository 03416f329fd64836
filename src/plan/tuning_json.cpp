#include "plan/tuning_json.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using Json = nlohmann::json;

/// A string as JSON. Names come from drivers and users and need not be UTF-8.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A value as a message shows it: short, fit to print, and however deep it is nested.
std::string shown(const Json& value) {
  constexpr std::size_t most = 40;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) text = text.substr(0, most) + "…";
  return text;
}

/// Reads the fields of one text; every complaint begins with the label and the field's place.
class Reader {
 public:
  explicit Reader(std::string_view label) : label_(label) {}

  [[nodiscard]] std::vector<TunedChoice> read(std::string_view text) const {
    const Json root = parsed(text);
    if (!root.is_object()) fail("", root, "an object with \"tmajit\" and \"choices\"");
    string(root, "tmajit", "");
    const Json& list = member(root, "choices", "");
    if (!list.is_array()) fail("choices", list, "a list");
    std::vector<TunedChoice> choices;
    choices.reserve(list.size());
    for (const Json& item : list) choices.push_back(choice(item, fmt::format("choices[{}]", choices.size())));
    return choices;
  }

 private:
  [[nodiscard]] Json parsed(std::string_view text) const {
    try {
      return Json::parse(text);
    } catch (const Json::exception& error) {
      // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error …"
      std::string_view what = error.what();
      what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
      throw Error(ErrorCode::invalid_argument, fmt::format("{} is not JSON: {}", label_, what));
    }
  }

  [[noreturn]] void fail(std::string_view place, const Json& found, std::string_view need) const {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}{}{}; {} is needed", label_, place,
                                                         place.empty() ? "" : " is ", shown(found), need));
  }

  const Json& member(const Json& object, const char* key, std::string_view place) const {
    const auto found = object.find(key);
    if (found == object.end())
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}\"{}\" is missing", label_, place, key));
    return *found;
  }

  std::string string(const Json& object, const char* key, std::string_view place) const {
    const Json& value = member(object, key, place);
    if (!value.is_string()) fail(fmt::format("{}{}", place, key), value, "a string");
    return value.get<std::string>();
  }

  [[nodiscard]] TunedChoice choice(const Json& item, const std::string& place) const {
    if (!item.is_object())
      fail(place, item, "an object with \"chip\", \"class\", \"choice\", \"microseconds\" and \"version\"");
    const auto inside = place + ".";
    const Json& time = member(item, "microseconds", inside);
    if (!time.is_number() || time.get<double>() < 0)
      fail(inside + "microseconds", time, "a number, 0 or more,");
    return {.chip = string(item, "chip", inside),
            .shape_class = string(item, "class", inside),
            .choice = string(item, "choice", inside),
            .microseconds = time.get<double>(),
            .version = string(item, "version", inside)};
  }

  std::string_view label_;
};

}  // namespace

std::string format_tuning(std::span<const TunedChoice> choices) {
  auto text = fmt::format("{{\"tmajit\": \"{}\", \"choices\": [", TMAJIT_VERSION_STRING);
  std::string_view separator = "\n";
  for (const TunedChoice& choice : choices) {
    // JSON has no infinity and no NaN.
    const double time = std::isfinite(choice.microseconds) ? std::max(choice.microseconds, 0.0) : 0.0;
    text += fmt::format(R"({}  {{"chip": {}, "class": {}, "choice": {}, "microseconds": {}, "version": {}}})",
                        separator, quoted(choice.chip), quoted(choice.shape_class), quoted(choice.choice),
                        Json(time).dump(), quoted(choice.version));
    separator = ",\n";
  }
  return text + (choices.empty() ? "]}\n" : "\n]}\n");
}

std::vector<TunedChoice> parse_tuning(std::string_view text, std::string_view label) {
  return Reader(label).read(text);
}

TMAJIT_END
