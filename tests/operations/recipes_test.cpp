// Recipes: results computed by hand, shapes, types, and errors.
#include "operations/names.hpp"
#include "operations/references.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace recipes_test {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A dense tensor in host memory.
template <class T>
struct Elements {
  ElementType type;
  std::vector<std::uint64_t> shape;
  std::vector<T> numbers;
  Tensor host() { return Tensor::contiguous(type, Dims(shape), reinterpret_cast<DevicePtr>(numbers.data())); }
};
using Floats = Elements<float>;

Floats floats(std::vector<std::uint64_t> shape, std::vector<float> numbers) {
  return {ElementType::f32, std::move(shape), std::move(numbers)};
}
Floats zeros(std::vector<std::uint64_t> shape) {
  std::size_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return floats(std::move(shape), std::vector<float>(count));
}

void run(const Operation& operation) {
  for (const Move& move : operation.moves) {
    REQUIRE(reference::understands(move));
  }
  // One kernel computes all destinations from the sources as they were.
  for (const Move& move : operation.moves) reference::compute(move);
}

void check(const Floats& found, const std::vector<double>& wanted) {
  REQUIRE(found.numbers.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO("element " << i);
    if (std::isnan(wanted[i])) {
      CHECK(std::isnan(found.numbers[i]));
    } else {
      CHECK(found.numbers[i] == Approx(wanted[i]).margin(1e-6));
    }
  }
}

constexpr double ln2 = 0.693147180559945;
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("softmax and its relatives by hand") {
  const auto log2f = static_cast<float>(ln2);
  Floats x = floats({2, 2}, {0, log2f, 5, 5});  // e^x of the first row: 1, 2
  Floats y = zeros({2, 2});
  run(operation::softmax({y.host()}, {x.host()}));
  check(y, {1.0 / 3, 2.0 / 3, 0.5, 0.5});
  Floats dy = floats({2, 2}, {3, 0, 1, -1});
  Floats dx = zeros({2, 2});
  run(operation::softmax_backward({dx.host()}, {dy.host(), y.host()}));  // sums of dy · y: 1, 0
  check(dx, {2.0 / 3, -2.0 / 3, 0.5, -0.5});
  run(operation::log_softmax({y.host()}, {x.host()}));
  check(y, {-std::log(3), ln2 - std::log(3), -ln2, -ln2});
  run(operation::log_softmax_backward({dx.host()}, {dy.host(), y.host()}));  // sums of dy: 3, 0
  check(dx, {2, -2, 1, -1});
  Floats sums = zeros({2});
  run(operation::logsumexp({sums.host()}, {x.host()}));
  check(sums, {std::log(3), 5 + ln2});
  run(operation::softmax({y.host()}, {x.host()}, {.axis = 0}));
  check(y,
        {1 / (1 + std::exp(5)), 2 / (2 + std::exp(5)), 1 / (1 + std::exp(-5)), 1 / (1 + 2 * std::exp(-5))});
  Floats none = floats({2, 2}, {-infinity, -infinity, infinity, 0});
  run(operation::softmax({y.host()}, {none.host()}));
  check(y, {no_number, no_number, no_number, no_number});  // as PyTorch
  run(operation::logsumexp({sums.host()}, {none.host()}));
  CHECK(sums.numbers == std::vector{-infinity, infinity});
  Floats far = floats({1, 2}, {1000, 1000});
  Floats one = zeros({1, 2});
  run(operation::softmax({one.host()}, {far.host()}));
  check(one, {0.5, 0.5});
}

