/// The planner's facts about a move (alignments, bytes, spans), and the moves that it refuses.
#include "families/general/general_facts.hpp"
#include "plan/moves.hpp"
#include "plan/violations.hpp"

#include <tmajit/plan.hpp>

#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::dense, tests::source_address, tests::Shape, tests::strided, tests::Strides,
    tests::destination_address;
using tests::Rules;

namespace {

using ElementType::f16;
using ElementType::f32;
constexpr std::uint32_t none = max_view_rank;  // no dimension

Rules rules(const Move& move) {
  return tests::broken_rules([&] { return plan_kernels(Operation::of({move})); });
}

std::string refused_move(const Move& move) {
  return tests::refusal([&] { return plan_kernels(Operation::of({move})); });
}

/// A copy to a dense destination of the source's shape.
Move copy_of(const Tensor& source) {
  const Shape shape(source.view.shape.begin(), source.view.shape.begin() + source.view.rank);
  return {.destination = dense(source.view.type, shape, destination_address), .sources = {source}};
}

}  // namespace

TEST_CASE("alignment is the largest power of two of all addresses, at most 16") {
  const auto of_source = [](const Tensor& source) {
    return make_problem(copy_of(source)).alignment(1, none);
  };
  // The stride of 4 bytes along the row limits the alignment, unless the row is excluded.
  const Problem rows = make_problem(copy_of(strided(f32, {64, 60}, {64, 1})));
  CHECK(rows.alignment(1, none) == 4);
  CHECK(rows.alignment(1, 1) == 16);
  CHECK(rows.alignment(0, 1) == 16);  // rows of 240 bytes
  const Problem odd_rows = make_problem(copy_of(strided(f32, {64, 60}, {62, 1})));
  CHECK(odd_rows.alignment(1, 1) == 8);

  CHECK(of_source(strided(f32, {64, 60}, {64, 2}, source_address + 4)) == 4);
  CHECK(of_source(strided(f32, {64, 60}, {256, 4}, source_address)) == 16);
  CHECK(of_source(strided(f32, {64, 60}, {-256, -4}, source_address)) == 16);
  CHECK(of_source(strided(f32, {64, 60}, {-256, -2}, source_address)) == 8);
  CHECK(of_source(strided(f32, {64, 60}, {0, 0}, source_address + 8)) == 8);
  CHECK(of_source(strided(ElementType::u8, {64, 60}, {256, 16}, source_address + 1)) == 1);
  CHECK(of_source(strided(ElementType::u8, {64, 60}, {1 << 20, 1 << 10}, source_address)) == 16);
}

TEST_CASE("a dimension of extent 1 does not affect the alignment") {
  CHECK(make_problem(copy_of(strided(ElementType::u8, {64, 1}, {16, 3}))).alignment(1, none) == 16);
  CHECK(make_problem(copy_of(strided(ElementType::u8, {1, 1}, {5, 3}, source_address + 2)))
            .alignment(1, none) == 2);
}

