/// The parameters of kernels in launch files: reading them from JSON, writing them as JSON, and their layout
/// in memory.
#include "launch/parameter.hpp"

#include "report/text.hpp"
#include "spec/saturate.hpp"
#include "spec/suggestion.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using FieldValue = StructParameter::Value;

constexpr std::uint64_t address_bytes = 8;
constexpr std::uint64_t tensor_map_bytes = 128;

using launch_file::keys_of;
using launch_file::map_members;
using launch_file::max_parameter_bytes;
using launch_file::member_of;
using launch_file::pixel_box_members;

std::uint64_t alignment_of(const FieldValue& value) {
  if (const auto* scalar = std::get_if<ScalarParameter>(&value)) return size_of(scalar->type);
  return std::holds_alternative<TensorMapParameter>(value) ? StructParameter::map_alignment : address_bytes;
}

KernelParameter as_parameter(const FieldValue& value) {
  return std::visit([](const auto& typed) -> KernelParameter { return typed; }, value);
}
std::uint64_t bytes_of_field(const FieldValue& value) {
  return bytes_of(as_parameter(value));
}

/// The offset at which the last field ends.
std::uint64_t end_of(const StructParameter& parameter) {
  const auto offsets = field_offsets(parameter);
  return offsets[parameter.fields.size() - 1] + bytes_of_field(parameter.fields.back().value);
}

/// Reads the box of an im2col map. Its numbers may be out of the map's range: validate() reports every broken
/// rule later, whereas this function would stop at the first.
PixelBoxDescription read_pixel_box(const JsonNode& node) {
  node.expect_keys(keys_of(pixel_box_members));
  PixelBoxDescription box;
  const auto read_corner = [&](std::string_view key, std::vector<std::int32_t>& corner) {
    const auto list = node.at(key);
    const auto elements = list.elements();
    if (elements.empty() || elements.size() > max_view_rank)
      list.refuse("a number for each dimension of an image is needed, outermost first");
    for (const auto& element : elements)
      corner.push_back(static_cast<std::int32_t>(element.number(ElementType::i32)));
  };
  read_corner("lower", box.lower);
  read_corner("upper", box.upper);
  if (box.upper.size() != box.lower.size())
    node.at("upper").fail("{}; lower has {}", counted(box.upper.size(), "number"), box.lower.size());
  box.channels = read_whole<std::uint32_t>(node.at("channels"), pixel_box_members);
  box.pixels = read_whole<std::uint32_t>(node.at("pixels"), pixel_box_members);
  return box;
}

class ParameterReader {
 public:
  explicit ParameterReader(const std::vector<BufferDescription>& buffers) : buffers_(buffers) {}

  [[nodiscard]] KernelParameter read(const JsonNode& node) const {
    if (node.has("struct")) return read_struct(node);
    return as_parameter(read_value(node, false));
  }

 private:
  [[nodiscard]] StructParameter read_struct(const JsonNode& node) const {
    node.expect_keys(keys_of(launch_file::struct_members));
    StructParameter result;
    const auto list = node.at("struct");
    const auto elements = list.elements();
    if (elements.empty()) list.refuse("a struct needs at least one field");
    std::uint64_t end = 0;
    for (const auto& element : elements) {
      StructParameter::Field field{.value = read_value(element, true), .at = {}};
      const auto at = element.find("at");
      const std::uint64_t alignment = alignment_of(field.value);
      if (at) {
        field.at = at->integer(end, max_parameter_bytes);
        if (*field.at % alignment != 0)
          at->refuse("{} needs an offset that is a multiple of {} bytes", describe(as_parameter(field.value)),
                     alignment);
      }
      result.fields.push_back(std::move(field));
      end = end_of(result);
      if (end > max_parameter_bytes)
        element.fail("the struct's fields take {} bytes up to here; parameters have at most {}", end,
                     max_parameter_bytes);
    }
    if (const auto bytes = node.find("bytes")) result.bytes = bytes->integer(end, max_parameter_bytes);
    return result;
  }

