/// The errors of operations, and the addresses that their plans accept. cases_sim_test.cpp tests the results.
#include "plan/violations.hpp"
#include "ptx_alone.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::StartsWith;
using tests::broken_rules, tests::refusal, tests::Rules;

namespace {

using Shape = std::vector<std::uint64_t>;
using Axes = std::vector<std::uint32_t>;
using Slices = std::vector<Slice>;
using Tensors = std::vector<Tensor>;

constexpr DevicePtr here = 0x100000;
constexpr DevicePtr there = 0x200000;
constexpr DevicePtr elsewhere = 0x300000;

Tensor dense(const Shape& shape, DevicePtr address, ElementType type = ElementType::f32) {
  return {TensorView::contiguous(type, shape), address};
}

Runtime& runtime() {
  static Runtime instance({.device = make_sim_device(),
                           .cache_directory = tests::shared_kernels(),
                           .compile = tests::ptx_without_lines});
  return instance;
}

/// A tensor of i32 in an allocation of its own, with the values 0, 1, 2, ….
struct Ints {
  Buffer buffer;
  std::vector<std::int32_t> values;
  Tensor tensor;

  explicit Ints(const Shape& shape, std::int32_t first = 0)
      : buffer(runtime().device(), 4 * std::max<std::uint64_t>(dense(shape, 0).view.elements(), 1)),
        values(dense(shape, 0).view.elements()),
        tensor(dense(shape, buffer.address(), ElementType::i32)) {
    std::iota(values.begin(), values.end(), first);
    runtime().device()->memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
  }
  std::vector<std::int32_t> read() {
    runtime().device()->streams().synchronize(nullptr);
    runtime().device()->memory().copy_out(std::as_writable_bytes(std::span(values)), buffer.address(),
                                          nullptr);
    return values;
  }
};

using Values = std::vector<std::int32_t>;

Rules planned_rules(const Operation& operation) {
  return broken_rules([&] { return plan(runtime(), operation); });
}

bool is_refused_as_overlapping(const Operation& operation) {
  const Rules rules = planned_rules(operation);
  return rules.size() == 1 && rules.front().starts_with("memory.overlap of ");
}

}  // namespace

TEST_CASE("the error for mismatching shapes names the tensor, the dimension and a legal extent") {
  const Tensor to = dense({3, 4}, here);
  CHECK_THROWS_WITH(operation::copy(to, dense({3, 2}, there)),
                    ContainsSubstring("the source of shape 3x2 cannot be broadcast to 3x4: dimension 1 has 2 "
                                      "elements, where 1 or 4 would fit"));
  CHECK_THROWS_WITH(operation::permute(to, dense({3, 4}, there), Axes{1, 0}),
                    ContainsSubstring("the permuted source of shape 4x3"));
  CHECK_THROWS_WITH(operation::permute(to, dense({3, 4}, there), Axes{1, 1}),
                    ContainsSubstring("axes 1,1 of the source: axis 1 is there twice"));
  CHECK_THROWS_WITH(operation::slice(to, dense({9, 9}, there), Slices{{0, 3}, {0, 5}}),
                    ContainsSubstring("the sliced source of shape 3x5"));
  CHECK_THROWS_WITH(operation::slice(to, dense({9, 9}, there), Slices{{}, {0, 4, 0}}),
                    ContainsSubstring("slice 1 of the source has a step of 0"));
  CHECK_THROWS_WITH(operation::map(to, "x0 + x1", Tensors{dense({4}, there), dense({3}, there)}),
                    ContainsSubstring("source 1 of shape 3 "));
  CHECK_THROWS_WITH(operation::cast(to, dense({2, 3, 4}, there, ElementType::u8)),
                    ContainsSubstring("which has 2 dimensions; 3 to 8 are possible"));
}

TEST_CASE("paddings that do not fit are refused") {
  const Tensor to = dense({3, 4}, here);
  const auto rules = [&](const Tensor& source, const Dims& before) {
    return planned_rules(operation::pad(to, source, {.before = before}));
  };
  CHECK(rules(dense({3, 4}, there), {1}) == Rules{"padding.count of padding of the destination"});
  CHECK(rules(dense({4}, there), {0, 0}) == Rules{"view.rank of the source: rank"});
  CHECK(rules(dense({3, 4}, there), {0, INT64_MIN}) == Rules{"padding.range of padding before dimension 1"});
  CHECK_THAT(refusal([&] {
               return plan(runtime(), operation::pad(to, dense({3, 4}, there), {.before = {1}}));
             }),
             ContainsSubstring("found 1 number") && ContainsSubstring("needs one number for each of"));
  CHECK_THAT(refusal([&] {
               return plan(runtime(), operation::pad(to, dense({3, 4}, there), {.before = {0, INT64_MIN}}));
             }),
             ContainsSubstring("within 2^62 of 0"));
}

