#include "plan/tuning_json.hpp"

#include "families/list.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

using Json = nlohmann::json;

/// A string as JSON. Names come from drivers and users and need not be UTF-8.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A JSON value as a message shows it: at most 40 characters, in ASCII; objects and lists only by their kind.
std::string shown(const Json& value) {
  constexpr std::size_t most = 40;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) text = text.substr(0, most) + "…";
  return text;
}

/// The numbers as a JSON list, without the zeros at its end.
template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::size_t count = numbers.size();
  while (count > 0 && numbers[count - 1] == 0) --count;
  return fmt::format("[{}]", fmt::join(numbers.begin(), numbers.begin() + count, ", "));
}

std::string text_of(const ShapeClass& shape) {
  return fmt::format(
      R"({{"family": "{}", "element_bytes": {}, "rank": {}, "staggered": {}, "order": {}, "sources": {}, )"
      R"("access": {}, "extents": {}, "length": {}}})",
      shape.family, shape.element_bytes, shape.rank, shape.staggered, list_of(shape.order), shape.sources,
      list_of(shape.access), list_of(shape.extents), shape.length);
}

std::string text_of(const KernelChoice& choice) {
  std::string text = fmt::format(R"({{"family": "{}")", choice.family);
  for (const KernelChoice::Number& number : choice.numbers) {
    text += fmt::format(R"(, "{}": {})", number.name,
                        number.is_box ? list_of(number.values) : std::to_string(number.values[0]));
  }
  return text + "}";
}

/// Reads the fields of a tuning file. Each error begins with the label and the field's path, such as
/// "choices[2].class.rank".
class Reader {
 public:
  explicit Reader(std::string_view label) : label_(label) {}

