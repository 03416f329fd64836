#include "ops/call.hpp"

#include <tmajit/move.hpp>
#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>
#include <optional>

TMAJIT_BEGIN
namespace {

/// Adds windows to a call's key.
void add_windows(Call& call, const Windows& windows) {
  for (const Dims* list :
       {&windows.filter, &windows.strides, &windows.dilations, &windows.before, &windows.after})
    call.with(std::span<const std::int64_t>(*list));
}

/// The sources of an indexed call: the caller's source, then the index tensors.
class IndexedSources {
 public:
  IndexedSources(const Tensor& source, List<Tensor> index) : count_(1 + std::min(index.size(), max_index)) {
    tensors_.front() = source;
    std::copy_n(index.begin(), count_ - 1, tensors_.begin() + 1);
  }
  [[nodiscard]] std::span<const Tensor> all() const noexcept { return std::span(tensors_).first(count_); }

 private:
  // One more than is legal: making the operation of a call with too many throws, so no plan has this key.
  static constexpr std::size_t max_index = max_inputs;
  std::array<Tensor, max_index + 1> tensors_;
  std::size_t count_;
};

/// Adds the arguments that all indexed operations have to a call's key.
template <class What>
void add_indexing(Call& call, const What& what) {
  call.with(std::span<const std::int64_t>(what.axes))
      .with(what.along)
      .with(what.flat)
      .with(what.out_of_range);
}

}  // namespace

void copy(const Runtime& runtime, const Tensor& destination, const Tensor& source, Stream stream) {
  Call(runtime, 'c', {&destination, 1}, {&source, 1}).run(stream, [&] {
    return operation::copy(destination, source);
  });
}

void permute(const Runtime& runtime, const Tensor& destination, const Tensor& source, const Dims& axes,
             Stream stream) {
  Call(runtime, 'p', {&destination, 1}, {&source, 1})
      .with(std::span<const std::int64_t>(axes))
      .run(stream, [&] { return operation::permute(destination, source, axes); });
}

void pad(const Runtime& runtime, const Tensor& destination, const Tensor& source, const Padding& padding,
         Stream stream) {
  const std::span<const std::int64_t> before(padding.before);
  Call(runtime, 'd', {&destination, 1}, {&source, 1}).with(before).with(padding.value).run(stream, [&] {
    return operation::pad(destination, source, padding);
  });
}

void slice(const Runtime& runtime, const Tensor& destination, const Tensor& source, List<Slice> slices,
           Stream stream) {
  Call call(runtime, 's', {&destination, 1}, {&source, 1});
  for (const Slice& one : slices) {
    call.with(std::array{one.start.has_value() ? std::int64_t{1} : 0, one.start.value_or(0),
                         one.stop.has_value() ? std::int64_t{1} : 0, one.stop.value_or(0), one.step});
  }
  call.run(stream, [&] { return operation::slice(destination, source, slices); });
}

void concat(const Runtime& runtime, const Tensor& destination, List<Tensor> sources, std::int64_t axis,
            Stream stream, bool new_axis) {
  Call(runtime, 'j', {&destination, 1}, sources).with(axis).with(new_axis).run(stream, [&] {
    return operation::concat(destination, sources, axis, new_axis);
  });
}

void split(const Runtime& runtime, List<Tensor> destinations, const Tensor& source, std::int64_t axis,
           Stream stream, bool drop_axis) {
  Call(runtime, 'l', destinations, {&source, 1}).with(axis).with(drop_axis).run(stream, [&] {
    return operation::split(destinations, source, axis, drop_axis);
  });
}

void cast(const Runtime& runtime, const Tensor& destination, const Tensor& source, Stream stream) {
  Call(runtime, 't', {&destination, 1}, {&source, 1}).run(stream, [&] {
    return operation::cast(destination, source);
  });
}

void reduce(const Runtime& runtime, const Tensor& destination, const Reduction& what, List<Tensor> sources,
            Stream stream) {
  Call(runtime, 'r', {&destination, 1}, sources)
      .with(static_cast<std::uint64_t>(what.op) | static_cast<std::uint64_t>(what.keep_dims) << 8)
      .with(std::span<const std::int64_t>(what.axes))
      .with(std::span<const char>(what.expression))
      .with(std::span<const char>(what.epilogue))
      .run(stream, [&] { return operation::reduce(destination, what, sources); });
}

void scan(const Runtime& runtime, const Tensor& destination, const Scan& what, List<Tensor> sources,
          Stream stream) {
  Call(runtime, 'a', {&destination, 1}, sources)
      .with(what.op)
      .with(what.axis)
      .with(static_cast<std::uint64_t>(what.exclusive) | static_cast<std::uint64_t>(what.reverse) << 1)
      .with(std::span<const char>(what.expression))
      .run(stream, [&] { return operation::scan(destination, what, sources); });
}

void rowwise(const Runtime& runtime, List<Tensor> destinations, const Rowwise& what, List<Tensor> sources,
             Stream stream) {
  Call(runtime, 'o', destinations, sources)
      .with(std::span<const char>(what.steps))
      .with(std::span<const std::int64_t>(what.axes))
      .run(stream, [&] { return operation::rowwise(destinations, what, sources); });
}

void Recipe::operator()(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources,
                        const RecipeOptions& options, Stream stream) const {
  Call(runtime, 'g', destinations, sources)
      .with(std::span<const char>(name))
      .with(options.axis)
      .with(options.eps.has_value())
      .with(options.eps.value_or(0))
      .with(options.block)
      .with(options.to.has_value())
      .with(options.to.value_or(ElementType::e4m3))
      .with(std::span<const char>(options.layout))
      .run(stream, [&] { return (*this)(destinations, sources, options); });
}

