#include "spec/enum_names.hpp"

#include <tmajit/counters.hpp>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<MadeBy, 4> made_by_names{"maker of kernels", {"caller", "swap", "trial", "prefetch"}};

}  // namespace

std::string_view name(MadeBy made_by) noexcept {
  return made_by_names.of(made_by);
}

TMAJIT_END
