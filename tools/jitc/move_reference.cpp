#include "move_reference.hpp"

#include "memory_image.hpp"
#include "reference/combine.hpp"
#include "reference/reductions.hpp"
#include "reference/scalar.hpp"
#include "reference/stencil.hpp"
#include "reference/windows.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Move;
using tmajit::Tensor;

std::byte* memory(const Tensor& tensor) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory by contract
  return reinterpret_cast<std::byte*>(tensor.address);
}

void copy(const Tensor& destination, const Tensor& source) {
  if (destination.view.elements() == 0) return;
  copy_strided(tmajit::size_of(destination.view.type), memory(destination), strides(destination.view),
               memory(source), strides(source.view), extents(destination.view));
}

void convert(const Tensor& destination, const Tensor& source) {
  const auto to = destination.view.type;
  const auto from = source.view.type;
  for_each_row<2>(extents(destination.view), {strides(destination.view), strides(source.view)},
                  [&](const auto& offsets, std::uint64_t count, const auto& steps) {
                    const std::int64_t to_size = tmajit::size_of(to);
                    const std::int64_t from_size = tmajit::size_of(from);
                    auto* out = memory(destination) + offsets[0] * to_size;
                    const auto* in = memory(source) + offsets[1] * from_size;
                    for (std::uint64_t i = 0; i < count; ++i) {
                      reference::encode(to, reference::decode(from, in), out);
                      out += steps[0] * to_size;
                      in += steps[1] * from_size;
                    }
                  });
}

void pad(const Tensor& destination, const Tensor& source, const tmajit::Padding& padding) {
  std::array<std::byte, sizeof(std::uint64_t)> value{};
  reference::encode(destination.view.type, reference::scalar(padding.value), value.data());
  const std::vector<std::int64_t> nowhere(destination.view.rank, 0);
  if (destination.view.elements() == 0) return;
  copy_strided(tmajit::size_of(destination.view.type), memory(destination), strides(destination.view),
               value.data(), nowhere, extents(destination.view));
  Tensor to = destination;
  Tensor from = source;
  for (std::uint32_t d = 0; d < destination.view.rank; ++d) {
    const std::int64_t before = padding.before[d];
    const std::int64_t begin = std::max<std::int64_t>(before, 0);
    const std::int64_t end = std::min(static_cast<std::int64_t>(destination.view.shape[d]),
                                      before + static_cast<std::int64_t>(source.view.shape[d]));
    if (begin >= end) return;
    const auto size = static_cast<std::int64_t>(tmajit::size_of(destination.view.type));
    to.view.shape[d] = from.view.shape[d] = static_cast<std::uint64_t>(end - begin);
    to.address += static_cast<std::uint64_t>(begin * destination.view.strides[d] * size);
    from.address += static_cast<std::uint64_t>((begin - before) * source.view.strides[d] * size);
  }
  copy(to, from);
}

}  // namespace

namespace {

bool is_plain(const std::string& expression) {
  return expression.empty() || expression == "x";
}

double as_double(const reference::Scalar& value) {
  return std::visit([](auto v) { return static_cast<double>(v); }, value);
}

/// What rounding to a type may change of a number, relative to it.
double rounding(tmajit::ElementType type) {
  switch (type) {
    case tmajit::ElementType::f64: return 0x1p-51;
    case tmajit::ElementType::f16:
    case tmajit::ElementType::tf32:
    case tmajit::ElementType::tf32_ftz: return 0x1p-10;
    case tmajit::ElementType::bf16: return 0x1p-7;
    case tmajit::ElementType::e4m3: return 0x1p-3;
    case tmajit::ElementType::e5m2: return 0x1p-2;
    default: return 0x1p-22;
  }
}

bool is_near(tmajit::ElementType type, const std::byte* want, const std::byte* got, double allowed) {
  const double wanted = as_double(reference::decode(type, want));
  const double found = as_double(reference::decode(type, got));
  return std::fabs(wanted - found) <= allowed + rounding(type) * std::fabs(wanted);
}

}  // namespace

std::vector<double> allowed_errors(const Move& move) {
  using enum tmajit::ReductionOp;
  if (!move.reduction || (move.reduction->op != sum && move.reduction->op != mean)) return {};
  const tmajit::ElementType from = move.sources.front().view.type;
  if (!tmajit::is_float(from)) return {};
  const tmajit::TensorView& to = move.destination.view;
  std::vector<double> magnitudes(to.elements());
  const auto shape = extents(to);
  const Tensor sums(tmajit::TensorView::contiguous(tmajit::ElementType::f64, shape),
                    reinterpret_cast<std::uintptr_t>(magnitudes.data()));
  reference::reduce(
      sums, move.sources, move.reduction->op, move.reduction->axes,
      [](std::span<const reference::Scalar> x) -> reference::Scalar {
        return std::fabs(as_double(x.front()));
      },
      [](const reference::Scalar& x, std::uint64_t) { return x; });
  const double error = from == tmajit::ElementType::f64 ? 0x1p-50 : 0x1p-21;
  for (double& magnitude : magnitudes) magnitude *= error;
  return magnitudes;
}