void cast_transpose(const Runtime& runtime, List<Tensor> destinations, const CastTranspose& what,
                    List<Tensor> sources, Stream stream) {
  Call(runtime, 'b', destinations, sources).with(what.orders).with(what.amax).run(stream, [&] {
    return operation::cast_transpose(destinations, what, sources);
  });
}

void top_k(const Runtime& runtime, List<Tensor> destinations, const Tensor& x, const TopK& what,
           Stream stream) {
  Call(runtime, 'u', destinations, {&x, 1}).with(what.axis).with(what.largest).run(stream, [&] {
    return operation::top_k(destinations, x, what);
  });
}

void gather(const Runtime& runtime, const Tensor& destination, const Tensor& source, List<Tensor> index,
            const Gather& what, Stream stream) {
  Call call(runtime, 'q', {&destination, 1}, IndexedSources(source, index).all());
  add_indexing(call, what);
  call.with(what.value).with(std::span<const char>(what.expression)).run(stream, [&] {
    return operation::gather(destination, source, index, what);
  });
}

void scatter(const Runtime& runtime, const Tensor& destination, const Tensor& source, List<Tensor> index,
             const Scatter& what, Stream stream) {
  Call call(runtime, 'e', {&destination, 1}, IndexedSources(source, index).all());
  add_indexing(call, what);
  call.run(stream, [&] { return operation::scatter(destination, source, index, what); });
}

void scatter_add(const Runtime& runtime, const Tensor& destination, const Tensor& source, List<Tensor> index,
                 const ScatterAdd& what, Stream stream) {
  Call call(runtime, 'f', {&destination, 1}, IndexedSources(source, index).all());
  add_indexing(call, what);
  call.with(what.deterministic).run(stream, [&] {
    return operation::scatter_add(destination, source, index, what);
  });
}

void moe_permute(const Runtime& runtime, List<Tensor> destinations, const Tensor& x, const Tensor& experts,
                 const MoePermute& what, Stream stream) {
  const std::array sources{x, experts};
  Call(runtime, 'x', destinations, sources).with(what.alignment).run(stream, [&] {
    return operation::moe_permute(destinations, x, experts, what);
  });
}

void gather_sum(const Runtime& runtime, const Tensor& destination, const Tensor& source, const Tensor& index,
                const std::optional<Tensor>& weights, const GatherSum& what, Stream stream,
                const std::optional<Tensor>& offsets) {
  std::array<Tensor, 4> sources{source, index};
  std::size_t count = 2;
  if (weights) sources.at(count++) = *weights;
  if (offsets) sources.at(count++) = *offsets;
  Call(runtime, 'z', {&destination, 1}, std::span(sources).first(count))
      .with(std::span<const std::int64_t>(what.axes))
      .with(what.flat)
      .with(what.out_of_range)
      .with(what.ragged || offsets.has_value())
      .run(stream, [&] { return operation::gather_sum(destination, source, index, weights, what, offsets); });
}

void reduce_into(const Runtime& runtime, const Tensor& destination, CombineOp op, const Tensor& source,
                 Stream stream) {
  Call(runtime, 'i', {&destination, 1}, {&source, 1}).with(op).run(stream, [&] {
    return operation::reduce_into(destination, op, source);
  });
}

void im2col(const Runtime& runtime, const Tensor& destination, const Tensor& source, const Windows& windows,
            Stream stream) {
  Call call(runtime, 'w', {&destination, 1}, {&source, 1});
  add_windows(call, windows);
  call.run(stream, [&] { return operation::im2col(destination, source, windows); });
}

void convolution(const Runtime& runtime, const Tensor& destination, const Tensor& images,
                 const Tensor& filter, const Windows& windows, Stream stream) {
  const std::array sources{images, filter};
  Call call(runtime, 'v', {&destination, 1}, sources);
  add_windows(call, windows);
  call.run(stream, [&] { return operation::convolution(destination, images, filter, windows); });
}

void map(const Runtime& runtime, const Tensor& destination, std::string_view expression, List<Tensor> sources,
         Stream stream) {
  const std::span<const char> text(expression);
  Call(runtime, 'm', {&destination, 1}, sources).with(text).run(stream, [&] {
    return operation::map(destination, expression, sources);
  });
}

void tiles(const Runtime& runtime, const Tensor& destination, const Tiles& tiles, List<Tensor> sources,
           Stream stream) {
  const TileOptions& options = tiles.options;
  const std::span<const char> family(tiles.family);
  const std::span<const char> expression(tiles.expression);
  const std::span<const std::int64_t> box(options.box);
  const std::span<const std::int64_t> strides(options.element_strides);
  Call(runtime, 'k', {&destination, 1}, sources)
      .with(family)
      .with(expression)
      .with(tiles.combine)
      .with(box)
      .with(strides)
      .with(options.swizzle)
      .with(options.interleave)
      .with(options.l2_promotion)
      .with(options.oob_fill)
      .with(std::array{options.stages, options.output_stages, options.warps, options.ctas_per_sm})
      .with(options.tiles_per_cta.has_value())
      .with(options.tiles_per_cta.value_or(0))
      .run(stream, [&] { return operation::tiles(destination, tiles, sources); });
}

void stencil(const Runtime& runtime, const Tensor& destination, std::string_view expression,
             List<Tensor> sources, const Stencil& stencil, Stream stream) {
  const std::span<const char> text(expression);
  const std::span<const std::int64_t> dims(stencil.dims);
  Call(runtime, 'n', {&destination, 1}, sources)
      .with(text)
      .with(stencil.boundary)
      .with(stencil.value)
      .with(dims)
      .run(stream, [&] { return operation::stencil(destination, expression, sources, stencil); });
}

TMAJIT_END
