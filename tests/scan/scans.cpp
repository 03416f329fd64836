#include "scan/scans.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {
namespace {

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random, reference::Scalar;

constexpr std::byte untouched{0xA5};

struct Front {
  const char* expression;
  std::size_t sources;
  Scalar (*function)(std::span<const Scalar>);
};
constexpr std::array fronts{
    Front{"", 1, [](std::span<const Scalar> x) { return x[0]; }},
    Front{"", 1, [](std::span<const Scalar> x) { return x[0]; }},
    Front{"", 1, [](std::span<const Scalar> x) { return x[0]; }},
    Front{"x * x", 1, [](std::span<const Scalar> x) { return reference::multiply(x[0], x[0]); }},
    Front{"x0 * x1", 2, [](std::span<const Scalar> x) { return reference::multiply(x[0], x[1]); }},
    Front{"x0 * x1 * x2 * x3 * x4 * x5 * x6 * x7", 8, [](std::span<const Scalar> x) {
            Scalar product = x[0];
            for (const Scalar& one : x.subspan(1)) product = reference::multiply(product, one);
            return product;
          }}};

ShiftedView random_view(Random& random, Random& varied, ElementType type,
                        const std::vector<std::uint64_t>& shape, bool may_repeat) {
  const std::size_t rank = shape.size();
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (one_in(random, 3)) std::shuffle(order.begin(), order.end(), random);
  ShiftedView result{.view = TensorView::contiguous(type, shape)};
  std::int64_t step = one_in(random, 8) ? 2 : 1;
  const bool gaps = one_in(random, 4);
  for (std::size_t k = rank; k-- > 0;) {
    const std::size_t d = order[k];
    const bool backwards = one_in(random, 8);
    if (may_repeat && one_in(random, 10)) {
      result.view.strides[d] = 0;
      continue;
    }
    result.view.strides[d] = backwards ? -step : step;
    step *= static_cast<std::int64_t>(shape[d]);
    if (gaps) step += static_cast<std::int64_t>(between(varied, 0, 3)) * (one_in(random, 2) ? 16 : 1);
  }
  result.shift = one_in(random, 2) ? between(varied, 0, 17) : 0;
  return result;
}

void fill(std::vector<std::byte>& memory, ElementType type, std::uint64_t seed, const RandomScan& scan) {
  Random random(seed);
  const bool is_unsigned = type == ElementType::u8 || type == ElementType::u16 || type == ElementType::u32 ||
                           type == ElementType::u64;
  for (std::size_t at = 0; at + size_of(type) <= memory.size(); at += size_of(type)) {
    std::int32_t value = static_cast<std::int32_t>(between(random, 0, 4)) - (is_unsigned ? 0 : 2);
    if (scan.what.op == ScanOp::product)
      value = one_in(random, 30) ? 2 : one_in(random, 2) && !is_unsigned ? -1 : 1;
    if (scan.sources.size() > 1) value = one_in(random, 2) && !is_unsigned ? -1 : 1;
    const bool is_nan = scan.has_nan && is_float(type) && one_in(random, 300);
    reference::encode(type, is_nan ? Scalar(std::numeric_limits<float>::quiet_NaN()) : Scalar(value),
                      &memory[at]);
  }
}

std::string difference(const std::vector<std::byte>& want, const std::vector<std::byte>& got,
                       ElementType type) {
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at + size <= got.size(); at += size) {
    if (are_equal(type, &want[at], &got[at])) continue;
    return fmt::format("element {} of memory is {} instead of {}", at / size,
                       reference::bits_text(type, &got[at]), reference::bits_text(type, &want[at]));
  }
  return {};
}

}  // namespace

std::string RandomScan::text() const {
  std::string text = fmt::format("{}{}{}{} of \"{}\", axis {}: {} <-", in_place ? "in place " : "",
                                 what.exclusive ? "exclusive " : "", what.reverse ? "reverse " : "",
                                 name(what.op), what.expression, what.axis, destination.text());
  for (const ShiftedView& source : sources) text += fmt::format(" {};", source.text());
  return text;
}