bool can_move_plainly(const Move& move) {
  if (move.reduction) return is_plain(move.reduction->expression) && is_plain(move.reduction->then);
  if (move.stencil) return reference::StencilExpression::parse(move.expression).has_value();
  return is_plain(move.expression);
}

void move_plainly(const Move& move) {
  if (move.reduction) {
    return reference::reduce(
        move.destination, move.sources, move.reduction->op, move.reduction->axes,
        [](std::span<const reference::Scalar> x) { return x.front(); },
        [](const reference::Scalar& x, std::uint64_t) { return x; });
  }
  if (move.stencil) {
    const auto expression = reference::StencilExpression::parse(move.expression);
    return reference::stencil(move.destination, expression.value(), move.sources, *move.stencil);
  }
  if (move.combine) return reference::combine(move.destination, *move.combine, move.sources.front());
  if (move.windows && move.sources.size() > 1)
    return reference::convolution(move.destination, move.sources[0], move.sources[1], *move.windows);
  if (move.windows) return reference::im2col(move.destination, move.sources.front(), *move.windows);
  if (move.padding) return pad(move.destination, move.sources.front(), *move.padding);
  if (move.expression.empty()) return copy(move.destination, move.sources.front());
  convert(move.destination, move.sources.front());
}

Difference compare(const Array& array, std::span<const std::byte> expected, std::span<const std::byte> found,
                   Rounding rounding, std::span<const double> allowed) {
  Difference difference;
  difference.elements = array.view.elements();
  if (expected.empty() || std::memcmp(expected.data(), found.data(), expected.size()) == 0) return difference;
  const auto shape = extents(array.view);
  const std::uint32_t size = tmajit::size_of(array.view.type);
  std::vector<std::byte> rest(found.begin(), found.end());
  std::uint64_t number = 0;  // of the element, in C order
  for_each_row<1>(
      shape, {strides(array.view)}, [&](const auto& offsets, std::uint64_t count, const auto& steps) {
        for (std::uint64_t i = 0; i < count; ++i, ++number) {
          const auto at =
              static_cast<std::uint64_t>(static_cast<std::int64_t>(array.memory.first) +
                                         (offsets[0] + static_cast<std::int64_t>(i) * steps[0]) * size);
          const auto* const want = expected.data() + at;
          const auto* const got = found.data() + at;
          std::memcpy(rest.data() + at, want, size);
          if (std::memcmp(want, got, size) == 0) continue;
          if (rounding == Rounding::once && reference::same_value(array.view.type, want, got)) continue;
          if ((rounding == Rounding::in_f32 || rounding == Rounding::in_f64) &&
              reference::is_close(array.view.type, rounding == Rounding::in_f32, want, got)) {
            continue;
          }
          if (!allowed.empty() && is_near(array.view.type, want, got, allowed[number])) continue;
          if (difference.wrong++ != 0) continue;
          difference.expected = reference::bits_text(array.view.type, want);
          difference.found = reference::bits_text(array.view.type, got);
          difference.index.assign(shape.size(), 0);
          auto left = number;
          for (std::size_t d = shape.size(); d-- > 0; left /= shape[d]) difference.index[d] = left % shape[d];
        }
      });
  for (std::size_t at = 0; at < rest.size(); ++at) difference.stray_bytes += rest[at] != expected[at] ? 1 : 0;
  return difference;
}

std::string describe(const Array& array, const Difference& difference) {
  std::string text;
  if (difference.wrong != 0) {
    text = fmt::format("{}: {} of {} elements {} wrong, first [{}]: {} instead of {}", array.name,
                       difference.wrong, difference.elements, difference.wrong == 1 ? "is" : "are",
                       fmt::join(difference.index, ", "), difference.found, difference.expected);
  }
  if (difference.stray_bytes != 0) {
    text += fmt::format("{}{} between its elements changed", text.empty() ? array.name + ": " : "; ",
                        counted(difference.stray_bytes, "byte"));
  }
  return text.empty() ? fmt::format("{}: all {} elements are right", array.name, difference.elements) : text;
}

}  // namespace jitc
