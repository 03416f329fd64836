#pragma once

#include "files.hpp"
#include "npy.hpp"

#include <tmajit/tensor_view.hpp>

#include <cstddef>
#include <filesystem>
#include <span>

namespace jitc {

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
  /// Memory for the elements of `type` and `shape`, C order; filled in by the caller. Throws Error{io}.
  [[nodiscard]] std::span<std::byte> reserve(tmajit::ElementType type, std::span<const std::uint64_t> shape);
  void commit();

 private:
  std::filesystem::path path_;
  OutputFile file_;
};

/// C-order strides in elements.
[[nodiscard]] std::vector<std::int64_t> c_order(std::span<const std::uint64_t> shape);

}  // namespace jitc
