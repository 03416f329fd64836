#pragma once

#include <tmajit/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <spdlog/fmt/fmt.h>

namespace bench {

/// A temporary folder, which the destructor removes.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tmajit-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw tmajit::Error(tmajit::ErrorCode::io,
                          fmt::format("no folder could be made as {}: {}", name, std::strerror(errno)));
    }
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path path;
};

}  // namespace bench
