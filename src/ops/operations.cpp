#include "ops/call.hpp"
#include "ops/views.hpp"
#include "spec/saturate.hpp"
#include "spec/windows.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <array>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

/// Throws unless `whole` has the dimension `axis`, and every part as many dimensions whose extents along the
/// axis add up to its. Returns the axis, counted from the front.
std::uint32_t check_parts(const Tensor& whole, std::string_view whole_name, std::span<const Tensor> parts,
                          std::string_view part_name, std::int64_t given_axis) {
  const std::size_t rank = extents(whole.view, whole_name).size();
  const std::optional<std::uint32_t> dimension = dimension_of(given_axis, rank);
  if (!dimension) {
    refuse(fmt::format("axis {} of {}, which has {} dimensions; {}", given_axis, whole_name, rank,
                       rank == 0 ? "one of none cannot be put together of parts" : legal_axes(rank)));
  }
  const std::uint32_t axis = *dimension;
  if (parts.empty()) refuse(fmt::format("no {}; at least one is needed", part_name));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = fmt::format("{} {}", part_name, i);
    if (extents(parts[i].view, name).size() != rank) {
      refuse(fmt::format("{} has {} dimensions, {} {}; as many are needed", name, parts[i].view.rank,
                         whole_name, rank));
    }
    if (__builtin_add_overflow(sum, parts[i].view.shape[axis], &sum)) {
      refuse(fmt::format("the {}s have more than 2^64 elements along axis {}; {} has {}", part_name, axis,
                         whole_name, whole.view.shape[axis]));
    }
  }
  if (sum != whole.view.shape[axis]) {
    refuse(fmt::format("the {}s have {} elements along axis {}, {} has {}; both must be the same", part_name,
                       sum, axis, whole_name, whole.view.shape[axis]));
  }
  return axis;
}

/// What lies in `whole` from `first` on along `axis`, `count` elements of it.
Tensor part_of(const Tensor& whole, std::uint32_t axis, std::uint64_t first, std::uint64_t count) {
  std::array<Slice, max_view_rank> slices{};
  slices[axis] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + count), 1};
  return sliced(whole, std::span(slices).first(axis + 1));
}

constexpr std::string_view the_source = "the source";

std::span<const std::uint64_t> shape_of(const Tensor& destination) {
  return extents(destination.view, "the destination");
}

/// The shape that the sources are broadcast to: of each dimension, counted from the last, the extent that is
/// not 1, if there is one.
std::vector<std::uint64_t> common_shape(std::span<const Tensor> sources) {
  std::vector<std::uint64_t> shape;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto own = extents(sources[i].view, fmt::format("source {}", i));
    if (own.size() > shape.size()) shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (std::size_t k = 1; k <= own.size(); ++k) {
      std::uint64_t& extent = shape[shape.size() - k];
      if (extent == 1) extent = own[own.size() - k];
    }
  }
  return shape;
}

/// The operation that is this move, of tensors that were given.
Operation one_move(Move move, std::span<const Tensor> sources) {
  Operation operation{
      .moves = {}, .destinations = {move.destination}, .sources = {sources.begin(), sources.end()}};
  operation.moves.push_back(std::move(move));
  return operation;
}

/// Adds windows to what tells calls apart.
void add_windows(Call& call, const Windows& windows) {
  for (const Dims* list :
       {&windows.filter, &windows.strides, &windows.dilations, &windows.before, &windows.after})
    call.with(std::span<const std::int64_t>(*list));
}

/// What windows mean on these images.
WindowGeometry geometry_of(const Windows& windows, const Tensor& images) {
  const auto from = extents(images.view, "the source");
  if (from.size() < 3 || from.size() > max_window_dims + 2) {
    refuse(fmt::format(
        "the source has {} dimensions; windows are those of images [images, extents…, channels], of 3 "
        "to {} dimensions",
        from.size(), max_window_dims + 2));
  }
  WindowGeometry geometry;
  const WindowMistake mistake = read_windows(windows, from.subspan(1, from.size() - 2), geometry);
  if (!mistake.rule.empty()) {
    refuse(fmt::format("{} is {}; needed is {}, such as {}", mistake.subject, mistake.found, mistake.need,
                       mistake.legal));
  }
  return geometry;
}

