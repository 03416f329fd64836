#include "cases.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::ElementType;
using tmajit::Family;
using tmajit::TensorView;

struct Bf16 {
  std::uint16_t bits;
};

// Host arithmetic as docs/plan.md words it: bf16 computes in float, integers wrap.
template <class T>
auto value_of(T element) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(element.bits) << 16);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(element);  // modulo 2^64, so that no sum overflows
  } else {
    return element;
  }
}

template <class T, class Value>
T element_of(Value value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};  // to nearest even
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Value>) {
    if (!(value > static_cast<Value>(std::numeric_limits<T>::min()))) return std::numeric_limits<T>::min();
    if (value >= static_cast<Value>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
T element_at(const std::vector<std::byte>& bytes, std::uint64_t i) {
  T element;
  std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
  return element;
}

/// Applies `f` to the values of all inputs at an index; its result becomes an Out.
template <class In, class Out, class Function>
Reference elementwise(Function f) {
  return [f](std::span<const std::vector<std::byte>> inputs, std::uint64_t count,
             std::vector<std::byte>& output) {
    output.resize(count * sizeof(Out));
    for (std::uint64_t i = 0; i < count; ++i) {
      auto value = value_of(element_at<In>(inputs[0], i));
      value = f(value);
      for (const auto& input : inputs.subspan(1)) value += value_of(element_at<In>(input, i));
      const Out element = element_of<Out>(value);
      std::memcpy(output.data() + i * sizeof(Out), &element, sizeof(Out));
    }
  };
}

/// Calls `f` with a value of the host's type for `type`.
template <class Function>
Reference dispatch(ElementType type, Function f) {
  switch (type) {
    case ElementType::u8: return f(std::uint8_t{});
    case ElementType::i8: return f(std::int8_t{});
    case ElementType::u16: return f(std::uint16_t{});
    case ElementType::i16: return f(std::int16_t{});
    case ElementType::u32: return f(std::uint32_t{});
    case ElementType::i32: return f(std::int32_t{});
    case ElementType::u64: return f(std::uint64_t{});
    case ElementType::i64: return f(std::int64_t{});
    case ElementType::f32: return f(float{});
    case ElementType::f64: return f(double{});
    case ElementType::bf16: return f(Bf16{});
    default: break;
  }
  throw tmajit::Error(tmajit::ErrorCode::unsupported,
                      fmt::format("the bench has no host arithmetic for {}", tmajit::name(type)));
}

constexpr auto same = [](auto x) { return x; };
// Exact products, so that it does not matter whether the compiler fuses the multiplication and the addition.
constexpr auto twice_plus_one = [](auto x) { return x * 2 + 1; };

Reference sum_of_inputs(ElementType type) {
  return dispatch(type, [](auto zero) { return elementwise<decltype(zero), decltype(zero)>(same); });
}

Reference affine(ElementType type) {
  return dispatch(type,
                  [](auto zero) { return elementwise<decltype(zero), decltype(zero)>(twice_plus_one); });
}

std::vector<Case> of_type(ElementType type) {
  const std::string expression = "2 * x + 1";
  return {
      {"copy", Family::copy, "", {type}, type, sum_of_inputs(type)},
      {"map", Family::map, expression, {type}, type, affine(type)},
      {"map", Family::map, "x0 + x1", {type, type}, type, sum_of_inputs(type)},
      {"map", Family::map, "x0 + x1 + x2", {type, type, type}, type, sum_of_inputs(type)},
      {"bulk", Family::bulk, expression, {type}, type, affine(type)},
      {"snapshot", Family::snapshot, "", {type}, ElementType::u8, {}},
  };
}

std::vector<Case> casts() {
  using enum ElementType;
  return {
      {"cast", Family::map, "x", {f32}, bf16, elementwise<float, Bf16>(same)},
      {"cast", Family::map, "x", {bf16}, f32, elementwise<Bf16, float>(same)},
      {"cast", Family::map, "x", {u8}, f32, elementwise<std::uint8_t, float>(same)},
      {"cast", Family::map, "100 * x", {f32}, u8, elementwise<float, std::uint8_t>([](float x) {
         return 100 * x;
       })},
  };
}

}  // namespace

std::string Case::title() const {
  if (group == "map" && inputs.size() > 1) return fmt::format("map {} inputs", inputs.size());
  return group;
}

std::string Case::types() const {
  const std::string_view in = tmajit::name(inputs.front());
  if (family == Family::snapshot || inputs.front() == output) return std::string(in);
  return fmt::format("{} to {}", in, tmajit::name(output));
}

std::uint64_t Case::element_bytes() const {
  std::uint32_t bytes = tmajit::size_of(output);
  for (const ElementType type : inputs) bytes = std::max(bytes, tmajit::size_of(type));
  return bytes;
}

std::vector<std::uint64_t> Case::shape(std::uint64_t size) const {
  constexpr std::uint64_t columns = 4096;
  const std::uint64_t elements = size / element_bytes();
  if (family == Family::bulk) return {elements};
  return {elements / columns, columns};
}

tmajit::KernelSpec Case::spec(std::uint64_t size, const tmajit::TileOptions& tiles) const {
  const std::vector<std::uint64_t> extents = shape(size);
  std::vector<TensorView> views;
  for (const ElementType type : inputs) views.push_back(TensorView::contiguous(type, extents));
  const TensorView out = TensorView::contiguous(output, extents);
  switch (family) {
    case Family::copy: return tmajit::copy_spec(views[0], out, tiles);
    case Family::map: return tmajit::map_spec(expression, views, out, tiles);
    case Family::bulk: return tmajit::bulk_spec(expression, inputs[0], output, tiles);
    case Family::snapshot: break;
  }
  return tmajit::snapshot_spec(views[0], tiles);
}

std::vector<Case> cases(const Options& options) {
  std::vector<Case> all;
  for (const ElementType type : options.types) {
    for (Case& c : of_type(type)) all.push_back(std::move(c));
  }
  for (Case& c : casts()) all.push_back(std::move(c));
  // All types of a family together, in the order of the groups.
  constexpr std::array order{"copy", "map", "cast", "bulk", "snapshot"};
  std::vector<Case> wanted;
  for (const char* group : order) {
    for (const Case& c : all) {
      if (c.group == group && options.wants(group)) wanted.push_back(c);
    }
  }
  return wanted;
}

Case sweep_case(Family family, ElementType type, const std::string& expression) {
  for (Case& c : of_type(type)) {
    if (c.family != family) continue;
    if (!expression.empty()) {
      c.expression = expression;
      c.reference = {};
      // As many inputs as it reads, all of one type.
      for (std::size_t i = 1; i < tmajit::max_inputs; ++i) {
        if (expression.find('x' + std::to_string(i)) != std::string::npos) c.inputs.resize(i + 1, type);
      }
    }
    return c;
  }
  throw tmajit::Error(tmajit::ErrorCode::internal, "a family without a case");
}

}  // namespace bench
