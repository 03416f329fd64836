#include "ops/random_chains.hpp"

#include "reference/scalar.hpp"

#include <tmajit/operations.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

using namespace tmajit;
using reference::between, reference::one_in, reference::Random;

namespace tests {
namespace {

using Shape = std::vector<std::uint64_t>;

struct Texts {
  std::vector<const char*> one;    ///< expressions of one source
  std::vector<const char*> two;    ///< of two sources
  std::vector<const char*> rows;   ///< steps with a value for each element
  std::vector<const char*> means;  ///< steps with a value for each row
  std::vector<const char*> pairs;  ///< steps with two destinations
  std::vector<const char*> epilogues;
  std::vector<const char*> centred;    ///< of elements x0 and a value x1 of their row
  std::vector<const char*> row_steps;  ///< steps of elements x0 and a value x1 of their row
  std::vector<const char*> stencils;
};
const Texts exact_texts{{"x", "x * 2 + 1", "x > 3 ? 3 : x", "-x", "x + p0", "x * 0.5f", "x + int(g[0])"},
                        {"x0 + x1", "x0 - x1 * 2", "x0 > x1 ? x0 : x1", "x1 + p0 - x0"},
                        {"y = x - max(x)", "m = min(x); y = x + m + i", "y = x > mean(x) ? 1 : 0"},
                        {"y = max(x) - min(x)", "y = arg_max(x)"},
                        {"y0 = x - max(x); y1 = x + i", "y0 = min(x) - x; y1 = y0 * 2"},
                        {"", "x * 2 + n", "x > 3 ? 3 : x", "x + p0"},
                        {"x0 - x1", "x1 + p0 - x0", "x0 > x1 ? x0 : x1 * 2", "x1 - x0 * 2"},
                        {"y = x0 - x1 + max(x0)", "m = min(x0 - x1); y0 = x0 + m; y1 = m"},
                        {"x(-1) + x(1)", "x(2) - x * 2"}};
const Texts any_texts{
    {"x", "x * 2.7f + 1", "x * x", "expf(x * 0.1f)", "x + p0", "x / 3", "x * float(g[0])"},
    {"x0 * x1", "x0 * x1 - 0.3f", "x0 > x1 ? x0 : x1", "x1 * p0 - x0"},
    {"m = max(x); e = expf(x - m); y = e / sum(e)", "y = x * rsqrtf(mean(x * x) + 1.0f)"},
    {"y = max(x)", "y = mean(x * x)"},
    {"m = max(x); y0 = expf(x - m); y1 = x - m", "y0 = x * 0.3f; y1 = x / sum(x * x + 1)"},
    {"", "sqrtf(x * x / n)", "x + 1 / n", "x * p0"},
    {"expf(x0 * 0.1f - x1)", "x0 / (x1 * x1 + 1.0f)", "(x0 - x1) * (x0 - x1)", "x0 * x1 * p0"},
    {"y = (x0 - x1) / (sum(x0 * x0) + 1)", "m = mean(x0 * x1); y0 = x0 + m; y1 = m"},
    {"0.3f * x(-1) - x(1)", "x(2) * x"}};

class ChainDraw {
 public:
  ChainDraw(Random& random, bool exact)
      : random_(random), exact_(exact), texts_(exact ? exact_texts : any_texts) {}

  RandomChain draw() {
    Shape shape(between(random_, 1, 3));
    for (std::uint64_t& extent : shape) extent = between(random_, 1, 9);
    current_ = add_tensor(shape);
    const std::uint64_t count = between(random_, 2, 4);
    for (std::uint64_t n = 0; n < count; ++n) {
      const Tensor before = current_;
      add_operation();
      if (n > 0) leave_unused(before);
      if (one_in(random_, 8)) current_ = before;
    }
    // The last results are read after the chain.
    for (const Tensor& result : chain_.operations.back().destinations)
      std::erase(chain_.unused, buffer_of(result));
    return std::move(chain_);
  }

 private:
  const char* one_of(const std::vector<const char*>& texts) {
    return texts[between(random_, 0, texts.size() - 1)];
  }
  ElementType any_type() {
    constexpr std::array types{ElementType::f32, ElementType::bf16, ElementType::f16,
                               ElementType::i32, ElementType::f64,  ElementType::u8,
                               ElementType::i16, ElementType::e4m3, ElementType::tf32};
    return types[between(random_, 0, types.size() - 1)];
  }
  std::vector<std::int64_t> any_axes(std::size_t rank) {
    std::vector<std::int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    return axes;
  }
  /// A tensor in a new buffer, dense in any order of dimensions.
  Tensor add_tensor(const Shape& shape, ElementType type) {
    const std::vector<std::int64_t> axes = any_axes(shape.size());
    Shape in_memory(shape.size());
    std::vector<std::int64_t> back(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      in_memory[d] = shape[static_cast<std::size_t>(axes[d])];
      back[static_cast<std::size_t>(axes[d])] = static_cast<std::int64_t>(d);
    }
    const DevicePtr address = (chain_.tensors.size() + 1) << buffer_bits;
    Tensor tensor = Tensor::contiguous(type, in_memory, address);
    if (one_in(random_, 2))
      tensor = permuted(tensor, back);
    else
      tensor = Tensor::contiguous(type, shape, address);
    chain_.tensors.push_back(tensor);
    return tensor;
  }
  Tensor add_tensor(const Shape& shape) { return add_tensor(shape, any_type()); }

