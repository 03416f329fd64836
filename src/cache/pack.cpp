#include "cache/bytes.hpp"
#include "cache/entry_format.hpp"
#include "cache/pack_format.hpp"
#include "cache/zstandard.hpp"
#include "files/mapped_file.hpp"
#include "files/trust.hpp"

#include <tmajit/error.hpp>
#include <tmajit/pack.hpp>

#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

Error damaged(const std::filesystem::path& file, std::string_view fault) {
  return {ErrorCode::invalid_argument,
          fmt::format("the pack {} is damaged: {}; build or install it again", file.string(), fault)};
}

}  // namespace

struct Pack::State {
  State(std::filesystem::path path, std::error_code& error) : file(std::move(path)), mapped(file, error) {}

  std::filesystem::path file;
  MappedFile mapped;
  PackView view;
};

Pack::Pack(std::filesystem::path file) {
  std::error_code error;
  state_ = std::make_unique<State>(std::move(file), error);
  if (error) {
    throw Error(ErrorCode::io,
                fmt::format("the pack {} cannot be read: {}", this->file().string(), error.message()));
  }
  DecodedPack decoded = decode_pack(state_->mapped.bytes());
  if (!decoded.view) throw damaged(this->file(), decoded.fault);
  state_->view = *std::move(decoded.view);
}
Pack::Pack(Pack&&) noexcept = default;
Pack& Pack::operator=(Pack&&) noexcept = default;
Pack::~Pack() = default;

const std::filesystem::path& Pack::file() const noexcept {
  return state_->file;
}
std::uint64_t Pack::bytes() const noexcept {
  return state_->mapped.bytes().size();
}
std::string_view Pack::generator() const noexcept {
  return state_->view.tables.generator;
}
std::span<const CompilerIdentity> Pack::compilers() const noexcept {
  return state_->view.tables.compilers;
}
std::size_t Pack::kernels() const noexcept {
  return state_->view.kernels();
}

std::vector<CacheKey> Pack::keys() const {
  std::vector<CacheKey> keys;
  keys.reserve(kernels());
  for (std::size_t number = 0; number < kernels(); ++number) keys.push_back(state_->view.record(number).key);
  return keys;
}

bool Pack::has(const CacheKey& key) const noexcept {
  return state_->mapped.is_whole() && state_->view.find(key).has_value();
}

std::uint64_t Pack::bytes_of(const CacheKey& key) const noexcept {
  if (!state_->mapped.is_whole()) return 0;
  const std::optional<PackRecord> record = state_->view.find(key);
  return record ? record->bytes : 0;
}

std::optional<Artifact> Pack::fetch(const CacheKey& key) const {
  if (!state_->mapped.is_whole()) {
    throw Error(ErrorCode::io, fmt::format("the pack {} was truncated while it was open; replace a pack by "
                                           "renaming another file to its path",
                                           file().string()));
  }
  const std::optional<PackRecord> record = state_->view.find(key);
  if (!record) return std::nullopt;
  const std::string_view compressed = state_->mapped.bytes().substr(record->offset, record->bytes);
  const auto fault = [&](std::string_view what) {
    return damaged(file(), fmt::format("{} of kernel {}", what, key.hex()));
  };
  if (checksum(compressed) != record->checksum) throw fault("the checksum is wrong");
  // The dictionary's own checksum is not verified here, which would read all of it: the checksum of the entry
  // shows whether the dictionary was right where it matters.
  const std::optional<std::string> entry =
      Decompressor(state_->view.dictionary).decompress(compressed, record->whole_bytes);
  if (!entry) throw fault("the compressed bytes are wrong");
  DecodedEntry decoded = decode_entry(*entry, key);
  if (!decoded.artifact) throw fault(decoded.fault);
  return std::move(decoded.artifact);
}

void Pack::verify() const {
  if (checksum(state_->view.dictionary) != state_->view.dictionary_checksum)
    throw damaged(file(), "the checksum of its dictionary is wrong");
  for (std::size_t number = 0; number < kernels(); ++number) (void)fetch(state_->view.record(number).key);
}

std::string Pack::why_refused() const {
  if (!state_->mapped.is_trusted()) {
    return "it belongs to another user, or others may write to it; chown it and chmod go-w it";
  }
  return why_untrusted(file().parent_path().empty() ? "." : file().parent_path());
}

TMAJIT_END
