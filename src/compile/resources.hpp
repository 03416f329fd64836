#pragma once

#include <tmajit/compile.hpp>

#include <optional>
#include <string_view>

TMAJIT_BEGIN

/// What ptxas's report (-Xptxas=-v) in `log` says of the kernel `entry`; nullopt if it says nothing of it.
[[nodiscard]] std::optional<Resources> parse_resources(std::string_view log, std::string_view entry);

TMAJIT_END
