#include "launch_description.hpp"

#include "json_node.hpp"
#include "launch_numbers.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <limits>
#include <set>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType;

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
    node.fail(error.what());
  }
}

template <class Parse, class Value>
void read_optional(const JsonNode& node, std::string_view key, const Parse& parse, Value& value) {
  if (const auto found = node.find(key)) value = read_name(*found, parse);
}

ElementType read_type(const JsonNode& node) {
  return read_name(node, [](const std::string& text) { return tmajit::parse_element_type(text); });
}

template <class Number>
std::vector<Number> read_list(const JsonNode& node, std::size_t most_entries, std::uint64_t least,
                              std::uint64_t most) {
  const auto elements = node.elements();
  if (elements.empty() || elements.size() > most_entries) {
    node.refuse(fmt::format("1 to {} numbers are needed, outermost dimension first", most_entries));
  }
  std::vector<Number> numbers;
  numbers.reserve(elements.size());
  for (const auto& element : elements) numbers.push_back(static_cast<Number>(element.integer(least, most)));
  return numbers;
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
  if (threads > 1024) node.fail(fmt::format("{} threads; a CTA has at most 1024", threads));
  return block;
}

std::array<std::uint32_t, 3> read_cluster(const JsonNode& node, const std::array<std::uint32_t, 3>& grid) {
  const auto cluster = read_extent(node, {8, 8, 8});
  const auto ctas = std::uint64_t{cluster[0]} * cluster[1] * cluster[2];
  if (ctas > 8) node.fail(fmt::format("{} CTAs; a cluster has at most 8 on every Hopper", ctas));
  for (std::size_t d = 0; d < 3; ++d) {
    if (grid.at(d) % cluster.at(d) == 0) continue;
    node.fail(
        fmt::format("[{}] does not divide the grid, [{}]", fmt::join(cluster, ", "), fmt::join(grid, ", ")));
  }
  return cluster;
}

std::uint64_t count_elements(const JsonNode& node, const std::vector<std::uint64_t>& shape) {
  std::uint64_t elements = 1;
  for (const auto extent : shape) {
    if (extent > most_elements / elements) node.fail(fmt::format("more than {} elements", most_elements));
    elements *= extent;
  }
  return elements;
}

