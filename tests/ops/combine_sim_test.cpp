/// reduce_into() on the simulated device, with wrapping integers, subnormal numbers, NaN and -0.
#include "ptx_alone.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/sim.hpp>

#include <limits>
#include <span>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// The destination's elements after reduce_into() combined the source's elements into them.
template <class T>
std::vector<T> combined(ElementType type, CombineOp op, std::vector<T> destination,
                        const std::vector<T>& source) {
  const Runtime runtime({.device = make_sim_device({.threads = 1}),
                         .cache_directory = tests::shared_kernels(),
                         .compile = tests::ptx_without_lines});
  const auto view = TensorView::contiguous(type, {destination.size()});
  const Buffer to(runtime.device(), view.span_bytes());
  const Buffer from(runtime.device(), view.span_bytes());
  DeviceMemory& memory = runtime.device()->memory();
  memory.copy_in(to.address(), std::as_bytes(std::span(destination)), nullptr);
  memory.copy_in(from.address(), std::as_bytes(std::span(source)), nullptr);
  reduce_into(runtime, {view, to.address()}, op, {view, from.address()});
  runtime.device()->streams().synchronize(nullptr);
  memory.copy_out(std::as_writable_bytes(std::span(destination)), to.address(), nullptr);
  return destination;
}

}  // namespace

TEST_CASE("reduce_into: threads combine the ends of rows like the copy engine combines the rest") {
  // There are 17 elements: the engine combines a multiple of 16 bytes, and a thread combines the rest.
  const std::vector<std::uint32_t> fives(17, 5);
  CHECK(combined(ElementType::u32, CombineOp::inc, fives, std::vector<std::uint32_t>(17, 5)) ==
        std::vector<std::uint32_t>(17, 0));
  CHECK(combined(ElementType::u32, CombineOp::inc, fives, std::vector<std::uint32_t>(17, 6)) ==
        std::vector<std::uint32_t>(17, 6));
  CHECK(combined(ElementType::u32, CombineOp::dec, fives, std::vector<std::uint32_t>(17, 4)) ==
        std::vector<std::uint32_t>(17, 4));
  CHECK(combined(ElementType::u32, CombineOp::dec, fives, std::vector<std::uint32_t>(17, 9)) ==
        std::vector<std::uint32_t>(17, 4));
  CHECK(combined(ElementType::i64, CombineOp::add, std::vector<std::int64_t>(3, -7),
                 std::vector<std::int64_t>(3, 5)) == std::vector<std::int64_t>(3, -2));
  CHECK(combined(ElementType::f64, CombineOp::bit_xor, std::vector<double>(3, 1.5),
                 std::vector<double>(3, 1.5)) == std::vector<double>(3, 0.0));

  // The engine keeps subnormals. The thread that adds the elements after the last 16 bytes flushes them.
  const float tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> five(5, tiny);
  CHECK(combined(ElementType::f32, CombineOp::add, five, five) ==
        std::vector<float>{2 * tiny, 2 * tiny, 2 * tiny, 2 * tiny, 0});
  // bf16: 0x7fc0 is NaN, 0x3f80 is 1, 0x8000 is -0; 1 is a subnormal number.
  using Bits = std::vector<std::uint16_t>;
  constexpr auto bf16 = ElementType::bf16;
  CHECK(combined(bf16, CombineOp::min, Bits(9, 0x7fc0), Bits(9, 0x3f80)) == Bits(9, 0x3f80));
  CHECK(combined(bf16, CombineOp::max, Bits(9, 0x3f80), Bits(9, 0x7fc0)) == Bits(9, 0x3f80));
  CHECK(combined(bf16, CombineOp::min, Bits(9, 0), Bits(9, 0x8000)) == Bits(9, 0x8000));
  CHECK(combined(bf16, CombineOp::add, Bits(9, 1), Bits(9, 1)) == Bits(9, 2));
}
