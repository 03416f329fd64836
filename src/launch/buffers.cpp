#include "launch/files.hpp"
#include "launch/parameter.hpp"
#include "report/text.hpp"
#include "spec/refuse.hpp"

#include <tmajit/launch/buffers.hpp>
#include <tmajit/launch/memory_image.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::vector<std::byte> scalar_bytes(const ScalarParameter& scalar) {
  const std::size_t size = size_of(scalar.type);
  std::vector<std::byte> bytes(size * scalar.bits.size());
  // The host is little-endian, as the device is.
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

LaunchShape shape_of(const KernelLaunch& launch) {
  return {.grid = launch.grid,
          .block = launch.block,
          .shared_bytes = launch.shared_bytes,
          .cluster = launch.cluster,
          .cooperative = launch.cooperative,
          .overlaps = launch.overlaps};
}

}  // namespace

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
      if (shape.size() > max_view_rank) {
        refuse("{}.in: {} has {} dimensions; the most is {}", entry.path, *buffer.in, shape.size(),
               max_view_rank);
      }
    }
    if (!type) refuse("{}: no element type; give \"dtype\", or \"in\", a file that has one", entry.path);
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
    entry.out_data = entry.out->reserve(npy_descr(type), size_of(type), extents(entry.view));
  }
}

void LaunchBuffers::upload(const std::shared_ptr<Device>& device) {
  device_ = device;
  for (auto& entry : entries_) {
    entry.memory = Buffer(device, entry.view.span_bytes());
    const auto address = entry.memory.address();
    if (entry.in) {
      const auto span = MemorySpan::of(entry.view, 0);
      copy_in(*device, address,
              MemoryImage::of(span, entry.view, entry.in->data(), entry.in->layout()).bytes);
    } else if (!entry.description.values.empty()) {
      const auto period = scalar_bytes({.type = entry.view.type, .bits = entry.description.values});
      std::vector<std::byte> bytes(entry.memory.bytes());
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = period[i % period.size()];
      device->memory().copy_in(address, bytes, nullptr);
    } else {
      device->memory().fill(address, static_cast<std::byte>(entry.description.fill), entry.memory.bytes(),
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
  const auto found =
      std::ranges::find(entries_, name, [](const Entry& entry) { return entry.description.name; });
  if (found == entries_.end()) refuse("$.buffers has no \"{}\"", name);
  return *found;
}

AddressArgument LaunchBuffers::address(const PointerParameter& pointer, const std::string& path) const {
  const auto& entry = find(pointer.buffer);
  if (pointer.offset > entry.memory.bytes()) {
    refuse("{}.offset: {}, but the buffer has {}", path, pointer.offset,
           counted(entry.memory.bytes(), "byte"));
  }
  return {static_cast<std::uint32_t>(&entry - entries_.data()), static_cast<std::int64_t>(pointer.offset)};
}

DevicePtr LaunchBuffers::place(const AddressArgument& address) const {
  return entries_[address.tensor].memory.address() + static_cast<std::uint64_t>(address.offset);
}

TensorMapSpec LaunchBuffers::tensor_map(const TensorMapParameter& map, const std::string& path) const {
  const auto& view = find(map.at.buffer).view;
  const auto rank = map.rank();
  // A map of rank 0 passes: a shape would not help, and validate() refuses the rank itself.
  if (rank != 0 && map.shape.empty() && view.rank != rank) {
    refuse("{}.{}: {}, but buffer \"{}\" has {}; give the map a shape of its own", path,
           map.pixel_box ? "pixel_box" : "box", counted(rank, "dimension"), map.at.buffer, view.rank);
  }
  const auto fits = [&](const auto& list) { return list.empty() || list.size() == rank; };
  if (!fits(map.shape) || !fits(map.strides) || !fits(map.element_strides) ||
      (map.pixel_box && map.pixel_box->upper.size() != map.pixel_box->lower.size())) {
    refuse("{}: shape, strides and corners need one number for each of its {}", path,
           counted(rank, "dimension"));
  }
  TensorMapSpec spec;
  spec.type = map.type.value_or(view.type);
  spec.rank = static_cast<std::uint8_t>(rank);
  spec.interleave = map.interleave;
  spec.swizzle = map.swizzle;
  spec.l2_promotion = map.l2_promotion;
  spec.oob_fill = map.oob_fill;
  std::uint64_t dense = size_of(spec.type);
  for (std::size_t d = rank; d-- > 0;) {
    const std::uint64_t extent = map.shape.empty() ? view.shape.at(d) : map.shape[d];
    const std::uint64_t stride = map.strides.empty() ? dense : map.strides[d];
    if (__builtin_mul_overflow(dense, extent, &dense)) dense = std::numeric_limits<std::uint64_t>::max();
    if (d >= max_map_rank) continue;  // validate() refuses a rank above max_map_rank
    spec.shape.at(d) = extent;
    spec.strides.at(d) = stride;
    if (!map.pixel_box) spec.box.at(d) = map.box[d];
    spec.element_strides.at(d) = map.element_strides.empty() ? 1 : map.element_strides[d];
  }
  if (!map.pixel_box) return spec;
  spec.mode = MapMode::im2col;
  const auto corners = std::min(map.pixel_box->lower.size(), spec.pixel_box.lower.size());
  std::copy_n(map.pixel_box->lower.begin(), corners, spec.pixel_box.lower.begin());
  std::copy_n(map.pixel_box->upper.begin(), corners, spec.pixel_box.upper.begin());
  spec.pixel_box.channels = map.pixel_box->channels;
  spec.pixel_box.pixels = map.pixel_box->pixels;
  return spec;
}

std::vector<KernelArgument> LaunchBuffers::arguments(const KernelLaunch& launch) const {
  std::vector<KernelArgument> result;
  for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
    const auto path = fmt::format("{}.parameters[{}]", launch.path, i);
    const auto& parameter = launch.parameters[i];
    if (const auto* scalar = std::get_if<ScalarParameter>(&parameter)) {
      result.emplace_back(ValueArgument{.bytes = scalar_bytes(*scalar), .alignment = size_of(scalar->type)});
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

MapArgument LaunchBuffers::map_argument(const TensorMapParameter& map, const std::string& path) const {
  const auto map_path = path + ".tensor_map";
  const auto start = address(map.at, map_path);
  return {.tensor = start.tensor, .spec = tensor_map(map, map_path), .offset = start.offset};
}

ValueArgument LaunchBuffers::structure(const StructParameter& parameter, const std::string& path) const {
  const auto offsets = field_offsets(parameter);
  ValueArgument value{.bytes = std::vector<std::byte>(offsets.back()),
                      .alignment = static_cast<std::uint32_t>(alignment_of(parameter))};
  for (std::size_t f = 0; f < parameter.fields.size(); ++f) {
    const auto offset = static_cast<std::uint32_t>(offsets[f]);
    const auto field_path = fmt::format("{}.struct[{}]", path, f);
    const auto& field = parameter.fields[f].value;
    const auto size = std::visit([](const auto& typed) { return bytes_of(KernelParameter(typed)); }, field);
    if (offset + size > value.bytes.size()) refuse("{}: the field ends beyond the struct", field_path);
    if (const auto* const number = std::get_if<ScalarParameter>(&field)) {
      const auto number_bytes = scalar_bytes(*number);
      std::copy(number_bytes.begin(), number_bytes.end(), value.bytes.begin() + offset);
    } else if (const auto* const map = std::get_if<TensorMapParameter>(&field)) {
      value.maps.push_back({offset, map_argument(*map, field_path)});
    } else {
      value.addresses.push_back({offset, address(std::get<PointerParameter>(field), field_path)});
    }
  }
  return value;
}

std::vector<std::vector<std::byte>> LaunchBuffers::parameter_bytes(const KernelLaunch& launch) const {
  const auto all = arguments(launch);
  std::vector<Violation> violations;
  const auto add_violations = [&](const MapArgument& map, const std::string& path) {
    for (auto& violation : validate(map.spec, place({map.tensor, map.offset}))) {
      violation.subject = fmt::format("{}.tensor_map: {}", path, violation.subject);
      violations.push_back(std::move(violation));
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto path = fmt::format("{}.parameters[{}]", launch.path, i);
    if (const auto* const map = std::get_if<MapArgument>(&all[i])) add_violations(*map, path);
    const auto* const value = std::get_if<ValueArgument>(&all[i]);
    if (value == nullptr) continue;
    for (const auto& [at, map] : value->maps) add_violations(map, fmt::format("{}, byte {}", path, at));
  }
  if (!violations.empty()) throw SpecError(std::move(violations));
  const auto encoded = [&](const MapArgument& map) {
    return value_bytes(device_->maps().encode(map.spec, place({map.tensor, map.offset})));
  };
  std::vector<std::vector<std::byte>> result;
  for (const auto& argument : all) {
    if (const auto* const address = std::get_if<AddressArgument>(&argument)) {
      result.push_back(value_bytes(place(*address)));
    } else if (const auto* const map = std::get_if<MapArgument>(&argument)) {
      result.push_back(encoded(*map));
    } else {
      const auto& value = std::get<ValueArgument>(argument);
      auto& bytes = result.emplace_back(value.bytes);
      for (const auto& [at, target] : value.addresses) {
        const auto pointer = place(target);
        std::memcpy(bytes.data() + at, &pointer, sizeof pointer);
      }
      for (const auto& [at, field] : value.maps) std::ranges::copy(encoded(field), bytes.begin() + at);
    }
  }
  return result;
}

OwnLaunch LaunchBuffers::own_launch(const LaunchDescription& description) const {
  OwnLaunch launch{.tensors = {}, .arguments = arguments(description), .shape = shape_of(description)};
  for (const auto& entry : entries_) launch.tensors.push_back({entry.view, entry.memory.address()});
  return launch;
}

std::vector<LaunchMap> LaunchBuffers::tensor_maps(const KernelLaunch& launch) const {
  std::vector<LaunchMap> maps;
  for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
    const auto& parameter = launch.parameters[i];
    const auto path = fmt::format("{}.parameters[{}].tensor_map", launch.path, i);
    const auto add = [&](const TensorMapParameter& map, std::uint64_t offset) {
      maps.push_back({i, offset, tensor_map(map, path)});
    };
    if (const auto* const map = std::get_if<TensorMapParameter>(&parameter)) add(*map, 0);
    const auto* const structure = std::get_if<StructParameter>(&parameter);
    if (structure == nullptr) continue;
    const auto offsets = field_offsets(*structure);
    for (std::size_t f = 0; f < structure->fields.size(); ++f) {
      if (const auto* const map = std::get_if<TensorMapParameter>(&structure->fields[f].value))
        add(*map, offsets[f]);
    }
  }
  return maps;
}

std::vector<MapFacts> LaunchBuffers::map_facts(const KernelLaunch& launch) const {
  std::vector<MapFacts> facts;
  for (const LaunchMap& map : tensor_maps(launch)) {
    facts.push_back(tmajit::map_facts(std::to_string(map.parameter), map.spec));
    facts.back().offset = map.offset;
  }
  return facts;
}

DescribedLaunch::DescribedLaunch(const LaunchDescription& description, std::filesystem::path file,
                                 const std::shared_ptr<Device>& device)
    : buffers_(naming(file, [&] { return LaunchBuffers(description, file.parent_path()); })) {
  buffers_.upload(device);
  for (const KernelLaunch* const launch : description.launches()) {
    Step& step = steps_.emplace_back();
    step.shape = shape_of(*launch);
    step.bytes = naming(file, [&] { return buffers_.parameter_bytes(*launch); });
    for (auto& parameter : step.bytes) step.parameters.push_back(parameter.data());
  }
  buffers_.open_outputs();
}

TMAJIT_END
