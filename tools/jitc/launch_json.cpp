/// Launch descriptions as JSON.
#include "launch_description.hpp"

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

/// A pattern says every value of every type exactly.
std::string pattern(std::uint64_t bits) {
  return fmt::format("{:#x}", bits);
}

Json patterns(const std::vector<std::uint64_t>& values) {
  Json list = Json::array();
  for (const auto bits : values) list.push_back(pattern(bits));
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
  json["box"] = map.box;
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

Json to_json(const LaunchDescription& description) {
  Json json = Json::object();
  if (!description.entry.empty()) json["entry"] = description.entry;
  if (!description.source.empty()) json["source"] = description.source;
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

}  // namespace jitc
