#pragma once

#include <tmajit/version.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Returns a kernel's template with each definition of its namespace marked by `//@ used NAME`, so that
/// without_unused() drops those that the kernel does not name. `text` has no `//@ if` any more. Comments
/// directly above a definition belong to it.
[[nodiscard]] std::string with_uses(std::string_view text);

TMAJIT_END