TEST_CASE("norms by hand") {
  Floats x = floats({2, 2}, {3, 4, -1, 1});
  Floats y = zeros({2, 2});
  Floats weight = floats({2}, {2, 10});
  const double root = std::sqrt(12.5);
  run(operation::rms_norm({y.host()}, {x.host()}));
  check(y, {3 / root, 4 / root, -1, 1});
  run(operation::rms_norm({y.host()}, {x.host(), weight.host()}, {.eps = 3.5}));
  check(y, {6 / 4.0, 40 / 4.0, -2 / std::sqrt(4.5), 10 / std::sqrt(4.5)});
  run(operation::rms_norm({y.host()}, {x.host(), weight.host()}, {.axis = 0, .eps = 0}));
  check(y, {6 / std::sqrt(5), 8 / std::sqrt(8.5), -10 / std::sqrt(5), 10 / std::sqrt(8.5)});
  Floats residual = floats({2, 2}, {0, -1, 2, 0});
  Floats sum = zeros({2, 2});
  run(operation::add_rms_norm({y.host(), sum.host()}, {x.host(), residual.host(), weight.host()},
                              {.eps = 0}));
  check(sum, {3, 3, 1, 1});
  check(y, {2, 10, 2, 10});
  Floats bias = floats({2}, {100, -1});
  run(operation::layer_norm({y.host()}, {x.host()}, {.eps = 0}));
  check(y, {-1, 1, -1, 1});
  run(operation::layer_norm({y.host()}, {x.host(), weight.host(), bias.host()}, {.eps = 0}));
  check(y, {98, 9, 98, 9});
  run(operation::layer_norm({y.host()}, {x.host(), weight.host()}, {.eps = 0.75}));  // of 0.25 and 1
  check(y, {-1, 5, -2 / std::sqrt(1.75), 10 / std::sqrt(1.75)});
  Floats long_rows = floats({2, 2}, {3, 4, 0, 0});
  run(operation::l2_normalize({y.host()}, {long_rows.host()}));
  check(y, {0.6, 0.8, 0, 0});
  run(operation::l2_normalize({y.host()}, {long_rows.host()}, {.eps = 10}));
  check(y, {0.3, 0.4, 0, 0});
}

TEST_CASE("gradients of norms by hand") {
  // Rows 1, 1 with a mean square of 1: dx = g − x · mean(g · x).
  Floats x = floats({1, 2}, {1, 1});
  Floats dy = floats({1, 2}, {4, 1});
  Floats weight = floats({2}, {1, 2});
  Floats dx = zeros({1, 2});
  run(operation::rms_norm_backward({dx.host()}, {dy.host(), x.host()}, {.eps = 0}));
  check(dx, {1.5, -1.5});
  run(operation::rms_norm_backward({dx.host()}, {dy.host(), x.host(), weight.host()}, {.eps = 0}));
  check(dx, {1, -1});
  // Row −1, 0, 1 with a variance of 2/3 + eps = 1: h = x; dx = g − mean(g) − h · mean(g · h).
  Floats row = floats({1, 3}, {4, 5, 6});
  Floats given = floats({1, 3}, {3, 0, 0});
  Floats found = zeros({1, 3});
  run(operation::layer_norm_backward({found.host()}, {given.host(), row.host()}, {.eps = 1.0 / 3}));
  check(found, {1, -1, 0});
  Floats weights = floats({3}, {2, 7, 7});
  run(operation::layer_norm_backward({found.host()}, {given.host(), row.host(), weights.host()},
                                     {.eps = 1.0 / 3}));
  check(found, {2, -2, 0});
}

TEST_CASE("cross-entropy by hand, with labels that are no index") {
  Floats logits = floats({3, 2}, {0, static_cast<float>(ln2), 7, 7, 1, 2});
  Elements<std::int64_t> labels{ElementType::i64, {3}, {1, 0, -100}};
  Floats loss = zeros({3});
  Floats gradient = zeros({3, 2});
  run(operation::cross_entropy({loss.host()}, {logits.host(), labels.host()}));
  check(loss, {std::log(1.5), ln2, 0});
  run(operation::cross_entropy_with_gradient({loss.host(), gradient.host()}, {logits.host(), labels.host()}));
  check(loss, {std::log(1.5), ln2, 0});
  check(gradient, {1.0 / 3, -1.0 / 3, -0.5, 0.5, 0, 0});
  Floats given = floats({3}, {3, 2, 5});
  run(operation::cross_entropy_backward({gradient.host()}, {given.host(), logits.host(), labels.host()}));
  check(gradient, {1, -1, -1, 1, 0, 0});
  Elements<std::int32_t> beyond{ElementType::i32, {3, 1}, {2, 1, 0}};
  run(operation::cross_entropy({loss.host()}, {logits.host(), beyond.host()}));
  check(loss, {0, ln2, std::log(1 + std::exp(1))});
}

