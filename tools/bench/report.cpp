#include "report.hpp"

#include <tmajit/error.hpp>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <unistd.h>

namespace bench {
namespace {

/// Writes `text` beside `path` and, if it is to be kept, moves it there: a full disk leaves no half a file.
void publish(const std::string& path, const std::string& text, bool keep) {
  const std::string partial = fmt::format("{}.{}.partial", path, getpid());
  errno = 0;
  std::ofstream file(partial);
  file << text;
  file.close();
  std::error_code error;
  if (!file) {
    error = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  } else if (std::filesystem::is_directory(path)) {
    error = std::make_error_code(std::errc::is_a_directory);
  } else if (keep) {
    std::filesystem::rename(partial, path, error);
  }
  std::error_code ignored;
  if (error || !keep) std::filesystem::remove(partial, ignored);
  if (error) {
    throw tmajit::Error(tmajit::ErrorCode::io,
                        fmt::format("--json {}: the file cannot be written: {}", path, error.message()));
  }
}

}  // namespace

Report::Report(std::string program) : program_(std::move(program)), terminal_(isatty(STDERR_FILENO) == 1) {}

Report::~Report() {
  clear_progress();
}

void Report::line(std::string_view text) {
  clear_progress();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Report::progress(std::string_view text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  progress_shown_ = true;
}

void Report::failure(std::string_view what) {
  clear_progress();
  fmt::print(stderr, "{}: {}\n", program_, what);
  json["failures"].push_back(what);
  failed_ = true;
}

void Report::clear_progress() noexcept {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);  // not fmt's print, which may throw: this runs in the destructor
  std::fflush(stderr);
  progress_shown_ = false;
}

void Report::write(const std::string& path) const {
  publish(path, json.dump(2) + '\n', true);
}

void require_writable(const std::string& path) {
  publish(path, "", false);
}

nlohmann::ordered_json to_json(const Samples& samples) {
  return {{"median", samples.median()},
          {"min", samples.min()},
          {"max", samples.max()},
          {"spread", samples.spread()},
          {"samples", samples.sorted()}};
}

nlohmann::ordered_json to_json(const tmajit::KernelSpec& spec) {
  nlohmann::ordered_json operands = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i <= spec.inputs; ++i) {
    const tmajit::OperandSpec& operand = spec.operands.at(i);
    operands.push_back({{"type", tmajit::name(operand.type)},
                        {"swizzle", tmajit::name(operand.swizzle)},
                        {"interleave", tmajit::name(operand.interleave)},
                        {"element_strides", std::span(operand.element_strides).first(spec.rank)}});
  }
  return {{"family", tmajit::name(spec.family)},
          {"rank", spec.rank},
          {"tile", std::span(spec.tile).first(spec.rank)},
          {"stages", spec.stages},
          {"output_stages", spec.output_stages},
          {"warps", spec.warps},
          {"ctas_per_sm", spec.ctas_per_sm},
          {"tiles_per_cta", spec.tiles_per_cta},
          {"expression", spec.expression_text()},
          {"operands", std::move(operands)}};
}

std::string describe(const tmajit::KernelSpec& spec) {
  std::string text =
      fmt::format("tile {}, {} stages", fmt::join(std::span(spec.tile).first(spec.rank), "x"), spec.stages);
  if (spec.output_stages > 0) text += fmt::format(", {} out, {} warps", spec.output_stages, spec.warps);
  return text + fmt::format(", {} CTAs/SM, {} a CTA", spec.ctas_per_sm, spec.tiles_per_cta);
}

}  // namespace bench
