#pragma once

/// The objects of a launch file, with their members. The parser takes keys and limits from these tables, and
/// launch_schema() is written from them.
#include "spec/numpy_types.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace launch_file {

/// The form of a member's value.
enum class Form : std::uint8_t {
  anything,    ///< not read
  whole,       ///< a whole number, or an expression of one
  corner,      ///< a list of whole numbers of either sign
  extent,      ///< x, [x, y] or [x, y, z]
  list,        ///< whole numbers, one a dimension
  number,      ///< a number of the element type that the same object names, or a list of them
  numbers,     ///< a list of such numbers
  truth,       ///< true or false
  text,        ///< not empty
  texts,       ///< a list of texts
  word,        ///< one of Member::words
  constants,   ///< name -> number, truth value or C++ literal
  buffers,     ///< name -> buffer
  parameters,  ///< a list
  fields,      ///< a list that is not empty
  launches,    ///< a list
  tensor_map,
  pixel_box,
};

/// Which objects of a kind have a member.
enum class Only : std::uint8_t {
  always,
  file,   ///< the launch file itself, not its launches "before"
  field,  ///< parameters that are fields of a struct
};

struct Member {
  std::string_view key;
  std::string_view meaning;
  Form form;
  bool required = false;
  Only only = Only::always;
  std::uint64_t least = 0;                 ///< lower bound of each number
  std::array<std::uint64_t, 3> most = {};  ///< upper bounds of x, y and z; most[0] for numbers of other forms
  std::size_t least_entries = 0;           ///< lower bound of a list's length
  std::vector<std::string_view> (*words)() = nullptr;  ///< legal values, for Form::word
};

/// The names of an enumeration's first `count` enumerators.
template <class Enum, std::size_t count>
std::vector<std::string_view> names_of() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(name(static_cast<Enum>(i)));
  return names;
}
/// The names of element types, NumPy's among them.
inline std::vector<std::string_view> element_types() {
  auto names = names_of<ElementType, all_element_types.size()>();
  for (std::size_t i = 0; i < all_element_types.size(); ++i) {
    if (const auto known = numpy_name(static_cast<ElementType>(i)); !known.empty()) names.push_back(known);
  }
  return names;
}

inline constexpr std::uint64_t u32_most = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t u64_most = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t max_shared_bytes = 227ULL * 1024;  // a CTA's, for compute capability 9.0
inline constexpr std::uint64_t max_elements = std::uint64_t{1} << 40U;
/// The parameters of a kernel take at most this many bytes (PTX ISA, ".param", sm_70 and later).
inline constexpr std::uint64_t max_parameter_bytes = 32'764;

inline constexpr Member note{.key = "note", .meaning = "A text for people", .form = Form::anything};
inline constexpr Member at{.key = "at",
                           .meaning = "Offset in the struct, in bytes; default: as in C",
                           .form = Form::whole,
                           .only = Only::field,
                           .most = {max_parameter_bytes}};
inline constexpr Member offset{.key = "offset",
                               .meaning = "Bytes from the beginning of the buffer",
                               .form = Form::whole,
                               .most = {u64_most >> 1U}};

inline constexpr Member launch_members[] = {
    {.key = "entry",
     .meaning = "The kernel's name, or a part of it that is unique in the file",
     .form = Form::text},
    {.key = "source",
     .meaning = "The CUDA source that the PTX's .loc lines name, for reports",
     .form = Form::text,
     .only = Only::file},
    {.key = "constants",
     .meaning = "Constants for a file of CUDA C++",
     .form = Form::constants,
     .only = Only::file},
    {.key = "include",
     .meaning = "Folders of headers for a file of CUDA C++",
     .form = Form::texts,
     .only = Only::file},
    {.key = "grid",
     .meaning = "CTAs",
     .form = Form::extent,
     .required = true,
     .least = 1,
     .most = {0x7fffffff, 65535, 65535}},
    {.key = "block",
     .meaning = "Threads of a CTA, at most 1024",
     .form = Form::extent,
     .required = true,
     .least = 1,
     .most = {1024, 1024, 64}},
    {.key = "cluster",
     .meaning = "CTAs of a cluster, at most 16; divides the grid",
     .form = Form::extent,
     .least = 1,
     .most = {16, 16, 16}},
    {.key = "shared_bytes",
     .meaning = "Dynamic shared memory of a CTA, in bytes",
     .form = Form::whole,
     .most = {max_shared_bytes}},
    {.key = "cooperative",
     .meaning = "All CTAs run at the same time, and can synchronise the grid",
     .form = Form::truth},
    {.key = "overlaps",
     .meaning = "The launch may begin before the previous one has ended",
     .form = Form::truth},
    {.key = "buffers", .meaning = "Device memory, by name", .form = Form::buffers, .only = Only::file},
    {.key = "parameters", .meaning = "In the order of the kernel's .param", .form = Form::parameters},
    {.key = "before",
     .meaning = "Launches that precede this one, with the same buffers",
     .form = Form::launches,
     .only = Only::file},
    note,
    {.key = "$schema",
     .meaning = "The schema of this file, for editors",
     .form = Form::anything,
     .only = Only::file},
};

