#include "ops/call.hpp"

#include <algorithm>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/xxhash.h>

TMAJIT_BEGIN

Call::Call(const Runtime& runtime, char operation, std::span<const Tensor> destinations,
           std::span<const Tensor> sources)
    : runtime_(runtime),
      table_(PlanTables::of_this_thread(runtime)),
      key_(table_ == nullptr ? own_ : table_->scratch),
      destinations_(destinations.size()) {
  key_.clear();
  if (destinations.size() + sources.size() > usual) many_.resize(destinations.size() + sources.size());
  add(static_cast<std::uint64_t>(operation));
  add(tuning(runtime).generation());
  add(destinations);
  add(sources);
}

void Call::add(std::span<const Tensor> tensors) {
  add(tensors.size());
  for (const Tensor& tensor : tensors) {
    const TensorView& view = tensor.view;
    const std::size_t rank = std::min(view.rank, max_view_rank);
    add(std::uint64_t{view.rank} << 8 | static_cast<std::uint64_t>(view.type));
    add(std::as_bytes(std::span(view.shape).first(rank)));
    add(std::as_bytes(std::span(view.strides).first(rank)));
    (many_.empty() ? few_.data() : many_.data())[count_++] = tensor.address;
  }
}

std::uint64_t Call::key_hash() const noexcept {
  return llvm::xxHash64(llvm::StringRef(reinterpret_cast<const char*>(key_.data()), key_.size()));
}

TMAJIT_END
