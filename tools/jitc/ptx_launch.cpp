#include "ptx_launch.hpp"

#include "memory_image.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;
using tmajit::TensorView;

std::vector<std::byte> scalar_bytes(const ScalarParameter& scalar) {
  const std::size_t size = tmajit::size_of(scalar.type);
  std::vector<std::byte> bytes(size * scalar.bits.size());
  // Hosts are little-endian as the device is.
  for (std::size_t i = 0; i < scalar.bits.size(); ++i) {
    std::memcpy(bytes.data() + i * size, &scalar.bits[i], size);
  }
  return bytes;
}

template <class Value>
std::vector<std::byte> value_bytes(const Value& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

tmajit::LaunchShape shape_of(const KernelLaunch& launch) {
  return {.grid = launch.grid,
          .block = launch.block,
          .shared_bytes = launch.shared_bytes,
          .cluster = launch.cluster,
          .cooperative = launch.cooperative,
          .overlaps = launch.overlaps};
}

LaunchBuffers::LaunchBuffers(const LaunchDescription& description, const std::filesystem::path& folder)
    : folder_(folder) {
  for (const auto& buffer : description.buffers) {
    auto& entry = entries_.emplace_back();
    entry.path = "$.buffers." + buffer.name;
    entry.description = buffer;
    auto shape = buffer.shape;
    auto type = buffer.type;
    if (buffer.in) {
      entry.in.emplace(folder_ / *buffer.in);
      const auto& header = entry.in->header();
      if (!type) type = entry.in->type();
      entry.in->check(*type);
      if (!shape.empty() && shape != header.shape) {
        refuse("{}.shape: [{}], but {} has shape [{}]; leave shape out", entry.path, fmt::join(shape, ", "),
               *buffer.in, fmt::join(header.shape, ", "));
      }
      shape = header.shape;
      if (shape.size() > tmajit::max_view_rank) {
        refuse("{}.in: {} has {} dimensions; the most is {}", entry.path, *buffer.in, shape.size(),
               tmajit::max_view_rank);
      }
    }
    entry.view = TensorView::contiguous(*type, shape);
    if (entry.view.elements() == 0) refuse("{}.in: {} is empty", entry.path, *buffer.in);
  }
}

void LaunchBuffers::open_outputs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : entries_) {
    if (entry.description.out) paths.push_back(folder_ / *entry.description.out);
  }
  require_distinct(paths);
  for (auto& entry : entries_) {
    if (!entry.description.out) continue;
    entry.out = std::make_unique<OutputArray>(folder_ / *entry.description.out);
    const auto type = entry.view.type;
    entry.out_data = entry.out->reserve(npy_descr(type), tmajit::size_of(type), extents(entry.view));
  }
}

void LaunchBuffers::upload(const std::shared_ptr<tmajit::Device>& device) {
  device_ = device;
  for (auto& entry : entries_) {
    entry.memory = tmajit::Buffer(device, entry.view.span_bytes());
    const auto at = entry.memory.address();
    if (entry.in) {
      const auto span = MemorySpan::of(entry.view, 0);
      copy_in(*device, at, MemoryImage::of(span, entry.view, entry.in->data(), entry.in->layout()).bytes);
    } else if (!entry.description.values.empty()) {
      const auto period = scalar_bytes({.type = entry.view.type, .bits = entry.description.values});
      std::vector<std::byte> bytes(entry.memory.bytes());
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = period[i % period.size()];
      device->memory().copy_in(at, bytes, nullptr);
    } else {
      device->memory().fill(at, static_cast<std::byte>(entry.description.fill), entry.memory.bytes(),
                            nullptr);
    }
  }
}

std::vector<std::string> LaunchBuffers::download() {
  std::vector<std::string> written;
  for (auto& entry : entries_) {
    if (!entry.out) continue;
    copy_out(*device_, entry.out_data, entry.memory.address());
  }
  for (auto& entry : entries_) {
    if (!entry.out) continue;
    entry.out->commit();
    written.push_back(entry.out->path().string());
  }
  return written;
}

