#include "launch_description.hpp"

#include "json_node.hpp"
#include "spec/suggestion.hpp"
#include "text.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType, tmajit::KernelConstant;

constexpr std::uint64_t u32_most = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t u64_most = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_shared_bytes = 227ULL * 1024;  // of a CTA of compute capability 9.0
constexpr std::uint64_t most_elements = std::uint64_t{1} << 40U;
/// The parameters of a kernel take at most this many bytes (PTX ISA, ".param", sm_70 and later).
constexpr std::size_t most_parameter_bytes = 32'764;

/// Runs one of the library's parse functions; what it refuses is refused at the node's path.
template <class Parse>
auto read_name(const JsonNode& node, const Parse& parse) {
  const auto& text = node.string();
  try {
    return parse(text);
  } catch (const tmajit::Error& error) {
    node.fail("{}", error.what());
  }
}

template <class Parse, class Value>
void read_optional(const JsonNode& node, std::string_view key, const Parse& parse, Value& value) {
  if (const auto found = node.find(key)) value = read_name(*found, parse);
}

ElementType read_type(const JsonNode& node) {
  return read_name(node, [](const std::string& text) { return tmajit::parse_element_type(text); });
}

KernelConstant read_literal(const JsonNode& node, const std::string& literal) {
  try {
    return KernelConstant::parse(node.key(), literal);
  } catch (const tmajit::Error& error) {
    node.fail("{}", error.what());
  }
}

/// A string that names something, which is not empty.
std::string read_text(const JsonNode& node, std::string_view what) {
  if (node.string().empty()) node.refuse("the name of a {} is needed", what);
  return node.string();
}

/// One number a dimension, of which there are `least_entries` to as many as a view has.
template <class Number>
std::vector<Number> read_list(const JsonNode& node, std::size_t least_entries, std::uint64_t least,
                              std::uint64_t most) {
  const auto elements = node.elements();
  if (elements.size() < least_entries || elements.size() > tmajit::max_view_rank) {
    node.refuse("{} to {} numbers are needed, outermost dimension first", least_entries,
                tmajit::max_view_rank);
  }
  std::vector<Number> numbers;
  numbers.reserve(elements.size());
  for (const auto& element : elements) numbers.push_back(static_cast<Number>(element.integer(least, most)));
  return numbers;
}

/// The corners are any numbers, as those of a box: validate() names every rule that they break.
PixelBoxDescription read_pixel_box(const JsonNode& node) {
  node.expect_keys({"lower", "upper", "channels", "pixels"});
  PixelBoxDescription box;
  const auto read_corner = [&](std::string_view key, std::vector<std::int32_t>& corner) {
    const auto list = node.at(key);
    const auto elements = list.elements();
    if (elements.empty() || elements.size() > tmajit::max_view_rank)
      list.refuse("a number for each dimension of an image is needed, outermost first");
    for (const auto& element : elements)
      corner.push_back(static_cast<std::int32_t>(element.number(ElementType::i32)));
  };
  read_corner("lower", box.lower);
  read_corner("upper", box.upper);
  if (box.upper.size() != box.lower.size())
    node.at("upper").fail("{} numbers; lower has {}", box.upper.size(), box.lower.size());
  box.channels = static_cast<std::uint32_t>(node.at("channels").integer(0, u32_most));
  box.pixels = static_cast<std::uint32_t>(node.at("pixels").integer(0, u32_most));
  return box;
}

/// x, y, z: a number, or a list of 1 to 3; what is left out is 1.
std::array<std::uint32_t, 3> read_extent(const JsonNode& node, const std::array<std::uint64_t, 3>& most) {
  std::array<std::uint32_t, 3> extent{1, 1, 1};
  if (!node.value().is_array()) {
    extent[0] = static_cast<std::uint32_t>(node.integer(1, most[0]));
    return extent;
  }
  const auto elements = node.elements();
  if (elements.empty() || elements.size() > 3) node.refuse("x, y and z are needed, or the first of them");
  for (std::size_t i = 0; i < elements.size(); ++i) {
    extent.at(i) = static_cast<std::uint32_t>(elements[i].integer(1, most.at(i)));
  }
  return extent;
}

std::array<std::uint32_t, 3> read_block(const JsonNode& node) {
  const auto block = read_extent(node, {1024, 1024, 64});
  const auto threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > 1024) node.fail("{} threads; a CTA has at most 1024", threads);
  return block;
}