TEST_CASE("the maximum and its index by hand") {
  Elements<std::int32_t> x{ElementType::i32, {2, 3}, {1, 9, 9, -5, -7, -6}};
  Elements<std::int32_t> y{ElementType::i32, {2}, {0, 0}};
  Elements<std::int64_t> index{ElementType::i64, {2}, {0, 0}};
  run(operation::max_with_index({y.host(), index.host()}, {x.host()}));
  CHECK(y.numbers == std::vector{9, -5});
  CHECK(index.numbers == std::vector<std::int64_t>{1, 0});
}

TEST_CASE("quantised rows and blocks by hand") {
  Floats x = floats({2, 4}, {127, -2.5F, 3.5F, 0.4F, 0, 0, 0, 0});
  Elements<std::int8_t> q{ElementType::i8, {2, 4}, std::vector<std::int8_t>(8)};
  Floats scale = zeros({2});
  run(operation::quantize_rows({q.host(), scale.host()}, {x.host()}));
  CHECK(q.numbers == std::vector<std::int8_t>{127, -2, 4, 0, 0, 0, 0, 0});  // ties to even; zeros: scale 1
  CHECK(scale.numbers == std::vector{1.0F, 1.0F});
  Floats scales = zeros({2, 2});
  run(operation::quantize_rows({q.host(), scales.host()}, {x.host()}, {.block = 2}));
  CHECK(q.numbers == std::vector<std::int8_t>{127, -2, 127, 15, 0, 0, 0, 0});
  CHECK(scales.numbers == std::vector{1.0F, 3.5F / 127, 1.0F, 1.0F});
  Floats back = zeros({2, 4});
  run(operation::dequantize_rows({back.host()}, {q.host(), scales.host()}, {.block = 2}));
  check(back, {127, -2, 3.5, 15 * 3.5 / 127, 0, 0, 0, 0});
  run(operation::dequantize_rows({back.host()}, {q.host(), scale.host()}));
  check(back, {127, -2, 127, 15, 0, 0, 0, 0});
  // Columns in blocks of one row each: all elements are the greatest of their block.
  Floats by_column = zeros({2, 4});
  run(operation::quantize_rows({q.host(), by_column.host()}, {x.host()}, {.axis = 0, .block = 1}));
  CHECK(q.numbers == std::vector<std::int8_t>{127, -127, 127, 127, 0, 0, 0, 0});
  // e4m3: 448 is 0x7e, 1 is 0x38; e5m2: 57344 is 0x7b.
  Floats powers = floats({1, 2}, {896, 2});
  Elements<std::uint8_t> bits{ElementType::e4m3, {1, 2}, {0, 0}};
  Floats two = zeros({1});
  run(operation::quantize_rows({bits.host(), two.host()}, {powers.host()}));
  CHECK(bits.numbers == std::vector<std::uint8_t>{0x7e, 0x38});
  CHECK(two.numbers == std::vector{2.0F});
  bits.type = ElementType::e5m2;
  run(operation::quantize_rows({bits.host(), two.host()}, {powers.host()}, {.to = ElementType::e5m2}));
  CHECK(bits.numbers.front() == 0x7b);
  Floats small = floats({1, 2}, {1e-38F, 1e-31F});  // their scale could not be inverted
  run(operation::quantize_rows({bits.host(), two.host()}, {small.host()}));
  CHECK((bits.numbers == std::vector<std::uint8_t>{0, 0} && two.numbers.front() == 1));
}