std::uint64_t LaunchBuffers::bytes() const {
  std::uint64_t all = 0;
  for (const auto& entry : entries_) all += entry.view.span_bytes();
  return all;
}

const LaunchBuffers::Entry& LaunchBuffers::find(const std::string& name) const {
  return *std::ranges::find(entries_, name, [](const Entry& entry) { return entry.description.name; });
}

tmajit::AddressArgument LaunchBuffers::address(const PointerParameter& pointer,
                                               const std::string& path) const {
  const auto& entry = find(pointer.buffer);
  if (pointer.offset > entry.memory.bytes()) {
    refuse("{}.offset: {}, but the buffer has {} bytes", path, pointer.offset, entry.memory.bytes());
  }
  return {static_cast<std::uint32_t>(&entry - entries_.data()), static_cast<std::int64_t>(pointer.offset)};
}

tmajit::DevicePtr LaunchBuffers::place(const tmajit::AddressArgument& address) const {
  return entries_[address.tensor].memory.address() + static_cast<std::uint64_t>(address.offset);
}

tmajit::TensorMapSpec LaunchBuffers::tensor_map(const TensorMapParameter& map,
                                                const std::string& path) const {
  const auto& view = find(map.at.buffer).view;
  const auto rank = map.rank();
  // Of rank 0 there is no shape to give; that it is not legal is one rule among others.
  if (rank != 0 && map.shape.empty() && view.rank != rank) {
    refuse("{}.{}: {}, but buffer \"{}\" has {}; give the map a shape of its own", path,
           map.pixel_box ? "pixel_box" : "box", counted(rank, "dimension"), map.at.buffer, view.rank);
  }
  tmajit::TensorMapSpec spec;
  spec.type = map.type.value_or(view.type);
  spec.rank = static_cast<std::uint8_t>(rank);
  spec.interleave = map.interleave;
  spec.swizzle = map.swizzle;
  spec.l2_promotion = map.l2_promotion;
  spec.oob_fill = map.oob_fill;
  std::uint64_t dense = tmajit::size_of(spec.type);
  for (std::size_t d = rank; d-- > 0;) {
    const std::uint64_t extent = map.shape.empty() ? view.shape.at(d) : map.shape[d];
    const std::uint64_t stride = map.strides.empty() ? dense : map.strides[d];
    if (__builtin_mul_overflow(dense, extent, &dense)) dense = std::numeric_limits<std::uint64_t>::max();
    if (d >= tmajit::max_map_rank) continue;  // more than a tensor map has: its rank is refused
    spec.shape.at(d) = extent;
    spec.strides.at(d) = stride;
    if (!map.pixel_box) spec.box.at(d) = map.box[d];
    spec.element_strides.at(d) = map.element_strides.empty() ? 1 : map.element_strides[d];
  }
  if (!map.pixel_box) return spec;
  spec.mode = tmajit::MapMode::im2col;
  const auto corners = std::min(map.pixel_box->lower.size(), spec.pixel_box.lower.size());
  std::copy_n(map.pixel_box->lower.begin(), corners, spec.pixel_box.lower.begin());
  std::copy_n(map.pixel_box->upper.begin(), corners, spec.pixel_box.upper.begin());
  spec.pixel_box.channels = map.pixel_box->channels;
  spec.pixel_box.pixels = map.pixel_box->pixels;
  return spec;
}

std::vector<tmajit::KernelArgument> LaunchBuffers::arguments(const KernelLaunch& launch) const {
  std::vector<tmajit::KernelArgument> result;
  for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
    const auto path = fmt::format("{}.parameters[{}]", launch.path, i);
    const auto& parameter = launch.parameters[i];
    if (const auto* scalar = std::get_if<ScalarParameter>(&parameter)) {
      result.emplace_back(
          tmajit::ValueArgument{.bytes = scalar_bytes(*scalar), .alignment = tmajit::size_of(scalar->type)});
    } else if (const auto* pointer = std::get_if<PointerParameter>(&parameter)) {
      result.emplace_back(address(*pointer, path));
    } else if (const auto* map = std::get_if<TensorMapParameter>(&parameter)) {
      result.emplace_back(map_argument(*map, path));
    } else {
      result.emplace_back(structure(std::get<StructParameter>(parameter), path));
    }
  }
  return result;
}

