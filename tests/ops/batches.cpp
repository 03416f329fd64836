#include "ops/batches.hpp"

#include "reference/moves.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/ragged.hpp>

#include <algorithm>
#include <sstream>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace tests {
namespace {

/// Adds a view of `shape` behind what the memory holds: dense, or as `kind` allows.
RandomBatch::Part add_part(Random& random, BatchKind kind, ElementType type,
                           const std::vector<std::uint64_t>& shape, bool written, std::uint64_t& bytes) {
  const std::uint64_t size = size_of(type);
  const bool aligned = kind != BatchKind::mixed || one_in(random, 2);
  bytes = (bytes + 255) / 256 * 256 + (aligned ? 16 * between(random, 0, 3) : size * between(random, 0, 20));
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> strides(rank, 1);
  std::int64_t next = aligned || !one_in(random, 4) ? 1 : static_cast<std::int64_t>(between(random, 2, 3));
  std::uint64_t below = 0;  // bytes before the element with all indices 0
  for (std::size_t d = rank; d-- > 0;) {
    if (d + 1 < rank && aligned) {
      next = static_cast<std::int64_t>((static_cast<std::uint64_t>(next) * size + 15) / 16 * 16 / size);
      if (one_in(random, 4)) next += static_cast<std::int64_t>(16 / size);
    }
    strides[d] = next;
    const std::uint64_t extent = std::max<std::uint64_t>(shape[d], 1);
    if (!aligned && one_in(random, 6)) {
      strides[d] = -next;
      below += (extent - 1) * static_cast<std::uint64_t>(next) * size;
    }
    next *= static_cast<std::int64_t>(extent);
    if (!written && !aligned && d > 0 && one_in(random, 8)) strides[d] = 0;
  }
  RandomBatch::Part part{TensorView::strided(type, shape, strides), bytes + below};
  bytes += static_cast<std::uint64_t>(next) * size + 16;
  return part;
}

reference::HostView host(const RandomBatch::Part& part, std::byte* memory) {
  return {part.view, memory + part.offset};
}

std::vector<Tensor> placed(const std::vector<RandomBatch::Part>& parts, DevicePtr memory) {
  std::vector<Tensor> tensors;
  for (const RandomBatch::Part& part : parts) tensors.push_back({part.view, memory + part.offset});
  return tensors;
}

}  // namespace

std::string RandomBatch::text() const {
  std::ostringstream out;
  out << destinations.size() << " tensors of "
      << tmajit::name(destinations.empty() ? ElementType::u8 : destinations[0].view.type);
  for (std::size_t i = 0; i < std::min<std::size_t>(destinations.size(), 8); ++i) {
    const auto put = [&](const char* what, const Part& part) {
      out << what << "[";
      for (std::uint32_t d = 0; d < part.view.rank; ++d) out << (d == 0 ? "" : ",") << part.view.strides[d];
      out << "]+" << part.offset;
    };
    out << "\n  ";
    for (std::uint32_t d = 0; d < destinations[i].view.rank; ++d)
      out << (d == 0 ? "" : "x") << destinations[i].view.shape[d];
    put(" to ", destinations[i]);
    put(" from ", sources[i]);
  }
  return out.str();
}

RandomBatch random_batch(BatchKind kind, std::uint64_t seed, std::uint64_t most) {
  Random random(seed);
  RandomBatch batch;
  const ElementType type = one_of(random, all_element_types);
  const std::size_t rank = between(random, 1, kind == BatchKind::mixed ? 5 : 3);
  const std::uint64_t count =
      kind == BatchKind::tiny ? between(random, most / 8, most / 4) : between(random, 1, 40);
  const std::uint64_t each = std::max<std::uint64_t>(most / count, 1);
  const std::uint64_t whole = std::max<std::uint64_t>(16 / size_of(type), 1);
  const bool whole_rows = one_in(random, 2);
  const std::uint64_t huge = kind == BatchKind::skewed ? between(random, 0, count - 1) : count;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::vector<std::uint64_t> shape(rank);
    std::uint64_t left = i == huge                   ? most
                         : kind == BatchKind::skewed ? std::min<std::uint64_t>(each, 64)
                                                     : each;
    left = between(random, 1, 2 * left);
    for (std::size_t d = rank; d-- > 0;) {
      shape[d] =
          one_in(random, 60)
              ? 0
              : between(random, 1,
                        std::max<std::uint64_t>(d == 0 ? left : std::min<std::uint64_t>(left, 300), 1));
      if (d + 1 == rank && whole_rows) shape[d] = (shape[d] + whole - 1) / whole * whole;
      left /= std::max<std::uint64_t>(shape[d], 1);
    }
    batch.destinations.push_back(add_part(random, kind, type, shape, true, batch.destination_bytes));
    batch.sources.push_back(add_part(random, kind, type, shape, false, batch.source_bytes));
  }
  return batch;
}

PlacedBatch::PlacedBatch(const std::shared_ptr<Device>& device, const RandomBatch& batch, std::uint64_t seed)
    : batch_(batch),
      device_(device),
      to_(device, batch.destination_bytes + 16),
      from_(device, batch.source_bytes + 16),
      before_(batch.destination_bytes + 16),
      source_(batch.source_bytes + 16) {
  Random random(seed);
  for (std::byte& byte : before_) byte = static_cast<std::byte>(random());
  for (std::byte& byte : source_) byte = static_cast<std::byte>(random());
  device->memory().copy_in(from_.address(), source_, nullptr);
  clear();
}

void PlacedBatch::clear() {
  device_->memory().copy_in(to_.address(), before_, nullptr);
  device_->streams().synchronize(nullptr);
}

std::vector<Tensor> PlacedBatch::destinations() const {
  return placed(batch_.destinations, to_.address());
}
std::vector<Tensor> PlacedBatch::sources() const {
  return placed(batch_.sources, from_.address());
}

std::string PlacedBatch::difference() const {
  std::vector<std::byte> found(before_.size());
  device_->memory().copy_out(found, to_.address(), nullptr);
  device_->streams().synchronize(nullptr);
  std::vector<std::byte> expected = before_;
  std::vector<std::byte> source = source_;
  for (std::size_t i = 0; i < batch_.destinations.size(); ++i) {
    reference::copy(host(batch_.destinations[i], expected.data()), host(batch_.sources[i], source.data()));
  }
  if (found == expected) return {};
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(found, expected).in1 - found.begin());
  const auto after = std::ranges::find_if(batch_.destinations,
                                          [&](const RandomBatch::Part& part) { return part.offset > at; });
  return "byte " + std::to_string(at) + " of " + std::to_string(found.size()) +
         " is wrong, in or before destination " + std::to_string(after - batch_.destinations.begin() - 1);
}

void launch_batch(const Runtime& runtime, const PlacedBatch& batch, std::uint32_t sm_count) {
  Chip chip;
  chip.sm_count = sm_count;
  const Buffer table(runtime.device(), plan_ragged(batch.destinations(), batch.sources()).table.size());
  const RaggedPlan plan = plan_ragged(batch.destinations(), batch.sources(), table.address(), chip);
  runtime.device()->memory().copy_in(table.address(), plan.table, nullptr);
  runtime.kernel(plan.kernel).launch(plan.kernel);
  runtime.device()->streams().synchronize(nullptr);
}

std::string run_batch(const Runtime& runtime, const RandomBatch& batch, std::uint64_t seed) {
  const PlacedBatch placed(runtime.device(), batch, seed);
  copy_ragged(runtime, placed.destinations(), placed.sources());
  runtime.device()->streams().synchronize(nullptr);
  return placed.difference();
}

}  // namespace tests
