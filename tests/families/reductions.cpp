#include "families/reductions.hpp"

#include "families/fills.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {
namespace {

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random, reference::Scalar;

/// How a view's dimensions lie in memory.
struct Order {
  std::vector<std::uint32_t> order;
  std::vector<bool> backwards;
  std::vector<bool> repeated;
  std::uint64_t apart = 1;  ///< elements from one to the next
  bool gaps = false;
  std::uint64_t shift = 0;
};

Order random_order(Random& random, std::uint32_t rank, bool may_repeat) {
  Order order;
  order.order.resize(rank);
  std::iota(order.order.begin(), order.order.end(), 0U);
  if (one_in(random, 2)) std::shuffle(order.order.begin(), order.order.end(), random);
  for (std::uint32_t d = 0; d < rank; ++d) {
    order.backwards.push_back(one_in(random, 8));
    order.repeated.push_back(may_repeat && one_in(random, 8));
  }
  order.apart = one_in(random, 6) ? 2 : 1;
  order.gaps = one_in(random, 4);
  order.shift = one_in(random, 2) ? between(random, 0, 17) : 0;
  return order;
}

ShiftedView laid_out(Random& random, const Order& order, ElementType type,
                     const std::vector<std::uint64_t>& shape) {
  ShiftedView result{.view = TensorView::contiguous(type, shape), .shift = order.shift};
  auto step = static_cast<std::int64_t>(order.apart);
  for (std::size_t k = order.order.size(); k-- > 0;) {
    const std::uint32_t d = order.order[k];
    if (order.repeated[d]) {
      result.view.strides[d] = 0;
      continue;
    }
    result.view.strides[d] = order.backwards[d] ? -step : step;
    step *= static_cast<std::int64_t>(shape[d]);
    if (order.gaps) step += static_cast<std::int64_t>(between(random, 0, 3)) * 4;
  }
  return result;
}

struct Front {
  const char* expression;
  std::size_t sources;
  Scalar (*function)(std::span<const Scalar>);
};
constexpr std::array fronts{
    Front{"", 1, [](std::span<const Scalar> x) { return x[0]; }},
    Front{"", 1, [](std::span<const Scalar> x) { return x[0]; }},
    Front{"x * x", 1, [](std::span<const Scalar> x) { return reference::multiply(x[0], x[0]); }},
    Front{"x > 1", 1,
          [](std::span<const Scalar> x) {
            return std::visit([](auto v) { return reference::scalar(v > 1); }, x[0]);
          }},
    Front{"x0 * x1", 2, [](std::span<const Scalar> x) { return reference::multiply(x[0], x[1]); }},
    Front{"x0 + x1 + x2", 3,
          [](std::span<const Scalar> x) { return reference::add(reference::add(x[0], x[1]), x[2]); }},
    Front{"x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7", 8, [](std::span<const Scalar> x) {
            Scalar sum = x[0];
            for (const Scalar& one : x.subspan(1)) sum = reference::add(sum, one);
            return sum;
          }}};

struct Behind {
  const char* expression;
  Scalar (*function)(const Scalar&, std::uint64_t);
};
constexpr std::array behinds{
    Behind{"", [](const Scalar& x, std::uint64_t) { return x; }},
    Behind{"", [](const Scalar& x, std::uint64_t) { return x; }},
    Behind{"x * 2", [](const Scalar& x, std::uint64_t) { return reference::multiply(x, Scalar(2)); }},
    Behind{"x + n", [](const Scalar& x, std::uint64_t n) {
             return std::visit(
                 [n](auto v) {
                   return reference::scalar(static_cast<decltype(v)>(v + static_cast<decltype(v)>(n)));
                 },
                 x);
           }}};

constexpr std::size_t fronts_of_one = 4;  // source: the first of them

/// What a reduction of `front` does, without its tensors.
RandomReduction random_functions(Random& random, const Front& front) {
  RandomReduction result;
  result.what.op = one_of(random, all_reduction_ops);
  const Behind behind = one_of(random, behinds);
  result.what.expression = front.expression;
  result.what.then = behind.expression;
  result.front = front.function;
  result.behind = behind.function;
  result.has_nan =
      result.what.op != ReductionOp::sum && result.what.op != ReductionOp::mean && one_in(random, 2);
  return result;
}

/// Small whole numbers; here and there a NaN, where there is one and it is asked for.
void fill(std::vector<std::byte>& memory, ElementType type, std::uint64_t seed, bool has_nan) {
  Random random(seed);
  const bool is_unsigned = type == ElementType::u8 || type == ElementType::u16 || type == ElementType::u32 ||
                           type == ElementType::u64;
  for (std::size_t at = 0; at + size_of(type) <= memory.size(); at += size_of(type)) {
    const auto value = static_cast<std::int32_t>(between(random, 0, 8)) - (is_unsigned ? 0 : 4);
    const bool is_nan = has_nan && is_float(type) && one_in(random, 40);
    reference::encode(type, is_nan ? Scalar(std::numeric_limits<float>::quiet_NaN()) : Scalar(value),
                      &memory[at]);
  }
}

/// The least and the greatest bytes that the destination may hold after the reduction.
struct Bounds {
  std::vector<std::byte> least;
  std::vector<std::byte> greatest;
};

std::string difference(const Bounds& want, const std::vector<std::byte>& got, ElementType type) {
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at + size <= got.size(); at += size) {
    const std::byte* const least = &want.least[at];
    const std::byte* const greatest = &want.greatest[at];
    if (are_equal(type, least, &got[at])) continue;
    const bool exact = are_equal(type, least, greatest);
    const Scalar value = reference::decode(type, &got[at]);
    if (!exact && reference::decode(type, least) <= value && value <= reference::decode(type, greatest))
      continue;
    return fmt::format("element {} of memory is {} instead of {}{}", at / size,
                       reference::bits_text(type, &got[at]), reference::bits_text(type, least),
                       exact ? "" : " to " + reference::bits_text(type, greatest));
  }
  return {};
}

}  // namespace

