#include <tmajit/runtime.hpp>

#include <cstdlib>

TMAJIT_BEGIN
namespace {

std::optional<std::filesystem::path> folder_from_environment(const char* value) {
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::filesystem::path>(value);
}

}  // namespace

std::optional<std::filesystem::path> default_statistics_directory() {
  return folder_from_environment(std::getenv("TMAJIT_STATS_DIR"));
}

std::optional<std::filesystem::path> default_dump_directory() {
  return folder_from_environment(std::getenv("TMAJIT_DUMP_DIR"));
}

TMAJIT_END
