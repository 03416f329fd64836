#include "runtime/own_launch.hpp"

#include "runtime/plan_launch.hpp"
#include "spec/counted.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>
#include <tmajit/validate.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> message, Values&&... values) {
  throw Error(ErrorCode::invalid_argument, fmt::format(message, std::forward<Values>(values)...));
}

/// Alignment of a CUtensorMap in a struct (cuda.h), in bytes.
constexpr std::uint32_t map_alignment = 64;

std::size_t size_of(const KernelArgument& argument) {
  if (const auto* value = std::get_if<ValueArgument>(&argument)) return value->bytes.size();
  return std::holds_alternative<MapArgument>(argument) ? sizeof(EncodedTensorMap) : sizeof(DevicePtr);
}

std::string described(const KernelArgument& argument) {
  if (std::holds_alternative<MapArgument>(argument)) return "a tensor map, 128 bytes";
  if (std::holds_alternative<AddressArgument>(argument)) return "an address, 8 bytes";
  return fmt::format("a value of {}", counted(size_of(argument), "byte"));
}

/// Checks the arguments of one launch and packs them into a parameter block.
class Binding {
 public:
  Binding(const OwnLaunch& launch, const KernelState& kernel) : launch_(launch), kernel_(kernel) {}

  ParameterBlock parameters() {
    require_room();
    require_fit();
    require_maps();
    for (number_ = 0; number_ < launch_.arguments.size(); ++number_) {
      std::visit([this](const auto& argument) { add(argument); }, launch_.arguments[number_]);
    }
    return std::move(block_);
  }

 private:
  [[nodiscard]] DevicePtr address(const AddressArgument& at) const {
    if (at.tensor >= launch_.tensors.size()) {
      refuse("argument {} of '{}' lies in tensor {}, but the launch has {}, counted from 0", number_,
             kernel_.entry, at.tensor, counted(launch_.tensors.size(), "tensor"));
    }
    return launch_.tensors[at.tensor].address + static_cast<DevicePtr>(at.offset);
  }

  /// Rejects a launch that exceeds a limit: one block of fixed size holds its parameters.
  void require_room() const {
    std::size_t end = 0;
    std::size_t addresses = 0;
    std::size_t maps = 0;
    for (const KernelArgument& argument : launch_.arguments) {
      const auto* const value = std::get_if<ValueArgument>(&argument);
      const std::size_t alignment = value != nullptr ? value->alignment : size_of(argument);
      if (!std::has_single_bit(alignment) || alignment > 128)
        refuse("a value of '{}' is aligned to {}; a power of two up to 128 bytes is legal", kernel_.entry,
               counted(alignment, "byte"));
      end = round_up(end, alignment) + size_of(argument);
      if (std::holds_alternative<MapArgument>(argument)) ++maps;
      if (std::holds_alternative<AddressArgument>(argument)) ++addresses;
      if (value != nullptr) {
        addresses += value->addresses.size();
        maps += value->maps.size();
        require_aligned(*value);
      }
    }
    const auto require = [&](std::string_view what, std::size_t count, std::size_t most) {
      if (count > most)
        refuse("a launch of '{}' has {} {}; the most is {}", kernel_.entry, count, what, most);
    };
    require("tensors", launch_.tensors.size(), max_operands);
    require("arguments", launch_.arguments.size(), ParameterBlock::max_parameters);
    require("bytes of arguments", end, ParameterBlock::max_bytes);
    require("addresses", addresses, ParameterBlock::max_patches);
    require("tensor maps", maps, max_operands);
  }

  void require_aligned(const ValueArgument& value) const {
    if (value.maps.empty() || value.alignment % map_alignment == 0) return;
    refuse("a value of '{}' with tensor maps is aligned to {}; 64 or 128 bytes are legal", kernel_.entry,
           counted(value.alignment, "byte"));
  }

