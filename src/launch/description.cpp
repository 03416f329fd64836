#include "launch/parameter.hpp"

#include <tmajit/error.hpp>
#include <tmajit/launch/description.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using launch_file::buffer_members;
using launch_file::keys_of;
using launch_file::launch_members;
using launch_file::max_elements;
using launch_file::member_of;
using launch_file::Only;

KernelConstant read_literal(const JsonNode& node, const std::string& literal) {
  try {
    return KernelConstant::parse(node.key(), literal);
  } catch (const Error& error) {
    node.fail("{}", error.what());
  }
}

/// A name: a string that must not be empty.
std::string read_text(const JsonNode& node, std::string_view what) {
  if (node.string().empty()) node.refuse("the name of a {} is needed", what);
  return node.string();
}

/// x, y, z: a number, or a list of 1 to 3; omitted extents are 1.
std::array<std::uint32_t, 3> read_extent(const JsonNode& node) {
  const auto& member = member_of(launch_members, node.key());
  std::array<std::uint32_t, 3> extent{1, 1, 1};
  if (!node.value().is_array()) {
    extent[0] = static_cast<std::uint32_t>(node.integer(member.least, member.most[0]));
    return extent;
  }
  const auto elements = node.elements();
  if (elements.empty() || elements.size() > 3) node.refuse("x, y and z are needed, or the first of them");
  for (std::size_t i = 0; i < elements.size(); ++i) {
    extent.at(i) = static_cast<std::uint32_t>(elements[i].integer(member.least, member.most.at(i)));
  }
  return extent;
}

std::array<std::uint32_t, 3> read_block(const JsonNode& node) {
  const auto block = read_extent(node);
  const auto threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > 1024) node.fail("{} threads; a CTA has at most 1024", threads);
  return block;
}

std::array<std::uint32_t, 3> read_cluster(const JsonNode& node, const std::array<std::uint32_t, 3>& grid) {
  const auto cluster = read_extent(node);
  const auto ctas = std::uint64_t{cluster[0]} * cluster[1] * cluster[2];
  if (ctas > 16) node.fail("{} CTAs; a cluster has at most 16", ctas);
  for (std::size_t d = 0; d < 3; ++d) {
    if (grid.at(d) % cluster.at(d) == 0) continue;
    node.fail("[{}] does not divide the grid, [{}]", fmt::join(cluster, ", "), fmt::join(grid, ", "));
  }
  return cluster;
}

std::uint64_t count_elements(const JsonNode& node, const std::vector<std::uint64_t>& shape) {
  std::uint64_t elements = 1;
  for (const auto extent : shape) {
    if (extent > max_elements / elements) node.fail("more than {} elements", max_elements);
    elements *= extent;
  }
  return elements;
}

/// The name of an array's file, relative to the launch file.
std::string read_file_name(const JsonNode& node) {
  if (node.string() == "-") node.refuse("a file is needed; only options of jitc name standard streams");
  return read_text(node, ".npy file");
}

