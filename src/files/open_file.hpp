#pragma once

#include "files/files.hpp"

#include <filesystem>
#include <system_error>

struct stat;

TMAJIT_BEGIN

/// Opens a regular file for reading and describes it in `info`. Returns −1 and sets `error` as read_file()
/// does. Never blocks on a pipe.
[[nodiscard]] int open_regular_file(const std::filesystem::path& path, Writer writer, struct stat& info,
                                    std::error_code& error);

TMAJIT_END