TEST_CASE("quantised square blocks by hand") {
  Floats x = floats({2, 4}, {127, -2.5F, 0, 0, 3.5F, 0.4F, 0, -254});
  Elements<std::int8_t> q{ElementType::i8, {2, 4}, std::vector<std::int8_t>(8)};
  Floats scales = zeros({1, 2});
  run(operation::quantize_blocks({q.host(), scales.host()}, {x.host()}, {.block = 2}));
  CHECK(q.numbers == std::vector<std::int8_t>{127, -2, 0, 0, 4, 0, 0, -127});
  CHECK(scales.numbers == std::vector{1.0F, 2.0F});
  Floats back = zeros({2, 4});
  run(operation::dequantize_blocks({back.host()}, {q.host(), scales.host()}, {.block = 2}));
  check(back, {127, -2, 0, 0, 4, 0, 0, -254});
  // Several matrices; blocks of one element have scales of their own.
  Floats deep = floats({2, 1, 2}, {127, -254, 0, 1});
  Elements<std::int8_t> bytes{ElementType::i8, {2, 1, 2}, std::vector<std::int8_t>(4)};
  Floats own = zeros({2, 1, 2});
  run(operation::quantize_blocks({bytes.host(), own.host()}, {deep.host()}, {.block = 1}));
  CHECK(bytes.numbers == std::vector<std::int8_t>{127, -127, 0, 127});
  CHECK(own.numbers == std::vector{1.0F, 2.0F, 1.0F, 1.0F / 127});
}

TEST_CASE("quantised tensors by hand") {
  Floats x = floats({2, 2}, {127, -2.5F, 3.5F, -254});
  Elements<std::int8_t> q{ElementType::i8, {2, 2}, std::vector<std::int8_t>(4)};
  Floats scale = zeros({});
  run(operation::quantize_tensor({q.host(), scale.host()}, {x.host()}));
  CHECK(q.numbers == std::vector<std::int8_t>{64, -1, 2, -127});  // 63.5 and -1.25, 1.75
  CHECK(scale.numbers == std::vector{2.0F});
  Floats back = zeros({2, 2});
  run(operation::dequantize_tensor({back.host()}, {q.host(), scale.host()}));
  check(back, {128, -2, 4, -254});
}

TEST_CASE("swiglu and rotary by hand") {
  Floats a = floats({1, 2}, {0, static_cast<float>(ln2)});  // sigmoids: 1/2, 2/3
  Floats b = floats({1, 2}, {5, 3});
  Floats y = zeros({1, 2});
  run(operation::swiglu({y.host()}, {a.host(), b.host()}));
  check(y, {0, 2 * ln2});
  Floats both = floats({1, 4}, {0, static_cast<float>(ln2), 5, 3});
  y.numbers = {7, 7};
  run(operation::swiglu({y.host()}, {both.host()}));
  check(y, {0, 2 * ln2});
  Floats dy = floats({1, 2}, {2, 3});
  Floats da = zeros({1, 2});
  Floats db = zeros({1, 2});
  const double second = 3 * 3 * 2.0 / 3 * (1 + ln2 / 3);
  run(operation::swiglu_backward({da.host(), db.host()}, {dy.host(), a.host(), b.host()}));
  check(da, {5, second});
  check(db, {0, 2 * ln2});
  Floats dboth = zeros({1, 4});
  run(operation::swiglu_backward({dboth.host()}, {dy.host(), both.host()}));
  check(dboth, {5, second, 0, 2 * ln2});

  Floats x = floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  Floats turned = zeros({2, 4});
  Floats cos = floats({2}, {0, 1});  // a quarter turn, and none
  Floats sin = floats({2}, {1, 0});
  run(operation::rotary({turned.host()}, {x.host(), cos.host(), sin.host()}));
  check(turned, {-3, 2, 1, 4, -7, 6, 5, 8});
  run(operation::rotary({turned.host()}, {x.host(), cos.host(), sin.host()}, {.layout = "pairs"}));
  check(turned, {-2, 1, 3, 4, -6, 5, 7, 8});
}