  /// Reads one or several numbers, an address, or a tensor map. A field of a struct may also have "at", its
  /// offset.
  [[nodiscard]] FieldValue read_value(const JsonNode& node, bool is_field) const {
    const auto allowed = is_field ? launch_file::Only::field : launch_file::Only::always;
    if (node.has("tensor_map")) {
      node.expect_keys(keys_of(launch_file::map_parameter_members, allowed));
      return read_map(node.at("tensor_map"));
    }
    if (node.has("buffer")) {
      node.expect_keys(keys_of(launch_file::pointer_members, allowed));
      return read_pointer(node);
    }
    if (!node.has("type")) {
      node.refuse(
          "a parameter is {{\"type\", \"value\"}}, {{\"buffer\"}}, {{\"tensor_map\"}} or {{\"struct\"}}; a "
          "field is one of the first three");
    }
    node.expect_keys(keys_of(launch_file::scalar_members, allowed));
    ScalarParameter scalar{.type = read_type(node.at("type")), .bits = {}};
    const auto value = node.at("value");
    if (!value.value().is_array()) {
      scalar.bits.push_back(value.number(scalar.type));
      return scalar;
    }
    const auto elements = value.elements();
    if (elements.empty() || elements.size() > max_parameter_bytes)
      value.refuse("1 to {} numbers are needed", max_parameter_bytes);
    for (const auto& element : elements) scalar.bits.push_back(element.number(scalar.type));
    return scalar;
  }

  [[nodiscard]] PointerParameter read_pointer(const JsonNode& node) const {
    const auto name = node.at("buffer");
    const auto found = std::ranges::find(buffers_, name.string(), &BufferDescription::name);
    if (found == buffers_.end()) {
      std::vector<std::string_view> names;
      names.reserve(buffers_.size());
      for (const auto& buffer : buffers_) names.push_back(buffer.name);
      if (names.empty()) name.refuse("$.buffers has none");
      name.refuse("$.buffers has {}{}", fmt::join(names, ", "), suggestion(name.string(), names));
    }
    PointerParameter pointer{.buffer = name.string()};
    if (const auto offset = node.find("offset"))
      pointer.offset = read_whole<std::uint64_t>(*offset, launch_file::pointer_members);
    return pointer;
  }

  /// Reads a tensor map. Its numbers may be out of the map's range, as in read_pixel_box().
  [[nodiscard]] TensorMapParameter read_map(const JsonNode& node) const {
    node.expect_keys(keys_of(map_members));
    TensorMapParameter map;
    map.at = read_pointer(node);
    if (const auto type = node.find("dtype")) map.type = read_type(*type);
    if (const auto pixel_box = node.find("pixel_box")) {
      if (node.has("box")) pixel_box->fail("a map has either \"box\" or \"pixel_box\", which is for im2col");
      map.pixel_box = read_pixel_box(*pixel_box);
    } else {
      map.box = read_list<std::uint32_t>(node.at("box"), member_of(map_members, "box"));
    }
    // Reads a list with one number for each dimension of the box.
    const auto read_per_dimension = [&]<class Number>(std::string_view key, std::vector<Number>& numbers) {
      const auto list = node.find(key);
      if (!list) return;
      numbers = read_list<Number>(*list, member_of(map_members, key));
      if (numbers.size() == map.rank()) return;
      list->fail("{}; the box has {}", counted(numbers.size(), "dimension"), map.rank());
    };
    read_per_dimension("shape", map.shape);
    read_per_dimension("strides", map.strides);
    read_per_dimension("element_strides", map.element_strides);
    read_optional(node, "interleave", parse<Interleave>, map.interleave);
    read_optional(node, "swizzle", parse<Swizzle>, map.swizzle);
    read_optional(node, "l2_promotion", parse<L2Promotion>, map.l2_promotion);
    read_optional(node, "oob_fill", parse<OobFill>, map.oob_fill);
    return map;
  }

