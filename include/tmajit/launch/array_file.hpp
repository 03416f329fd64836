#pragma once

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The header of a .npy file (NumPy Enhancement Proposal 1, format versions 1.0 to 3.0).
struct NpyHeader {
  std::string descr;             ///< as written: "<f4"
  char kind = 'u';               ///< 'b' 'u' 'i' 'f', or 'V' for bytes without a meaning
  std::uint32_t item_bytes = 1;  ///< 1, 2, 4 or 8
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;  ///< outermost first; empty for a 0-d array
  std::uint64_t data_offset = 0;     ///< bytes before the first element
  std::uint64_t data_bytes = 0;      ///< elements · item_bytes
};

/// The layout of an array's elements in host memory.
struct HostLayout {
  std::vector<std::int64_t> strides;  ///< elements, outermost first
  bool swapped = false;               ///< byte order other than the device's
};

class InputFile;
class OutputFile;

/// A .npy file for reading; the path "-" is standard input. Copies share the file.
class InputArray {
 public:
  /// Throws Error{io} if the file cannot be read, is damaged, shorter than its header says or no .npy file at
  /// all, and Error{invalid_argument} for element types that no kernel takes (objects, records, text, complex
  /// numbers). The message names the file.
  TMAJIT_API explicit InputArray(const std::filesystem::path& path);

  /// "standard input" for "-".
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const NpyHeader& header() const noexcept { return header_; }
  [[nodiscard]] TMAJIT_API std::span<const std::byte> data() const noexcept;
  [[nodiscard]] TMAJIT_API HostLayout layout() const;

  /// The element type that the file's NumPy type stands for. Throws Error{invalid_argument} for kind 'V',
  /// bytes without a meaning.
  [[nodiscard]] TMAJIT_API ElementType type() const;
  /// Checks that the file's elements can be taken as `type`: they have its NumPy type, or hold the bits of a
  /// type that NumPy lacks. Throws Error{invalid_argument} that says which file type would do.
  TMAJIT_API void check(ElementType type) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const InputFile> file_;
  NpyHeader header_;
};

/// A .npy file for writing. It appears under its name whole, when commit() is called, or not at all; the path
/// "-" is standard output.
class OutputArray {
 public:
  /// Opens the file, so that a missing or read-only folder fails at once. Throws Error{io}.
  TMAJIT_API explicit OutputArray(const std::filesystem::path& path);

  /// "standard output" for "-".
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Memory for elements of `shape`, each of NumPy type `descr` and `item_bytes` bytes, in C order; filled in
  /// by the caller. Throws Error{io}.
  [[nodiscard]] TMAJIT_API std::span<std::byte> reserve(std::string_view descr, std::uint32_t item_bytes,
                                                        std::span<const std::uint64_t> shape);
  /// Writes the elements to the disk and gives the file its name. Throws Error{io}.
  TMAJIT_API void commit();

 private:
  std::filesystem::path path_;
  std::shared_ptr<OutputFile> file_;
};

/// The NumPy type that arrays of `type` are written with. A type that NumPy lacks is written as an unsigned
/// integer with the same bits; f32_ftz, tf32 and tf32_ftz as f4.
[[nodiscard]] TMAJIT_API std::string_view npy_descr(ElementType type);

/// C-order strides in elements.
[[nodiscard]] TMAJIT_API std::vector<std::int64_t> c_order(std::span<const std::uint64_t> shape);

TMAJIT_END