TEST_CASE("the axis of concat and split may be negative") {
  const Tensor whole = dense({3, 4}, here);
  const Tensors parts{dense({3, 1}, there), dense({3, 3}, elsewhere)};
  CHECK(operation::concat(whole, parts, -1).moves[1].destination ==
        operation::concat(whole, parts, 1).moves[1].destination);
  CHECK(operation::split(parts, whole, -1).moves[1].sources ==
        operation::split(parts, whole, 1).moves[1].sources);
  CHECK_THROWS_WITH(operation::concat(whole, parts, -3),
                    ContainsSubstring("axis -3 of the destination, which has 2 dimensions"));
}

TEST_CASE("a concat along a new axis copies each source to one index of the destination") {
  const Tensor whole = dense({3, 2, 4}, here);
  const Tensors parts{dense({3, 4}, there), dense({3, 4}, elsewhere)};
  const Operation stack = operation::concat(whole, parts, 1, true);
  CHECK(stack.sources == parts);
  REQUIRE(stack.moves.size() == 2);
  const Tensor second = Tensor::strided(whole.view.type, {3, 1, 4}, {8, 4, 1}, here + 16);
  CHECK(stack.moves[1].destination == second);
  CHECK(stack.moves[1].sources == Tensors{Tensor::strided(whole.view.type, {3, 1, 4}, {4, 0, 1}, elsewhere)});
  CHECK(operation::concat(whole, parts, -2, true).moves[1].destination == second);
  // Extents of 1 repeat.
  CHECK(operation::concat(whole, Tensors{parts[0], dense({1, 4}, there)}, 1, true)
            .moves[1]
            .sources.front()
            .view.strides[0] == 0);
  CHECK_THROWS_WITH(operation::concat(whole, parts, 3, true),
                    ContainsSubstring("axis 3 of the destination, which has 3 dimensions; legal: 0 to 2"));
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{parts[0], dense({3, 1, 4}, there)}, 1, true),
                    ContainsSubstring("source 1 has 3 dimensions, the destination 3; with a new axis"));
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{parts[0]}, 1, true),
                    ContainsSubstring("the sources have 1 element along axis 1, the destination has 2"));
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{parts[0], dense({2, 4}, there)}, 1, true),
                    ContainsSubstring("source 1 of shape 2x1x4 cannot be broadcast to 3x1x4"));
}

TEST_CASE("a split that drops its axis copies each index of the source to one destination") {
  const Tensor whole = dense({3, 2, 4}, there);
  const Tensors parts{dense({3, 4}, here), dense({3, 4}, elsewhere)};
  const Operation unstack = operation::split(parts, whole, 1, true);
  CHECK(unstack.destinations == parts);
  REQUIRE(unstack.moves.size() == 2);
  const Tensor second = Tensor::strided(whole.view.type, {3, 1, 4}, {8, 4, 1}, there + 16);
  CHECK(unstack.moves[1].sources == Tensors{second});
  CHECK(unstack.moves[1].destination == Tensor::strided(whole.view.type, {3, 1, 4}, {4, 0, 1}, elsewhere));
  CHECK(operation::split(parts, whole, -2, true).moves[1].sources == Tensors{second});
  // Extents of 1 repeat.
  const Tensor one_row = dense({1, 2, 4}, there);
  CHECK(operation::split(parts, one_row, 1, true).moves[1].sources.front().view.strides[0] == 0);
  CHECK_THROWS_WITH(operation::split(parts, whole, 3, true),
                    ContainsSubstring("axis 3 of the source, which has 3 dimensions; legal: 0 to 2"));
  CHECK_THROWS_WITH(operation::split(Tensors{parts[0], dense({3, 1, 4}, here)}, whole, 1, true),
                    ContainsSubstring("destination 1 has 3 dimensions, the source 3; without the axis"));
  CHECK_THROWS_WITH(operation::split(Tensors{parts[0]}, whole, 1, true),
                    ContainsSubstring("the destinations have 1 element along axis 1, the source has 2"));
}

