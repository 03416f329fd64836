#include "view/locations.hpp"

TMAJIT_BEGIN
namespace view {

std::uint32_t Locations::add(std::string_view path, std::uint64_t line, std::uint32_t inlined_at,
                             const std::string& function) {
  auto known = path_index_.find(path);
  if (known == path_index_.end()) {
    known = path_index_.emplace(path, static_cast<std::uint32_t>(paths_.size())).first;
    paths_.emplace_back(path);
  }
  const auto next = static_cast<std::uint32_t>(locations_.size());
  const auto [found, fresh] = index_.try_emplace({known->second, line, inlined_at}, next);
  if (fresh) locations_.push_back({known->second, line, inlined_at});
  Location& location = locations_[found->second];
  if (location.function.empty()) location.function = function;
  return found->second;
}

}  // namespace view
TMAJIT_END