  const std::vector<BufferDescription>& buffers_;
};

Json json_of(const ScalarParameter& scalar) {
  return {{"type", name(scalar.type)}, {"value", patterns(scalar.bits)}};
}

Json json_of(const PointerParameter& pointer) {
  return {{"buffer", pointer.buffer}, {"offset", pointer.offset}};
}

Json json_of(const TensorMapParameter& map) {
  Json json = json_of(map.at);
  if (map.type) json["dtype"] = name(*map.type);
  if (!map.shape.empty()) json["shape"] = map.shape;
  if (!map.strides.empty()) json["strides"] = map.strides;
  if (map.pixel_box) {
    json["pixel_box"] = {{"lower", map.pixel_box->lower},
                         {"upper", map.pixel_box->upper},
                         {"channels", map.pixel_box->channels},
                         {"pixels", map.pixel_box->pixels}};
  } else {
    json["box"] = map.box;
  }
  if (!map.element_strides.empty()) json["element_strides"] = map.element_strides;
  json["interleave"] = name(map.interleave);
  json["swizzle"] = name(map.swizzle);
  json["l2_promotion"] = name(map.l2_promotion);
  json["oob_fill"] = name(map.oob_fill);
  return {{"tensor_map", json}};
}

Json json_of(const StructParameter& parameter) {
  Json fields = Json::array();
  for (const auto& field : parameter.fields) {
    fields.push_back(std::visit([](const auto& typed) { return json_of(typed); }, field.value));
    if (field.at) fields.back()["at"] = *field.at;
  }
  Json json{{"struct", fields}};
  if (parameter.bytes != 0) json["bytes"] = parameter.bytes;
  return json;
}

}  // namespace

KernelParameter read_parameter(const JsonNode& node, const std::vector<BufferDescription>& buffers) {
  return ParameterReader(buffers).read(node);
}

Json to_json(const KernelParameter& parameter) {
  return std::visit([](const auto& typed) { return json_of(typed); }, parameter);
}

std::vector<std::uint64_t> field_offsets(const StructParameter& parameter) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = 0;
  std::uint64_t alignment = 1;
  for (const auto& field : parameter.fields) {
    alignment = std::max(alignment, alignment_of(field.value));
    offsets.push_back(field.at.value_or(round_up(end, alignment_of(field.value))));
    end = offsets.back() + bytes_of_field(field.value);
  }
  offsets.push_back(parameter.bytes != 0 ? parameter.bytes : round_up(end, alignment));
  return offsets;
}

std::uint64_t alignment_of(const StructParameter& parameter) {
  std::uint64_t alignment = 1;
  for (const auto& field : parameter.fields) alignment = std::max(alignment, alignment_of(field.value));
  return alignment;
}

std::uint64_t bytes_of(const KernelParameter& parameter) {
  if (const auto* scalar = std::get_if<ScalarParameter>(&parameter))
    return std::uint64_t{size_of(scalar->type)} * scalar->bits.size();
  if (std::holds_alternative<PointerParameter>(parameter)) return address_bytes;
  if (std::holds_alternative<TensorMapParameter>(parameter)) return tensor_map_bytes;
  return field_offsets(std::get<StructParameter>(parameter)).back();
}

std::string describe(const KernelParameter& parameter) {
  if (const auto* scalar = std::get_if<ScalarParameter>(&parameter)) {
    return scalar->bits.size() == 1 ? std::string(name(scalar->type))
                                    : fmt::format("{}[{}]", name(scalar->type), scalar->bits.size());
  }
  if (std::holds_alternative<PointerParameter>(parameter)) return "an address";
  if (std::holds_alternative<TensorMapParameter>(parameter)) return "a tensor map";
  const auto fields = std::get<StructParameter>(parameter).fields.size();
  return "a struct of " + counted(fields, "field");
}

TMAJIT_END
