#pragma once

#include "report.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace jitc {

class JsonNode;

/// Device memory of a launch. What it holds first is one of: a file, values, or one byte repeated.
struct BufferDescription {
  std::string name;
  std::optional<std::string> in;   ///< .npy file
  std::optional<std::string> out;  ///< .npy file, written after the launch
  std::optional<tmajit::ElementType> type;
  std::vector<std::uint64_t> shape;   ///< elements, row-major; empty only with `in`, which has its own
  std::vector<std::uint64_t> values;  ///< bit patterns, repeated as often as they fit; or none
  std::uint8_t fill = 0;
  friend bool operator==(const BufferDescription&, const BufferDescription&) = default;
};

/// One number, or several of the same type one after the other.
struct ScalarParameter {
  tmajit::ElementType type = tmajit::ElementType::u32;
  std::vector<std::uint64_t> bits;  ///< patterns, the low size_of(type) bytes of each
  friend bool operator==(const ScalarParameter&, const ScalarParameter&) = default;
};

/// An address in a buffer.
struct PointerParameter {
  std::string buffer;
  std::uint64_t offset = 0;  ///< bytes
  friend bool operator==(const PointerParameter&, const PointerParameter&) = default;
};

/// The pixels that a copy through an im2col map moves: TensorMapSpec's, with one corner a dimension of an
/// image.
struct PixelBoxDescription {
  std::vector<std::int32_t> lower;
  std::vector<std::int32_t> upper;  ///< as many
  std::uint32_t channels = 0;
  std::uint32_t pixels = 0;
  friend bool operator==(const PixelBoxDescription&, const PixelBoxDescription&) = default;
};

/// A tensor map over a buffer. The fields are TensorMapSpec's; what is left out follows from the buffer.
struct TensorMapParameter {
  PointerParameter at;
  std::optional<tmajit::ElementType> type;
  std::vector<std::uint64_t> shape;              ///< empty: the buffer's
  std::vector<std::uint64_t> strides;            ///< bytes, one a dimension; empty: dense
  std::vector<std::uint32_t> box;                ///< of a tiled map
  std::optional<PixelBoxDescription> pixel_box;  ///< of an im2col map, which has no box
  std::vector<std::uint32_t> element_strides;    ///< empty: all 1
  tmajit::Interleave interleave = tmajit::Interleave::none;
  tmajit::Swizzle swizzle = tmajit::Swizzle::none;
  tmajit::L2Promotion l2_promotion = tmajit::L2Promotion::none;
  tmajit::OobFill oob_fill = tmajit::OobFill::zero;
  friend bool operator==(const TensorMapParameter&, const TensorMapParameter&) = default;
  /// Dimensions of the map: the box's, or those of the corners, images and channels.
  [[nodiscard]] std::size_t rank() const { return pixel_box ? pixel_box->lower.size() + 2 : box.size(); }
};

/// A struct by value, or an array of them: fields in the order of their places. One that does not say `at`
/// lies as in C, behind the one before at a multiple of its alignment: a number's size, 8 of an address, 64
/// of a tensor map. What no field covers is zeros.
struct StructParameter {
  static constexpr std::uint64_t map_alignment = 64;
  using Value = std::variant<ScalarParameter, PointerParameter, TensorMapParameter>;
  struct Field {
    Value value;
    std::optional<std::uint64_t> at;  ///< bytes from the struct's beginning
    friend bool operator==(const Field&, const Field&) = default;
  };
  std::vector<Field> fields;
  std::uint64_t bytes = 0;  ///< of the struct; 0: up to its last field, rounded up to its alignment
  friend bool operator==(const StructParameter&, const StructParameter&) = default;
};

using KernelParameter = std::variant<ScalarParameter, PointerParameter, TensorMapParameter, StructParameter>;

/// A parameter as a launch's description has it; its buffers are among `buffers`. Throws
/// Error{invalid_argument} that begins with the place.
[[nodiscard]] KernelParameter read_parameter(const JsonNode& node,
                                             const std::vector<BufferDescription>& buffers);
[[nodiscard]] Json to_json(const KernelParameter& parameter);

/// The bytes that a parameter takes in the kernel's parameter space.
[[nodiscard]] std::uint64_t bytes_of(const KernelParameter& parameter);
/// "u32", "u32[3]", "an address", "a tensor map", "a struct of 3 fields"
[[nodiscard]] std::string describe(const KernelParameter& parameter);
/// Where the fields of a struct lie, and in the end its size: one more than there are fields.
[[nodiscard]] std::vector<std::uint64_t> field_offsets(const StructParameter& parameter);
/// The largest of its fields'.
[[nodiscard]] std::uint64_t alignment_of(const StructParameter& parameter);

}  // namespace jitc