TEST_CASE("bytes_read() counts every element once, however often it is read") {
  const auto bytes = [](const Move& move) {
    const Problem problem = make_problem(move);
    return std::pair(problem.bytes_read(), problem.bytes_written());
  };
  using Bytes = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(bytes(copy_of(dense(f32, {64, 100}))) == Bytes{25'600, 25'600});
  CHECK(bytes(copy_of(dense(f32, {}))) == Bytes{4, 4});
  CHECK(bytes(copy_of(dense(f32, {64, 0, 3}))) == Bytes{0, 0});
  CHECK(bytes(copy_of(strided(f32, {64, 100}, {0, 1}))) == Bytes{400, 25'600});
  CHECK(bytes(copy_of(strided(f32, {64, 100}, {1, 0}))) == Bytes{256, 25'600});
  CHECK(bytes(copy_of(strided(f32, {64, 100}, {0, 0}))) == Bytes{4, 25'600});
  CHECK(bytes({dense(f32, {64, 100}, destination_address),
               {dense(f16, {64, 100}), strided(ElementType::u8, {64, 100}, {1, 0}), dense(f32, {64, 100})},
               Map{"x0 + x1 + x2"}}) == Bytes{12'800 + 64 + 25'600, 25'600});
}

TEST_CASE("bytes_read() counts only those elements of a padded source that the destination has") {
  const auto read = [](const Shape& to, const Tensor& source, const std::vector<std::int64_t>& before) {
    const Problem problem =
        make_problem({dense(ElementType::u8, to, destination_address), {source}, Padding{before, 0}});
    CHECK(problem.bytes_written() == dense(ElementType::u8, to).view.elements());
    return problem.bytes_read();
  };
  CHECK(read({14, 24}, dense(ElementType::u8, {10, 20}), {2, 2}) == 200);
  CHECK(read({14, 24}, dense(ElementType::u8, {10, 20}), {-3, 2}) == 7ULL * 20);
  CHECK(read({8, 24}, dense(ElementType::u8, {10, 20}), {3, 10}) == 5ULL * 14);
  CHECK(read({8, 8}, dense(ElementType::u8, {10, 20}), {-1, -5}) == 8ULL * 8);
  CHECK(read({14, 24}, dense(ElementType::u8, {10, 20}), {14, 0}) == 0);
  CHECK(read({14, 24}, dense(ElementType::u8, {10, 20}), {-10, 0}) == 0);
  CHECK(read({14, 24}, strided(ElementType::u8, {10, 20}, {20, 0}), {2, 2}) == 10);
  CHECK(read({14, 24}, strided(ElementType::u8, {10, 20}, {0, 1}), {2, 10}) == 14);
  CHECK(read({14, 24}, strided(ElementType::u8, {10, 20}, {0, 0}), {2, 2}) == 1);
  CHECK(read({14, 24}, strided(ElementType::u8, {10, 20}, {0, 0}), {2, 24}) == 0);
}

TEST_CASE("low and high are the range of an operand's bytes") {
  const auto span = [](const Tensor& source) {
    const Problem problem = make_problem(copy_of(source));
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

TEST_CASE("a source interleaves if its address range and the destination's overlap") {
  // 7 rows of 100 bytes in a matrix of 200 columns.
  const auto columns = [](DevicePtr address) {
    return strided(ElementType::u8, {7, 100}, {200, 1}, address);
  };
  const auto interleaves = [&](DevicePtr from) {
    return make_problem({.destination = columns(destination_address), .sources = {columns(from)}})
        .interleaved[1];
  };
  constexpr DevicePtr reach = 6 * 200 + 100;
  CHECK(interleaves(destination_address + 100));
  CHECK(interleaves(destination_address + reach - 1));
  CHECK_FALSE(interleaves(destination_address + reach));
  CHECK(interleaves(destination_address - reach + 1));
  CHECK_FALSE(interleaves(destination_address - reach));
  CHECK_FALSE(make_problem({.destination = strided(ElementType::u8, {7, 0}, {200, 1}, destination_address),
                            .sources = {strided(ElementType::u8, {7, 0}, {200, 1}, destination_address)}})
                  .interleaved[1]);
  // Each source is compared separately.
  const Problem map = make_problem({.destination = columns(destination_address),
                                    .sources = {columns(source_address), columns(destination_address)},
                                    .body = Map{"x0 + x1"}});
  CHECK_FALSE(map.interleaved[1]);
  CHECK(map.interleaved[2]);
}

TEST_CASE("only kernels of sources that do not interleave load bytes between elements") {
  // Rows of 201 bytes have any alignment.
  const auto rows = [](DevicePtr address) { return strided(ElementType::u8, {64, 190}, {201, 1}, address); };
  const auto source_of = [](const Move& move) {
    return facts_of<GeneralFacts>(tests::default_candidate(move)).source[0];
  };
  const SourceFacts separate = source_of({rows(destination_address), {rows(source_address)}, Map{"x + 1"}});
  CHECK(separate.interleaved == 0);
  CHECK(separate.alignment == 1);
  // In place every chunk has the destination's alignment.
  const SourceFacts in_place =
      source_of({rows(destination_address), {rows(destination_address)}, Map{"x + 1"}});
  CHECK(in_place.interleaved == 1);
  CHECK(in_place.alignment == 16);
}

TEST_CASE("low and high span the whole source even if a padding uses only a part of it") {
  const Tensor source = strided(ElementType::u8, {10, 20}, {-32, 1});
  const Problem problem =
      make_problem({dense(ElementType::u8, {4, 4}, destination_address), {source}, Padding{{-3, -5}, 0}});
  CHECK(problem.low[1] == source_address - 9ULL * 32);
  CHECK(problem.high[1] == source_address + 20);
}

TEST_CASE("an operand's address is that of the nest's first element") {
  // The nest has positive strides in the destination, whatever the caller's view has.
  const Move move{.destination = strided(f32, {8, 8}, {-8, 1}, destination_address + 7ULL * 32),
                  .sources = {dense(f32, {8, 8})}};
  const Problem problem = make_problem(move);
  CHECK(problem.address[0] == destination_address);
  CHECK(problem.address[1] == source_address + 7ULL * 32);
  CHECK(problem.step(0, 0) == 32);
  CHECK(problem.step(1, 0) == -32);

  // The address of a padded source corresponds to the destination's index 0, outside of the source.
  const Problem padded =
      make_problem({dense(f32, {8, 8}, destination_address), {dense(f32, {4, 4})}, Padding{{2, 1}, 3}});
  CHECK(padded.address[1] == source_address - (2 * 4 + 1) * 4ULL);
  CHECK(padded.padding() == 3);
  CHECK(padded.nest.windowed);
}

TEST_CASE("an expression reads coordinates if and only if it contains the identifier g") {
  const auto reads = [](const std::string& expression) {
    return make_problem({dense(f32, {8, 9}, destination_address), {dense(f32, {8, 9})}, Map{expression}})
        .reads()
        .g;
  };
  CHECK(reads("g[0]"));
  CHECK(reads("x + g[1]"));
  CHECK(reads("(g)[0]"));
  CHECK_FALSE(reads("x"));
  CHECK_FALSE(reads("log(x)"));
  CHECK_FALSE(reads("gg + x"));
  CHECK_FALSE(reads("x_g + g1 + _g"));
  // Coordinates refer to the caller's dimensions, so none are merged.
  CHECK(
      make_problem({dense(f32, {8, 9}, destination_address), {dense(f32, {8, 9})}, Map{"g[0]"}}).nest.rank ==
      2);
  CHECK(make_problem({dense(f32, {8, 9}, destination_address), {dense(f32, {8, 9})}, Map{"x"}}).nest.rank ==
        1);
}

TEST_CASE("an address that is not a multiple of the element size is refused") {
  const Move odd{dense(f32, {8}, 0x1002), {dense(f32, {8})}};
  CHECK(rules(odd) == Rules{"address.alignment of the destination: address"});
  CHECK_THAT(refused_move(odd), ContainsSubstring("0x1002") && ContainsSubstring("a multiple of 4 bytes") &&
                                    ContainsSubstring("0x1000"));
  const Move second{
      dense(f16, {8}, destination_address), {dense(f32, {8}), dense(f16, {8}, 0x2001)}, Map{"x0 + x1"}};
  CHECK(rules(second) == Rules{"address.alignment of source 1: address"});
  CHECK_THAT(refused_move(second), ContainsSubstring("0x2001") && ContainsSubstring("a multiple of 2 bytes"));
  CHECK(rules({dense(ElementType::u8, {8}, 0x1001), {dense(ElementType::u8, {8}, 0x2003)}}).empty());
  CHECK(rules({dense(f32, {8}, destination_address), {dense(f32, {8}, 0)}}) ==
        Rules{"address.null of the source: address"});
  // Without elements no address is used.
  CHECK(rules({dense(f32, {0}, 0x1002), {dense(f32, {0}, 0x2001)}}).empty());
  CHECK(rules({dense(f32, {0}, 0), {dense(f32, {0}, 0)}}).empty());
}

TEST_CASE("a number of sources that the move does not take is refused") {
  const Tensor to = dense(f32, {8}, destination_address);
  const Rules range{"sources.range of sources of the destination"};
  CHECK(rules({to, {}}) == range);
  CHECK_THAT(refused_move({to, {}}), ContainsSubstring("1 to 8"));
  CHECK(rules({to, std::vector(9, dense(f32, {8})), Map{"x0"}}) == range);
  CHECK_THAT(refused_move({to, std::vector(9, dense(f32, {8})), Map{"x0"}}), ContainsSubstring("0 to 8"));
  CHECK(rules({to, {}, Map{"g[0]"}}).empty());
  CHECK(rules({to, std::vector(8, dense(f32, {8})), Map{"x7"}}).empty());
  CHECK(rules({to, std::vector(2, dense(f32, {8}))}) ==
        Rules{"sources.expression of sources of the destination"});
  CHECK_THAT(refused_move({to, std::vector(2, dense(f32, {8}))}),
             ContainsSubstring("2 without an expression"));
}

TEST_CASE("mismatching types and shapes and illegal expressions are refused") {
  const Tensor to = dense(f32, {8}, destination_address);
  CHECK(rules({to, {dense(f16, {8})}}) == Rules{"view.type of the source: type"});
  CHECK_THAT(refused_move({to, {dense(f16, {8})}}),
             ContainsSubstring("f16, whose elements have 2 bytes") &&
                 ContainsSubstring("a type of 4 bytes") &&
                 ContainsSubstring("a cast or a map, which converts values"));
  CHECK(rules({to, {dense(ElementType::i32, {8})}}).empty());
  CHECK(rules({to, {dense(f32, {9})}}) == Rules{"view.shape of the source: shape"});
  CHECK_THAT(refused_move({to, {dense(f32, {9})}}),
             ContainsSubstring("dimension 0 has 9 elements instead of 8"));
  CHECK(rules({strided(f32, {8, 2}, {1, 0}, destination_address), {dense(f32, {8, 2})}}) ==
        Rules{"view.overlap of the destination: strides"});
  CHECK_THAT(refused_move({strided(f32, {8, 2}, {1, 0}, destination_address), {dense(f32, {8, 2})}}),
             ContainsSubstring("1,0 for a shape of 8x2") && ContainsSubstring("strides 2,1"));
  const std::string longest = "x" + std::string(max_expression - 1, ' ');
  CHECK(rules({to, {dense(f32, {8})}, Map{longest}}).empty());
  CHECK(rules({to, {dense(f32, {8})}, Map{longest + " "}}) ==
        Rules{"expression.length of expression of the destination"});
  CHECK_THAT(refused_move({to, {dense(f32, {8})}, Map{longest + " "}}),
             ContainsSubstring("1024 characters") && ContainsSubstring("at most 1023"));
  for (const char* text : {"x\n", "x\t+ 1", "x\x7f"}) {
    INFO(text);
    CHECK(rules({to, {dense(f32, {8})}, Map{text}}) ==
          Rules{"expression.characters of expression of the destination"});
  }
  CHECK(rules({to, {dense(f32, {8})}, Map{std::string("x\0", 2)}}) ==
        Rules{"expression.characters of expression of the destination"});
}

TEST_CASE("a coordinate of a dimension that the destination lacks is refused") {
  const auto wrong = [](std::string_view expression, const std::vector<std::uint64_t>& shape) {
    return rules({dense(f32, shape, destination_address), {dense(f32, shape)}, Map{std::string(expression)}});
  };
  const Rules refused{"expression.coordinate of expression of the destination"};
  for (const char* text : {"g[3]", "g[-1]", "x + g [ 1u ]", "g[0] + g[1]", "g[99999999999999999999]"}) {
    INFO(text);
    CHECK(wrong(text, {8}) == refused);
  }
  CHECK(wrong("g[0]", {}) == refused);
  CHECK(wrong("g[1] + 2 * g[0]", {8, 4}).empty());
}

TEST_CASE("paddings that do not match the move's rank or number of sources are refused") {
  const Tensor square = dense(f32, {8, 8}, destination_address);
  CHECK(rules({square, {dense(f32, {6, 6})}, Padding{{1}, 0}}) ==
        Rules{"padding.count of padding of the destination"});
  CHECK(rules({square, {dense(f32, {6})}, Padding{{1, 1}, 0}}) == Rules{"view.rank of the source: rank"});
  CHECK(rules({square, {dense(f32, {6, 6}), dense(f32, {6, 6})}, Padding{{1, 1}, 0}}) ==
        Rules{"sources.expression of sources of the destination"});
  CHECK(rules({square, {dense(f16, {6, 6})}, Padding{{1, 1}, 0}}) == Rules{"view.type of the source: type"});
}
