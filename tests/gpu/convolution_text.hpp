#pragma once

#include <tmajit/version.hpp>

#include <string_view>

TMAJIT_BEGIN

/// The text of examples/own/convolution.cu.
[[nodiscard]] std::string_view convolution_text() noexcept;

TMAJIT_END