  /// Most intermediate tensors are not read after the chain.
  void leave_unused(const Tensor& tensor) {
    const std::size_t buffer = buffer_of(tensor);
    if (!one_in(random_, 6) && !std::ranges::count(chain_.unused, buffer)) chain_.unused.push_back(buffer);
  }

  static std::size_t buffer_of(const Tensor& tensor) { return (tensor.address >> buffer_bits) - 1; }
  /// A new tensor, or one that an earlier operation reads or writes, but none in a buffer of these sources.
  Tensor destination(const Shape& shape, const std::vector<Tensor>& sources,
                     std::optional<ElementType> type = std::nullopt) {
    for (const Tensor& tensor : chain_.tensors) {
      const bool is_source = std::ranges::any_of(sources, [&](const Tensor& source) {
        return !source.view.is_number && buffer_of(source) == buffer_of(tensor);
      });
      const bool has_type = !type || *type == tensor.view.type;
      if (!is_source && has_type && shape_of(tensor) == shape && one_in(random_, 4)) return tensor;
    }
    return add_tensor(shape, type ? *type : any_type());
  }

  static Shape shape_of(const Tensor& tensor) {
    const auto extents = std::span(tensor.view.shape).first(tensor.view.rank);
    return {extents.begin(), extents.end()};
  }
  /// The current tensor, or a view of it.
  Tensor any_view() {
    Tensor view = current_;
    const std::uint32_t rank = view.view.rank;
    if (rank == 0 || !one_in(random_, 3)) return view;
    switch (between(random_, 0, 3)) {
      case 0: return permuted(view, any_axes(rank));
      case 1: return flipped(view, static_cast<std::int64_t>(between(random_, 0, rank - 1)));
      case 2: {
        std::vector<Slice> slices(rank);
        slices[between(random_, 0, rank - 1)] = {.start = 0, .stop = {}, .step = 2};
        return sliced(view, slices);
      }
      default: {
        Shape shape = shape_of(view);
        shape.insert(shape.begin(), 2);
        return broadcast(view, shape);
      }
    }
  }

  /// A number of the launch, different in most operations. Products with it are exact.
  Tensor drawn_number() {
    return number(reference::one_of(random_, std::array{0.25F, 0.5F, 2.0F, 4.0F, -2.0F}));
  }

  void add_operation() {
    const Tensor from = any_view();
    const Shape shape = shape_of(from);
    std::vector<Tensor> sources{from};
    std::string one = one_of(texts_.one);
    if (shape.empty() && one.find('g') != std::string::npos) one = "x";
    const auto with_number = [&](const std::string& text) {
      if (text.find("p0") != std::string::npos) sources.push_back(drawn_number());
      return text;
    };
    const std::uint64_t kind = between(random_, 0, shape.empty() ? 3 : 23);
    if (kind == 0) {
      current_ = destination(shape, sources, from.view.type);
      return add(operation::copy(current_, from));
    }
    if (kind == 1) {
      current_ = destination(shape, sources);
      return add(operation::cast(current_, from));
    }
    if (kind == 2) {
      with_number(one);
      const bool is_whole = from == current_ && std::ranges::count(chain_.tensors, from) > 0;
      current_ = is_whole && one_in(random_, 6) ? from : destination(shape, sources);
      add(operation::map(current_, one, sources));
      // A pad of a map of coordinates is seldom drawn by itself.
      if (one.find('g') == std::string::npos || !one_in(random_, 4)) return;
      leave_unused(current_);
      return add_pad(Tensor(current_));
    }
    if (kind == 3 || kind == 4) {
      Shape other = shape;
      for (std::uint64_t& extent : other) extent = one_in(random_, 3) ? 1 : extent;
      sources.push_back(add_tensor(other));
      const std::string two = with_number(one_of(texts_.two));
      current_ = destination(shape, sources);
      return add(operation::map(current_, two, sources));
    }
    const auto axis = static_cast<std::size_t>(between(random_, 0, shape.size() - 1));
    Shape kept = shape;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(axis));
    const Dims axes{static_cast<std::int64_t>(axis)};
    if (kind == 5) {
      current_ = destination(kept, sources);
      return add_reduction(sources, axes);
    }
    if (kind == 6) {
      current_ = destination(shape, sources);
      return add(operation::scan(
          current_, {.op = one_in(random_, 2) ? ScanOp::sum : ScanOp::max, .axis = axes[0]}, sources));
    }
    if (kind == 7) {
      current_ = destination(kept, sources);
      return add(operation::rowwise({current_}, {.steps = one_of(texts_.means), .axes = axes}, sources));
    }
    if (kind == 8) {
      const Tensor first = add_tensor(shape);
      const Tensor second = add_tensor(shape);
      current_ = one_in(random_, 2) ? first : second;
      return add(operation::rowwise({first, second}, {.steps = one_of(texts_.pairs), .axes = axes}, sources));
    }
    if (kind > 18) return add_centred(from, some_axes(shape.size()), between(random_, 1, 2));
    if (kind == 18) return add_concat(from, axis);
    if (kind == 17) return add_recipe(from, axis);
    if (kind == 16) return add_stencil(from, axis);
    if (kind > 12) return add_pad(from);
    if (kind > 9) return add_gather(from, axis, one.find('g') == std::string::npos ? one : "");
    current_ = destination(shape, sources);
    add(operation::rowwise({current_}, {.steps = one_of(texts_.rows), .axes = axes}, sources));
  }

