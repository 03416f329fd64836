#include "ops/given_tensors.hpp"
#include "ops/views.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view the_source = "the source";

std::span<const std::uint64_t> shape_of(const Tensor& destination) {
  return extents(destination.view, "the destination");
}

MovePlan plan_one(Runtime& runtime, Move move, const Tensor& destination, std::span<const Tensor> sources) {
  const std::span<const Move> moves(&move, 1);
  return plan_moves(runtime, moves, GivenTensors::of(moves, {&destination, 1}, sources));
}

MovePlan plan_one(Runtime& runtime, Move move, const Tensor& destination, const Tensor& source) {
  return plan_one(runtime, std::move(move), destination, {&source, 1});
}

}  // namespace

MovePlan plan_copy(Runtime& runtime, const Tensor& destination, const Tensor& source) {
  return plan_one(runtime, {destination, {broadcast(source, shape_of(destination), the_source)}}, destination,
                  source);
}

MovePlan plan_permute(Runtime& runtime, const Tensor& destination, const Tensor& source,
                      std::span<const std::uint32_t> axes) {
  const Tensor turned = permuted(source, axes, the_source);
  return plan_one(runtime, {destination, {broadcast(turned, shape_of(destination), "the permuted source")}},
                  destination, source);
}

MovePlan plan_pad(Runtime& runtime, const Tensor& destination, const Tensor& source, const Padding& padding) {
  return plan_one(runtime, {.destination = destination, .sources = {source}, .padding = padding}, destination,
                  source);
}

MovePlan plan_slice(Runtime& runtime, const Tensor& destination, const Tensor& source,
                    std::span<const Slice> slices) {
  const Tensor part = sliced(source, slices, the_source);
  return plan_one(runtime, {destination, {broadcast(part, shape_of(destination), "the sliced source")}},
                  destination, source);
}

MovePlan plan_cast(Runtime& runtime, const Tensor& destination, const Tensor& source) {
  // Bits survive a copy, which a NaN need not survive on its way through f32. A cast to tf32 rounds.
  const ElementType type = destination.view.type;
  const bool rounds = type == ElementType::tf32 || type == ElementType::tf32_ftz;
  if (type == source.view.type && !rounds) return plan_copy(runtime, destination, source);
  const std::array sources{source};
  return plan_map(runtime, destination, "x", sources);
}

MovePlan plan_map(Runtime& runtime, const Tensor& destination, std::string_view expression,
                  std::span<const Tensor> sources) {
  if (expression.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "a map without an expression; \"x0 + x1\" is one, and a copy needs none");
  }
  Move move{.destination = destination, .sources = {}, .expression = std::string(expression)};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string what = sources.size() == 1 ? std::string(the_source) : fmt::format("source {}", i);
    move.sources.push_back(broadcast(sources[i], shape_of(destination), what));
  }
  return plan_one(runtime, std::move(move), destination, sources);
}

// The calls: a plan that is used once.

void copy(Runtime& runtime, const Tensor& destination, const Tensor& source, Stream stream) {
  plan_copy(runtime, destination, source)(stream);
}

void permute(Runtime& runtime, const Tensor& destination, const Tensor& source,
             std::span<const std::uint32_t> axes, Stream stream) {
  plan_permute(runtime, destination, source, axes)(stream);
}

void pad(Runtime& runtime, const Tensor& destination, const Tensor& source, const Padding& padding,
         Stream stream) {
  plan_pad(runtime, destination, source, padding)(stream);
}

void slice(Runtime& runtime, const Tensor& destination, const Tensor& source, std::span<const Slice> slices,
           Stream stream) {
  plan_slice(runtime, destination, source, slices)(stream);
}

void concat(Runtime& runtime, const Tensor& destination, std::span<const Tensor> sources, std::uint32_t axis,
            Stream stream) {
  plan_concat(runtime, destination, sources, axis)(stream);
}

void split(Runtime& runtime, std::span<const Tensor> destinations, const Tensor& source, std::uint32_t axis,
           Stream stream) {
  plan_split(runtime, destinations, source, axis)(stream);
}

void cast(Runtime& runtime, const Tensor& destination, const Tensor& source, Stream stream) {
  plan_cast(runtime, destination, source)(stream);
}

void map(Runtime& runtime, const Tensor& destination, std::string_view expression,
         std::span<const Tensor> sources, Stream stream) {
  plan_map(runtime, destination, expression, sources)(stream);
}

TMAJIT_END
