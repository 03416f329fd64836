#include "cache/entry_format.hpp"

#include "cache/bytes.hpp"

#include <algorithm>

TMAJIT_BEGIN

namespace {

constexpr std::string_view magic{"\x89tmajit\n", 8};  // no text file begins with these bytes
constexpr std::uint32_t schema = 3;

struct Header {
  std::uint64_t payload_bytes = 0;
  std::uint64_t checksum = 0;
  CacheKey key;
};

/// Reads the header. Returns nullopt, with the reason in `result`, if the header or the file's size is wrong.
std::optional<Header> read_header(ByteReader& reader, std::uint64_t file_bytes, DecodedEntry& result) {
  Header header;
  const bool right_magic = reader.raw(magic.size()) == magic;
  const std::uint32_t version = reader.u32();
  const bool right_padding = reader.u32() == 0;
  header.payload_bytes = reader.u64();
  header.checksum = reader.u64();
  const auto key = reader.raw(header.key.digest.size());
  result.other_version = right_magic && reader.ok() && version != schema;
  result.fault = !right_magic           ? "it does not start like an entry"
                 : result.other_version ? "its format is another version's"
                 : !right_padding       ? "its header is wrong"
                 : !reader.ok() || header.payload_bytes != file_bytes - entry_header_bytes
                     ? "its length is wrong"
                     : std::string_view{};
  if (!result.fault.empty()) return std::nullopt;
  std::copy(key.begin(), key.end(), header.key.digest.begin());
  return header;
}

MadeFor read_made_for(ByteReader& reader) {
  MadeFor made_for;
  for (auto* text : {&made_for.operation, &made_for.types, &made_for.shape}) *text = reader.text();
  return made_for;
}

std::vector<KeyField> read_key_fields(ByteReader& reader) {
  std::vector<KeyField> fields;
  for (std::uint64_t count = reader.u64(); count > 0 && reader.ok(); --count) {
    KeyField& field = fields.emplace_back();
    field.name = reader.text();
    field.value = reader.text();
  }
  return fields;
}

std::string_view as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> as_bytes(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

}  // namespace

std::string encode_entry(const CacheKey& key, const Artifact& artifact) {
  // Structured bindings name every field: one that is added to Artifact or Resources stops the build until it
  // is stored here.
  const auto& [entry, source, ptx, cubin, log, resources, made_for, key_fields] = artifact;
  const auto& [operation, types, shape] = made_for;
  const auto& [registers, spill_stores, spill_loads, stack, shared, barriers] = resources;

  ByteWriter payload;
  payload.reserve(entry.size() + source.size() + ptx.size() + cubin.size() + log.size() + entry_info_bytes);
  for (const auto* text : {&entry, &operation, &types, &shape}) payload.text(*text);
  payload.u64(key_fields.size());
  for (const auto& [name, value] : key_fields) {
    payload.text(name);
    payload.text(value);
  }
  for (const std::string_view text :
       {std::string_view(source), std::string_view(ptx), as_text(cubin), std::string_view(log)}) {
    payload.text(text);
  }
  for (const auto number : {registers, spill_stores, spill_loads, stack, shared, barriers}) {
    payload.u32(number);
  }

  ByteWriter file;
  file.reserve(entry_header_bytes + payload.bytes().size());
  file.raw(magic);
  file.u32(schema);
  file.u32(0);
  file.u64(payload.bytes().size());
  file.u64(checksum(payload.bytes()));
  file.raw({reinterpret_cast<const char*>(key.digest.data()), key.digest.size()});
  file.raw(payload.bytes());
  return file.take();
}

DecodedEntry decode_entry(std::string_view bytes, const CacheKey& key) {
  DecodedEntry result = decode_entry(bytes);
  if (!result.artifact || result.key == key) return result;
  return {.artifact = std::nullopt, .key = {}, .fault = "it is another kernel's"};
}

DecodedEntry decode_entry(std::string_view bytes) {
  DecodedEntry result;
  ByteReader reader(bytes);
  const auto header = read_header(reader, bytes.size(), result);
  if (!header) return result;
  if (checksum(reader.rest()) != header->checksum) {
    result.fault = "its checksum is wrong";
    return result;
  }
  Artifact artifact;
  artifact.entry = reader.text();
  artifact.made_for = read_made_for(reader);
  artifact.key_fields = read_key_fields(reader);
  artifact.source = reader.text();
  artifact.ptx = reader.text();
  artifact.cubin = as_bytes(reader.text());
  artifact.log = reader.text();
  auto& [registers, spill_stores, spill_loads, stack, shared, barriers] = artifact.resources;
  for (auto* number : {&registers, &spill_stores, &spill_loads, &stack, &shared, &barriers}) {
    *number = reader.u32();
  }
  if (!reader.ok() || !reader.rest().empty()) {
    result.fault = "its fields do not add up";
    return result;
  }
  result.artifact = std::move(artifact);
  result.key = header->key;
  return result;
}

std::optional<EntryInfo> read_entry_info(std::string_view front, std::uint64_t file_bytes) {
  ByteReader reader(front);
  DecodedEntry refused;
  const auto header = read_header(reader, file_bytes, refused);
  if (!header) return std::nullopt;
  EntryInfo info{.key = header->key,
                 .entry = std::string(reader.text()),
                 .made_for = read_made_for(reader),
                 .key_fields = read_key_fields(reader)};
  if (!reader.ok()) return std::nullopt;
  return info;
}

TMAJIT_END
