#pragma once

/// Locations in the source, and the calls through which they were inlined.
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
struct Location {
  static constexpr std::uint32_t none = ~0U;
  std::uint32_t path = 0;           ///< index into Locations::paths()
  std::uint64_t line = 0;           ///< from 1
  std::uint32_t inlined_at = none;  ///< index of the call's location; none: the function was not inlined
  std::string function = {};        ///< name of the inlined function; empty if unknown
};

/// The distinct locations of one kernel. A call's location has a smaller index than those of
/// the lines that it inlines.
class Locations {
 public:
  /// Returns the index of a location, which is added if it is new. `function` becomes Location::function if
  /// that is empty.
  std::uint32_t add(std::string_view path, std::uint64_t line, std::uint32_t inlined_at,
                    const std::string& function = {});
  [[nodiscard]] const std::vector<Location>& all() const noexcept { return locations_; }
  [[nodiscard]] const Location& operator[](std::uint32_t index) const { return locations_[index]; }
  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }

 private:
  std::vector<Location> locations_;
  std::vector<std::string> paths_;
  std::map<std::string, std::uint32_t, std::less<>> path_index_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>, std::uint32_t> index_;
};

}  // namespace view
TMAJIT_END
