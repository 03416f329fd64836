#include "cache/compiler_format.hpp"

#include "cache/bytes.hpp"

TMAJIT_BEGIN
namespace {

constexpr std::string_view compiler_magic{"\x89tmanv2\n", 8};

}  // namespace

std::string encode_compiler(const CompilerIdentity& compiler) {
  ByteWriter writer;
  writer.raw(compiler_magic);
  writer.u32(static_cast<std::uint32_t>(compiler.major));
  writer.u32(static_cast<std::uint32_t>(compiler.minor));
  for (const auto* text : {&compiler.build, &compiler.path, &compiler.stamp}) writer.text(*text);
  writer.u64(checksum(writer.bytes()));
  return writer.take();
}

std::optional<CompilerIdentity> decode_compiler(std::string_view bytes) {
  ByteReader reader(bytes);
  CompilerIdentity compiler;
  const bool right_magic = reader.raw(compiler_magic.size()) == compiler_magic;
  compiler.major = static_cast<int>(reader.u32());
  compiler.minor = static_cast<int>(reader.u32());
  for (auto* text : {&compiler.build, &compiler.path, &compiler.stamp}) *text = reader.text();
  const auto summed = bytes.substr(0, bytes.size() - reader.rest().size());
  const bool right_sum = reader.u64() == checksum(summed);
  if (!reader.ok() || !reader.rest().empty() || !right_magic || !right_sum) return std::nullopt;
  return compiler;
}

TMAJIT_END