  [[nodiscard]] std::vector<TunedChoice> read(std::string_view text) const {
    const Json root = parsed(text);
    if (!root.is_object()) fail("", root, "an object with \"tmajit\" and \"choices\"");
    string(root, "tmajit", "");
    const auto class_version = number<std::uint32_t>(root, "class_version", "");
    const auto choice_version = number<std::uint32_t>(root, "choice_version", "");
    const Json& list = member(root, "choices", "");
    if (!list.is_array()) fail("choices", list, "a list");
    std::vector<TunedChoice> choices;
    // Choices of other versions may have other fields, so they are skipped.
    if (class_version != ShapeClass::version || choice_version != KernelChoice::version) return choices;
    choices.reserve(list.size());
    for (const Json& item : list) {
      auto read = choice(item, fmt::format("choices[{}]", &item - &list.front()));
      if (read) choices.push_back(std::move(*read));
    }
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

  [[noreturn]] void fail(std::string_view path, const Json& found, std::string_view need) const {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}{}{}; {} is needed", label_, path,
                                                         path.empty() ? "" : " is ", shown(found), need));
  }

  const Json& member(const Json& object, const char* key, std::string_view path) const {
    const auto found = object.find(key);
    if (found == object.end())
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}\"{}\" is missing", label_, path, key));
    return *found;
  }

  std::string string(const Json& object, const char* key, std::string_view path) const {
    const Json& value = member(object, key, path);
    if (!value.is_string()) fail(fmt::format("{}{}", path, key), value, "a string");
    return value.get<std::string>();
  }

  template <class Number>
  Number number(const Json& object, const char* key, std::string_view path) const {
    const Json& value = member(object, key, path);
    // JSON compares two whole numbers by converting one to the type of the other: a large unsigned number
    // would become negative.
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<Number>(value.get<std::uint64_t>())
                          : value.is_number_integer() && std::in_range<Number>(value.get<std::int64_t>());
    if (!fits) fail(fmt::format("{}{}", path, key), value, "a whole number in range");
    return value.get<Number>();
  }

  template <class Number, std::size_t n>
  std::array<Number, n> numbers(const Json& object, const char* key, std::string_view path) const {
    const Json& list = member(object, key, path);
    if (!list.is_array() || list.size() > n) {
      fail(fmt::format("{}{}", path, key), list, fmt::format("a list of at most {} numbers", n));
    }
    std::array<Number, n> values{};
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_unsigned() || list[i] > std::numeric_limits<Number>::max()) {
        fail(fmt::format("{}{}[{}]", path, key, i), list[i], "a whole number in range");
      }
      values[i] = list[i].get<Number>();
    }
    return values;
  }

  /// The library's own string for a family's name; nothing if the family is unknown.
  [[nodiscard]] std::optional<std::string_view> family(const Json& object, std::string_view path) const {
    const std::string name = string(object, "family", path);
    for (const FamilyInfo& info : families()) {
      if (info.name == name) return info.name;
    }
    return std::nullopt;
  }

  [[nodiscard]] const Json& object(const Json& item, const char* key, std::string_view path) const {
    const Json& value = member(item, key, path);
    if (!value.is_object()) fail(fmt::format("{}{}", path, key), value, "an object");
    return value;
  }

  [[nodiscard]] std::optional<TunedChoice> choice(const Json& item, const std::string& path) const {
    if (!item.is_object())
      fail(path, item, "an object with \"chip\", \"class\", \"choice\" and \"microseconds\"");
    const std::string prefix = path + ".";
    const Json& time = member(item, "microseconds", prefix);
    if (!time.is_number() || time.get<double>() < 0)
      fail(prefix + "microseconds", time, "a number, 0 or more,");
    TunedChoice tuned;
    tuned.chip = string(item, "chip", prefix);
    tuned.microseconds = time.get<double>();

    const Json& shape = object(item, "class", prefix);
    const std::string class_path = prefix + "class.";
    const auto class_family = family(shape, class_path);
    const Json& staggered = member(shape, "staggered", class_path);
    if (!staggered.is_boolean()) fail(class_path + "staggered", staggered, "true or false");
    tuned.shape_class = {.family = class_family.value_or(""),
                         .element_bytes = number<std::uint8_t>(shape, "element_bytes", class_path),
                         .rank = number<std::uint8_t>(shape, "rank", class_path),
                         .staggered = staggered.get<bool>(),
                         .order = numbers<std::uint16_t, 8>(shape, "order", class_path),
                         .sources = number<std::uint8_t>(shape, "sources", class_path),
                         .access = numbers<std::uint8_t, 8>(shape, "access", class_path),
                         .extents = numbers<std::uint64_t, max_view_rank>(shape, "extents", class_path),
                         .length = number<std::uint64_t>(shape, "length", class_path)};

    const Json& kernel = object(item, "choice", prefix);
    const std::string choice_path = prefix + "choice.";
    const auto kernel_family = family(kernel, choice_path);
    if (kernel_family) tuned.choice = kernel_choice(family_named(*kernel_family), kernel, choice_path);
    return class_family && kernel_family ? std::optional(std::move(tuned)) : std::nullopt;
  }

  /// Reads exactly the numbers that the family's choices have.
  [[nodiscard]] KernelChoice kernel_choice(const Family& family, const Json& kernel,
                                           std::string_view path) const {
    KernelChoice choice{.family = family.name()};
    std::vector<std::string_view> names{"family"};
    for (const ChoiceField& field : family.choice_fields()) {
      const std::string key(field.name);
      auto& added =
          choice.numbers.emplace_back(KernelChoice::Number{.name = field.name, .is_box = field.is_box});
      names.push_back(field.name);
      if (field.is_box) {
        added.values = numbers<std::uint32_t, max_view_rank>(kernel, key.c_str(), path);
      } else {
        added.values[0] = number<std::uint32_t>(kernel, key.c_str(), path);
        if (added.values[0] > field.max_value) {
          fail(fmt::format("{}{}", path, key), kernel.at(key), fmt::format("0 to {}", field.max_value));
        }
      }
    }
    for (const auto& [key, value] : kernel.items()) {
      if (std::ranges::find(names, key) != names.end()) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: {}{} is no number of the family {}; its choices have {}", label_, path,
                              quoted(key), family.name(), fmt::join(names, ", ")));
    }
    return choice;
  }

  std::string_view label_;
};

}  // namespace

std::string format_tuning(std::span<const TunedChoice> choices) {
  auto text =
      fmt::format("{{\"tmajit\": \"{}\", \"class_version\": {}, \"choice_version\": {}, \"choices\": [",
                  TMAJIT_VERSION_STRING, ShapeClass::version, KernelChoice::version);
  std::string_view separator = "\n";
  for (const TunedChoice& tuned : choices) {
    // JSON has no infinity and no NaN.
    const double time = std::isfinite(tuned.microseconds) ? std::max(tuned.microseconds, 0.0) : 0.0;
    text +=
        fmt::format(R"({}  {{"chip": {}, "class": {}, "choice": {}, "microseconds": {}}})", separator,
                    quoted(tuned.chip), text_of(tuned.shape_class), text_of(tuned.choice), Json(time).dump());
    separator = ",\n";
  }
  return text + (choices.empty() ? "]}\n" : "\n]}\n");
}

std::vector<TunedChoice> parse_tuning(std::string_view text, std::string_view label) {
  return Reader(label).read(text);
}

TMAJIT_END