std::string RandomReduction::text() const {
  std::string text = fmt::format("{} of \"{}\" then \"{}\", axes {}: {} <-", name(what.op), what.expression,
                                 what.then, fmt::join(what.axes, ","), destination.text());
  for (const ShiftedView& source : sources) text += fmt::format(" {};", source.text());
  return text;
}

RandomReduction random_reduction(std::uint64_t pattern, std::uint64_t variation,
                                 std::uint64_t most_elements) {
  Random random(pattern);
  Random varied(variation);
  const Front front = one_of(random, fronts);
  RandomReduction result = random_functions(random, front);
  const auto rank =
      static_cast<std::uint32_t>(one_in(random, 2) ? between(random, 1, 3) : between(random, 0, 8));
  std::vector<std::uint64_t> shape(rank, 1);
  const bool even = one_in(random, 3);
  std::uint64_t elements = 1;
  for (std::uint64_t& extent : shape) {
    const bool is_long = one_in(random, 3);
    extent = is_long ? between(varied, 1, most_elements) : between(varied, 1, 9);
    if (even) extent = (extent + 15) / 16 * 16;
    extent = std::clamp<std::uint64_t>(extent, 1, std::max<std::uint64_t>(most_elements / elements, 1));
    if (even && extent > 16) extent = extent / 16 * 16;
    elements *= extent;
  }
  std::vector<std::int64_t> axes;
  std::vector<std::uint64_t> kept;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (one_in(random, 2)) {
      axes.push_back(one_in(random, 3) ? static_cast<std::int64_t>(d) - rank : d);
    } else {
      kept.push_back(shape[d]);
    }
  }
  std::shuffle(axes.begin(), axes.end(), random);
  if (axes.empty()) kept.clear();  // no axes: all of them
  result.what.axes = axes;
  const ElementType type = one_of(random, all_element_types);
  for (std::size_t s = 0; s < front.sources; ++s) {
    const Order order = random_order(random, rank, true);
    const ElementType own = one_in(random, 3) ? one_of(random, all_element_types) : type;
    result.sources.push_back(laid_out(varied, order, own, shape));
  }
  const Order order = random_order(random, static_cast<std::uint32_t>(kept.size()), false);
  result.destination = laid_out(varied, order, one_of(random, all_element_types), kept);
  return result;
}

