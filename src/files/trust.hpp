#pragma once

#include <tmajit/version.hpp>

#include <filesystem>
#include <string>

struct stat;

TMAJIT_BEGIN

/// Whether `owner_id` may have written what this process runs: its own user, or root, who could as well
/// replace the library. Root itself trusts no other user: what another user wrote would run with root's
/// rights.
[[nodiscard]] bool is_trusted_owner(unsigned owner_id) noexcept;

/// Whether only its trusted owner can have written the file of `info`.
[[nodiscard]] bool is_trusted_file(const struct stat& info) noexcept;

/// Why another user may have written the files of a folder, and what to do about it, as a clause: the folder
/// belongs to another user, or others may write to it and remove files that are not theirs. Empty for a
/// folder that can be trusted or does not exist. A link stands for its target.
[[nodiscard]] std::string why_untrusted(const std::filesystem::path& folder);

TMAJIT_END
