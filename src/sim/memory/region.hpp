#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

TMAJIT_BEGIN
namespace sim {

/// One allocation as a launch sees it.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::shared_ptr<std::byte[]> memory;
};

}  // namespace sim
TMAJIT_END
