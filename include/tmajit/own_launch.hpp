#pragma once

#include <tmajit/device_kernels.hpp>
#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// An address in the memory of tensor number `tensor` of a launch. PreparedLaunch::rebind() moves it with
/// that tensor.
struct AddressArgument {
  std::uint32_t tensor = 0;
  std::int64_t offset = 0;  ///< bytes, from Tensor::address
};

/// A tensor map over a tensor's memory: a `const __grid_constant__ CUtensorMap` or tmajit::TensorMap
/// parameter. TensorMapSpec::of(tensor.view, box, swizzle) is the spec of a whole tensor.
struct MapArgument {
  std::uint32_t tensor = 0;
  TensorMapSpec spec;
  std::int64_t offset = 0;  ///< bytes, from Tensor::address
};

/// A number or a struct by value. It may hold addresses of 8 bytes and tensor maps of 128 bytes, which are
/// filled in when the launch is prepared or rebound.
struct ValueArgument {
  struct Address {
    std::uint32_t at = 0;  ///< bytes from the beginning of the value, a multiple of 8
    AddressArgument address;
  };
  struct Map {
    std::uint32_t at = 0;  ///< bytes from the beginning of the value, a multiple of 64
    MapArgument map;
  };
  std::vector<std::byte> bytes;
  std::uint32_t alignment = 1;  ///< at least 64 for a value with tensor maps (cuda.h, CUtensorMap)
  std::vector<Address> addresses = {};
  std::vector<Map> maps = {};

  /// The bytes of `value`, whose type is laid out for the device as for the host.
  template <class T>
  [[nodiscard]] static ValueArgument of(const T& value, List<Address> addresses = {}, List<Map> maps = {}) {
    static_assert(std::is_trivially_copyable_v<T>, "a kernel takes the bytes of a value");
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {{bytes.begin(), bytes.end()},
            alignof(T),
            {addresses.begin(), addresses.end()},
            {maps.begin(), maps.end()}};
  }
};

/// The argument for one parameter of a kernel.
using KernelArgument = std::variant<AddressArgument, MapArgument, ValueArgument>;

/// A launch of a user's own kernel. Kernel::prepare() turns it into a PreparedLaunch, which can be repeated
/// and moved to other memory. It has at most 16 tensors, 16 tensor maps, and 32 arguments of 1536 bytes in
/// total with 32 addresses.
struct OwnLaunch {
  std::vector<Tensor> tensors;
  std::vector<KernelArgument> arguments;  ///< in the order of the kernel's parameters
  LaunchShape shape;
};

TMAJIT_END
