#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

TMAJIT_BEGIN
namespace sim {

/// One allocation of global memory.
struct Region {
  std::uint64_t begin = 0;  ///< device address
  std::uint64_t bytes = 0;
  std::shared_ptr<std::byte[]> memory;  ///< host memory that holds the bytes
};

}  // namespace sim
TMAJIT_END
