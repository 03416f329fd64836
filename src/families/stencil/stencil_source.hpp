#pragma once

#include "families/stencil/stencil_layout.hpp"

#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Declarations of a kernel's facts for templates/kernels/stencil.cu, in addition to those of chunks.
[[nodiscard]] std::string stencil_fact_text(const StencilFacts& facts, std::string_view expression);

TMAJIT_END
