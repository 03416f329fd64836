#include "plan/tuning_json.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
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

/// A value as a message shows it: short, fit to print, and however deep it is nested.
std::string shown(const Json& value) {
  constexpr std::size_t most = 40;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > most) text = text.substr(0, most) + "…";
  return text;
}

/// Numbers up to the last that is not 0.
template <class Numbers>
std::string list_of(const Numbers& numbers) {
  std::size_t count = numbers.size();
  while (count > 0 && numbers[count - 1] == 0) --count;
  return fmt::format("[{}]", fmt::join(numbers.begin(), numbers.begin() + count, ", "));
}

std::string text_of(const ShapeClass& shape) {
  return fmt::format(
      R"({{"family": "{}", "element_bytes": {}, "rank": {}, "staggered": {}, "row": {}, "column": {}, )"
      R"("bytes": {}, "order": {}, "inner": {}, "sources": {}, "access": {}}})",
      shape.family, shape.element_bytes, shape.rank, shape.staggered, shape.row, shape.column, shape.bytes,
      list_of(shape.order), list_of(shape.inner), shape.sources, list_of(shape.access));
}

std::string text_of(const KernelChoice& choice) {
  // Few families have clusters, and files of before have none.
  const std::string cluster =
      choice.cluster == 0 ? std::string() : fmt::format(R"(, "cluster": {})", choice.cluster);
  return fmt::format(
      R"({{"family": "{}", "tile": {}, "threads": {}, "vector_bytes": {}, "turns": {}, "stages": {}, )"
      R"("order": {}, "ctas_per_sm": {}{}}})",
      choice.family, list_of(choice.tile), choice.threads, choice.vector_bytes, choice.turns, choice.stages,
      choice.order, choice.ctas_per_sm, cluster);
}

/// Reads the fields of one text; every complaint begins with the label and the field's place.
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
    // Which fields those of other versions have is not known here.
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

  template <class Number>
  Number number(const Json& object, const char* key, std::string_view place) const {
    const Json& value = member(object, key, place);
    // Of two whole numbers JSON compares one as the other's kind: a large one without a sign would become
    // negative.
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<Number>(value.get<std::uint64_t>())
                          : value.is_number_integer() && std::in_range<Number>(value.get<std::int64_t>());
    if (!fits) fail(fmt::format("{}{}", place, key), value, "a whole number in range");
    return value.get<Number>();
  }

  template <class Number, std::size_t n>
  std::array<Number, n> numbers(const Json& object, const char* key, std::string_view place) const {
    const Json& list = member(object, key, place);
    if (!list.is_array() || list.size() > n) {
      fail(fmt::format("{}{}", place, key), list, fmt::format("a list of at most {} numbers", n));
    }
    std::array<Number, n> values{};
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].is_number_unsigned() || list[i] > std::numeric_limits<Number>::max()) {
        fail(fmt::format("{}{}[{}]", place, key, i), list[i], "a whole number in range");
      }
      values[i] = list[i].get<Number>();
    }
    return values;
  }

  /// The library's own name of a family; nothing if it has none of that name.
  [[nodiscard]] std::optional<std::string_view> family(const Json& object, std::string_view place) const {
    const std::string name = string(object, "family", place);
    for (const FamilyInfo& info : families()) {
      if (info.name == name) return info.name;
    }
    return std::nullopt;
  }

  [[nodiscard]] const Json& object(const Json& item, const char* key, std::string_view place) const {
    const Json& value = member(item, key, place);
    if (!value.is_object()) fail(fmt::format("{}{}", place, key), value, "an object");
    return value;
  }

  [[nodiscard]] std::optional<TunedChoice> choice(const Json& item, const std::string& place) const {
    if (!item.is_object())
      fail(place, item, "an object with \"chip\", \"class\", \"choice\" and \"microseconds\"");
    const std::string inside = place + ".";
    const Json& time = member(item, "microseconds", inside);
    if (!time.is_number() || time.get<double>() < 0)
      fail(inside + "microseconds", time, "a number, 0 or more,");
    TunedChoice tuned{
        .chip = string(item, "chip", inside), .shape_class = {}, .choice = {}, .microseconds = time};

    const Json& shape = object(item, "class", inside);
    const std::string of_class = inside + "class.";
    const auto kind = family(shape, of_class);
    const Json& staggered = member(shape, "staggered", of_class);
    if (!staggered.is_boolean()) fail(of_class + "staggered", staggered, "true or false");
    tuned.shape_class = {.family = kind.value_or(""),
                         .element_bytes = number<std::uint8_t>(shape, "element_bytes", of_class),
                         .rank = number<std::uint8_t>(shape, "rank", of_class),
                         .staggered = staggered.get<bool>(),
                         .row = number<std::int8_t>(shape, "row", of_class),
                         .column = number<std::int8_t>(shape, "column", of_class),
                         .bytes = number<std::int8_t>(shape, "bytes", of_class),
                         .order = numbers<std::uint16_t, 8>(shape, "order", of_class),
                         .inner = numbers<std::uint8_t, max_view_rank>(shape, "inner", of_class),
                         .sources = number<std::uint8_t>(shape, "sources", of_class),
                         .access = numbers<std::uint8_t, 8>(shape, "access", of_class)};

    const Json& kernel = object(item, "choice", inside);
    const std::string of_choice = inside + "choice.";
    const auto made_by = family(kernel, of_choice);
    tuned.choice = {.family = made_by.value_or(""),
                    .tile = numbers<std::uint32_t, max_view_rank>(kernel, "tile", of_choice),
                    .threads = number<std::uint32_t>(kernel, "threads", of_choice),
                    .vector_bytes = number<std::uint32_t>(kernel, "vector_bytes", of_choice),
                    .turns = number<std::uint32_t>(kernel, "turns", of_choice),
                    .stages = number<std::uint32_t>(kernel, "stages", of_choice),
                    .order = number<std::uint32_t>(kernel, "order", of_choice),
                    .ctas_per_sm = number<std::uint32_t>(kernel, "ctas_per_sm", of_choice)};
    if (kernel.contains("cluster"))
      tuned.choice.cluster = number<std::uint32_t>(kernel, "cluster", of_choice);
    if (tuned.choice.order > 3) fail(of_choice + "order", kernel.at("order"), "0 to 3");
    return kind && made_by ? std::optional(std::move(tuned)) : std::nullopt;
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
