#include "ops/call.hpp"

#include "ops/move_caches.hpp"

#include <algorithm>

TMAJIT_BEGIN

Call::Call(const Runtime& runtime, char operation, std::span<const Tensor> destinations,
           std::span<const Tensor> sources)
    : Call(runtime, move_caches(runtime), operation, destinations, sources) {}

Call::Call(const Runtime& runtime, MoveCaches& caches, char operation, std::span<const Tensor> destinations,
           std::span<const Tensor> sources)
    : runtime_(runtime), table_(caches.plans.of_this_thread()), destination_count_(destinations.size()) {
  if (destinations.size() + sources.size() > max_inline)
    heap_addresses_.resize(destinations.size() + sources.size());
  key_.add(static_cast<std::uint64_t>(operation) << 32 | destinations.size());
  key_.add(sources.size());
  key_.add(caches.tuning.table().generation());
  add(destinations);
  add(sources);
}

void Call::add(std::span<const Tensor> tensors) {
  for (const Tensor& tensor : tensors) {
    const TensorView& view = tensor.view;
    const std::size_t rank = std::min(view.rank, max_view_rank);
    key_.add(std::uint64_t{view.rank} << 16 | std::uint64_t{view.is_number} << 8 |
             static_cast<std::uint64_t>(view.type));
    key_.add(std::as_bytes(std::span(view.shape).first(rank)));
    key_.add(std::as_bytes(std::span(view.strides).first(rank)));
    (heap_addresses_.empty() ? inline_addresses_.data() : heap_addresses_.data())[address_count_++] =
        tensor.address;
  }
}

TMAJIT_END
