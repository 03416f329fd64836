#pragma once

#include <tmajit/cache.hpp>

#include <string_view>

TMAJIT_BEGIN

/// The key of a plan's kernel, from generator_id() of the library that generates its source, and
/// KernelPlan::key().
[[nodiscard]] CacheKey plan_cache_key(std::string_view generator, std::string_view plan_key,
                                      const CompileOptions& options, const CompilerIdentity& compiler);

TMAJIT_END