std::array<std::uint32_t, 3> read_cluster(const JsonNode& node, const std::array<std::uint32_t, 3>& grid) {
  const auto cluster = read_extent(node, {8, 8, 8});
  const auto ctas = std::uint64_t{cluster[0]} * cluster[1] * cluster[2];
  if (ctas > 8) node.fail("{} CTAs; a cluster has at most 8 on every Hopper", ctas);
  for (std::size_t d = 0; d < 3; ++d) {
    if (grid.at(d) % cluster.at(d) == 0) continue;
    node.fail("[{}] does not divide the grid, [{}]", fmt::join(cluster, ", "), fmt::join(grid, ", "));
  }
  return cluster;
}

std::uint64_t count_elements(const JsonNode& node, const std::vector<std::uint64_t>& shape) {
  std::uint64_t elements = 1;
  for (const auto extent : shape) {
    if (extent > most_elements / elements) node.fail("more than {} elements", most_elements);
    elements *= extent;
  }
  return elements;
}

BufferDescription read_buffer(const JsonNode& node) {
  node.expect_keys({"in", "out", "dtype", "shape", "values", "fill"});
  BufferDescription buffer;
  buffer.name = node.key();
  if (const auto in = node.find("in")) buffer.in = read_text(*in, ".npy file");
  if (const auto out = node.find("out")) buffer.out = read_text(*out, ".npy file");
  if (const auto type = node.find("dtype")) buffer.type = read_type(*type);
  const auto shape = node.find("shape");
  if (shape) buffer.shape = read_list<std::uint64_t>(*shape, 1, 1, most_elements);
  const auto values = node.find("values");
  const auto fill = node.find("fill");
  if (buffer.in.has_value() + values.has_value() + fill.has_value() > 1) {
    node.fail("in, values and fill: what a buffer holds first is one of them");
  }
  if (!buffer.in && !buffer.type) node.fail("\"dtype\" is missing; only a file says it by itself");
  if (!buffer.in && !shape) node.fail("\"shape\" is missing; only a file says it by itself");
  if (fill) buffer.fill = static_cast<std::uint8_t>(fill->integer(0, 255));
  const std::uint64_t elements = shape ? count_elements(*shape, buffer.shape) : 0;
  if (values) {
    const auto numbers = values->elements();
    if (numbers.empty() || numbers.size() > elements) {
      values->fail("{} values; the shape has {} elements", numbers.size(), elements);
    }
    for (const auto& number : numbers) buffer.values.push_back(number.number(*buffer.type));
  }
  return buffer;
}

/// A JSON number or truth value, or a C++ literal such as "4u".
KernelConstant read_constant(const JsonNode& node) {
  const auto& value = node.value();
  if (!value.is_string() && !value.is_number() && !value.is_boolean())
    node.refuse("a number, true, false or a C++ literal is needed: \"4u\", \"0.5f\"");
  const std::string literal = value.is_string() ? node.string() : value.dump();
  return read_literal(node, literal);
}

/// Adds those that are not there yet.
void read_constants(const JsonNode& node, std::vector<KernelConstant>& constants) {
  for (const auto& member : node.members()) {
    auto constant = read_constant(member);
    if (std::ranges::find(constants, constant.name, &KernelConstant::name) == constants.end())
      constants.push_back(std::move(constant));
  }
}

/// Those that expressions of whole numbers can name.
Counts whole_numbers(const std::vector<KernelConstant>& constants) {
  Counts counts;
  for (const KernelConstant& constant : constants) {
    std::visit(
        [&]<class Number>(Number number) {
          if constexpr (std::is_integral_v<Number> && !std::is_same_v<Number, bool>) {
            if (std::in_range<std::int64_t>(number))
              counts.emplace(constant.name, static_cast<std::int64_t>(number));
          }
        },
        constant.value);
  }
  return counts;
}

class ParameterReader {
 public:
  explicit ParameterReader(const std::vector<BufferDescription>& buffers) : buffers_(buffers) {}

  [[nodiscard]] KernelParameter read(const JsonNode& node) const {
    if (node.has("tensor_map")) {
      node.expect_keys({"tensor_map"});
      return read_map(node.at("tensor_map"));
    }
    if (node.has("struct")) {
      node.expect_keys({"struct"});
      StructParameter result;
      const auto list = node.at("struct");
      for (const auto& field : list.elements()) result.fields.push_back(read_field(field));
      if (result.fields.empty()) list.refuse("a struct has fields");
      return result;
    }
    return std::visit([](auto field) -> KernelParameter { return field; }, read_field(node));
  }

