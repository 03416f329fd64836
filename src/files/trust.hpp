#pragma once

#include <tmajit/version.hpp>

#include <filesystem>
#include <string>

struct stat;

TMAJIT_BEGIN

/// Whether `owner_id` may have written what this process runs: its own user, or root, who could as well
/// replace the library. Root itself trusts nobody else: what another user wrote would run with root's rights.
[[nodiscard]] bool is_trusted_owner(unsigned owner_id) noexcept;

/// Whether nobody but its trusted owner can have written the file of `info`.
[[nodiscard]] bool is_trusted_file(const struct stat& info) noexcept;

/// Why what lies in a folder may be somebody else's work, and what to do about it, as a clause: it belongs to
/// another user, or others may write to it and remove there what is not theirs. Empty for a folder that can
/// be trusted or is not there. A link stands for what it leads to.
[[nodiscard]] std::string why_untrusted(const std::filesystem::path& folder);

TMAJIT_END