/// The destination with all of its dimensions apart.
Tensor apart(const Tensor& destination, const std::vector<std::uint64_t>& shape, std::string_view together) {
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) elements = sat_mul(elements, extent);
  if (destination.view.elements() != elements) {
    refuse(fmt::format(
        "the destination has shape {}, what is computed {}; legal is that, or one with dimensions of "
        "it put together, such as {}",
        fmt::join(shape_of(destination), "x"), fmt::join(shape, "x"), together));
  }
  return reshaped(destination, shape);
}

}  // namespace

Operation Operation::of(std::vector<Move> moves) {
  Operation operation{.moves = std::move(moves), .destinations = {}, .sources = {}};
  for (const Move& move : operation.moves) {
    operation.destinations.push_back(move.destination);
    operation.sources.insert(operation.sources.end(), move.sources.begin(), move.sources.end());
  }
  return operation;
}

namespace operation {

Operation copy(const Tensor& destination, const Tensor& source) {
  return one_move({destination, {broadcast(source, shape_of(destination), the_source)}}, {&source, 1});
}

Operation permute(const Tensor& destination, const Tensor& source, const Dims& axes) {
  const Tensor turned = permuted(source, axes, the_source);
  return one_move({destination, {broadcast(turned, shape_of(destination), "the permuted source")}},
                  {&source, 1});
}

Operation pad(const Tensor& destination, const Tensor& source, const Padding& padding) {
  return one_move({.destination = destination, .sources = {source}, .padding = padding}, {&source, 1});
}

Operation slice(const Tensor& destination, const Tensor& source, List<Slice> slices) {
  const Tensor part = sliced(source, slices, the_source);
  return one_move({destination, {broadcast(part, shape_of(destination), "the sliced source")}}, {&source, 1});
}

Operation cast(const Tensor& destination, const Tensor& source) {
  // Bits survive a copy, which a NaN need not survive on its way through f32. A cast to tf32 rounds.
  const ElementType type = destination.view.type;
  const bool rounds = type == ElementType::tf32 || type == ElementType::tf32_ftz;
  if (type == source.view.type && !rounds) return copy(destination, source);
  return map(destination, "x", {source});
}

Operation map(const Tensor& destination, std::string_view expression, List<Tensor> sources) {
  if (expression.empty()) {
    refuse("a map without an expression; \"x0 + x1\" is one, and a copy needs none");
  }
  Move move{.destination = destination, .sources = {}, .expression = std::string(expression)};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string what = sources.size() == 1 ? std::string(the_source) : fmt::format("source {}", i);
    move.sources.push_back(broadcast(sources[i], shape_of(destination), what));
  }
  return one_move(std::move(move), sources);
}

Operation stencil(const Tensor& destination, std::string_view expression, List<Tensor> sources,
                  const Stencil& stencil) {
  Operation operation = map(destination, expression, sources);
  operation.moves.front().stencil = stencil;
  return operation;
}

Operation reduce(const Tensor& destination, const Reduction& what, List<Tensor> sources) {
  if (sources.empty()) refuse("a reduction without a source; at least one is needed");
  const std::vector<std::uint64_t> shape = common_shape(sources);
  Move move{.destination = destination, .sources = {}, .reduction = what};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    move.sources.push_back(broadcast(sources[i], shape, fmt::format("source {}", i)));
  }
  return one_move(std::move(move), sources);
}

Operation reduce_into(const Tensor& destination, CombineOp op, const Tensor& source) {
  Operation operation = copy(destination, source);
  operation.moves.front().combine = op;
  return operation;
}

