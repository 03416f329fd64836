#pragma once

/// The data that a page shows for a kernel.
#include "view/ptx_lines.hpp"
#include "view/sass_rows.hpp"
#include "view/source_rows.hpp"

#include <tmajit/view/page.hpp>

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// A location, with the row of the source pane that shows it if the page has its file.
struct PageLocation {
  std::string file;  ///< file name without folders
  std::uint64_t line = 0;
  std::int32_t row = -1;         ///< index into SourceRows::rows(); −1: the page does not have the file
  std::int32_t inlined_at = -1;  ///< index of the call's location; −1: the function was not inlined
  std::string function;          ///< name of the inlined function; empty if unknown
};

struct Facts {
  explicit Facts(const ViewedKernel& viewed);

  const ViewedKernel& kernel;
  Locations locations;
  PtxLines ptx;
  SassRows sass;
  SourceRows source;
  std::vector<PageLocation> page_locations;  ///< with the indices of `locations`
};

}  // namespace view
TMAJIT_END
