#include "files/open_file.hpp"

#include "files/file_system.hpp"
#include "files/trust.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

TMAJIT_BEGIN

int open_regular_file(const std::filesystem::path& path, Writer writer, struct stat& info,
                      std::error_code& error) {
  error.clear();
  // O_NONBLOCK: opening a pipe at this path must not block.
  const int file = file_system().open(path, O_RDONLY | O_NONBLOCK, 0);
  if (file < 0) {
    error = {errno, std::generic_category()};
    return -1;
  }
  if (file_system().fstat(file, info) != 0) {
    error = {errno, std::generic_category()};
  } else if (!S_ISREG(info.st_mode)) {
    error = std::make_error_code(std::errc::invalid_argument);
  } else if (writer == Writer::trusted && !is_trusted_file(info)) {
    error = std::make_error_code(std::errc::operation_not_permitted);
  }
  if (!error) return file;
  file_system().close(file);
  return -1;
}

TMAJIT_END
