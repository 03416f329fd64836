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

/// The text of the template at `path`: from the folder that `$TMAJIT_TEMPLATES` names, if it does and the
/// file is there (for work on templates without rebuilding), else as embedded. Empty if there is none.
[[nodiscard]] std::string template_text(std::string_view path);

TMAJIT_END