TEST_CASE("results of recipes have PyTorch's types") {
  const auto types = [](std::string_view name, ElementType rows, const Arguments& given = {}) {
    const auto sources =
        sources_of(name, TensorView::contiguous(rows, {3, 8}), find_operation(name).min_sources, given);
    std::vector<ElementType> found;
    for (const TensorView& view : destinations_of(name, sources, given)) found.push_back(view.type);
    return found;
  };
  using enum ElementType;
  using Types = std::vector<ElementType>;
  CHECK(types("softmax", bf16) == Types{bf16});
  CHECK(types("logsumexp", bf16) == Types{f32});
  CHECK(types("logsumexp", f64) == Types{f64});
  CHECK(types("add_rms_norm", f16) == Types{f16, f16});
  CHECK(types("cross_entropy_with_gradient", bf16) == Types{f32, bf16});
  CHECK(types("max_with_index", u16) == Types{u16, i64});
  CHECK(types("quantize_rows", bf16) == Types{e4m3, f32});
  CHECK(types("quantize_rows", bf16, {{"to", "i8"}}) == Types{i8, f32});
  CHECK(types("dequantize_rows", f32) == Types{f32});
}

TEST_CASE("shapes of a recipe's operands follow from its rows") {
  const TensorView rows = TensorView::contiguous(ElementType::f32, {3, 8, 5});
  const auto shapes = [&](std::string_view name, std::size_t count, const Arguments& given) {
    const auto sources = sources_of(name, rows, count, given);
    std::vector<std::vector<std::uint64_t>> found;
    const auto add = [&](const TensorView& view) {
      found.emplace_back(view.shape.begin(), view.shape.begin() + view.rank);
    };
    std::ranges::for_each(sources, add);
    std::ranges::for_each(destinations_of(name, sources, given), add);
    return found;
  };
  using Shapes = std::vector<std::vector<std::uint64_t>>;
  const Arguments middle{{"axis", std::int64_t{1}}};
  const Arguments blocks{{"axis", std::int64_t{-2}}, {"block", std::int64_t{4}}};
  CHECK(shapes("rms_norm", 2, middle) == Shapes{{3, 8, 5}, {8}, {3, 8, 5}});
  CHECK(shapes("cross_entropy", 2, middle) == Shapes{{3, 8, 5}, {3, 5}, {3, 5}});
  CHECK(shapes("quantize_rows", 1, blocks) == Shapes{{3, 8, 5}, {3, 8, 5}, {3, 2, 5}});
  const Arguments squares{{"block", std::int64_t{1}}};
  CHECK(shapes("quantize_blocks", 1, squares) == Shapes(3, {3, 8, 5}));
  CHECK(shapes("dequantize_blocks", 2, squares) == Shapes(3, {3, 8, 5}));
  CHECK(shapes("quantize_tensor", 1, {}) == Shapes{{3, 8, 5}, {3, 8, 5}, {}});
  CHECK(shapes("dequantize_tensor", 2, {}) == Shapes{{3, 8, 5}, {}, {3, 8, 5}});
  CHECK(shapes("swiglu", 1, middle) == Shapes{{3, 8, 5}, {3, 4, 5}});
  CHECK(shapes("swiglu_backward", 2, middle) == Shapes{{3, 8, 5}, {3, 16, 5}, {3, 16, 5}});
  CHECK(shapes("swiglu_backward", 3, {}) == Shapes(5, {3, 8, 5}));
  CHECK(shapes("rotary", 3, middle) == Shapes{{3, 8, 5}, {3, 4, 5}, {3, 4, 5}, {3, 8, 5}});
  CHECK_THROWS_MATCHES(sources_of("copy", rows, 1, {}), Error,
                       MessageMatches(ContainsSubstring("copy is no recipe")));
  CHECK_THROWS_MATCHES(sources_of("softmax", rows, 2, {}), Error,
                       MessageMatches(ContainsSubstring("softmax takes 1 source, but 2 are given")));
}

