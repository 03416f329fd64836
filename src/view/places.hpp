#pragma once

/// Places in the source, and the calls through which they were inlined.
#include <tmajit/version.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// A line of a file, and the call through which its function was inlined.
struct Place {
  static constexpr std::uint32_t none = ~0U;
  std::uint32_t path = 0;       ///< index into Places::paths()
  std::uint64_t line = 0;       ///< from 1
  std::uint32_t caller = none;  ///< index of the call's place; none: the function was not inlined
  std::string function = {};    ///< name of the inlined function; empty if unknown
};

/// The distinct places of one kernel. A caller has a smaller index than its callees.
class Places {
 public:
  /// Returns the index of a place, which is added if it is new. `function` becomes its name if it has none.
  std::uint32_t add(std::string_view path, std::uint64_t line, std::uint32_t caller,
                    const std::string& function = {});
  [[nodiscard]] const std::vector<Place>& all() const noexcept { return places_; }
  [[nodiscard]] const Place& operator[](std::uint32_t index) const { return places_[index]; }
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }

 private:
  std::vector<Place> places_;
  std::vector<std::string> paths_;
  std::map<std::string, std::uint32_t, std::less<>> path_index_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::uint32_t> index_;
};

}  // namespace view
TMAJIT_END
