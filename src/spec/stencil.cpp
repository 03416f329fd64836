#include "spec/enum_names.hpp"

#include <tmajit/operations/stencil.hpp>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<Boundary, 5> boundaries{"boundary", {"zero", "constant", "clamp", "wrap", "reflect"}};

}  // namespace

std::string_view name(Boundary boundary) noexcept {
  return boundaries.of(boundary);
}
template <>
Boundary parse<Boundary>(std::string_view text) {
  return boundaries.parse(text);
}

TMAJIT_END
