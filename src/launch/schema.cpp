#include "launch/members.hpp"
#include "report/json.hpp"

#include <tmajit/tensor_view.hpp>

#include <string>

#include <nlohmann/json.hpp>

TMAJIT_BEGIN
namespace {

using launch_file::Form;
using launch_file::Member;
using launch_file::Only;

/// A string with a meaning: those that begin with a question mark are still to be filled in.
Json text_schema() {
  return {{"type", "string"}, {"pattern", "^[^?]"}};
}

Json reference(std::string_view name) {
  return {{"$ref", "#/$defs/" + std::string(name)}};
}

Json whole_schema(std::uint64_t least, std::uint64_t most) {
  return {{"anyOf", {{{"type", "integer"}, {"minimum", least}, {"maximum", most}}, reference("expression")}}};
}

Json list_schema(Json items, std::size_t least_entries) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", least_entries}};
}

Json extent_schema(const Member& member) {
  Json axes = Json::array();
  for (const auto most : member.most) axes.push_back(whole_schema(member.least, most));
  Json list = {{"type", "array"}, {"prefixItems", axes}, {"items", false}, {"minItems", 1}};
  return {{"anyOf", {axes[0], list}}};
}

Json named_schema(Json values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

Json corner_number() {
  const Json whole{{"type", "integer"}, {"minimum", -2147483648LL}, {"maximum", 2147483647}};
  return {{"anyOf", {whole, text_schema()}}};
}

Json schema_of(const Member& member) {
  switch (member.form) {
    case Form::anything: return Json::object();
    case Form::whole: return whole_schema(member.least, member.most[0]);
    case Form::corner: return list_schema(corner_number(), member.least_entries);
    case Form::extent: return extent_schema(member);
    case Form::list: {
      auto list = list_schema(whole_schema(member.least, member.most[0]), member.least_entries);
      list["maxItems"] = max_view_rank;
      return list;
    }
    case Form::number:
      return {{"anyOf", {reference("number"), list_schema(reference("number"), member.least_entries)}}};
    case Form::numbers: return list_schema(reference("number"), member.least_entries);
    case Form::truth: return {{"type", "boolean"}};
    case Form::text: return text_schema();
    case Form::texts: return list_schema(text_schema(), 0);
    case Form::word: return {{"enum", member.words()}};
    case Form::constants: {
      auto schema = named_schema({{"type", {"number", "boolean", "string"}}});
      schema["propertyNames"] = {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}};
      return schema;
    }
    case Form::buffers: return named_schema(reference("buffer"));
    case Form::parameters: return list_schema(reference("parameter"), 0);
    case Form::fields: return list_schema(reference("field"), 1);
    case Form::launches: return list_schema(reference("launch"), 0);
    case Form::tensor_map: return reference("tensor_map");
    case Form::pixel_box: return reference("pixel_box");
  }
  return {};
}

/// An object with these members and no others.
Json object_schema(std::span<const Member> members, Only only = Only::always) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& member : members) {
    if (member.only != Only::always && member.only != only) continue;
    auto& schema = properties[std::string(member.key)] = schema_of(member);
    schema["description"] = member.meaning;
    if (member.required) required.push_back(member.key);
  }
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

Json requires_all(const Json& keys) {
  return {{"required", keys}};
}

/// One of "in", "values" and "fill" gives the initial content. Without a file, type and shape are needed.
Json buffer_schema() {
  auto buffer = object_schema(launch_file::buffer_members);
  buffer["if"] = {{"not", requires_all({"in"})}};
  buffer["then"] = requires_all({"dtype", "shape"});
  buffer["not"] = {
      {"anyOf",
       {requires_all({"in", "values"}), requires_all({"in", "fill"}), requires_all({"values", "fill"})}}};
  return buffer;
}

Json map_schema() {
  auto map = object_schema(launch_file::map_members);
  map["oneOf"] = {requires_all({"box"}), requires_all({"pixel_box"})};
  return map;
}

Json parameter_schema(Only only) {
  Json kinds = {object_schema(launch_file::scalar_members, only),
                object_schema(launch_file::pointer_members, only),
                object_schema(launch_file::map_parameter_members, only)};
  if (only != Only::field) kinds.push_back(object_schema(launch_file::struct_members));
  return {{"anyOf", kinds}};
}

}  // namespace

std::string launch_schema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "A launch file of tmajit"},
                 {"description",
                  "Launches of kernels with their buffers, for jitc --launch; docs/run.md describes them"}};
  schema.update(object_schema(launch_file::launch_members, Only::file));
  schema["$defs"] = {
      {"expression",
       {{"description", "An expression of whole numbers and constants: ceil_div(columns, 4 * rows)"},
        {"type", "string"},
        {"pattern", "^[A-Za-z0-9_ \\t+*/%(),-]+$"}}},
      {"number",
       {{"description", "A number, an expression, a bit pattern such as 0x7fc0, nan, inf or -inf"},
        {"anyOf", {{{"type", "number"}}, text_schema()}}}},
      {"launch", object_schema(launch_file::launch_members)},
      {"buffer", buffer_schema()},
      {"parameter", parameter_schema(Only::always)},
      {"field", parameter_schema(Only::field)},
      {"tensor_map", map_schema()},
      {"pixel_box", object_schema(launch_file::pixel_box_members)}};
  return json_text(schema, 2) + "\n";
}

TMAJIT_END
