#include "chain_arrays.hpp"

#include "operations/references.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <deque>

namespace jitc {
namespace {

using tmajit::DevicePtr;
using tmajit::Move;
using tmajit::Tensor;
using Bytes = std::vector<std::byte>;

DevicePtr address_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<DevicePtr>(bytes.data());
}

/// Maps addresses in a device's buffers to the buffers' copies on the host.
class HostMemory {
 public:
  /// Later calls for a buffer replace earlier ones.
  void add(DevicePtr buffer, std::uint64_t bytes, std::span<const std::byte> host) {
    blocks_.push_back({buffer, std::max<std::uint64_t>(bytes, 1), address_of(host)});
  }
  [[nodiscard]] Move placed(Move move) const {
    place(move.destination);
    for (Tensor& source : move.sources) place(source);
    return move;
  }

 private:
  struct Block {
    DevicePtr device;
    std::uint64_t bytes;
    DevicePtr host;
  };
  void place(Tensor& tensor) const {
    if (tensor.view.is_number) return;
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      if (tensor.address < block->device || tensor.address - block->device >= block->bytes) continue;
      tensor.address = tensor.address - block->device + block->host;
      return;
    }
  }
  std::vector<Block> blocks_;
};

/// How the moves that ran on the device wrote an array.
struct Written {
  bool any = false;
  bool makes_values = false;
  std::vector<double> allowed;  ///< errors of the elements in row-major order; empty: none
};

Written written(const Array& array, DevicePtr buffer, std::span<const tmajit::Operation> operations,
                const HostMemory& host) {
  Written result;
  // A move may write the elements in another order, or only some of them, so errors are collected by offset.
  const std::uint64_t size = tmajit::size_of(array.view.type);
  std::vector<double> by_place;
  const auto for_each_place = [&](const tmajit::TensorView& view, std::uint64_t first, const auto& visit) {
    reference::for_each_index(view.rank, reference::whole(view), [&](const reference::Index& index) {
      const auto bytes = reference::offset_of(view, index) * static_cast<std::int64_t>(size);
      visit(by_place[(first + static_cast<std::uint64_t>(bytes)) / size]);
    });
  };
  for (const auto& operation : operations) {
    for (const auto& move : operation.moves) {
      const DevicePtr at = move.destination.address - buffer;
      if (move.destination.address < buffer || at >= std::max<std::uint64_t>(array.memory.bytes, 1)) continue;
      result.any = true;
      const Move placed = host.placed(move);
      result.makes_values = result.makes_values || reference::makes_values(placed);
      const auto errors = reference::allowed_errors(placed, reference::whole(placed.destination.view));
      if (errors.empty()) continue;
      by_place.resize(array.memory.bytes / size + 1);
      auto error = errors.begin();
      for_each_place(move.destination.view, at, [&](double& there) { there = *error++; });
    }
  }
  if (!by_place.empty()) {
    for_each_place(array.view, array.memory.first, [&](double error) { result.allowed.push_back(error); });
  }
  return result;
}

}  // namespace

ChainArrays::ChainArrays(const std::shared_ptr<tmajit::Device>& device, const Chain& chain,
                         std::uint64_t seed)
    : chain_(chain) {
  for (const Problem& step : chain.steps) {
    const DeviceArrays* const before = steps_.empty() ? nullptr : steps_.back().get();
    steps_.push_back(std::make_unique<DeviceArrays>(device, step, seed, before));
    seed += step.inputs.size() + step.outputs.size() + 1;
  }
}

std::vector<Addresses> ChainArrays::addresses() const {
  std::vector<Addresses> all;
  for (const auto& step : steps_) all.push_back(step->addresses());
  return all;
}

void ChainArrays::reset_outputs() const {
  for (const auto& step : steps_) step->reset_outputs();
}

std::vector<ComparedOutput> ChainArrays::compare_outputs(
    std::span<const tmajit::Operation> operations) const {
  const Progress progress("checking on the CPU");
  std::vector<ComparedOutput> compared;
  HostMemory host;
  std::deque<Bytes> results;  // first output of each step: fused operations may read those of several steps
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const DeviceArrays& arrays = *steps_[k];
    const Problem& step = chain_.steps[k];
    const Addresses device = arrays.addresses();
    Addresses at;
    if (k > 0) {
      at.inputs.push_back(address_of(results.back()));
      host.add(device.inputs.front(), results.back().size(), results.back());
    }
    for (std::size_t i = 0; i < arrays.inputs().size(); ++i) {
      const auto image = arrays.input_image(i);
      host.add(device.inputs[at.inputs.size()], image.size(), image);
      at.inputs.push_back(address_of(image));
    }
    std::vector<Bytes> expected;
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const auto& bytes = expected.emplace_back(arrays.initial_output(i));
      host.add(device.outputs[i], bytes.size(), bytes);
      at.outputs.push_back(address_of(bytes));
    }
    for (const auto& move : step.operation(at).moves) reference::compute(move);
    results.emplace_back();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Array& array = step.outputs[i];
      const Written how = written(array, device.outputs[i], operations, host);
      Bytes found = arrays.read_output(i);
      const Bytes initial = how.any ? Bytes() : arrays.initial_output(i);
      const Bytes& wanted = how.any ? expected[i] : initial;
      const auto difference = compare(array, wanted, found, how.makes_values, how.allowed);
      if (how.any || !difference.none()) compared.push_back({&array, difference});
      if (i == 0) results.back() = std::move(how.any ? found : expected[0]);
    }
  }
  return compared;
}

}  // namespace jitc
