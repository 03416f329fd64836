#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// The output of nvdisasm with these options for a cubin. Throws as disassemble() does.
[[nodiscard]] std::string list_sass(std::span<const std::byte> cubin, std::vector<std::string> options);

TMAJIT_END
