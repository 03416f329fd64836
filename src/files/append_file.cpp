#include "files/append_file.hpp"

#include "files/file_system.hpp"

#include <cerrno>

#include <fcntl.h>

TMAJIT_BEGIN

std::error_code append_file(const std::filesystem::path& path, std::string_view bytes) {
  FileSystem& files = file_system();
  const int file = files.open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0644);
  if (file < 0) return {errno, std::generic_category()};
  std::error_code error;
  const auto written = files.write(file, bytes.data(), bytes.size());
  if (written < 0)
    error = {errno, std::generic_category()};
  else if (static_cast<std::size_t>(written) != bytes.size())
    error = std::make_error_code(std::errc::no_space_on_device);
  if (files.close(file) != 0 && errno != EINTR && !error) error = {errno, std::generic_category()};
  return error;
}

TMAJIT_END
