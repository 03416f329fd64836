#pragma once

/// Errors about words that CLI11 does not expect. They say what is legal and suggest a similar word.
#include <tmajit/version.hpp>

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

TMAJIT_BEGIN
namespace command_line {

/// The names of the commands of `app`.
[[nodiscard]] std::vector<std::string> commands_of(const CLI::App& app);

/// Throws Error{invalid_argument} for the first word that the parser did not expect, if any.
void refuse_unknown_words(const CLI::App& app);

/// For a command line that CLI11 cannot parse: throws Error{invalid_argument} for an unknown word or an
/// option without its value, and `error` in other cases.
[[noreturn]] void refuse_usage(const CLI::App& app, const CLI::ParseError& error);

/// Throws Error{invalid_argument} for an option such as "--shape=": CLI11 would take the next word as its
/// value.
void refuse_empty_values(std::span<const char* const> words);

/// For a command line without a command: throws Error{invalid_argument} that lists the commands.
[[noreturn]] void refuse_missing_command(const CLI::App& app);

}  // namespace command_line
TMAJIT_END
