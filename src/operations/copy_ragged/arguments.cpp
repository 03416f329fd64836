#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "spec/views.hpp"

#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::vector<TensorView> copy_ragged_destinations(std::span<const TensorView> sources, const Arguments&) {
  std::vector<TensorView> views;
  for (const TensorView& source : sources)
    views.push_back(TensorView::contiguous(source.type, extents(source, "a source")));
  return views;
}

}  // namespace

const OperationEntry copy_ragged_entry{
    .info = {.name = "copy_ragged",
             .summary = "copies each source to a destination, tensors of different sizes in one launch",
             .min_sources = 0,
             .max_sources = std::numeric_limits<std::uint32_t>::max(),
             .moves_bits = true,
             .is_batch = true},
    .destinations = copy_ragged_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments&) {
      return operation::copy_ragged(to, from);
    }};

TMAJIT_END