tmajit::MapArgument LaunchBuffers::map_argument(const TensorMapParameter& map,
                                                const std::string& path) const {
  const auto at = path + ".tensor_map";
  const auto from = address(map.at, at);
  return {.tensor = from.tensor, .spec = tensor_map(map, at), .offset = from.offset};
}

tmajit::ValueArgument LaunchBuffers::structure(const StructParameter& parameter,
                                               const std::string& path) const {
  const auto offsets = field_offsets(parameter);
  tmajit::ValueArgument value{.bytes = std::vector<std::byte>(offsets.back()),
                              .alignment = static_cast<std::uint32_t>(alignment_of(parameter))};
  for (std::size_t f = 0; f < parameter.fields.size(); ++f) {
    const auto at = static_cast<std::uint32_t>(offsets[f]);
    const auto place = fmt::format("{}.struct[{}]", path, f);
    const auto& field = parameter.fields[f].value;
    if (const auto* const number = std::get_if<ScalarParameter>(&field)) {
      const auto part = scalar_bytes(*number);
      std::copy(part.begin(), part.end(), value.bytes.begin() + at);
    } else if (const auto* const map = std::get_if<TensorMapParameter>(&field)) {
      value.maps.push_back({at, map_argument(*map, place)});
    } else {
      value.addresses.push_back({at, address(std::get<PointerParameter>(field), place)});
    }
  }
  return value;
}

std::vector<std::vector<std::byte>> LaunchBuffers::parameter_bytes(const KernelLaunch& launch) const {
  const auto all = arguments(launch);
  std::vector<tmajit::Violation> violations;
  const auto add_violations = [&](const tmajit::MapArgument& map, const std::string& path) {
    for (auto& violation : tmajit::validate(map.spec, place({map.tensor, map.offset}))) {
      violation.subject = fmt::format("{}.tensor_map: {}", path, violation.subject);
      violations.push_back(std::move(violation));
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto path = fmt::format("{}.parameters[{}]", launch.path, i);
    if (const auto* const map = std::get_if<tmajit::MapArgument>(&all[i])) add_violations(*map, path);
    const auto* const value = std::get_if<tmajit::ValueArgument>(&all[i]);
    if (value == nullptr) continue;
    for (const auto& [at, map] : value->maps) add_violations(map, fmt::format("{}, byte {}", path, at));
  }
  if (!violations.empty()) throw tmajit::SpecError(std::move(violations));
  const auto encoded = [&](const tmajit::MapArgument& map) {
    return value_bytes(device_->maps().encode(map.spec, place({map.tensor, map.offset})));
  };
  std::vector<std::vector<std::byte>> result;
  for (const auto& argument : all) {
    if (const auto* const address = std::get_if<tmajit::AddressArgument>(&argument)) {
      result.push_back(value_bytes(place(*address)));
    } else if (const auto* const map = std::get_if<tmajit::MapArgument>(&argument)) {
      result.push_back(encoded(*map));
    } else {
      const auto& value = std::get<tmajit::ValueArgument>(argument);
      auto& bytes = result.emplace_back(value.bytes);
      for (const auto& [at, of] : value.addresses) {
        const auto pointer = place(of);
        std::memcpy(bytes.data() + at, &pointer, sizeof pointer);
      }
      for (const auto& [at, of] : value.maps) std::ranges::copy(encoded(of), bytes.begin() + at);
    }
  }
  return result;
}

tmajit::OwnLaunch LaunchBuffers::own_launch(const LaunchDescription& description) const {
  tmajit::OwnLaunch launch{
      .tensors = {}, .arguments = arguments(description), .shape = shape_of(description)};
  for (const auto& entry : entries_) launch.tensors.push_back({entry.view, entry.memory.address()});
  return launch;
}

}  // namespace jitc
