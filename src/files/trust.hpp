#pragma once

#include <tmajit/version.hpp>

#include <filesystem>
#include <string>

struct stat;

TMAJIT_BEGIN

/// Whether this process may run code from files of the user `owner_id`: its own user, or root, which could
/// replace the library as well. A process of root trusts no other user, whose code would run with root's
/// rights.
[[nodiscard]] bool is_trusted_owner(unsigned owner_id) noexcept;

/// Whether the file of `info` has a trusted owner and no other user can write to it.
[[nodiscard]] bool is_trusted_file(const struct stat& info) noexcept;

/// Why a folder's files cannot be trusted, and what to do about it, as a clause: the folder belongs to
/// another user, or other users can replace its files. Empty for a folder that can be trusted or does not
/// exist. A symbolic link stands for its target.
[[nodiscard]] std::string why_untrusted(const std::filesystem::path& folder);

TMAJIT_END