RandomReduction dense_reduction(std::uint64_t seed, std::uint64_t most_elements) {
  Random random(seed);
  RandomReduction result = random_functions(random, fronts.at(between(random, 0, fronts_of_one - 1)));
  const auto rank = static_cast<std::uint32_t>(between(random, 1, 5));
  const std::uint64_t longest = between(random, 0, rank - 1);
  std::vector<std::uint64_t> shape(rank);
  std::uint64_t elements = 1;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (d == longest) continue;
    const std::uint64_t most = one_of(random, std::array<std::uint64_t, 3>{3, 20, 200});
    shape[d] = std::clamp<std::uint64_t>(between(random, 1, most), 1,
                                         std::max<std::uint64_t>(most_elements / elements / 8, 1));
    elements *= shape[d];
  }
  shape[longest] = between(random, 1, std::max<std::uint64_t>(most_elements / elements, 1));
  std::vector<std::int64_t> axes;
  std::vector<std::uint64_t> kept;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (one_in(random, 2)) {
      axes.push_back(d);
    } else {
      kept.push_back(shape[d]);
    }
  }
  if (axes.empty()) kept.clear();  // no axes: all of them
  result.what.axes = axes;
  result.sources.push_back(
      {TensorView::contiguous(one_of(random, all_element_types), shape), between(random, 0, 20)});
  const Order order = random_order(random, static_cast<std::uint32_t>(kept.size()), false);
  result.destination = laid_out(random, order, one_of(random, all_element_types), kept);
  return result;
}

RandomReduction shared_reduction(ElementType type, std::uint64_t rows, std::uint64_t columns,
                                 std::int64_t axis, ReductionOp op) {
  const ElementType result = op == ReductionOp::sum ? ElementType::f64 : ElementType::i64;
  return {.what = {.op = op, .axes = {axis}},
          .front = fronts.front().function,
          .behind = behinds.front().function,
          .destination = {TensorView::contiguous(result, {axis == 0 ? columns : rows})},
          .sources = {{TensorView::contiguous(type, {rows, columns})}}};
}

std::string run_reduction(Runtime& runtime, const RandomReduction& reduction, std::uint64_t seed) {
  const std::shared_ptr<Device> device = runtime.device();
  std::vector<ShiftedTensor> sources;
  std::vector<Tensor> on_device;
  std::vector<Tensor> on_host;
  for (const ShiftedView& source : reduction.sources) sources.emplace_back(device, source, poison);
  for (ShiftedTensor& source : sources) {
    fill(source.host, source.on_host().view.type, seed++, reduction.has_nan);
    device->memory().copy_in(source.address(), source.host, nullptr);
    on_device.push_back(source.on_device());
    on_host.push_back(source.on_host());
  }
  ShiftedTensor destination(device, reduction.destination, poison);
  const Operation operation = operation::reduce(destination.on_device(), reduction.what, on_device);
  const std::vector<std::byte> before = destination.host;
  std::vector<std::int64_t> axes(reduction.what.axes.begin(), reduction.what.axes.end());
  for (std::uint32_t d = 0; reduction.what.axes.empty() && d < on_host.front().view.rank; ++d)
    axes.push_back(d);
  for (std::int64_t& axis : axes) axis += axis < 0 ? on_host.front().view.rank : 0;
  Bounds bounds{.least = before, .greatest = before};
  reference::reduce_bounds(destination.in(bounds.least), destination.in(bounds.greatest), on_host,
                           reduction.what.op, axes, reduction.front, reduction.behind);

  for (const KernelPlan& plan : plan_candidates(operation.moves.front(), {.chip = runtime.chip()})) {
    if (!plan.family().does("reduce")) return fmt::format("{} was planned", plan.choice().text());
    device->memory().copy_in(destination.address(), before, nullptr);
    runtime.kernel(plan).launch(plan);
    device->streams().synchronize(nullptr);
    std::vector<std::byte> got(before.size());
    device->memory().copy_out(got, destination.address(), nullptr);
    device->streams().synchronize(nullptr);
    const std::string wrong = difference(bounds, got, reduction.destination.view.type);
    if (!wrong.empty()) return fmt::format("{}: {}", plan.choice().text(), wrong);
  }
  return {};
}

}  // namespace tests
