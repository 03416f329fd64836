#include "device_arrays.hpp"

#include "arrays.hpp"
#include "index_inputs.hpp"
#include "reference/random_elements.hpp"
#include "terminal.hpp"

#include <algorithm>

namespace jitc {
namespace {

/// Value of every byte of the outputs before a run.
constexpr std::byte untouched{0xa5};

tmajit::Buffer allocate(const std::shared_ptr<tmajit::Device>& device, const Array& array) {
  return {device, std::max<std::uint64_t>(array.memory.bytes, 1)};
}

void fill_with_random(std::span<std::byte> array, tmajit::ElementType type, std::uint64_t seed) {
  constexpr std::size_t piece = std::size_t{1} << 20U;
  reference::RandomElements random(type, seed);
  Progress progress("generating elements", array.size());
  for (; !array.empty(); array = array.subspan(std::min(piece, array.size()))) {
    const auto next = array.first(std::min(piece, array.size()));
    random.fill(next);
    progress.advance(next.size());
  }
}

void upload(tmajit::Device& device, tmajit::DevicePtr to, std::span<const std::byte> bytes) {
  Progress progress("copying to the device", bytes.size());
  copy_in(device, to, bytes, [&](std::uint64_t copied) { progress.advance(copied); });
}

void download(tmajit::Device& device, std::span<std::byte> bytes, tmajit::DevicePtr from) {
  Progress progress("copying from the device", bytes.size());
  copy_out(device, bytes, from, [&](std::uint64_t copied) { progress.advance(copied); });
}

MemoryImage image_of(const Array& array, std::span<const std::byte> elements, const HostLayout& layout) {
  const Progress progress("laying out an input");
  return MemoryImage::of(array.memory, array.view, elements, layout);
}

}  // namespace

DeviceArrays::DeviceArrays(std::shared_ptr<tmajit::Device> device, const Problem& problem, std::uint64_t seed,
                           const DeviceArrays* before)
    : problem_(problem), device_(std::move(device)), before_(before) {
  for (std::size_t i = before == nullptr ? 0 : 1; i < problem.inputs.size(); ++i) {
    const auto& [view, memory, name] = problem.inputs[i];
    inputs_.push_back(allocate(device_, problem.inputs[i]));
    HostLayout layout{.strides = c_order(extents(view))};
    std::span<const std::byte> elements;
    if (problem.files.empty()) {
      auto& generated =
          generated_.emplace_back(memory.bytes == 0 ? 0 : view.elements() * tmajit::size_of(view.type));
      const auto& operation = *problem.request.operation;
      const bool ragged = problem.given.text("ragged") == "yes";
      switch (role_of(operation, ragged, i, problem.inputs.size())) {
        case InputRole::indices: fill_with_places(generated, problem, i, seed + i); break;
        case InputRole::offsets: fill_with_offsets(generated, problem, i, seed + i); break;
        case InputRole::elements:
        case InputRole::weights: fill_with_random(generated, view.type, seed + i); break;
      }
      elements = generated;
    } else {
      layout = problem.files[i].layout();
      elements = problem.files[i].data();
    }
    images_.push_back(image_of(problem.inputs[i], elements, layout));
    upload(*device_, inputs_.back().address(), images_.back().bytes);
  }
  for (const auto& output : problem.outputs) {
    outputs_.push_back(allocate(device_, output));
    if (!problem.request.combines()) continue;
    if (problem.into) {
      const auto image = image_of(output, problem.into->data(), problem.into->layout());
      initial_outputs_.emplace_back(image.bytes.begin(), image.bytes.end());
      continue;
    }
    // The kernel combines results with the outputs' content, which must be numbers.
    fill_with_random(initial_outputs_.emplace_back(output.memory.bytes), output.view.type,
                     seed + outputs_.size() + 1);
  }
  reset_outputs();
}

Addresses DeviceArrays::addresses() const {
  Addresses at;
  if (before_ != nullptr) at.inputs.push_back(before_->outputs_.front().address());
  for (const auto& buffer : inputs_) at.inputs.push_back(buffer.address());
  for (const auto& buffer : outputs_) at.outputs.push_back(buffer.address());
  return at;
}

void DeviceArrays::reset_outputs() const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (initial_outputs_.empty()) {
      device_->memory().fill(outputs_[i].address(), untouched, outputs_[i].bytes(), nullptr);
    } else {
      upload(*device_, outputs_[i].address(), initial_outputs_[i]);
    }
  }
}

std::vector<std::byte> DeviceArrays::read_output(std::size_t index) const {
  std::vector<std::byte> memory(problem_.outputs[index].memory.bytes);
  download(*device_, memory, outputs_[index].address());
  return memory;
}

void DeviceArrays::read_elements(std::size_t index, std::span<std::byte> elements) const {
  const auto& [view, memory, name] = problem_.outputs[index];
  if (is_dense(view)) return download(*device_, elements, outputs_[index].address() + memory.first);
  gather(elements, read_output(index), memory, view);
}

std::vector<std::byte> DeviceArrays::initial_output(std::size_t index) const {
  if (!initial_outputs_.empty()) return initial_outputs_[index];
  return std::vector<std::byte>(problem_.outputs[index].memory.bytes, untouched);
}

}  // namespace jitc
