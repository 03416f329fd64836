#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/tile_options.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// Whether a parameter is a pointer.
enum class Pointer : std::uint8_t { no, to, to_const };

/// A type of a parameter as the source names it: "params::ViewPair<2>" is {"params::ViewPair", 2}.
struct ParameterType {
  std::string_view name;    ///< static text
  std::uint32_t first = 0;  ///< template arguments; 0: none
  std::uint32_t second = 0;
  Pointer pointer = Pointer::no;

  /// "tmajit::params::ViewPair<2>", "const tmajit::f32*", each name after `scope`.
  [[nodiscard]] std::string text(std::string_view scope = {}) const;
};

/// The parameters of a kernel, described once. From the block follow the signature of the kernel's entry, the
/// parameter bytes of a launch, and the addresses to patch for a launch on other memory (LaunchImage).
class ParameterBlock {
 public:
  static constexpr std::size_t max_bytes = 1536;
  static constexpr std::size_t max_parameters = 32;
  static constexpr std::size_t max_patches = 32;

  /// A parameter.
  struct Entry {
    ParameterType type;
    std::string_view name;  ///< static text
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };
  /// A tensor map that the device of a launch encodes into the block. It is a parameter, or a part of one.
  struct TensorMapSlot {
    std::uint32_t entry = 0;   ///< the parameter's index in entries()
    std::uint32_t offset = 0;  ///< offset in the block
    std::uint32_t operand = 0;
    DevicePtr address = 0;
    TensorMapSpec spec;
  };
  /// A 64-bit address in an operand's memory, which is patched for a launch on another tensor.
  struct Patch {
    std::uint32_t offset = 0;  ///< offset in the block
    std::uint32_t operand = 0;
  };

  /// Adds a parameter: the tensor map of an operand at `address`.
  void add_map(std::string_view name, std::uint32_t operand, const TensorMapSpec& spec, DevicePtr address);
  /// Marks a tensor map inside the value that was added last, `offset` bytes from the block's beginning.
  void add_map_inside(std::uint32_t offset, std::uint32_t operand, const TensorMapSpec& spec,
                      DevicePtr address);
  /// Adds a plain struct or number. Returns its offset in the block, for add_address().
  template <class T>
  std::uint32_t add(ParameterType type, std::string_view name, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add_bytes(type, name, std::as_bytes(std::span(&value, 1)), alignof(T));
  }
  /// Adds a pointer to an operand's memory.
  void add_pointer(ParameterType type, std::string_view name, std::uint32_t operand, DevicePtr address) {
    add_address(add(type, name, address), operand);
  }
  /// Marks the 8 bytes at `offset` as an address in an operand's memory.
  void add_address(std::uint32_t offset, std::uint32_t operand);

  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
  [[nodiscard]] std::span<const TensorMapSlot> maps() const noexcept { return maps_; }
  [[nodiscard]] std::span<const Patch> patches() const noexcept { return patches_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// Adds the bytes of a struct that only device code declares.
  std::uint32_t add_bytes(ParameterType type, std::string_view name, std::span<const std::byte> value,
                          std::size_t alignment);

 private:
  // Vectors save memory: most kernels have few entries, and callers keep many plans.
  std::vector<std::byte> bytes_;
  std::vector<Entry> entries_;
  std::vector<TensorMapSlot> maps_;
  std::vector<Patch> patches_;
};

/// Calls `f` with a std::integral_constant of `number`, 1 to 8: the template argument of a parameter struct,
/// such as its rank or its number of sources.
template <class F>
decltype(auto) with_constant(std::uint32_t number, F&& f) {
  switch (number) {
    // NOLINTNEXTLINE(bugprone-branch-clone): each case has a type of its own
    case 1: return f(std::integral_constant<std::uint32_t, 1>{});
    case 2: return f(std::integral_constant<std::uint32_t, 2>{});
    case 3: return f(std::integral_constant<std::uint32_t, 3>{});
    case 4: return f(std::integral_constant<std::uint32_t, 4>{});
    case 5: return f(std::integral_constant<std::uint32_t, 5>{});
    case 6: return f(std::integral_constant<std::uint32_t, 6>{});
    case 7: return f(std::integral_constant<std::uint32_t, 7>{});
    default: return f(std::integral_constant<std::uint32_t, 8>{});
  }
}

TMAJIT_END
