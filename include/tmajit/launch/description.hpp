#pragma once

#include <tmajit/element_type.hpp>
#include <tmajit/own_kernel.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// Device memory of a launch. It is filled from a file, with values, or with one repeated byte.
struct BufferDescription {
  std::string name = {};
  std::optional<std::string> in = {};   ///< .npy file
  std::optional<std::string> out = {};  ///< .npy file, written after the launch
  std::optional<ElementType> type = {};
  std::vector<std::uint64_t> shape = {};   ///< elements, row-major; empty only with `in`, which has its own
  std::vector<std::uint64_t> values = {};  ///< bit patterns, repeated to the buffer's end; or empty
  std::uint8_t fill = 0;
  friend bool operator==(const BufferDescription&, const BufferDescription&) = default;
};

/// One number, or several of the same type one after the other.
struct ScalarParameter {
  ElementType type = ElementType::u32;
  std::vector<std::uint64_t> bits = {};  ///< patterns, the low size_of(type) bytes of each
  friend bool operator==(const ScalarParameter&, const ScalarParameter&) = default;
};

/// An address in a buffer.
struct PointerParameter {
  std::string buffer = {};
  std::uint64_t offset = 0;  ///< bytes
  friend bool operator==(const PointerParameter&, const PointerParameter&) = default;
};

/// The pixels that a copy through an im2col map moves, as in TensorMapSpec::pixel_box. Corners have one
/// number for each dimension of an image.
struct PixelBoxDescription {
  std::vector<std::int32_t> lower = {};
  std::vector<std::int32_t> upper = {};  ///< as many numbers as `lower`
  std::uint32_t channels = 0;
  std::uint32_t pixels = 0;
  friend bool operator==(const PixelBoxDescription&, const PixelBoxDescription&) = default;
};

/// A tensor map over a buffer. The fields are TensorMapSpec's; omitted ones follow from the buffer.
struct TensorMapParameter {
  PointerParameter at = {};
  std::optional<ElementType> type = {};
  std::vector<std::uint64_t> shape = {};              ///< empty: the buffer's
  std::vector<std::uint64_t> strides = {};            ///< bytes, one a dimension; empty: dense
  std::vector<std::uint32_t> box = {};                ///< box of a tiled map
  std::optional<PixelBoxDescription> pixel_box = {};  ///< box of an im2col map, which has no `box`
  std::vector<std::uint32_t> element_strides = {};    ///< empty: all 1
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  OobFill oob_fill = OobFill::zero;
  friend bool operator==(const TensorMapParameter&, const TensorMapParameter&) = default;
  /// Dimensions of the map: the box's, or those of the corners, images and channels.
  [[nodiscard]] std::size_t rank() const { return pixel_box ? pixel_box->lower.size() + 2 : box.size(); }
};

/// A struct by value, or an array of structs, with its fields in ascending order of offset. A field without
/// `at` follows its predecessor at the next multiple of its alignment, as in C. The alignment of a number is
/// its size, of an address 8, of a tensor map 64 bytes. Bytes that no field covers are zero.
struct StructParameter {
  static constexpr std::uint64_t map_alignment = 64;
  using Value = std::variant<ScalarParameter, PointerParameter, TensorMapParameter>;
  struct Field {
    Value value;
    std::optional<std::uint64_t> at = {};  ///< bytes from the struct's beginning
    friend bool operator==(const Field&, const Field&) = default;
  };
  std::vector<Field> fields = {};
  std::uint64_t bytes = 0;  ///< size of the struct; 0: up to its last field, rounded up to its alignment
  friend bool operator==(const StructParameter&, const StructParameter&) = default;
};

using KernelParameter = std::variant<ScalarParameter, PointerParameter, TensorMapParameter, StructParameter>;

/// One launch of a kernel.
struct KernelLaunch {
  std::string path = "$";  ///< location in the description
  std::string entry = {};  ///< any part of the kernel's name; empty: the only kernel
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  bool cooperative = false;        ///< all CTAs are resident at once and can use a barrier of the grid
  bool overlaps = false;           ///< it may begin before its predecessor has ended
  std::vector<KernelParameter> parameters = {};
  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

/// A launch file: the launch of one kernel, its buffers, and launches that precede it. docs/run.md is the
/// reference of the format.
struct LaunchDescription : KernelLaunch {
  // Only for a kernel in a file of CUDA C++.
  std::vector<KernelConstant> constants = {};
  std::vector<std::string> include = {};  ///< folders of headers
  std::string source = {};                ///< file of the CUDA source whose lines reports show, or empty
  std::vector<BufferDescription> buffers = {};
  std::vector<KernelLaunch> before = {};  ///< launches of the same file's kernels that precede it, in order
  /// Every launch in order; this one is the last.
  [[nodiscard]] TMAJIT_API std::vector<const KernelLaunch*> launches() const;
  friend bool operator==(const LaunchDescription&, const LaunchDescription&) = default;
};

/// Reads a launch file. `constants` replace the file's own constants of the same names. A mistake throws one
/// Error{invalid_argument} that begins with its place, "$.parameters[1].tensor_map.box[0]: …", or with line
/// and column where the text is not JSON.
[[nodiscard]] TMAJIT_API LaunchDescription parse_launch(std::string_view text,
                                                        const std::vector<KernelConstant>& constants = {});

/// The description as JSON on one line: parse_launch(launch_json(d)) == d.
[[nodiscard]] TMAJIT_API std::string launch_json(const LaunchDescription& description);

/// A file of CUDA C++, and its launch if one is described.
struct KernelFile {
  OwnKernel kernel;
  std::optional<LaunchDescription> launch;
  std::filesystem::path launch_folder;
};

/// Reads the file `path`, and the launch file `launch` unless that is empty. Headers are searched for in the
/// file's folder, in `include`, in the launch's "include", and in CUDA's folders. `constants` and `entry`
/// override the launch file's. Throws Error{io} for a file that cannot be read, and the errors of
/// parse_launch(), with the launch file's name.
[[nodiscard]] TMAJIT_API KernelFile read_kernel_file(const std::string& path, const std::string& launch = {},
                                                     std::string entry = {},
                                                     std::vector<KernelConstant> constants = {},
                                                     const std::vector<std::string>& include = {});

TMAJIT_END