inline constexpr Member buffer_members[] = {
    {.key = "in",
     .meaning = "A .npy file with the initial content; implies dtype and shape",
     .form = Form::text},
    {.key = "out", .meaning = "A .npy file that is written after the launch", .form = Form::text},
    {.key = "dtype", .meaning = "Element type", .form = Form::word, .words = &element_types},
    {.key = "shape",
     .meaning = "Extents, outermost first",
     .form = Form::list,
     .least = 1,
     .most = {max_elements},
     .least_entries = 1},
    {.key = "values",
     .meaning = "The initial numbers, repeated to fill the buffer",
     .form = Form::numbers,
     .least_entries = 1},
    {.key = "fill", .meaning = "The initial value of every byte", .form = Form::whole, .most = {255}},
    note,
};

inline constexpr Member scalar_members[] = {
    {.key = "type",
     .meaning = "Type of the numbers",
     .form = Form::word,
     .required = true,
     .words = &element_types},
    {.key = "value",
     .meaning = "A number, or a list of them",
     .form = Form::number,
     .required = true,
     .least_entries = 1},
    at,
    note,
};

inline constexpr Member pointer_members[] = {
    {.key = "buffer", .meaning = "The buffer whose address is passed", .form = Form::text, .required = true},
    offset,
    at,
    note,
};

inline constexpr Member map_parameter_members[] = {
    {.key = "tensor_map",
     .meaning = "What cuTensorMapEncodeTiled encodes",
     .form = Form::tensor_map,
     .required = true},
    at,
    note,
};

inline constexpr Member struct_members[] = {
    {.key = "struct", .meaning = "Fields, laid out as in C", .form = Form::fields, .required = true},
    {.key = "bytes",
     .meaning = "Size of the struct; default: up to its last field",
     .form = Form::whole,
     .most = {max_parameter_bytes}},
    note,
};

/// Either "box" or "pixel_box" is required.
inline constexpr Member map_members[] = {
    {.key = "buffer", .meaning = "The buffer that holds the tensor", .form = Form::text, .required = true},
    offset,
    note,
    {.key = "dtype",
     .meaning = "Element type; default: the buffer's",
     .form = Form::word,
     .words = &element_types},
    {.key = "shape",
     .meaning = "Extents, outermost first; default: the buffer's",
     .form = Form::list,
     .most = {u64_most}},
    {.key = "strides", .meaning = "Strides in bytes; default: dense", .form = Form::list, .most = {u64_most}},
    {.key = "box", .meaning = "Elements that one copy moves", .form = Form::list, .most = {u32_most}},
    {.key = "pixel_box", .meaning = "What one copy of an im2col map moves", .form = Form::pixel_box},
    {.key = "element_strides", .meaning = "Default: all 1", .form = Form::list, .most = {u32_most}},
    {.key = "interleave", .meaning = "Default: none", .form = Form::word, .words = &names_of<Interleave, 3>},
    {.key = "swizzle", .meaning = "Default: none", .form = Form::word, .words = &names_of<Swizzle, 4>},
    {.key = "l2_promotion",
     .meaning = "Default: none",
     .form = Form::word,
     .words = &names_of<L2Promotion, 4>},
    {.key = "oob_fill",
     .meaning = "Elements outside the tensor; default: zero",
     .form = Form::word,
     .words = &names_of<OobFill, 2>},
};

inline constexpr Member pixel_box_members[] = {
    {.key = "lower",
     .meaning = "Lower corner, a number for each dimension of an image",
     .form = Form::corner,
     .required = true,
     .least_entries = 1},
    {.key = "upper", .meaning = "Upper corner", .form = Form::corner, .required = true, .least_entries = 1},
    {.key = "channels",
     .meaning = "Channels of a pixel",
     .form = Form::whole,
     .required = true,
     .most = {u32_most}},
    {.key = "pixels", .meaning = "Pixels", .form = Form::whole, .required = true, .most = {u32_most}},
};

/// The keys that an object may have: those of all objects of its kind, and those that `only` adds.
[[nodiscard]] inline std::vector<std::string_view> keys_of(std::span<const Member> members,
                                                           Only only = Only::always) {
  std::vector<std::string_view> keys;
  for (const auto& member : members) {
    if (member.only == Only::always || member.only == only) keys.push_back(member.key);
  }
  return keys;
}

/// The member with that key, which is one of `members`.
[[nodiscard]] constexpr const Member& member_of(std::span<const Member> members, std::string_view key) {
  return *std::ranges::find(members, key, &Member::key);
}

}  // namespace launch_file

/// The JSON Schema (draft 2020-12) of launch files. It accepts every file that parse_launch() accepts.
[[nodiscard]] std::string launch_schema();

TMAJIT_END
