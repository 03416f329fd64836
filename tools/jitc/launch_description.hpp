#pragma once

#include "launch_parameter.hpp"

#include <tmajit/own_kernel.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

/// One launch of a kernel.
struct KernelLaunch {
  std::string path = "$";  ///< where it stands in the description
  std::string entry;       ///< empty: the only one there is
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  bool cooperative = false;        ///< all CTAs are there at once, and can meet at a barrier of the grid
  bool overlaps = false;           ///< it may begin before the launch before it has ended
  std::vector<KernelParameter> parameters;
  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

/// How a kernel of the user's own or from elsewhere is launched: what `jitc run --launch` takes; docs/run.md
/// is its reference.
struct LaunchDescription : KernelLaunch {
  // Of a file of CUDA C++ alone.
  std::vector<tmajit::KernelConstant> constants;
  std::vector<std::string> include;  ///< folders of headers
  std::string source;                ///< file of the CUDA source whose lines reports show, or empty
  std::vector<BufferDescription> buffers;
  std::vector<KernelLaunch> before;  ///< of kernels beside it, in this order
  friend bool operator==(const LaunchDescription&, const LaunchDescription&) = default;
};

/// Reads a description; `constants` go before its own of the same names. Whatever is wrong is one
/// Error{invalid_argument} that begins with the place,
/// "$.parameters[1].tensor_map.box[0]: …", or with line and column where the text is no JSON.
[[nodiscard]] LaunchDescription parse_launch(std::string_view text,
                                             const std::vector<tmajit::KernelConstant>& constants = {});

/// The inverse: parse_launch(to_json(d).dump()) == d.
[[nodiscard]] Json to_json(const LaunchDescription& description);

}  // namespace jitc
