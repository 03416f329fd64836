#include "cache/pack_format.hpp"

#include "cache/bytes.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::string_view magic{"\x89tmapak\n", 8};  // no text file begins with these bytes
constexpr std::uint32_t schema = 1;
/// Bytes of the header in front of its checksum.
constexpr std::size_t summed_header_bytes = pack_header_bytes - sizeof(std::uint64_t);

std::string_view raw(const CacheKey& key) {
  return {reinterpret_cast<const char*>(key.digest.data()), key.digest.size()};
}

/// The checksum of header and directory.
std::uint64_t front_checksum(std::string_view bytes, std::size_t directory_bytes) {
  ByteWriter sums;
  sums.u64(checksum(bytes.substr(0, summed_header_bytes)));
  sums.u64(checksum(bytes.substr(pack_header_bytes, directory_bytes)));
  return checksum(sums.bytes());
}

struct Header {
  std::uint32_t compilers = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t directory_bytes = 0;
  std::uint64_t kernels = 0;
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t dictionary_checksum = 0;
  std::uint64_t front_checksum = 0;
};

/// Reads the header. Sets `fault` if it does not fit the file.
Header read_header(std::string_view bytes, std::string_view& fault) {
  ByteReader reader(bytes);
  Header header;
  const bool right_magic = reader.raw(magic.size()) == magic;
  const bool right_schema = reader.u32() == schema;
  header.compilers = reader.u32();
  for (std::uint64_t* number :
       {&header.file_bytes, &header.directory_bytes, &header.kernels, &header.dictionary_bytes,
        &header.dictionary_checksum, &header.front_checksum})
    *number = reader.u64();
  const std::uint64_t rest = reader.rest().size();
  fault = !right_magic    ? "it does not start like a pack"
          : !right_schema ? "its format is that of another version of tmajit"
          : !reader.ok() || header.file_bytes != bytes.size() || header.directory_bytes > rest ||
                  header.dictionary_bytes > rest - header.directory_bytes
              ? "its length is wrong"
              : std::string_view{};
  return header;
}

/// Whether the keys ascend, and the entries lie one after the other, from `begin` to `end`.
bool is_right_index(const PackView& view, std::uint64_t begin, std::uint64_t end) {
  std::string_view previous;
  for (std::size_t number = 0; number < view.kernels(); ++number) {
    const PackRecord record = view.record(number);
    const std::string_view key = view.index.substr(number * pack_record_bytes, record.key.digest.size());
    if (number > 0 && key <= previous) return false;
    if (record.offset != begin || record.bytes > end - begin || record.whole_bytes > max_packed_bytes)
      return false;
    begin += record.bytes;
    previous = key;
  }
  return begin == end;
}

}  // namespace

std::string encode_pack(const PackTables& tables, std::string_view dictionary,
                        std::vector<PackedEntry> entries) {
  std::ranges::sort(entries, {}, [](const PackedEntry& entry) { return raw(entry.key); });

  ByteWriter directory;
  directory.text(tables.generator);
  for (const CompilerIdentity& compiler : tables.compilers) {
    directory.u32(static_cast<std::uint32_t>(compiler.major));
    directory.u32(static_cast<std::uint32_t>(compiler.minor));
    directory.text(compiler.build);
  }
  const std::uint64_t directory_bytes = directory.bytes().size() + entries.size() * pack_record_bytes;
  std::uint64_t offset = pack_header_bytes + directory_bytes + dictionary.size();
  for (const PackedEntry& entry : entries) {
    directory.raw(raw(entry.key));
    directory.u64(offset);
    directory.u32(static_cast<std::uint32_t>(entry.bytes.size()));
    directory.u32(entry.whole_bytes);
    directory.u64(checksum(entry.bytes));
    offset += entry.bytes.size();
  }

  ByteWriter file;
  file.reserve(offset);
  file.raw(magic);
  file.u32(schema);
  file.u32(static_cast<std::uint32_t>(tables.compilers.size()));
  for (const std::uint64_t number : {offset, directory_bytes, std::uint64_t{entries.size()},
                                     std::uint64_t{dictionary.size()}, checksum(dictionary)})
    file.u64(number);
  file.u64(0);  // the checksum
  file.raw(directory.bytes());
  file.raw(dictionary);
  for (const PackedEntry& entry : entries) file.raw(entry.bytes);
  std::string bytes = file.take();
  seal_pack(bytes);
  return bytes;
}

void seal_pack(std::string& bytes) {
  std::string_view fault;
  const Header header = read_header(bytes, fault);
  if (!fault.empty()) return;
  ByteWriter sum;
  sum.u64(front_checksum(bytes, header.directory_bytes));
  bytes.replace(summed_header_bytes, sum.bytes().size(), sum.bytes());
}

PackRecord PackView::record(std::size_t number) const {
  ByteReader reader(index.substr(number * pack_record_bytes, pack_record_bytes));
  PackRecord record;
  const std::string_view key = reader.raw(record.key.digest.size());
  std::copy(key.begin(), key.end(), record.key.digest.begin());
  record.offset = reader.u64();
  record.bytes = reader.u32();
  record.whole_bytes = reader.u32();
  record.checksum = reader.u64();
  return record;
}

std::optional<PackRecord> PackView::find(const CacheKey& key) const {
  const std::string_view wanted = raw(key);
  std::size_t low = 0;
  for (std::size_t high = kernels(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (index.substr(middle * pack_record_bytes, wanted.size()) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == kernels() || index.substr(low * pack_record_bytes, wanted.size()) != wanted) return std::nullopt;
  return record(low);
}

DecodedPack decode_pack(std::string_view bytes) {
  DecodedPack result;
  const Header header = read_header(bytes, result.fault);
  if (!result.fault.empty()) return result;
  if (front_checksum(bytes, header.directory_bytes) != header.front_checksum) {
    result.fault = "the checksum of its directory is wrong";
    return result;
  }
  PackView view;
  ByteReader reader(bytes.substr(pack_header_bytes, header.directory_bytes));
  view.tables.generator = reader.text();
  // Each compiler takes 16 bytes or more, so a wrong number allocates no more than the file has.
  for (std::uint32_t i = 0; i < header.compilers && reader.ok(); ++i) {
    CompilerIdentity& compiler = view.tables.compilers.emplace_back();
    compiler.major = static_cast<int>(reader.u32());
    compiler.minor = static_cast<int>(reader.u32());
    compiler.build = reader.text();
  }
  view.index = reader.rest();
  view.dictionary = bytes.substr(pack_header_bytes + header.directory_bytes, header.dictionary_bytes);
  view.dictionary_checksum = header.dictionary_checksum;
  const std::uint64_t entries = pack_header_bytes + header.directory_bytes + header.dictionary_bytes;
  if (!reader.ok() || view.index.size() % pack_record_bytes != 0 || view.kernels() != header.kernels ||
      !is_right_index(view, entries, bytes.size())) {
    result.fault = "the fields of its directory do not add up";
    return result;
  }
  result.view = std::move(view);
  return result;
}

TMAJIT_END
