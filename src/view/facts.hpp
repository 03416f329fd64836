#pragma once

/// Everything that a page shows of a kernel, as plain data.
#include "view/ptx_lines.hpp"
#include "view/sass_rows.hpp"
#include "view/source_rows.hpp"

#include <tmajit/view/page.hpp>

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// A place whose file may be at hand.
struct ShownPlace {
  std::string file;  ///< without folders
  std::uint64_t line = 0;
  std::int32_t row = -1;     ///< index into SourceRows::rows(); −1: the file is not at hand
  std::int32_t caller = -1;  ///< index of the call's place; −1: none
  std::string function;      ///< name of the inlined function; empty if it is not known
};

struct Facts {
  explicit Facts(const ViewedKernel& viewed);

  const ViewedKernel& kernel;
  Places places;
  PtxLines ptx;
  SassRows sass;
  SourceRows source;
  std::vector<ShownPlace> shown;  ///< one for each of `places`
};

}  // namespace view
TMAJIT_END