  /// A reduction of an expression of the sources to the current tensor.
  void add_reduction(std::vector<Tensor> sources, const Dims& axes, const std::string& expression = "") {
    using enum ReductionOp;
    constexpr std::array ops{sum, max, any, arg_max, min, mean};
    Reduction what{.op = ops[between(random_, 0, exact_ ? 4 : 5)], .axes = axes};
    // References compare exact values only, and so do arg_max and any.
    if (!exact_ && (what.op == any || what.op == arg_max)) what.op = sum;
    what.keep_dims = current_.view.rank == sources.front().view.rank;
    what.expression = expression;
    what.epilogue = one_of(texts_.epilogues);
    if ((what.expression + what.epilogue).find("p0") != std::string::npos) sources.push_back(drawn_number());
    add(operation::reduce(current_, what, sources));
  }

  /// Some of `rank` dimensions, at least one.
  std::vector<std::int64_t> some_axes(std::size_t rank) {
    std::vector<std::int64_t> axes = any_axes(rank);
    if (rank > 1) axes.resize(one_in(random_, 3) ? between(random_, 1, rank) : 1);
    return axes;
  }

  /// A value of each row along axes, and an operation of the elements and that value, some times over.
  void add_centred(const Tensor& elements, const std::vector<std::int64_t>& axes, std::uint64_t times) {
    const Shape shape = shape_of(elements);
    Shape one = shape;
    Shape kept;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (std::ranges::count(axes, static_cast<std::int64_t>(d)) > 0)
        one[d] = 1;
      else
        kept.push_back(shape[d]);
    }
    std::vector<Tensor> sources{elements};
    // A value of each row as a source for its elements.
    const auto add_value = [&](const std::string& expression) {
      current_ = destination(one_in(random_, 2) ? one : kept, sources);
      if (sources.size() == 1 && one_in(random_, 4)) {
        add(operation::rowwise({current_}, {.steps = one_of(texts_.means), .axes = axes}, sources));
      } else {
        add_reduction(sources, axes, expression);
      }
      leave_unused(current_);
      return broadcast(reshaped(current_, one), shape);
    };
    sources.push_back(add_value(""));
    if (one_in(random_, 4)) sources[1] = add_value(one_of(texts_.centred));
    if (one_in(random_, 4)) {
      const std::string steps = one_of(texts_.row_steps);
      std::vector<Tensor> results{add_tensor(shape)};
      if (steps.find("y1") != std::string::npos) results.push_back(add_tensor(kept));
      add(operation::rowwise(results, {.steps = steps, .axes = axes}, sources));
      current_ = results.front();
    } else {
      const std::string text = one_of(texts_.centred);
      if (text.find("p0") != std::string::npos) sources.push_back(drawn_number());
      current_ = destination(shape, sources);
      add(operation::map(current_, text, sources));
    }
    if (times == 1) return;
    leave_unused(current_);
    add_centred(current_, axes, times - 1);
  }

  void add_stencil(const Tensor& from, std::size_t axis) {
    using enum Boundary;
    constexpr std::array boundaries{zero, constant, clamp, wrap};
    current_ = destination(shape_of(from), {from});
    add(operation::stencil(current_, one_of(texts_.stencils), {from},
                           {.boundary = reference::one_of(random_, boundaries),
                            .value = 2,
                            .dims = {static_cast<std::int64_t>(axis)}}));
  }

