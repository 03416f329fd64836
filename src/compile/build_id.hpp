#pragma once

#include <tmajit/version.hpp>

#include <string>

TMAJIT_BEGIN

/// What tells apart two builds of the loaded library that holds `address`: its GNU build id in hex, or, if
/// the linker left none, its file's size and time. Empty if neither can be had.
[[nodiscard]] std::string build_id(const void* address, const std::string& path);

TMAJIT_END
