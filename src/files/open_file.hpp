#pragma once

#include "files/files.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

struct stat;

TMAJIT_BEGIN

/// Repeats a system call that a signal interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Opens a regular file for reading and describes it in `info`. Returns −1 and sets `error` as read_file()
/// does. Never blocks on a pipe.
[[nodiscard]] int open_regular_file(const std::filesystem::path& path, Writer writer, struct stat& info,
                                    std::error_code& error);

TMAJIT_END
