#include "c/launches.hpp"

#include "c/tensor.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace c {
namespace {

/// Parses the name of a value of Enum; null gives the default.
template <class Enum>
Enum parse_optional(const char* word, Enum default_value) {
  return word == nullptr ? default_value : parse<Enum>(word);
}

std::array<std::uint32_t, 3> extents(const std::uint32_t (&values)[3]) {
  return {std::max(values[0], 1U), std::max(values[1], 1U), std::max(values[2], 1U)};
}

/// The largest alignment up to 16 that divides a value's size.
std::uint32_t natural_alignment(std::size_t bytes) {
  std::uint32_t alignment = 16;
  while (bytes % alignment != 0) alignment /= 2;
  return alignment;
}

/// The stride of a tensor map's dimension. No copy uses the stride of a dimension of extent 1, but the driver
/// checks it, so a legal one replaces it.
std::uint64_t stride_bytes(const TensorView& view, std::uint32_t d, Interleave interleave,
                           std::string_view subject) {
  constexpr std::uint64_t always_legal = 32;  // a multiple of 16 and, for the interleaved layout 32B, of 32
  const std::int64_t stride = view.strides[d];
  if (view.shape[d] == 1 && d + 1 < view.rank) return always_legal;
  if (view.shape[d] == 1 && interleave == Interleave::none) return size_of(view.type);
  if (stride < 0)
    refuse("{}: dimension {} has stride {}; a tensor map takes strides of 0 or more", subject, d, stride);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(stride), size_of(view.type), &bytes))
    return std::numeric_limits<std::uint64_t>::max();
  return bytes;
}

/// Reads the arguments of one launch.
class ArgumentReader {
 public:
  ArgumentReader(const std::vector<Tensor>& tensors) : tensors_(tensors) {}

  [[nodiscard]] KernelArgument read_one(const tmajit_argument* c_argument, std::size_t number) const {
    const std::string subject = fmt::format("argument {}", number);
    const tmajit_argument argument = c::read(c_argument, subject);
    require_zero(subject, argument.reserved);
    switch (argument.kind) {
      case TMAJIT_ARGUMENT_ADDRESS: return AddressArgument{argument.tensor, argument.offset};
      case TMAJIT_ARGUMENT_MAP: return map(argument.tensor, argument.offset, argument.map, subject);
      case TMAJIT_ARGUMENT_VALUE: return value(argument, subject);
      default:
        refuse(
            "{}: kind is {}; legal are TMAJIT_ARGUMENT_ADDRESS, TMAJIT_ARGUMENT_MAP and "
            "TMAJIT_ARGUMENT_VALUE",
            subject, argument.kind);
    }
  }

 private:
  [[nodiscard]] MapArgument map(std::uint32_t tensor, std::int64_t offset, const tmajit_tensor_map* c_map,
                                const std::string& subject) const {
    const TensorView& view = item(tensors_, tensor, subject + ": tensor").view;
    return {.tensor = tensor, .spec = to_map_spec(c_map, view, subject + ": map"), .offset = offset};
  }

  [[nodiscard]] ValueArgument value(const tmajit_argument& argument, const std::string& subject) const {
    const auto bytes =
        array(static_cast<const std::byte*>(argument.value), argument.value_bytes, subject + ": value");
    if (bytes.empty()) refuse("{}: the value has no bytes", subject);
    ValueArgument value{
        .bytes = {bytes.begin(), bytes.end()},
        .alignment = argument.alignment != 0 ? argument.alignment : natural_alignment(bytes.size()),
        .addresses = {},
        .maps = {}};
    for (const auto& one : array(argument.addresses, argument.address_count, subject + ": addresses"))
      value.addresses.push_back({one.at, {one.tensor, one.offset}});
    for (const auto& one : array(argument.maps, argument.map_count, subject + ": maps"))
      value.maps.push_back({one.at, map(one.tensor, one.offset, one.map, subject)});
    if (!value.maps.empty() && argument.alignment == 0) value.alignment = 64;
    return value;
  }

  const std::vector<Tensor>& tensors_;
};

/// The parameters of one launch of a kernel from PTX.
class LoadedParameters {
 public:
  LoadedParameters(const tmajit_kernel& kernel, const OwnLaunch& launch) : kernel_(kernel), launch_(launch) {
    const auto expected = kernel.loaded->parameter_count();
    if (expected && *expected != launch.arguments.size()) {
      refuse("'{}' takes {}, but the launch has {}", kernel.artifact.entry, counted(*expected, "argument"),
             launch.arguments.size());
    }
    for (number_ = 0; number_ < launch.arguments.size(); ++number_) {
      std::visit([this](const auto& argument) { add(argument); }, launch.arguments[number_]);
      const auto bytes = kernel.loaded->parameter_bytes(number_);
      if (bytes && *bytes != bytes_.back().size()) {
        refuse("argument {} of '{}' has {}, but the kernel's parameter has {}", number_,
               kernel.artifact.entry, counted(bytes_.back().size(), "byte"), *bytes);
      }
    }
    if (!violations_.empty()) throw SpecError(std::move(violations_));
  }