  /// A recipe along an axis; the greatest element and its index if results must be exact.
  void add_recipe(const Tensor& from, std::size_t axis) {
    const RecipeOptions along{.axis = static_cast<std::int64_t>(axis)};
    Shape shape = shape_of(from);
    if (!exact_ && is_float(from.view.type)) {
      current_ = add_tensor(shape, from.view.type);
      const Recipe recipe = one_in(random_, 2) ? softmax : rms_norm;
      return add(recipe({current_}, {from}, along));
    }
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    current_ = add_tensor(shape, from.view.type);
    const Tensor index = add_tensor(shape, ElementType::i64);
    add(max_with_index({current_, index}, {from}, along));
  }

  /// The source and a further tensor, one after the other along an axis.
  void add_concat(const Tensor& from, std::size_t axis) {
    Shape other = shape_of(from);
    other[axis] = between(random_, 1, 4);
    Shape whole = shape_of(from);
    whole[axis] += other[axis];
    const std::vector<Tensor> sources{from, add_tensor(other, from.view.type)};
    current_ = destination(whole, sources, from.view.type);
    add(operation::concat(current_, sources, static_cast<std::int64_t>(axis)));
  }

  /// A pad with a border of up to three elements on each side. In one of eight dimensions the source begins
  /// one element earlier, which crops it if it had no border there.
  void add_pad(const Tensor& from) {
    Shape shape = shape_of(from);
    std::vector<std::int64_t> before(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::uint64_t first = one_in(random_, 2) ? between(random_, 0, 3) : 0;
      shape[d] += first + (one_in(random_, 2) ? first : between(random_, 0, 2));
      before[d] = static_cast<std::int64_t>(first) - (one_in(random_, 8) ? 1 : 0);
    }
    current_ = destination(shape, {from}, from.view.type);
    constexpr std::array values{0.0, 3.0, -2.5};
    add(operation::pad(current_, from, {.before = before, .value = values[between(random_, 0, 2)]}));
  }

  /// A gather along an axis. Some indices are out of range.
  void add_gather(const Tensor& from, std::size_t axis, const std::string& expression) {
    Shape shape = shape_of(from);
    shape[axis] = between(random_, 1, 9);
    std::vector<Tensor> index{
        add_tensor({shape[axis]}, one_in(random_, 2) ? ElementType::i32 : ElementType::u64)};
    Gather what{.axes = {static_cast<std::int64_t>(axis)}};
    if (one_in(random_, 2)) what.out_of_range = OutOfRange::clamp;
    if (one_in(random_, 3)) what.value = 3;
    const bool computes = one_in(random_, 3) && !expression.empty();
    if (computes) what.expression = expression;
    if (what.expression.find("p0") != std::string::npos) index.push_back(drawn_number());
    std::vector<Tensor> sources{from};
    sources.insert(sources.end(), index.begin(), index.end());
    current_ = computes ? destination(shape, sources) : destination(shape, sources, from.view.type);
    add(operation::gather(current_, from, index, what));
  }
  void add(Operation operation) { chain_.operations.push_back(std::move(operation)); }

  Random& random_;
  bool exact_;
  const Texts& texts_;
  RandomChain chain_;
  Tensor current_;
};

}  // namespace

RandomChain random_chain(Random& random, bool exact) {
  return ChainDraw(random, exact).draw();
}

Tensor placed(Tensor tensor, const std::vector<DevicePtr>& buffers) {
  if (tensor.view.is_number) return tensor;
  const std::size_t buffer = (tensor.address >> buffer_bits) - 1;
  tensor.address = buffers.at(buffer) + (tensor.address & ((DevicePtr{1} << buffer_bits) - 1));
  return tensor;
}

std::vector<std::vector<std::byte>> random_contents(const RandomChain& chain, Random& random) {
  std::vector<std::vector<std::byte>> buffers;
  for (const Tensor& tensor : chain.tensors) {
    const std::size_t size = size_of(tensor.view.type);
    std::vector<std::byte>& bytes = buffers.emplace_back(tensor.view.elements() * size);
    for (std::size_t at = 0; at < bytes.size(); at += size)
      reference::encode(tensor.view.type, static_cast<std::int32_t>(between(random, 0, 5)), &bytes[at]);
  }
  return buffers;
}

std::vector<Operation> placed(const std::vector<Operation>& operations,
                              const std::vector<DevicePtr>& buffers) {
  std::vector<Operation> made = operations;
  for (Operation& operation : made) {
    for (std::vector<Tensor>* const tensors : {&operation.destinations, &operation.sources})
      for (Tensor& tensor : *tensors) tensor = placed(tensor, buffers);
    for (Move& move : operation.moves) {
      move.destination = placed(move.destination, buffers);
      for (Tensor& source : move.sources) source = placed(source, buffers);
    }
  }
  return made;
}

}  // namespace tests
