#include "kernel/facts_text.hpp"

#include <algorithm>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

std::string line(std::string_view declaration, std::string_view comment) {
  return comment.empty() ? fmt::format("{}\n", declaration)
                         : fmt::format("{}  // {}\n", declaration, comment);
}

}  // namespace

PerDimension in_order() noexcept {
  PerDimension order{};
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::string number_fact(std::string_view name, std::uint64_t value, std::string_view comment) {
  return line(fmt::format("constexpr u32 {} = {};", name, value), comment);
}

std::string signed_fact(std::string_view name, std::int64_t value, std::string_view comment) {
  return line(fmt::format("constexpr i32 {} = {};", name, value), comment);
}

std::string flag_fact(std::string_view name, bool value, std::string_view comment) {
  return line(fmt::format("constexpr bool {} = {};", name, value), comment);
}

std::string policy_fact(std::string_view name, std::string_view policy, std::string_view comment,
                        std::string_view prefix) {
  return line(fmt::format("{}using {} = struct {};", prefix, name, policy), comment);
}

std::string extent_fact(std::string_view name, std::span<const std::uint32_t> values,
                        std::string_view comment, std::string_view prefix) {
  return line(fmt::format("{}__device__ constexpr Extent<{}> {}() {{ return {{{{{}}}}}; }}", prefix,
                          values.size(), name, fmt::join(values, ", ")),
              comment);
}

std::string_view device_type(ElementType type) noexcept {
  switch (type) {
    case ElementType::f32_ftz: return "f32";
    case ElementType::tf32_ftz: return "tf32";
    default: return name(type);
  }
}

std::string_view value_type(ElementType type) noexcept {
  switch (type) {
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::e4m3:
    case ElementType::e5m2:
    case ElementType::f32:
    case ElementType::f32_ftz:
    case ElementType::tf32:
    case ElementType::tf32_ftz: return "float";
    case ElementType::f64: return "double";
    default: return name(type);
  }
}

ElementType unsigned_of(std::uint32_t bytes) noexcept {
  switch (bytes) {
    case 1: return ElementType::u8;
    case 2: return ElementType::u16;
    case 4: return ElementType::u32;
    default: return ElementType::u64;
  }
}

std::string bits_type(ElementType type) {
  return fmt::format("u{}", 8 * size_of(type));
}

std::vector<Digit> digits_of(const PerDimension& order, const PerDimension& counts, std::uint32_t rank) {
  std::vector<Digit> digits;
  for (std::uint32_t k = rank; k-- > 0;) digits.push_back({.d = order[k], .count = counts[order[k]]});
  return digits;
}

std::string split_index(std::span<const Digit> digits,
                        const std::function<std::string(const Digit&, std::string_view)>& use,
                        std::string_view indent) {
  std::string out;
  auto remaining = std::ranges::count_if(digits, [](const Digit& digit) { return digit.count > 1; });
  for (const Digit& digit : digits) {
    if (digit.count <= 1) continue;
    const bool last = --remaining == 0;
    out += use(digit, last ? std::string("n") : fmt::format("n % {}", digit.count));
    if (!last) out += fmt::format("{}n /= {};\n", indent, digit.count);
  }
  return out;
}

std::string index_function(std::string_view name, std::span<const Digit> digits, std::uint32_t rank,
                           std::string_view prefix) {
  const std::string indent(std::min(prefix.find_first_not_of(' '), prefix.size()) + 2, ' ');
  std::string out =
      fmt::format("{}__device__ __forceinline__ void {}(u32 n, u32 (&index)[rank]) {{\n", prefix, name);
  std::array<bool, max_view_rank> seen{};
  for (const Digit& digit : digits) {
    if (digit.count > 1) seen[digit.d] = true;
  }
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (!seen[d]) out += fmt::format("{}index[{}] = 0;\n", indent, d);
  }
  seen.fill(false);
  const auto use = [&](const Digit& digit, std::string_view value) {
    const std::string scale = digit.scale > 1 ? fmt::format(" * {}", digit.scale) : std::string();
    const std::string_view assignment = seen[digit.d] ? "+=" : "=";
    seen[digit.d] = true;
    return fmt::format("{}index[{}] {} {}{};\n", indent, digit.d, assignment, value, scale);
  };
  out += split_index(digits, use, indent);
  return out + fmt::format("{}}}\n", std::string(indent.size() - 2, ' '));
}

TMAJIT_END