TEST_CASE("a recipe by name equals the one that its function creates, and is one kernel of rows") {
  for (const OperationInfo& info : operations()) {
    if (info.sources.empty()) continue;
    INFO(info.name);
    const Argument* const block = info.find_argument("block");
    Arguments given;
    if (block != nullptr && block->fallback == "128") given.set("block", std::int64_t{2});
    for (std::size_t count = info.min_sources; count <= info.max_sources; ++count) {
      std::vector<Tensor> from;
      std::vector<Tensor> to;
      for (const TensorView& view :
           sources_of(info.name, TensorView::contiguous(ElementType::bf16, {4, 6}), count, given))
        from.emplace_back(view, 0x10000 * (from.size() + 1));
      const std::vector<Tensor> sources = from;
      std::vector<TensorView> views;
      for (const Tensor& tensor : from) views.push_back(tensor.view);
      for (const TensorView& view : destinations_of(info.name, views, given))
        to.emplace_back(view, 0x80000 * (to.size() + 1));
      const Operation made = make_operation(info.name, to, from, given);
      CHECK(made.destinations == to);
      CHECK(made.sources == sources);
      CHECK(made.source_parts.size() == made.moves.front().sources.size());
      const auto& steps = std::get<Rowwise>(made.moves.front().body).steps;
      CHECK(steps.find('@') == std::string::npos);
      const Operation called = Recipe{info.name}(to, from, {.block = given.count("block")});
      CHECK(std::get<Rowwise>(called.moves.front().body).steps == steps);
      for (const Move& move : made.moves) CHECK(reference::understands(move));
    }
  }
  // In f64, constants and functions are of f64.
  const Tensor wide{TensorView::contiguous(ElementType::f64, {4, 6}), 0x10000};
  const Tensor other{wide.view, 0x20000};
  const Move norm = operation::rms_norm({other}, {wide}).moves.front();
  CHECK(std::get<Rowwise>(norm.body).steps == "r = rsqrt(mean(x0 * x0) + p0); y0 = x0 * r");
  CHECK(norm.sources.back().address == number(1e-6).address);
  const Operation wide_eps = operation::rms_norm({other}, {wide}, {.eps = 1});
  CHECK(wide_eps.moves.front().sources.back().address == number(1.0).address);
  CHECK(wide_eps.sources.size() == 1);
}

TEST_CASE("every recipe has an object by which C++ calls it") {
#define TMAJIT_HAS_OBJECT(recipe) CHECK(operation::recipe.name == #recipe);
  TMAJIT_FOR_EACH_RECIPE(TMAJIT_HAS_OBJECT)
#undef TMAJIT_HAS_OBJECT
}