 private:
  [[nodiscard]] StructParameter::Field read_field(const JsonNode& node) const {
    if (node.has("buffer")) {
      node.expect_keys({"buffer", "offset"});
      return read_pointer(node);
    }
    if (!node.has("type")) {
      node.refuse(
          "a parameter is {{\"type\", \"value\"}}, {{\"buffer\"}}, {{\"tensor_map\"}} or {{\"struct\"}}; a "
          "field one "
          "of the first two");
    }
    node.expect_keys({"type", "value"});
    ScalarParameter scalar{.type = read_type(node.at("type")), .bits = {}};
    const auto value = node.at("value");
    if (!value.value().is_array()) {
      scalar.bits.push_back(value.number(scalar.type));
      return scalar;
    }
    const auto elements = value.elements();
    if (elements.empty() || elements.size() > most_parameter_bytes) value.refuse("an array has elements");
    for (const auto& element : elements) scalar.bits.push_back(element.number(scalar.type));
    return scalar;
  }

  [[nodiscard]] PointerParameter read_pointer(const JsonNode& node) const {
    const auto name = node.at("buffer");
    const auto known = std::ranges::find(buffers_, name.string(), &BufferDescription::name);
    if (known == buffers_.end()) {
      std::vector<std::string_view> names;
      names.reserve(buffers_.size());
      for (const auto& buffer : buffers_) names.push_back(buffer.name);
      if (names.empty()) name.refuse("$.buffers has none");
      name.refuse("$.buffers has {}{}", fmt::join(names, ", "), tmajit::suggestion(name.string(), names));
    }
    PointerParameter pointer{.buffer = name.string()};
    if (const auto offset = node.find("offset")) pointer.offset = offset->integer(0, u64_most >> 1U);
    return pointer;
  }

  [[nodiscard]] TensorMapParameter read_map(const JsonNode& node) const {
    node.expect_keys({"buffer", "offset", "dtype", "shape", "strides", "box", "pixel_box", "element_strides",
                      "interleave", "swizzle", "l2_promotion", "oob_fill"});
    TensorMapParameter map;
    map.at = read_pointer(node);
    if (const auto type = node.find("dtype")) map.type = read_type(*type);
    // Any numbers: validate() names every rule that they break, where a parser would stop at the first.
    if (const auto pixel_box = node.find("pixel_box")) {
      if (node.has("box")) pixel_box->fail("a map has a \"box\", or the pixels of an im2col map");
      map.pixel_box = read_pixel_box(*pixel_box);
    } else {
      map.box = read_list<std::uint32_t>(node.at("box"), 0, 0, u32_most);
    }
    const auto read_like_box = [&]<class Number>(std::string_view key, std::vector<Number>& numbers,
                                                 std::uint64_t most) {
      const auto list = node.find(key);
      if (!list) return;
      numbers = read_list<Number>(*list, 0, 0, most);
      if (numbers.size() == map.rank()) return;
      list->fail("{} dimensions; the box has {}", numbers.size(), map.rank());
    };
    read_like_box("shape", map.shape, u64_most);
    read_like_box("strides", map.strides, u64_most);
    read_like_box("element_strides", map.element_strides, u32_most);
    read_optional(node, "interleave", tmajit::parse_interleave, map.interleave);
    read_optional(node, "swizzle", tmajit::parse_swizzle, map.swizzle);
    read_optional(node, "l2_promotion", tmajit::parse_l2_promotion, map.l2_promotion);
    read_optional(node, "oob_fill", tmajit::parse_oob_fill, map.oob_fill);
    return map;
  }

  const std::vector<BufferDescription>& buffers_;
};

/// A pattern says every value of every type exactly.
Json patterns(const std::vector<std::uint64_t>& values) {
  Json list = Json::array();
  for (const auto bits : values) list.push_back(fmt::format("{:#x}", bits));
  return list;
}

Json to_json(const BufferDescription& buffer) {
  Json json = Json::object();
  if (buffer.in) json["in"] = *buffer.in;
  if (buffer.out) json["out"] = *buffer.out;
  if (buffer.type) json["dtype"] = tmajit::name(*buffer.type);
  if (!buffer.shape.empty()) json["shape"] = buffer.shape;
  if (!buffer.values.empty()) json["values"] = patterns(buffer.values);
  if (buffer.fill != 0) json["fill"] = buffer.fill;
  return json;
}

Json to_json(const ScalarParameter& scalar) {
  return {{"type", tmajit::name(scalar.type)}, {"value", patterns(scalar.bits)}};
}

Json to_json(const PointerParameter& pointer) {
  return {{"buffer", pointer.buffer}, {"offset", pointer.offset}};
}

Json to_json(const TensorMapParameter& map) {
  Json json = to_json(map.at);
  if (map.type) json["dtype"] = tmajit::name(*map.type);
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
  json["interleave"] = tmajit::name(map.interleave);
  json["swizzle"] = tmajit::name(map.swizzle);
  json["l2_promotion"] = tmajit::name(map.l2_promotion);
  json["oob_fill"] = tmajit::name(map.oob_fill);
  return {{"tensor_map", json}};
}

