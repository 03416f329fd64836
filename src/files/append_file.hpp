#pragma once

#include <tmajit/version.hpp>

#include <filesystem>
#include <string_view>
#include <system_error>

TMAJIT_BEGIN

/// Appends bytes to a file, which is created if it does not exist, by one system call. So bytes that several
/// processes append do not mix, on a local filesystem. An error may leave a part of them.
[[nodiscard]] std::error_code append_file(const std::filesystem::path& path, std::string_view bytes);

TMAJIT_END
