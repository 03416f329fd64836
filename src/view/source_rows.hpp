#pragma once

/// The files of a kernel's source as one list of rows.
#include "view/places.hpp"

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
  std::uint64_t line = 0;  ///< number in its file, as compilers count it; 0: a heading, or a #line directive
  bool is_heading = false;
};

class SourceRows {
 public:
  /// Collects the kernel's source, and those of its headers and other files that `places` name. `main_path`
  /// is the path by which the PTX names the text that the compiler was given.
  SourceRows(const ViewedKernel& kernel, const Places& places, std::string_view main_path);

  [[nodiscard]] const std::vector<SourceRow>& rows() const noexcept { return rows_; }
  /// The row of a place; nullopt if its file is not at hand.
  [[nodiscard]] std::optional<std::uint32_t> row_of(const Place& place) const;

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;  ///< a file and a line
  void add_file(std::string_view name, std::string_view text);
  std::uint32_t add_name(std::string_view name);

  std::vector<SourceRow> rows_;
  std::vector<std::string> files_;
  std::map<Key, std::uint32_t> index_;
  /// For each of Places::paths() the files in which its lines are searched, in order.
  std::vector<std::vector<std::uint32_t>> files_of_path_;
};

}  // namespace view
TMAJIT_END
