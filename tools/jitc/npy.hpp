#pragma once

#include "files.hpp"

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

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

/// Reads the header of a file of `file_bytes` bytes that begins with `head` (all of it, or at least its
/// header). Throws Error{io} if the file is damaged, shorter than its header says or no .npy file at all, and
/// Error{invalid_argument} for element types that no kernel takes (objects, records, text, complex numbers).
/// The message does not name the file.
[[nodiscard]] NpyHeader parse_npy_header(std::span<const std::byte> head, std::uint64_t file_bytes);

/// A little-endian C-order header, padded so that the data starts on a multiple of 64 bytes.
[[nodiscard]] std::string format_npy_header(std::string_view descr, std::span<const std::uint64_t> shape);

/// How arrays of `type` are written: its own NumPy type, or an unsigned integer (f4 for the f32 forms) that
/// holds the bits of a type that NumPy lacks.
[[nodiscard]] std::string_view npy_descr(tmajit::ElementType type);

/// The element type of a file by itself. Throws Error{invalid_argument} for kind 'V', which says nothing.
[[nodiscard]] tmajit::ElementType natural_type(const NpyHeader& header);

/// Checks that the file's elements can be taken as `type`: of the same NumPy type, or the bit patterns of a
/// type that NumPy lacks. Throws Error{invalid_argument} that says which file type would do.
void check_type(const NpyHeader& header, tmajit::ElementType type);

/// How an array's elements lie in host memory.
struct HostLayout {
  std::vector<std::int64_t> strides;  ///< elements, outermost first
  bool swapped = false;               ///< byte order other than the device's
};

/// A .npy file for reading.
class InputArray {
 public:
  /// Throws what InputFile and parse_npy_header() throw, with the file's name.
  explicit InputArray(std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const NpyHeader& header() const noexcept { return header_; }
  [[nodiscard]] std::span<const std::byte> data() const noexcept;
  [[nodiscard]] HostLayout layout() const;

  /// natural_type() and check_type() with the file's name in their errors.
  [[nodiscard]] tmajit::ElementType type() const;
  void check(tmajit::ElementType type) const;

 private:
  std::filesystem::path path_;
  InputFile file_;
  NpyHeader header_;
};

/// A .npy file for writing: opened at once, its room reserved by reserve(), named by commit().
class OutputArray {
 public:
  explicit OutputArray(std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Memory for elements of `shape`, each of NumPy type `descr` and `item_bytes` bytes, in C order; filled in
  /// by the caller. Throws Error{io}.
  [[nodiscard]] std::span<std::byte> reserve(std::string_view descr, std::uint32_t item_bytes,
                                             std::span<const std::uint64_t> shape);
  void commit();

 private:
  std::filesystem::path path_;
  OutputFile file_;
};

/// C-order strides in elements.
[[nodiscard]] std::vector<std::int64_t> c_order(std::span<const std::uint64_t> shape);

}  // namespace jitc
