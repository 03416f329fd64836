#pragma once

#include <tmajit/version.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Returns a template with each definition of its namespaces marked by `//@ used NAME`, so that
/// without_unused() drops the definitions that a kernel does not name. `text` has no `//@ if` any more.
/// Comments directly above a definition belong to it.
[[nodiscard]] std::string with_uses(std::string_view text);

TMAJIT_END
