#pragma once

#include <tmajit/pack.hpp>

#include <filesystem>
#include <vector>

TMAJIT_BEGIN

/// The files that paths to packs stand for: a folder stands for the packs in it, by name; any other path for
/// itself.
[[nodiscard]] std::vector<std::filesystem::path> pack_files(const std::vector<std::filesystem::path>& paths);

TMAJIT_END
