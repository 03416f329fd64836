#include "view/facts.hpp"

TMAJIT_BEGIN
namespace view {

Facts::Facts(const ViewedKernel& viewed)
    : kernel(viewed),
      ptx(read_ptx(kernel.artifact.ptx, locations)),
      sass(disassembled(kernel.artifact.cubin, locations)),
      source(kernel, locations, ptx.main_path) {
  for (const Location& location : locations.all()) {
    const std::string& path = locations.paths()[location.path];
    const auto row = source.row_of(location);
    page_locations.push_back({.file = path.substr(path.rfind('/') + 1),
                              .line = location.line,
                              .row = row ? static_cast<std::int32_t>(*row) : -1,
                              .inlined_at = location.inlined_at == Location::none
                                                ? -1
                                                : static_cast<std::int32_t>(location.inlined_at),
                              .function = location.function});
  }
}

}  // namespace view
TMAJIT_END