Operation im2col(const Tensor& destination, const Tensor& source, const Windows& windows) {
  const WindowGeometry geometry = geometry_of(windows, source);
  const std::vector<std::uint64_t> shape =
      windows_shape(geometry, source.view.shape[0], source.view.shape[geometry.dims + 1]);
  Operation operation =
      one_move({.destination = apart(destination, shape, "[images · windows, taps · channels]"),
                .sources = {source},
                .windows = windows},
               {&source, 1});
  operation.destinations = {destination};
  return operation;
}

Operation convolution(const Tensor& destination, const Tensor& images, const Tensor& filter,
                      const Windows& windows) {
  const auto taps = extents(filter.view, "the filter");
  const std::uint32_t rank = images.view.rank;
  if (taps.size() != rank || rank < 3) {
    refuse(fmt::format(
        "the images have {} dimensions, the filter {}; needed are [images, extents…, channels] and "
        "[outputs, taps…, channels], of as many",
        rank, taps.size()));
  }
  Windows own = windows;
  if (own.filter.empty()) own.filter = taps.subspan(1, rank - 2);
  if (own.filter != Dims(taps.subspan(1, rank - 2)) || taps.back() != images.view.shape[rank - 1]) {
    refuse(fmt::format(
        "the filter has shape {}; needed is [outputs, taps…, channels] with the {} channels of the "
        "images and the taps {}",
        fmt::join(taps, "x"), images.view.shape[rank - 1], fmt::join(own.filter, "x")));
  }
  const WindowGeometry geometry = geometry_of(own, images);
  const std::vector<std::uint64_t> shape = outputs_shape(geometry, images.view.shape[0], taps.front());
  const std::array sources{images, filter};
  Operation operation = one_move({.destination = apart(destination, shape, "[images · windows, outputs]"),
                                  .sources = {images, filter},
                                  .windows = own},
                                 sources);
  operation.destinations = {destination};
  return operation;
}

Operation concat(const Tensor& destination, List<Tensor> sources, std::int64_t along) {
  const std::uint32_t axis = check_parts(destination, "the destination", sources, "source", along);
  Operation joined{.moves = {}, .destinations = {destination}, .sources = {sources.begin(), sources.end()}};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::uint64_t count = sources[i].view.shape[axis];
    const Tensor part = part_of(destination, axis, first, count);
    joined.moves.push_back({part, {broadcast(sources[i], shape_of(part), fmt::format("source {}", i))}});
    first += count;
  }
  return joined;
}

Operation split(List<Tensor> destinations, const Tensor& source, std::int64_t along) {
  const std::uint32_t axis = check_parts(source, "the source", destinations, "destination", along);
  Operation cut{.moves = {}, .destinations = {destinations.begin(), destinations.end()}, .sources = {source}};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const std::uint64_t count = destinations[i].view.shape[axis];
    const Tensor part = part_of(source, axis, first, count);
    cut.moves.push_back(
        {destinations[i],
         {broadcast(part, shape_of(destinations[i]), fmt::format("part {} of the source", i))}});
    first += count;
  }
  return cut;
}

}  // namespace operation

// The calls.

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
            Stream stream) {
  Call(runtime, 'j', {&destination, 1}, sources).with(axis).run(stream, [&] {
    return operation::concat(destination, sources, axis);
  });
}

void split(const Runtime& runtime, List<Tensor> destinations, const Tensor& source, std::int64_t axis,
           Stream stream) {
  Call(runtime, 'l', destinations, {&source, 1}).with(axis).run(stream, [&] {
    return operation::split(destinations, source, axis);
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
      .with(static_cast<std::uint64_t>(what.op))
      .with(std::span<const std::int64_t>(what.axes))
      .with(std::span<const char>(what.expression))
      .with(std::span<const char>(what.then))
      .run(stream, [&] { return operation::reduce(destination, what, sources); });
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