TEST_CASE("errors of recipes say what is legal") {
  using enum ElementType;
  const auto tensor = [](ElementType type, const Dims& shape) {
    return Tensor::contiguous(type, shape, 0x10000);
  };
  const Tensor x = tensor(f32, {4, 6});
  const auto check_error = [](const auto& make, const std::string& message) {
    CHECK_THROWS_MATCHES(static_cast<void>(make()), Error, MessageMatches(ContainsSubstring(message)));
  };
  check_error([&] { return operation::softmax({x}, {x}, {.axis = 2}); },
              "softmax: axis 2: there is no dimension 2 in a tensor of 2 dimensions");
  check_error([&] { return operation::softmax({x}, {x}, {.eps = 1}); }, "softmax takes no argument \"eps\"");
  check_error([&] { return operation::softmax({x}, {x, x}); }, "softmax takes 1 source, but 2 are given");
  check_error([&] { return operation::softmax({x, x}, {x}); }, "softmax: 2 destinations; needed is 1: y");
  check_error(
      [&] {
        return operation::softmax({x}, {tensor(i32, {4, 6})});
      },
      "softmax: x has elements of i32; legal are floating-point types; cast converts elements");
  check_error([&] { return operation::cross_entropy({x}, {x}); },
              "cross_entropy takes 2 sources, but 1 is given");
  check_error(
      [&] {
        return operation::cross_entropy({x}, {x, tensor(f32, {4})});
      },
      "labels has elements of f32; legal are integers");
  check_error(
      [&] {
        return operation::cross_entropy({x}, {x, tensor(i64, {6})});
      },
      "cross_entropy: labels has the shape 6; legal is 4 or 4x1, as logits has 4x6 and the axis is 1");
  check_error(
      [&] {
        return operation::rms_norm({x}, {x, tensor(f32, {4})});
      },
      "rms_norm: weight has the shape 4; legal is 6");
  check_error([&] { return operation::rms_norm({x}, {x}, {.eps = -1}); },
              "rms_norm: eps is -1; legal are finite numbers, 0 or more");
  check_error([&] { return operation::rms_norm({x}, {x}, {.eps = infinity}); }, "eps is inf");
  check_error(
      [&] {
        return operation::quantize_rows({tensor(i8, {4, 6}), tensor(f32, {4})}, {x}, {.block = 4});
      },
      "quantize_rows: blocks of 4 elements in rows of 6; legal are divisors of that number");
  check_error(
      [&] {
        return operation::quantize_rows({x, tensor(f32, {4})}, {x});
      },
      "quantize_rows: q has elements of f32; legal are e4m3, e5m2 and i8");
  check_error(
      [&] {
        return operation::quantize_rows({tensor(i8, {4, 6}), tensor(f32, {4})}, {x}, {.to = e4m3});
      },
      "quantize_rows: to is e4m3, but q has elements of i8; both must be the same");
  check_error(
      [&] {
        return operation::quantize_blocks({tensor(i8, {4, 6}), tensor(f32, {1, 2})}, {x}, {.block = 4});
      },
      "quantize_blocks: blocks of 4x4 in a matrix of 4x6; legal are divisors of both extents");
  check_error(
      [&] {
        return operation::quantize_blocks({tensor(i8, {4}), x}, {tensor(f32, {4})});
      },
      "quantize_blocks: x has 1 dimension; legal are 2 or more");
  check_error(
      [&] {
        return operation::dequantize_blocks({x}, {tensor(i8, {4, 6}), x}, {.block = 2});
      },
      "dequantize_blocks: scale has the shape 4x6; legal is 2x3, as q has 4x6 in blocks of 2x2");
  check_error(
      [&] {
        return operation::quantize_blocks({tensor(i8, {4, 6}), x}, {x}, {.axis = 0, .block = 2});
      },
      "quantize_blocks takes no argument \"axis\"");
  check_error(
      [&] {
        return operation::dequantize_rows({x}, {tensor(i32, {4, 6}), tensor(f32, {4})});
      },
      "dequantize_rows: q has elements of i32; legal are e4m3, e5m2 and i8");
  const Tensor deep = tensor(f32, {1, 1, 1, 1, 1, 1, 1, 2});
  check_error(
      [&] {
        return operation::quantize_rows({tensor(i8, {2}), x}, {deep}, {.block = 2});
      },
      "quantize_rows: blocks of rows in tensors of 8 dimensions; legal are at most 7");
  check_error(
      [&] {
        return operation::rotary({x}, {tensor(f32, {4, 5}), x, x});
      },
      "rotary: x has 5 elements along axis 1; legal is an even number, as each row has two halves");
  check_error([&] { return operation::rotary({x}, {x, tensor(f32, {5}), tensor(f32, {3})}); }, "rotary: cos");
  check_error(
      [&] {
        return operation::rotary({tensor(f32, {4, 7})}, {x, tensor(f32, {3}), tensor(f32, {3})});
      },
      "rotary: y has the shape 4x7; legal is 4x6");
  check_error([&] { return operation::softmax({x}, {tensor(f32, {})}); },
              "softmax: axis -1: a scalar has no dimension -1");
}

}  // namespace recipes_test
