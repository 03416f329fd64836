#pragma once

/// The files of a kernel's source as one list of rows.
#include "view/locations.hpp"

#include <tmajit/view/page.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// A line of a source file, or the heading of a file.
struct SourceRow {
  std::string text;
  std::uint64_t line = 0;  ///< line number in its file, after #line; 0: a heading, or a #line directive
  bool is_heading = false;
};

class SourceRows {
 public:
  /// Collects the kernel's source, and the headers and other files that `locations` name. `main_path` is the
  /// path that the PTX gives to the compiled file (PtxLines::main_path).
  SourceRows(const ViewedKernel& kernel, const Locations& locations, std::string_view main_path);

  [[nodiscard]] const std::vector<SourceRow>& rows() const noexcept { return rows_; }
  /// The index of a location's row; nullopt if its file is missing.
  [[nodiscard]] std::optional<std::uint32_t> row_of(const Location& location) const;

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  ///< index into `files_`, line
  /// Adds a file's name and rows, unless they are there. Returns its index into `files_`.
  std::uint32_t add_file(std::string_view name, std::string_view text);
  std::uint32_t add_name(std::string_view name);

  std::vector<SourceRow> rows_;
  std::vector<std::string> files_;
  std::map<Key, std::uint32_t> index_;
  /// For each of Locations::paths(): indices of the files in which row_of() looks for a line, in this order.
  std::vector<std::vector<std::uint32_t>> files_of_path_;
};

}  // namespace view
TMAJIT_END