TEST_CASE("parts whose extents do not add up to the whole tensor's are refused") {
  const Tensor whole = dense({3, 4}, here);
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{dense({3, 4}, there)}, 2),
                    ContainsSubstring("axis 2 of the destination, which has 2 dimensions; legal: 0 to 1"));
  CHECK_THROWS_WITH(operation::concat(dense({}, here), Tensors{dense({}, there)}, 0),
                    ContainsSubstring("which has 0 dimensions"));
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{}, 1), ContainsSubstring("at least one"));
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{dense({3, 1}, there), dense({3}, there)}, 1),
                    ContainsSubstring("source 1 has 1 dimension, the destination 2"));
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{dense({3, 1}, there), dense({3, 2}, there)}, 1),
                    ContainsSubstring("the sources have 3 elements along axis 1, the destination has 4"));
  CHECK_THROWS_WITH(operation::concat(whole, Tensors{dense({3, 1}, there), dense({2, 3}, there)}, 1),
                    ContainsSubstring("source 1 of shape 2x3 cannot be broadcast to 3x3: dimension 0 has 2"));
  CHECK_THROWS_WITH(operation::split(Tensors{dense({3, 1}, there), dense({3, 2}, elsewhere)}, whole, 1),
                    ContainsSubstring("the destinations have 3 elements along axis 1, the source has 4"));
  CHECK_THROWS_WITH(operation::split(Tensors{dense({3, 1}, there), dense({2, 3}, elsewhere)}, whole, 1),
                    ContainsSubstring("part 1 of the source of shape 3x3 cannot be broadcast to 2x3"));
}

TEST_CASE("tensors whose byte offsets overflow 64 bits are refused") {
  const auto rules = [](const Tensor& destination, const Tensor& source) {
    return planned_rules(operation::copy(destination, source));
  };
  const auto tensor = [](const std::vector<std::uint64_t>& shape, const std::vector<std::int64_t>& strides,
                         DevicePtr address) {
    // TensorView::strided() would refuse the largest extents.
    TensorView view{.type = ElementType::f32, .rank = static_cast<std::uint32_t>(shape.size())};
    std::ranges::copy(shape, view.shape.begin());
    std::ranges::copy(strides, view.strides.begin());
    return Tensor{view, address};
  };
  const Tensor to = dense({2, 4}, here);
  CHECK(rules(to, tensor({2, 4}, {INT64_MAX, 1}, there)) == Rules{"view.bytes of the source: dimension 0"});
  CHECK(rules(to, tensor({2, 4}, {INT64_MIN, 1}, there)) == Rules{"view.bytes of the source: dimension 0"});
  CHECK(rules(dense({1, 4}, here), tensor({1, 4}, {INT64_MIN, 1}, there)) ==
        Rules{"view.bytes of the source: dimension 0"});
  CHECK(rules(to, tensor({2, 4}, {std::int64_t{1} << 60, std::int64_t{1} << 60}, there)) ==
        Rules{"view.bytes of the source: dimension 0"});
  CHECK(rules(tensor({1ULL << 61, 4}, {4, 1}, here), tensor({1ULL << 61, 4}, {0, 1}, there)) ==
        Rules{"view.bytes of the destination: dimension 0"});
  CHECK(rules(tensor({UINT64_MAX}, {1}, here), tensor({UINT64_MAX}, {0}, there)) ==
        Rules{"view.bytes of the destination: dimension 0", "view.bytes of the source: dimension 0"});
  CHECK(planned_rules(operation::pad(to, tensor({1ULL << 63, 1}, {0, 1}, there), {.before = {0, 0}})) ==
        Rules{"view.bytes of the source: dimension 0"});
  CHECK_THAT(refusal([&] {
               return plan(runtime(), operation::copy(to, tensor({2, 4}, {INT64_MAX, 1}, there)));
             }),
             ContainsSubstring("at most 2^62"));
  // Such a source is legal in a pad that takes none of its elements.
  CHECK_NOTHROW(static_cast<void>(
      plan(runtime(), operation::pad(to, dense({2, 4}, there), {.before = {std::int64_t{1} << 62, 0}}))));
  CHECK_NOTHROW(static_cast<void>(
      plan(runtime(), operation::pad(to, dense({2, 4}, there), {.before = {0, -(std::int64_t{1} << 62)}}))));
}