  [[nodiscard]] std::vector<void*> pointers() {
    std::vector<void*> all;
    for (auto& one : bytes_) all.push_back(one.data());
    return all;
  }

 private:
  [[nodiscard]] DevicePtr address(std::uint32_t tensor, std::int64_t offset) const {
    return item(launch_.tensors, tensor, fmt::format("argument {}: tensor", number_)).address +
           static_cast<DevicePtr>(offset);
  }

  [[nodiscard]] EncodedTensorMap encoded(const MapArgument& map) {
    const DevicePtr at = address(map.tensor, map.offset);
    std::vector<Violation> broken = validate(map.spec, at);
    if (broken.empty()) return kernel_.device->maps().encode(map.spec, at);
    for (Violation& one : broken) {
      one.subject = fmt::format("argument {}: {}", number_, one.subject);
      violations_.push_back(std::move(one));
    }
    return {};
  }

  template <class T>
  void store(std::vector<std::byte>& bytes, std::size_t at, const T& value) const {
    if (at > bytes.size() || sizeof value > bytes.size() - at)
      refuse("argument {}: {} at byte {} reach beyond the value's end", number_,
             counted(sizeof value, "byte"), at);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  template <class T>
  void add_bytes(const T& value) {
    store(bytes_.emplace_back(sizeof value), 0, value);
  }

  void add(const AddressArgument& argument) { add_bytes(address(argument.tensor, argument.offset)); }
  void add(const MapArgument& argument) { add_bytes(encoded(argument)); }
  void add(const ValueArgument& argument) {
    std::vector<std::byte>& bytes = bytes_.emplace_back(argument.bytes);
    for (const auto& one : argument.addresses)
      store(bytes, one.at, address(one.address.tensor, one.address.offset));
    for (const auto& one : argument.maps) store(bytes, one.at, encoded(one.map));
  }

  const tmajit_kernel& kernel_;
  const OwnLaunch& launch_;
  std::uint32_t number_ = 0;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<Violation> violations_;
};

}  // namespace

TensorMapSpec to_map_spec(const tmajit_tensor_map* c_map, const TensorView& view, std::string_view subject) {
  const tmajit_tensor_map map = c::read(c_map, subject);
  require_zero(subject, map.reserved);
  TensorMapSpec spec;
  spec.type = view.type;
  spec.rank = static_cast<std::uint8_t>(view.rank);
  spec.swizzle = parse_optional(map.swizzle, Swizzle::none);
  spec.interleave = parse_optional(map.interleave, Interleave::none);
  spec.l2_promotion = parse_optional(map.l2_promotion, L2Promotion::none);
  spec.oob_fill = parse_optional(map.oob_fill, OobFill::zero);
  if (flag(map.im2col, std::string(subject) + ": im2col")) {
    spec.mode = MapMode::im2col;
    std::ranges::copy(map.lower, spec.pixel_box.lower.begin());
    std::ranges::copy(map.upper, spec.pixel_box.upper.begin());
    spec.pixel_box.channels = map.channels;
    spec.pixel_box.pixels = map.pixels;
  } else {
    std::ranges::copy(map.box, spec.box.begin());
  }
  const std::uint32_t rank = std::min(view.rank, max_map_rank);  // validate() reports a larger rank
  const bool omitted =                                           // element strides that are all 0 mean 1
      std::ranges::all_of(map.element_strides, [](std::uint32_t step) { return step == 0; });
  for (std::uint32_t d = 0; d < rank; ++d) {
    spec.shape[d] = view.shape[d];
    spec.strides[d] = stride_bytes(view, d, spec.interleave, subject);
    spec.element_strides[d] = omitted ? 1 : map.element_strides[d];
  }
  return spec;
}

OwnLaunch to_launch(const tmajit_launch* c_launch) {
  const tmajit_launch launch = c::read(c_launch, "launch");
  OwnLaunch own_launch;
  own_launch.tensors = to_tensors(launch.tensors, launch.tensor_count, "launch: tensor");
  own_launch.shape = {.grid = extents(launch.grid),
                      .block = extents(launch.block),
                      .shared_bytes = launch.shared_bytes,
                      .cluster = extents(launch.cluster),
                      .cooperative = flag(launch.cooperative, "launch: cooperative"),
                      .overlaps = flag(launch.overlaps, "launch: overlaps")};
  (void)array(launch.arguments, launch.argument_count, "launch: arguments");
  const ArgumentReader reader(own_launch.tensors);
  for (std::size_t i = 0; i < launch.argument_count; ++i)
    own_launch.arguments.push_back(reader.read_one(element(launch.arguments, i, "launch: argument"), i));
  return own_launch;
}

void launch_loaded(const tmajit_kernel& kernel, const OwnLaunch& launch, Stream stream) {
  LoadedParameters parameters(kernel, launch);
  kernel.loaded->launch(launch.shape, parameters.pointers(), stream);
}

}  // namespace c
TMAJIT_END
