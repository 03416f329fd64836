#pragma once

#include "runtime/kernel_origin.hpp"

TMAJIT_BEGIN

/// The operation that a plan's kernel is made for.
[[nodiscard]] MadeFor made_for(const KernelPlan& plan);
/// The same for a request; empty for a user's own source.
[[nodiscard]] MadeFor made_for(const KernelRequest& request);

TMAJIT_END