TEST_CASE("illegal tensors and moves are refused") {
  const Tensor to = dense({4}, here);
  const auto rules = [](const Operation& operation) { return planned_rules(operation); };
  const auto message = [](const Operation& operation) {
    return refusal([&] { return plan(runtime(), operation); });
  };

  const Operation narrow = operation::copy(to, dense({4}, there, ElementType::u8));
  CHECK(rules(narrow) == Rules{"view.type of the source: type"});
  CHECK_THAT(message(narrow), ContainsSubstring("u8, whose elements have 1 byte") &&
                                  ContainsSubstring("like f32 of the destination") &&
                                  ContainsSubstring("a cast or a map"));
  const Operation odd_address = operation::copy(to, dense({4}, there + 2));
  CHECK(rules(odd_address) == Rules{"address.alignment of the source: address"});
  CHECK_THAT(message(odd_address), ContainsSubstring("0x200002") &&
                                       ContainsSubstring("a multiple of 4 bytes") &&
                                       ContainsSubstring("0x200000"));
  CHECK(rules(operation::copy(dense({4}, 0), dense({4}, there))) ==
        Rules{"address.null of the destination: address"});
  CHECK(is_refused_as_overlapping(operation::copy(to, dense({4}, here + 12))));
  CHECK_THROWS_WITH(operation::map(to, "", Tensors{dense({4}, there)}),
                    ContainsSubstring("without an expression"));
  CHECK(rules(operation::map(to, "1", Tensors{})).empty());
  const Operation many = operation::map(to, "x0", Tensors(9, dense({4}, there)));
  CHECK(rules(many) == Rules{"sources.range of sources of the destination"});
  CHECK_THAT(message(many), ContainsSubstring("9") && ContainsSubstring("0 to 8"));

  Tensor odd = dense({4}, there);
  odd.view.type = static_cast<ElementType>(77);
  CHECK(rules(operation::copy(to, odd)) == Rules{"type.known of the source: type"});
  CHECK_THAT(message(operation::copy(to, odd)), ContainsSubstring("number 77"));
  odd = dense({4}, there);
  odd.view.rank = 9;
  CHECK_THROWS_WITH(operation::copy(to, odd), ContainsSubstring("9 dimensions"));
  CHECK(rules(Operation::of({{.destination = to, .sources = {odd}}})) ==
        Rules{"rank.range of the source: rank"});

  const Operation two =
      Operation::of({{.destination = to, .sources = {dense({4}, there), dense({4}, there)}}});
  CHECK(rules(two) == Rules{"sources.expression of sources of the destination"});
  CHECK(rules(Operation::of({{.destination = to, .sources = {}}})) ==
        Rules{"sources.range of sources of the destination"});
  const Operation longer = Operation::of({{.destination = to, .sources = {dense({5}, there)}}});
  CHECK(rules(longer) == Rules{"view.shape of the source: shape"});
  CHECK_THAT(message(longer), ContainsSubstring("dimension 0 has 5 elements instead of 4"));
  const Operation deeper = Operation::of({{.destination = to, .sources = {dense({1, 4}, there)}}});
  CHECK(rules(deeper) == Rules{"view.shape of the source: shape"});
  CHECK_THAT(message(deeper), ContainsSubstring("2 dimensions instead of 1"));
}

TEST_CASE("the error for several moves lists all broken rules with the moves' numbers") {
  const std::vector<Move> moves{{.destination = dense({4}, here + 2), .sources = {dense({4}, there)}},
                                {.destination = dense({4}, elsewhere), .sources = {dense({5}, 0)}}};
  CHECK(planned_rules(Operation::of(moves)) ==
        Rules{"address.alignment of the destination of move 0: address",
              "view.shape of the source of move 1: shape", "address.null of the source of move 1: address"});
}