  /// Checks that the launch's shape and its arguments' sizes fit the kernel.
  void require_fit() const {
    const auto require_some = [&](std::string_view what, const std::array<std::uint32_t, 3>& extent) {
      if (extent[0] != 0 && extent[1] != 0 && extent[2] != 0) return;
      refuse("a {} of ({}) is empty; each of its three extents is at least 1", what, fmt::join(extent, ", "));
    };
    require_some("grid", launch_.shape.grid);
    require_some("block", launch_.shape.block);
    require_some("cluster", launch_.shape.cluster);
    require_shared_bytes(kernel_, launch_.shape.shared_bytes);
    require_parameter_count(kernel_, launch_.arguments.size());
    for (std::uint32_t i = 0; i < launch_.arguments.size(); ++i) {
      const std::optional<std::uint32_t> bytes = kernel_.loaded->parameter_bytes(i);
      if (!bytes || *bytes == size_of(launch_.arguments[i])) continue;
      refuse("argument {} of '{}' is {}, but the kernel's parameter has {}", i, kernel_.entry,
             described(launch_.arguments[i]), counted(*bytes, "byte"));
    }
  }

  /// Throws SpecError with every rule that the launch's tensor maps break.
  void require_maps() {
    std::vector<Violation> all;
    const auto add_violations = [&](const MapArgument& map, const std::string& place) {
      for (Violation& violation : validate(map.spec, address({map.tensor, map.offset}))) {
        violation.subject = fmt::format("argument {}{}: {}", number_, place, violation.subject);
        all.push_back(std::move(violation));
      }
    };
    for (number_ = 0; number_ < launch_.arguments.size(); ++number_) {
      const KernelArgument& argument = launch_.arguments[number_];
      if (const auto* const map = std::get_if<MapArgument>(&argument)) add_violations(*map, "");
      const auto* const value = std::get_if<ValueArgument>(&argument);
      if (value == nullptr) continue;
      for (const ValueArgument::Map& one : value->maps)
        add_violations(one.map, fmt::format(", byte {}", one.at));
    }
    if (!all.empty()) throw SpecError(std::move(all));
  }

  void add(const AddressArgument& argument) {
    block_.add_pointer({"", 0, 0, Pointer::to}, {}, argument.tensor, address(argument));
  }
  void add(const MapArgument& argument) {
    block_.add_map({}, argument.tensor, argument.spec, address({argument.tensor, argument.offset}));
  }
  void add(const ValueArgument& argument) {
    std::vector<std::byte> bytes = argument.bytes;
    for (const ValueArgument::Address& one : argument.addresses) {
      const DevicePtr value = address(one.address);
      if (one.at + sizeof value > bytes.size() || one.at % sizeof value != 0) {
        refuse(
            "argument {} of '{}', a value of {}, holds no address at byte {}: a multiple of 8 inside it is "
            "needed",
            number_, kernel_.entry, counted(bytes.size(), "byte"), one.at);
      }
      std::memcpy(bytes.data() + one.at, &value, sizeof value);
    }
    for (const ValueArgument::Map& one : argument.maps) {
      if (one.at + sizeof(EncodedTensorMap) > bytes.size() || one.at % map_alignment != 0) {
        refuse(
            "argument {} of '{}', a value of {}, holds no tensor map at byte {}: a multiple of 64 with 128 "
            "bytes inside it is needed",
            number_, kernel_.entry, counted(bytes.size(), "byte"), one.at);
      }
    }
    const std::uint32_t offset = block_.add_bytes({}, {}, bytes, argument.alignment);
    for (const ValueArgument::Address& one : argument.addresses) {
      block_.add_address(offset + one.at, one.address.tensor);
    }
    for (const auto& [at, map] : argument.maps)
      block_.add_map_inside(offset + at, map.tensor, map.spec, address({map.tensor, map.offset}));
  }

  const OwnLaunch& launch_;
  const KernelState& kernel_;
  std::size_t number_ = 0;  ///< number of the current argument
  ParameterBlock block_;
};

}  // namespace

ParameterBlock checked_parameters(const OwnLaunch& launch, const KernelState& kernel) {
  return Binding(launch, kernel).parameters();
}

std::vector<LaunchImage::Part> parts_of(const OwnLaunch& launch) {
  std::vector<LaunchImage::Part> parts;
  for (std::uint32_t i = 0; i < launch.tensors.size(); ++i) parts.push_back({i, launch.tensors[i].address});
  return parts;
}

std::uint64_t bytes_of(const OwnLaunch& launch) {
  std::uint64_t bytes = 0;
  for (const Tensor& tensor : launch.tensors) {
    bytes = sat_add(bytes, sat_mul(tensor.view.elements(), tmajit::size_of(tensor.view.type)));
  }
  return bytes;
}

TMAJIT_END
