#pragma once

/// Names of inlined functions.
#include "ptx/resolve.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

TMAJIT_BEGIN
namespace view {

/// The demangled names of inlined functions, from the `function_name` of a module's `.loc` directives.
class InlinedNames {
 public:
  explicit InlinedNames(const ptx::Module& module);
  /// The name of the inlined function to which a frame of `function` belongs. Empty if the name is unknown,
  /// or if the frame is not inlined.
  [[nodiscard]] std::string name_of(const ptx::FlatFunction& function, std::uint32_t frame) const;

 private:
  using Position = std::tuple<std::string, std::uint64_t, std::uint64_t>;  ///< path, line, column
  void read(const ptx::Block& block, const std::map<std::uint64_t, std::string>& paths,
            const std::map<std::string, std::string>& strings);
  std::map<std::pair<Position, Position>, std::string> names_;  ///< by the position and the call's position
};

}  // namespace view
TMAJIT_END