RandomScan random_scan(std::uint64_t pattern, std::uint64_t variation, std::uint64_t most_elements) {
  Random random(pattern);
  Random varied(variation);
  const Front front = one_of(random, fronts);
  RandomScan result;
  result.what.op = one_of(random, all_scan_ops);
  result.what.exclusive = one_in(random, 3);
  result.what.reverse = one_in(random, 3);
  result.what.expression = front.expression;
  result.front = front.function;
  result.has_nan = (result.what.op == ScanOp::min || result.what.op == ScanOp::max) && one_in(random, 2);
  const auto rank =
      static_cast<std::uint32_t>(one_in(random, 4) ? between(random, 1, 8) : between(random, 1, 3));
  const std::uint64_t axis = between(random, 0, rank - 1);
  result.what.axis =
      one_in(random, 3) ? static_cast<std::int64_t>(axis) - rank : static_cast<std::int64_t>(axis);
  std::vector<std::uint64_t> shape(rank, 1);
  const bool even = one_in(random, 3);
  const std::uint64_t longest = one_in(random, 2) ? axis : between(random, 0, rank - 1);
  std::uint64_t elements = 1;
  for (std::uint32_t k = 0; k < rank; ++k) {
    const std::uint64_t d = (longest + k) % rank;
    const std::uint64_t rest = std::max<std::uint64_t>(most_elements / elements, 1);
    const std::uint64_t most = k == 0 ? rest : one_in(random, 3) ? 300 : 9;
    shape[d] = std::min(rest, between(varied, one_in(varied, 60) ? 0 : 1, most));
    if (even && shape[d] > 16) shape[d] = shape[d] / 16 * 16;
    elements *= std::max<std::uint64_t>(shape[d], 1);
  }
  const ElementType type = one_of(random, all_element_types);
  for (std::size_t s = 0; s < front.sources; ++s) {
    const ElementType own = one_in(random, 3) ? one_of(random, all_element_types) : type;
    result.sources.push_back(random_view(random, varied, own, shape, true));
  }
  result.destination =
      random_view(random, varied, one_in(random, 2) ? type : one_of(random, all_element_types), shape, false);
  result.in_place = front.sources == 1 && one_in(random, 8);
  if (result.in_place) result.sources.front() = result.destination;
  return result;
}

RandomScan dense_scan(const Scan& what, ElementType from, ElementType to,
                      const std::vector<std::uint64_t>& shape, std::uint64_t shift) {
  RandomScan result{.what = what, .front = fronts.front().function, .destination = {}, .sources = {}};
  result.destination = {TensorView::contiguous(to, shape), shift};
  result.sources.push_back({TensorView::contiguous(from, shape), shift});
  return result;
}

std::string run_scan(Runtime& runtime, const RandomScan& scan, std::uint64_t seed) {
  const std::shared_ptr<Device> device = runtime.device();
  std::vector<ShiftedTensor> sources;
  std::vector<Tensor> on_device;
  std::vector<Tensor> on_host;
  for (const ShiftedView& source : scan.sources) sources.emplace_back(device, source, untouched);
  for (ShiftedTensor& source : sources) {
    fill(source.host, source.on_device().view.type, seed++, scan);
    device->memory().copy_in(source.address(), source.host, nullptr);
    on_device.push_back(source.on_device());
    on_host.push_back(source.in(source.host));
  }
  ShiftedTensor own(device, scan.destination, untouched);
  ShiftedTensor& destination = scan.in_place ? sources.front() : own;
  const Operation operation = operation::scan(destination.on_device(), scan.what, on_device);
  const std::vector<std::byte> before = destination.host;
  std::vector<std::byte> want = before;
  Scan what = scan.what;
  if (what.axis < 0) what.axis += scan.destination.view.rank;
  const Tensor to = destination.in(want);
  reference::scan(to, on_host, what, scan.front, reference::whole(to.view));
  const ElementType type = scan.destination.view.type;
  for (const KernelPlan& plan : plan_candidates(operation.moves.front(), {.chip = runtime.chip()})) {
    std::vector<std::byte> first;
    for (int run = 0; run < 2; ++run) {
      device->memory().copy_in(destination.address(), before, nullptr);
      runtime.kernel(plan).launch(plan);
      std::vector<std::byte> got(before.size());
      device->memory().copy_out(got, destination.address(), nullptr);
      device->streams().synchronize(nullptr);
      if (run == 0) first = got;
      std::string wrong = difference(want, got, type);
      if (wrong.empty() && got != first) wrong = "the second launch left other bits";
      if (!wrong.empty()) return fmt::format("{}: {}", plan.choice().text(), wrong);
    }
  }
  return {};
}

}  // namespace tests
