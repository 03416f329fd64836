/// What the planner knows of a move: alignments, bytes, spans; and what it refuses.
#include "plan/moves.hpp"

#include <tmajit/error.hpp>

#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::dense, tests::from_address, tests::Shape, tests::strided, tests::Strides, tests::to_address;

namespace {

constexpr auto u8 = ElementType::u8;
constexpr auto f16 = ElementType::f16;
constexpr auto f32 = ElementType::f32;
constexpr std::uint32_t none = max_view_rank;  // no dimension

std::string refusal(const Move& move) {
  try {
    (void)move_problem(move);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return {};
}

/// A copy to a dense destination of the source's shape.
Move copy_of(const Tensor& source) {
  const Shape shape(source.view.shape.begin(), source.view.shape.begin() + source.view.rank);
  return {.destination = dense(source.view.type, shape, to_address), .sources = {source}};
}

}  // namespace

TEST_CASE("alignment is the largest power of two of all addresses, at most 16") {
  const auto of_source = [](const Tensor& source) {
    return move_problem(copy_of(source)).alignment(1, none);
  };
  // Steps of 4 bytes along the row spoil it, unless the row is left out.
  const MoveProblem rows = move_problem(copy_of(strided(f32, {64, 60}, {64, 1})));
  CHECK(rows.alignment(1, none) == 4);
  CHECK(rows.alignment(1, 1) == 16);
  CHECK(rows.alignment(0, 1) == 16);  // rows of 240 bytes
  const MoveProblem odd_rows = move_problem(copy_of(strided(f32, {64, 60}, {62, 1})));
  CHECK(odd_rows.alignment(1, 1) == 8);

  CHECK(of_source(strided(f32, {64, 60}, {64, 2}, from_address + 4)) == 4);
  CHECK(of_source(strided(f32, {64, 60}, {256, 4}, from_address)) == 16);
  CHECK(of_source(strided(f32, {64, 60}, {-256, -4}, from_address)) == 16);
  CHECK(of_source(strided(f32, {64, 60}, {-256, -2}, from_address)) == 8);
  CHECK(of_source(strided(f32, {64, 60}, {0, 0}, from_address + 8)) == 8);
  CHECK(of_source(strided(u8, {64, 60}, {256, 16}, from_address + 1)) == 1);
  CHECK(of_source(strided(u8, {64, 60}, {1 << 20, 1 << 10}, from_address)) == 16);
}

TEST_CASE("a dimension of one element has no part in the alignment") {
  CHECK(move_problem(copy_of(strided(u8, {64, 1}, {16, 3}))).alignment(1, none) == 16);
  CHECK(move_problem(copy_of(strided(u8, {1, 1}, {5, 3}, from_address + 2))).alignment(1, none) == 2);
}

TEST_CASE("every element counts once, however often it is read") {
  const auto bytes = [](const Move& move) {
    const MoveProblem problem = move_problem(move);
    return std::pair(problem.bytes_read(), problem.bytes_written());
  };
  using Bytes = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(bytes(copy_of(dense(f32, {64, 100}))) == Bytes{25'600, 25'600});
  CHECK(bytes(copy_of(dense(f32, {}))) == Bytes{4, 4});
  CHECK(bytes(copy_of(dense(f32, {64, 0, 3}))) == Bytes{0, 0});
  CHECK(bytes(copy_of(strided(f32, {64, 100}, {0, 1}))) == Bytes{400, 25'600});
  CHECK(bytes(copy_of(strided(f32, {64, 100}, {1, 0}))) == Bytes{256, 25'600});
  CHECK(bytes(copy_of(strided(f32, {64, 100}, {0, 0}))) == Bytes{4, 25'600});
  CHECK(bytes({dense(f32, {64, 100}, to_address),
               {dense(f16, {64, 100}), strided(u8, {64, 100}, {1, 0}), dense(f32, {64, 100})},
               "x0 + x1 + x2"}) == Bytes{12'800 + 64 + 25'600, 25'600});
}

TEST_CASE("a padded source counts as far as the destination reaches it") {
  const auto read = [](const Shape& to, const Tensor& source, const std::vector<std::int64_t>& before) {
    const MoveProblem problem = move_problem({dense(u8, to, to_address), {source}, {}, Padding{before, 0}});
    CHECK(problem.bytes_written() == dense(u8, to).view.elements());
    return problem.bytes_read();
  };
  CHECK(read({14, 24}, dense(u8, {10, 20}), {2, 2}) == 200);
  CHECK(read({14, 24}, dense(u8, {10, 20}), {-3, 2}) == 7 * 20);
  CHECK(read({8, 24}, dense(u8, {10, 20}), {3, 10}) == 5 * 14);
  CHECK(read({8, 8}, dense(u8, {10, 20}), {-1, -5}) == 8 * 8);
  CHECK(read({14, 24}, dense(u8, {10, 20}), {14, 0}) == 0);
  CHECK(read({14, 24}, dense(u8, {10, 20}), {-10, 0}) == 0);
  CHECK(read({14, 24}, strided(u8, {10, 20}, {20, 0}), {2, 2}) == 10);
  CHECK(read({14, 24}, strided(u8, {10, 20}, {0, 1}), {2, 10}) == 14);
  CHECK(read({14, 24}, strided(u8, {10, 20}, {0, 0}), {2, 2}) == 1);
  CHECK(read({14, 24}, strided(u8, {10, 20}, {0, 0}), {2, 24}) == 0);
}

TEST_CASE("an operand's elements lie between its lowest and highest byte") {
  const auto span = [](const Tensor& source) {
    const MoveProblem problem = move_problem(copy_of(source));
    return std::pair(static_cast<std::int64_t>(problem.low[1] - source.address),
                     static_cast<std::int64_t>(problem.high[1] - source.address));
  };
  using Span = std::pair<std::int64_t, std::int64_t>;
  CHECK(span(dense(f32, {})) == Span{0, 4});
  CHECK(span(dense(f32, {10, 20})) == Span{0, 800});
  CHECK(span(strided(f32, {10, 20}, {32, 1})) == Span{0, (9 * 32 + 19 + 1) * 4});
  CHECK(span(strided(f32, {10, 20}, {-32, 1})) == Span{-9 * 32 * 4, 80});
  CHECK(span(strided(f32, {10, 20}, {32, -1})) == Span{-76, 9 * 32 * 4 + 4});
  CHECK(span(strided(f16, {10, 20}, {-32, -1})) == Span{-(9 * 32 + 19) * 2, 2});
  CHECK(span(strided(f16, {10, 20}, {0, -1})) == Span{-38, 2});
}

TEST_CASE("a span is of the whole source where a padding takes a part of it") {
  const Tensor source = strided(u8, {10, 20}, {-32, 1});
  const MoveProblem problem =
      move_problem({dense(u8, {4, 4}, to_address), {source}, {}, Padding{{-3, -5}, 0}});
  CHECK(problem.low[1] == from_address - 9 * 32);
  CHECK(problem.high[1] == from_address + 20);
}

TEST_CASE("addresses are of the nest's first element") {
  // The destination is walked forwards, whatever the user's view does.
  const Move move{.destination = strided(f32, {8, 8}, {-8, 1}, to_address + 7 * 32),
                  .sources = {dense(f32, {8, 8})}};
  const MoveProblem problem = move_problem(move);
  CHECK(problem.address[0] == to_address);
  CHECK(problem.address[1] == from_address + 7 * 32);
  CHECK(problem.step(0, 0) == 32);
  CHECK(problem.step(1, 0) == -32);

  // A padded source begins where the destination's index 0 would find it.
  const MoveProblem padded =
      move_problem({dense(f32, {8, 8}, to_address), {dense(f32, {4, 4})}, {}, Padding{{2, 1}, 3}});
  CHECK(padded.address[1] == from_address - (2 * 4 + 1) * 4);
  CHECK(padded.padding == 3);
  CHECK(padded.nest.windowed);
}

TEST_CASE("an expression reads coordinates where it names g") {
  const auto reads = [](const std::string& expression) {
    return move_problem({dense(f32, {8, 9}, to_address), {dense(f32, {8, 9})}, expression}).coordinates;
  };
  CHECK(reads("g[0]"));
  CHECK(reads("x + g[1]"));
  CHECK(reads("(g)[0]"));
  CHECK_FALSE(reads("x"));
  CHECK_FALSE(reads("log(x)"));
  CHECK_FALSE(reads("gg + x"));
  CHECK_FALSE(reads("x_g + g1 + _g"));
  // Coordinates are of the user's dimensions: none are merged.
  CHECK(move_problem({dense(f32, {8, 9}, to_address), {dense(f32, {8, 9})}, "g[0]"}).nest.rank == 2);
  CHECK(move_problem({dense(f32, {8, 9}, to_address), {dense(f32, {8, 9})}, "x"}).nest.rank == 1);
}

TEST_CASE("an address that its elements do not fit on is refused") {
  CHECK_THAT(
      refusal({dense(f32, {8}, 0x1002), {dense(f32, {8})}}),
      ContainsSubstring("the destination begins at 0x1002, which is no multiple of the 4 bytes of f32"));
  CHECK_THAT(refusal({dense(f16, {8}, to_address), {dense(f32, {8}), dense(f16, {8}, 0x2001)}, "x0 + x1"}),
             ContainsSubstring("source 1 begins at 0x2001, which is no multiple of the 2 bytes of f16"));
  CHECK(refusal({dense(u8, {8}, 0x1001), {dense(u8, {8}, 0x2003)}}).empty());
  // Nothing is touched.
  CHECK(refusal({dense(f32, {0}, 0x1002), {dense(f32, {0}, 0x2001)}}).empty());
}

TEST_CASE("numbers of sources that do not go together are refused") {
  CHECK_THAT(refusal({dense(f32, {8}, to_address), {}}), ContainsSubstring("0 sources; 1 to 8 are possible"));
  CHECK_THAT(refusal({dense(f32, {8}, to_address), std::vector(9, dense(f32, {8})), "x0"}),
             ContainsSubstring("9 sources; 1 to 8 are possible"));
  CHECK(refusal({dense(f32, {8}, to_address), std::vector(8, dense(f32, {8})), "x7"}).empty());
  CHECK_THAT(refusal({dense(f32, {8}, to_address), std::vector(2, dense(f32, {8}))}),
             ContainsSubstring("2 sources and no expression"));
}

TEST_CASE("types, shapes and expressions that do not go together are refused") {
  CHECK_THAT(
      refusal({dense(f32, {8}, to_address), {dense(f16, {8})}}),
      ContainsSubstring("bits of f16 (2 bytes) cannot be moved to f32 (4 bytes); cast() converts values"));
  CHECK(refusal({dense(f32, {8}, to_address), {dense(ElementType::i32, {8})}}).empty());
  CHECK_THAT(refusal({dense(f32, {8}, to_address), {dense(f32, {9})}}),
             ContainsSubstring("source 0 has the shape 9, the destination 8"));
  CHECK_THAT(refusal({strided(f32, {8, 2}, {1, 0}, to_address), {dense(f32, {8, 2})}}),
             ContainsSubstring("the destination has stride 0 in dimension 1"));
  const std::string longest(max_expression, '1');
  CHECK(refusal({dense(f32, {8}, to_address), {dense(f32, {8})}, longest}).empty());
  CHECK_THAT(refusal({dense(f32, {8}, to_address), {dense(f32, {8})}, longest + "1"}),
             ContainsSubstring("an expression of 1024 characters; at most 1023 are possible"));
}

TEST_CASE("paddings that do not go together with the rest are refused") {
  CHECK_THAT(refusal({dense(f32, {8}, to_address), {dense(f32, {6})}, "x", Padding{{1}, 0}}),
             ContainsSubstring("a padded move with an expression"));
  CHECK_THAT(refusal({dense(f32, {8, 8}, to_address), {dense(f32, {6, 6})}, {}, Padding{{1}, 0}}),
             ContainsSubstring("a padding of 1 dimensions for a destination of 2"));
  CHECK_THAT(refusal({dense(f32, {8, 8}, to_address), {dense(f32, {6})}, {}, Padding{{1, 1}, 0}}),
             ContainsSubstring("a source of 1 dimensions padded to a destination of 2"));
}
