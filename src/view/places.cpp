#include "view/places.hpp"

TMAJIT_BEGIN
namespace view {

std::uint32_t Places::add(std::string_view path, std::uint64_t line, std::uint32_t caller,
                          const std::string& function) {
  auto known = path_index_.find(path);
  if (known == path_index_.end()) {
    known = path_index_.emplace(path, static_cast<std::uint32_t>(paths_.size())).first;
    paths_.emplace_back(path);
  }
  const auto next = static_cast<std::uint32_t>(places_.size());
  const auto [found, fresh] = index_.try_emplace({known->second, line, caller}, next);
  if (fresh) places_.push_back({known->second, line, caller});
  Place& place = places_[found->second];
  if (place.function.empty()) place.function = function;
  return found->second;
}

}  // namespace view
TMAJIT_END