TEST_CASE("a plan can be called with new addresses for its operation's tensors") {
  SECTION("a concatenation has one destination and may have empty parts") {
    Ints a({2, 1});
    Ints none({2, 0});
    Ints b({2, 2}, 10);
    Ints to({2, 3});
    const Plan again =
        plan(runtime(), operation::concat(to.tensor, Tensors{a.tensor, none.tensor, b.tensor}, 1));
    again();
    CHECK(to.read() == Values{0, 10, 11, 1, 12, 13});
    Ints other({2, 3});
    const std::array sources{a.buffer.address(), none.buffer.address(), b.buffer.address()};
    again(std::array{other.buffer.address()}, sources);
    CHECK(other.read() == to.values);
    CHECK_THROWS_WITH(again(std::array{here, there}, sources),
                      ContainsSubstring("1 destination, but 2 addresses"));
    CHECK_THROWS_WITH(again(std::array{other.buffer.address()}, std::array{here}),
                      ContainsSubstring("3 sources, but 1 address is given"));
    const auto rules = [&](DevicePtr destination) {
      return broken_rules([&] { return again(std::array{destination}, sources), 0; });
    };
    CHECK(rules(other.buffer.address() + 2).front() ==
          "address.alignment of the destination of move 0: address");
    const Rules shared = rules(b.buffer.address());
    REQUIRE(!shared.empty());
    CHECK_THAT(shared.front(), StartsWith("memory.overlap of "));
    CHECK_THAT(shared.front(), ContainsSubstring("of move 2 (i32 2x2 "));
  }
  SECTION("a split has one source") {
    Ints from({4});
    Ints a({1}, 100);
    Ints b({3}, 100);
    const Plan again = plan(runtime(), operation::split(Tensors{a.tensor, b.tensor}, from.tensor, 0));
    Ints other({4}, 50);
    again(std::array{a.buffer.address(), b.buffer.address()}, std::array{other.buffer.address()});
    CHECK(a.read() == Values{50});
    CHECK(b.read() == Values{51, 52, 53});
  }
  SECTION("a slice takes the address of its whole source") {
    Ints from({10});
    Ints to({3}, 100);
    const Plan again = plan(runtime(), operation::slice(to.tensor, from.tensor, Slices{{-1, {}, -4}}));
    again();
    CHECK(to.read() == Values{9, 5, 1});
    Ints other({10}, 20);
    again(std::array{to.buffer.address()}, std::array{other.buffer.address()});
    CHECK(to.read() == Values{29, 25, 21});
  }
  SECTION("an operation of the caller's moves has the tensors of these moves") {
    Ints from({4});
    Ints to({4}, 100);
    const Move move{.destination = to.tensor, .sources = {flipped(from.tensor, 0)}};
    const Plan again = plan(runtime(), Operation::of({move}));
    again(std::array{to.buffer.address()}, std::array{from.buffer.address() + 12});
    CHECK(to.read() == Values{3, 2, 1, 0});
  }
}

TEST_CASE("a cast to the same type keeps every bit") {
  // A negative NaN of e4m3, whose sign a conversion through f32 would lose.
  const Buffer from(runtime().device(), 4);
  const Buffer to(runtime().device(), 4);
  const std::array<std::uint8_t, 4> bits{0xff, 0x7f, 0x80, 0x01};
  runtime().device()->memory().copy_in(from.address(), std::as_bytes(std::span(bits)), nullptr);
  cast(runtime(), dense({4}, to.address(), ElementType::e4m3), dense({4}, from.address(), ElementType::e4m3));
  runtime().device()->streams().synchronize(nullptr);
  std::array<std::uint8_t, 4> found{};
  runtime().device()->memory().copy_out(std::as_writable_bytes(std::span(found)), to.address(), nullptr);
  CHECK(found == bits);
}

TEST_CASE("a runtime without a device plans and compiles, but launches are errors") {
  Runtime without({.device = nullptr, .cache_directory = std::nullopt});
  const Plan transpose_plan =
      plan(without, operation::permute(dense({64, 32}, here), dense({32, 64}, there), Axes{1, 0}));
  REQUIRE(transpose_plan.plans().size() == 1);
  REQUIRE(transpose_plan.kernels().size() == 1);
  CHECK_FALSE(transpose_plan.kernels()[0].artifact().cubin.empty());
  CHECK(transpose_plan.bytes_moved() == 2ULL * 64 * 32 * 4);
  CHECK(transpose_plan.explain().steps.size() == 1);
  const auto code_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  CHECK(code_of([&] { transpose_plan(); }) == ErrorCode::unavailable);
  CHECK(code_of([&] { transpose_plan(std::array{elsewhere}, std::array{there}); }) == ErrorCode::unavailable);
  CHECK(code_of([&] { static_cast<void>(tune(without, transpose_plan)); }) == ErrorCode::unavailable);
  // Without elements there is nothing to launch.
  const Plan nothing = plan(without, operation::copy(dense({0, 4}, here), dense({0, 4}, there)));
  CHECK(nothing.plans().empty());
  CHECK_NOTHROW(nothing());
}
