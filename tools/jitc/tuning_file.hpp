#pragma once

#include "options.hpp"
#include "report.hpp"

#include <tmajit/tuning.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// The file in which a runtime with these options keeps its choices. Throws Error{invalid_argument} with
/// --no-cache, which keeps none.
[[nodiscard]] std::filesystem::path tuning_file(const CompilerOptions& options);

/// A choice that plans on this machine go by.
struct KnownChoice {
  tmajit::TunedChoice choice;
  bool shipped = false;  ///< with the library; else it is the file's
};
/// Those of the file, and those that are shipped where the file has none for the same.
[[nodiscard]] std::vector<KnownChoice> known_choices(const CompilerOptions& options);
[[nodiscard]] Json to_json(std::span<const KnownChoice> choices);
/// The same as a table for people.
[[nodiscard]] std::string choice_table(std::span<const KnownChoice> choices);

/// Writes the file's own choices, those of this machine and imported ones, to `target`; "-" is standard
/// output. Returns how many they are. Throws Error{io}.
std::size_t export_choices(const CompilerOptions& options, const std::string& target);
/// Adds the choices of `source` to the file and returns how many they are. Throws Error{io} or
/// {invalid_argument}; the file is then as before.
std::size_t import_choices(const CompilerOptions& options, const std::string& source);

}  // namespace jitc
