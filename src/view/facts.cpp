#include "view/facts.hpp"

TMAJIT_BEGIN
namespace view {

Facts::Facts(const ViewedKernel& viewed)
    : kernel(viewed),
      ptx(read_ptx(kernel.artifact.ptx, places)),
      sass(disassembled(kernel.artifact.cubin, places)),
      source(kernel, places, ptx.main_path) {
  for (const Place& place : places.all()) {
    const std::string& path = places.paths()[place.path];
    const auto row = source.row_of(place);
    shown.push_back({.file = path.substr(path.rfind('/') + 1),
                     .line = place.line,
                     .row = row ? static_cast<std::int32_t>(*row) : -1,
                     .caller = place.caller == Place::none ? -1 : static_cast<std::int32_t>(place.caller),
                     .function = place.function});
  }
}

}  // namespace view
TMAJIT_END