BufferDescription read_buffer(const JsonNode& node) {
  node.expect_keys({"in", "out", "dtype", "shape", "values", "fill"});
  BufferDescription buffer;
  buffer.name = node.key();
  const auto file = [&](std::string_view key, std::optional<std::string>& path) {
    if (const auto found = node.find(key)) {
      if (found->string().empty()) found->refuse("the name of a .npy file is needed");
      path = found->string();
    }
  };
  file("in", buffer.in);
  file("out", buffer.out);
  if (const auto type = node.find("dtype")) buffer.type = read_type(*type);
  const auto shape = node.find("shape");
  if (shape) buffer.shape = read_list<std::uint64_t>(*shape, tmajit::max_view_rank, 1, most_elements);
  const auto values = node.find("values");
  const auto fill = node.find("fill");
  if (static_cast<int>(buffer.in.has_value()) + static_cast<int>(values.has_value()) +
          static_cast<int>(fill.has_value()) >
      1) {
    node.fail("in, values and fill: what a buffer holds first is one of them");
  }
  if (!buffer.in && !buffer.type) node.fail("\"dtype\" is missing; only a file says it by itself");
  if (!buffer.in && !shape) node.fail("\"shape\" is missing; only a file says it by itself");
  if (fill) buffer.fill = static_cast<std::uint8_t>(fill->integer(0, 255));
  const std::uint64_t elements = shape ? count_elements(*shape, buffer.shape) : 0;
  if (values) {
    const auto numbers = values->elements();
    if (numbers.empty() || numbers.size() > elements) {
      values->fail(fmt::format("{} values; the shape has {} elements", numbers.size(), elements));
    }
    for (const auto& number : numbers) buffer.values.push_back(read_number(number, *buffer.type));
  }
  return buffer;
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
          "a parameter is {\"type\", \"value\"}, {\"buffer\"}, {\"tensor_map\"} or {\"struct\"}; a field one "
          "of the first two");
    }
    node.expect_keys({"type", "value"});
    ScalarParameter scalar{.type = read_type(node.at("type")), .bits = {}};
    const auto value = node.at("value");
    if (!value.value().is_array()) {
      scalar.bits.push_back(read_number(value, scalar.type));
      return scalar;
    }
    const auto elements = value.elements();
    if (elements.empty() || elements.size() > most_parameter_bytes) value.refuse("an array has elements");
    for (const auto& element : elements) scalar.bits.push_back(read_number(element, scalar.type));
    return scalar;
  }

  [[nodiscard]] PointerParameter read_pointer(const JsonNode& node) const {
    const auto name = node.at("buffer");
    const auto known = std::ranges::find(buffers_, name.string(), &BufferDescription::name);
    if (known == buffers_.end()) {
      std::vector<std::string_view> names;
      names.reserve(buffers_.size());
      for (const auto& buffer : buffers_) names.push_back(buffer.name);
      name.refuse(names.empty() ? std::string("$.buffers has none")
                                : fmt::format("$.buffers has {}", fmt::join(names, ", ")));
    }
    PointerParameter pointer{.buffer = name.string()};
    if (const auto offset = node.find("offset")) pointer.offset = offset->integer(0, u64_most >> 1U);
    return pointer;
  }

  [[nodiscard]] TensorMapParameter read_map(const JsonNode& node) const {
    node.expect_keys({"buffer", "offset", "dtype", "shape", "strides", "box", "element_strides", "interleave",
                      "swizzle", "l2_promotion", "oob_fill"});
    TensorMapParameter map;
    map.at = read_pointer(node);
    if (const auto type = node.find("dtype")) map.type = read_type(*type);
    constexpr std::size_t rank = tmajit::max_map_rank;
    if (const auto shape = node.find("shape"))
      map.shape = read_list<std::uint64_t>(*shape, rank, 1, u64_most);
    if (const auto strides = node.find("strides")) {
      map.strides = read_list<std::uint64_t>(*strides, rank, 0, u64_most);
    }
    map.box = read_list<std::uint32_t>(node.at("box"), rank, 1, u32_most);
    if (const auto strides = node.find("element_strides")) {
      map.element_strides = read_list<std::uint32_t>(*strides, rank, 1, u32_most);
    }
    read_optional(node, "interleave", tmajit::parse_interleave, map.interleave);
    read_optional(node, "swizzle", tmajit::parse_swizzle, map.swizzle);
    read_optional(node, "l2_promotion", tmajit::parse_l2_promotion, map.l2_promotion);
    read_optional(node, "oob_fill", tmajit::parse_oob_fill, map.oob_fill);
    const auto same_rank = [&](std::string_view key, std::size_t size) {
      if (size != 0 && size != map.box.size()) {
        node.at(key).fail(fmt::format("{} dimensions; the box has {}", size, map.box.size()));
      }
    };
    same_rank("shape", map.shape.size());
    same_rank("strides", map.strides.size());
    same_rank("element_strides", map.element_strides.size());
    return map;
  }

  const std::vector<BufferDescription>& buffers_;
};

}  // namespace

LaunchDescription parse_launch(std::string_view text) {
  const auto json = parse_json(text);
  const JsonNode root(json, "$");
  root.expect_keys({"entry", "source", "grid", "block", "cluster", "shared_bytes", "buffers", "parameters"});
  LaunchDescription launch;
  if (const auto entry = root.find("entry")) {
    launch.entry = entry->string();
    if (launch.entry.empty()) entry->refuse("the name of a kernel is needed");
  }
  if (const auto source = root.find("source")) {
    launch.source = source->string();
    if (launch.source.empty()) source->refuse("the name of a file is needed");
  }
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
  return fmt::format("a struct of {} field{}", fields, fields == 1 ? "" : "s");
}

}  // namespace jitc
