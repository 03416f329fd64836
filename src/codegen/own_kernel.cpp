#include "codegen/header_search.hpp"

#include <tmajit/error.hpp>
#include <tmajit/own_kernel.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

bool is_name(std::string_view text) {
  const auto continues = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, continues);
}

void require_name(std::string_view name) {
  if (is_name(name)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("\"{}\" is no name for a constant; an identifier such as stages is one", name));
}

/// The value of `text`, a number followed by `suffix`; nullopt if it is anything else.
template <class Number>
std::optional<KernelConstant::Value> number(std::string_view text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return std::nullopt;
  text.remove_suffix(suffix.size());
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return KernelConstant::Value(value);
}

/// Whether a number has a point or an exponent.
bool looks_fractional(std::string_view text) {
  return text.find_first_of(".eE") != text.npos;
}

std::optional<KernelConstant::Value> parse_value(std::string_view text) {
  if (text == "true") return KernelConstant::Value(true);
  if (text == "false") return KernelConstant::Value(false);
  if (looks_fractional(text)) {
    if (auto value = number<float>(text, "f")) return value;
    return number<double>(text, "");
  }
  if (auto value = number<std::uint64_t>(text, "ull")) return value;
  if (auto value = number<std::uint32_t>(text, "u")) return value;
  if (auto value = number<std::int64_t>(text, "ll")) return value;
  if (auto value = number<std::int32_t>(text, "")) return value;
  return number<std::int64_t>(text, "");
}

template <class Float>
std::string float_literal(Float value) {
  std::string text = fmt::format("{}", value);
  if (!looks_fractional(text)) text += ".0";
  return text;
}

std::string_view type_of(const KernelConstant& constant) {
  constexpr std::string_view names[] = {"bool",  "int",   "unsigned", "long long", "unsigned long long",
                                        "float", "double"};
  return names[constant.value.index()];
}

/// Escapes a text for a C++ string literal.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// The constant's value in C++. INT64_MIN is an expression, because C++ has no negative literals and its
/// absolute value does not fit 64 bits.
std::string initialiser(const KernelConstant& constant) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  if (constant.value == KernelConstant::Value(least)) return fmt::format("{}ll - 1", least + 1);
  return constant.literal();
}

std::string declarations(const std::vector<KernelConstant>& constants) {
  std::string out;
  for (auto at = constants.begin(); at != constants.end(); ++at) {
    require_name(at->name);
    if (std::find_if(constants.begin(), at, [&](const auto& one) { return one.name == at->name; }) != at) {
      throw Error(ErrorCode::invalid_argument, fmt::format("the constant {} is given twice", at->name));
    }
    out += fmt::format("constexpr {} {} = {};\n", type_of(*at), at->name, initialiser(*at));
  }
  return out;
}

}  // namespace

KernelConstant KernelConstant::parse(std::string_view name, std::string_view literal) {
  require_name(name);
  if (auto value = parse_value(literal)) return {std::string(name), *value};
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("the constant {} = {}: a C++ literal is needed: true, 4, 4u, 4ll, 4ull, 0.5 or 0.5f", name,
                  literal));
}

std::string KernelConstant::literal() const {
  return std::visit(
      [&]<class Number>(Number number) -> std::string {
        if constexpr (std::is_same_v<Number, bool>) {
          return number ? "true" : "false";
        } else if constexpr (std::is_floating_point_v<Number>) {
          if (!std::isfinite(number)) {
            throw Error(ErrorCode::invalid_argument,
                        fmt::format("the constant {} is {}; no C++ literal says that", name, number));
          }
          return float_literal(number) + (std::is_same_v<Number, float> ? "f" : "");
        } else {
          constexpr bool is_long = sizeof(Number) == 8;
          constexpr std::string_view suffix =
              std::is_signed_v<Number> ? (is_long ? "ll" : "") : (is_long ? "ull" : "u");
          return fmt::format("{}{}", number, suffix);
        }
      },
      value);
}

OwnKernel OwnKernel::with(const std::vector<KernelConstant>& further) const {
  OwnKernel kernel = *this;
  kernel.constants.insert(kernel.constants.end(), further.begin(), further.end());
  return kernel;
}

Source source(const OwnKernel& kernel) {
  Source source;
  source.entry = kernel.entry;
  source.text =
      fmt::format("{}#line 1 \"{}\"\n{}", declarations(kernel.constants), escaped(kernel.file), kernel.text);
  HeaderSearch search(kernel.headers, kernel.include_folders);
  search.add_includes_of(kernel.text);
  if (SourceHeaders headers = search.headers(); !headers.empty())
    source.headers = std::make_shared<const SourceHeaders>(std::move(headers));
  return source;
}

TMAJIT_END
