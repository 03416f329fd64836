#include "cache/zstandard.hpp"

#include <new>

#include <zstd.h>

TMAJIT_BEGIN
namespace {

/// Zstandard's slowest level before those that need much memory to decompress. A pack is written once.
constexpr int level = 19;

template <class T>
[[nodiscard]] T* require(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

using CompressContext = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;
using DecompressContext = std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)>;

}  // namespace

Compressor::Compressor(std::string_view dictionary)
    : dictionary_(require(ZSTD_createCDict(dictionary.data(), dictionary.size(), level)),
                  [](ZSTD_CDict* made) { ZSTD_freeCDict(made); }) {}

std::string Compressor::compress(std::string_view bytes) const {
  const CompressContext context(require(ZSTD_createCCtx()), &ZSTD_freeCCtx);
  std::string compressed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress_usingCDict(context.get(), compressed.data(), compressed.size(),
                                                    bytes.data(), bytes.size(), dictionary_.get());
  // With room for ZSTD_compressBound() bytes, only a lack of memory is left to fail.
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  compressed.resize(size);
  return compressed;
}

std::optional<std::string> Decompressor::decompress(std::string_view compressed,
                                                    std::size_t whole_bytes) const {
  // The frame says the size, too. Memory is allocated only if both agree.
  if (ZSTD_getFrameContentSize(compressed.data(), compressed.size()) != whole_bytes) return std::nullopt;
  const DecompressContext context(require(ZSTD_createDCtx()), &ZSTD_freeDCtx);
  // A prefix is read where it lies. ZSTD_createDDict() would copy it, which takes longer than a
  // decompression.
  if (ZSTD_isError(ZSTD_DCtx_refPrefix(context.get(), dictionary_.data(), dictionary_.size())) != 0)
    return std::nullopt;
  std::string bytes(whole_bytes, '\0');
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), bytes.data(), bytes.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(size) != 0 || size != whole_bytes) return std::nullopt;
  return bytes;
}

TMAJIT_END
