#pragma once

#include <tmajit/version.hpp>

#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// A file of templates/ as the build embedded it.
struct EmbeddedFile {
  std::string_view path;  ///< below templates/, "ptx/mbarrier.cuh"
  std::string_view text;
};

[[nodiscard]] std::span<const EmbeddedFile> embedded_templates() noexcept;

/// A hash of everything in this build from which plans' sources follow.
[[nodiscard]] std::string_view embedded_generator_id() noexcept;

/// The text of the template at `path`; empty if there is none. If the folder `$TMAJIT_TEMPLATES` has the
/// file, its text is used: templates can then be edited without a rebuild. Otherwise it is the embedded text.
[[nodiscard]] std::string template_text(std::string_view path);

TMAJIT_END