Json to_json(const StructParameter& parameter) {
  Json fields = Json::array();
  for (const auto& field : parameter.fields) {
    fields.push_back(std::visit([](const auto& one) { return to_json(one); }, field));
  }
  return {{"struct", fields}};
}

}  // namespace

LaunchDescription parse_launch(std::string_view text, const std::vector<KernelConstant>& constants) {
  const auto json = parse_json(text);
  LaunchDescription launch;
  launch.constants = constants;
  if (const auto own = JsonNode(json).find("constants")) read_constants(*own, launch.constants);
  const Counts counts = whole_numbers(launch.constants);
  const JsonNode root(json, &counts);
  root.expect_keys({"entry", "source", "constants", "include", "grid", "block", "cluster", "shared_bytes",
                    "buffers", "parameters"});
  if (const auto folders = root.find("include")) {
    for (const auto& folder : folders->elements()) launch.include.push_back(read_text(folder, "folder"));
  }
  if (const auto entry = root.find("entry")) launch.entry = read_text(*entry, "kernel");
  if (const auto source = root.find("source")) launch.source = read_text(*source, "file");
  launch.grid = read_extent(root.at("grid"), {0x7fffffff, 65535, 65535});
  launch.block = read_block(root.at("block"));
  if (const auto cluster = root.find("cluster")) launch.cluster = read_cluster(*cluster, launch.grid);
  if (const auto bytes = root.find("shared_bytes")) {
    launch.shared_bytes = static_cast<std::uint32_t>(bytes->integer(0, most_shared_bytes));
  }
  if (const auto buffers = root.find("buffers")) {
    for (const auto& buffer : buffers->members()) launch.buffers.push_back(read_buffer(buffer));
  }
  if (const auto parameters = root.find("parameters")) {
    const ParameterReader reader(launch.buffers);
    for (const auto& parameter : parameters->elements()) launch.parameters.push_back(reader.read(parameter));
  }
  return launch;
}

Json to_json(const LaunchDescription& description) {
  Json json = Json::object();
  if (!description.entry.empty()) json["entry"] = description.entry;
  if (!description.source.empty()) json["source"] = description.source;
  if (!description.constants.empty()) json["constants"] = Json::object();
  for (const KernelConstant& constant : description.constants) {
    json["constants"][constant.name] = constant.literal();
  }
  if (!description.include.empty()) json["include"] = description.include;
  json["grid"] = description.grid;
  json["block"] = description.block;
  json["cluster"] = description.cluster;
  json["shared_bytes"] = description.shared_bytes;
  json["buffers"] = Json::object();
  for (const auto& buffer : description.buffers) json["buffers"][buffer.name] = to_json(buffer);
  json["parameters"] = Json::array();
  for (const auto& parameter : description.parameters) {
    json["parameters"].push_back(std::visit([](const auto& one) { return to_json(one); }, parameter));
  }
  return json;
}

std::vector<std::uint64_t> field_offsets(const StructParameter& parameter) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = 0;
  std::uint64_t alignment = 1;
  const auto align = [](std::uint64_t at, std::uint64_t to) { return (at + to - 1) / to * to; };
  for (const auto& field : parameter.fields) {
    const auto* const scalar = std::get_if<ScalarParameter>(&field);
    const std::uint64_t size = scalar != nullptr ? tmajit::size_of(scalar->type) : 8;
    alignment = std::max(alignment, size);
    offsets.push_back(align(end, size));
    end = offsets.back() + size * (scalar != nullptr ? scalar->bits.size() : 1);
  }
  offsets.push_back(align(end, alignment));
  return offsets;
}

std::uint64_t bytes_of(const KernelParameter& parameter) {
  if (const auto* scalar = std::get_if<ScalarParameter>(&parameter)) {
    return std::uint64_t{tmajit::size_of(scalar->type)} * scalar->bits.size();
  }
  if (std::holds_alternative<PointerParameter>(parameter)) return 8;
  if (std::holds_alternative<TensorMapParameter>(parameter)) return 128;
  return field_offsets(std::get<StructParameter>(parameter)).back();
}

std::string describe(const KernelParameter& parameter) {
  if (const auto* scalar = std::get_if<ScalarParameter>(&parameter)) {
    return scalar->bits.size() == 1 ? std::string(tmajit::name(scalar->type))
                                    : fmt::format("{}[{}]", tmajit::name(scalar->type), scalar->bits.size());
  }
  if (std::holds_alternative<PointerParameter>(parameter)) return "an address";
  if (std::holds_alternative<TensorMapParameter>(parameter)) return "a tensor map";
  const auto fields = std::get<StructParameter>(parameter).fields.size();
  return "a struct of " + counted(fields, "field");
}

}  // namespace jitc