BufferDescription read_buffer(const JsonNode& node) {
  node.expect_keys(keys_of(buffer_members));
  BufferDescription buffer;
  buffer.name = node.key();
  if (const auto in = node.find("in")) buffer.in = read_file_name(*in);
  if (const auto out = node.find("out")) buffer.out = read_file_name(*out);
  if (const auto type = node.find("dtype")) buffer.type = read_type(*type);
  const auto shape = node.find("shape");
  if (shape) buffer.shape = read_list<std::uint64_t>(*shape, member_of(buffer_members, "shape"));
  const auto values = node.find("values");
  const auto fill = node.find("fill");
  if (buffer.in.has_value() + values.has_value() + fill.has_value() > 1) {
    node.fail("in, values and fill exclude each other: each gives the initial content of a buffer");
  }
  if (!buffer.in && !buffer.type) node.fail("\"dtype\" is missing; only a file implies it");
  if (!buffer.in && !shape) node.fail("\"shape\" is missing; only a file implies it");
  if (fill) buffer.fill = read_whole<std::uint8_t>(*fill, buffer_members);
  const std::uint64_t elements = shape ? count_elements(*shape, buffer.shape) : 0;
  if (values) {
    const auto numbers = values->elements();
    if (numbers.empty() || numbers.size() > elements) {
      values->fail("{}; the shape has {}", counted(numbers.size(), "value"), counted(elements, "element"));
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

bool read_truth(const JsonNode& node) {
  if (!node.value().is_boolean()) node.refuse("true or false is needed");
  return node.value().get<bool>();
}

/// Adds the constants of `node` that are not in `constants` yet.
void read_constants(const JsonNode& node, std::vector<KernelConstant>& constants) {
  for (const auto& member : node.members()) {
    auto constant = read_constant(member);
    if (std::ranges::find(constants, constant.name, &KernelConstant::name) == constants.end())
      constants.push_back(std::move(constant));
  }
}

/// The constants that expressions of whole numbers can name.
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

Json to_json(const BufferDescription& buffer) {
  Json json = Json::object();
  if (buffer.in) json["in"] = *buffer.in;
  if (buffer.out) json["out"] = *buffer.out;
  if (buffer.type) json["dtype"] = name(*buffer.type);
  if (!buffer.shape.empty()) json["shape"] = buffer.shape;
  if (!buffer.values.empty()) json["values"] = patterns(buffer.values);
  if (buffer.fill != 0) json["fill"] = buffer.fill;
  return json;
}

/// Adds the paths of values that are still missing: strings that begin with a question mark.
void add_unfilled(const JsonNode::Value& value, const std::string& path, std::vector<std::string>& unfilled) {
  if (value.is_string() && value.get_ref<const std::string&>().starts_with('?')) {
    const auto& text = value.get_ref<const std::string&>();
    const auto first = text.find_first_not_of("? ");
    unfilled.push_back(first == std::string::npos ? path : fmt::format("{} ({})", path, text.substr(first)));
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (key != "note") add_unfilled(member, fmt::format("{}.{}", path, key), unfilled);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i)
      add_unfilled(value[i], fmt::format("{}[{}]", path, i), unfilled);
  }
}

/// Refuses a description with values that `jitc launch-file` left to the user.
void require_filled(const JsonNode::Value& json) {
  std::vector<std::string> unfilled;
  add_unfilled(json, "$", unfilled);
  if (unfilled.empty()) return;
  refuse("{} still to be filled in, marked by a \"?\": {}",
         unfilled.size() == 1 ? "a value is" : fmt::format("{} values are", unfilled.size()),
         fmt::join(unfilled, "; "));
}

/// Reads the members that every launch has. Its parameters name `buffers`.
void read_kernel_launch(const JsonNode& node, const std::vector<BufferDescription>& buffers,
                        KernelLaunch& launch) {
  if (const auto entry = node.find("entry")) launch.entry = read_text(*entry, "kernel");
  launch.grid = read_extent(node.at("grid"));
  launch.block = read_block(node.at("block"));
  if (const auto cluster = node.find("cluster")) launch.cluster = read_cluster(*cluster, launch.grid);
  if (const auto bytes = node.find("shared_bytes")) {
    launch.shared_bytes = read_whole<std::uint32_t>(*bytes, launch_members);
  }
  if (const auto cooperative = node.find("cooperative")) launch.cooperative = read_truth(*cooperative);
  if (const auto overlaps = node.find("overlaps")) launch.overlaps = read_truth(*overlaps);
  if (const auto parameters = node.find("parameters")) {
    for (const auto& parameter : parameters->elements())
      launch.parameters.push_back(read_parameter(parameter, buffers));
  }
}

/// Adds the members that read_kernel_launch() reads, except "entry".
void add_kernel_launch(Json& json, const KernelLaunch& launch) {
  json["grid"] = launch.grid;
  json["block"] = launch.block;
  json["cluster"] = launch.cluster;
  json["shared_bytes"] = launch.shared_bytes;
  if (launch.cooperative) json["cooperative"] = true;
  if (launch.overlaps) json["overlaps"] = true;
  json["parameters"] = Json::array();
  for (const auto& parameter : launch.parameters) json["parameters"].push_back(to_json(parameter));
}

}  // namespace

LaunchDescription parse_launch(std::string_view text, const std::vector<KernelConstant>& constants) {
  const auto json = parse_json(text);
  require_filled(json);
  LaunchDescription launch;
  launch.constants = constants;
  if (const auto own = JsonNode(json).find("constants")) read_constants(*own, launch.constants);
  const Counts counts = whole_numbers(launch.constants);
  const JsonNode root(json, &counts);
  root.expect_keys(keys_of(launch_members, Only::file));
  if (const auto folders = root.find("include")) {
    for (const auto& folder : folders->elements()) launch.include.push_back(read_text(folder, "folder"));
  }
  if (const auto source = root.find("source")) launch.source = read_text(*source, "file");
  if (const auto buffers = root.find("buffers")) {
    for (const auto& buffer : buffers->members()) launch.buffers.push_back(read_buffer(buffer));
  }
  read_kernel_launch(root, launch.buffers, launch);
  if (const auto before = root.find("before")) {
    for (const auto& earlier : before->elements()) {
      earlier.expect_keys(keys_of(launch_members));
      auto& added = launch.before.emplace_back();
      added.path = fmt::format("$.before[{}]", launch.before.size() - 1);
      read_kernel_launch(earlier, launch.buffers, added);
    }
  }
  return launch;
}

std::string launch_json(const LaunchDescription& description) {
  Json json = Json::object();
  if (!description.entry.empty()) json["entry"] = description.entry;
  if (!description.source.empty()) json["source"] = description.source;
  if (!description.constants.empty()) json["constants"] = Json::object();
  for (const KernelConstant& constant : description.constants) {
    json["constants"][constant.name] = constant.literal();
  }
  if (!description.include.empty()) json["include"] = description.include;
  json["buffers"] = Json::object();
  for (const auto& buffer : description.buffers) json["buffers"][buffer.name] = to_json(buffer);
  for (const KernelLaunch& earlier : description.before) {
    Json& added = json["before"].emplace_back(Json::object());
    if (!earlier.entry.empty()) added["entry"] = earlier.entry;
    add_kernel_launch(added, earlier);
  }
  add_kernel_launch(json, description);
  return json_text(json);
}

std::vector<const KernelLaunch*> LaunchDescription::launches() const {
  std::vector<const KernelLaunch*> all;
  for (const KernelLaunch& earlier : before) all.push_back(&earlier);
  all.push_back(this);
  return all;
}

TMAJIT_END
