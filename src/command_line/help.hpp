#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

TMAJIT_BEGIN
namespace command_line {

/// CLI11's help, wrapped to a width in columns. Each option shows its names, its value's type, its default
/// and its description.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width);

  std::string make_option(const CLI::Option* option, bool positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override;
  std::string make_description(const CLI::App* command) const override;
  std::string make_usage(const CLI::App* command, std::string name) const override;
  std::string make_footer(const CLI::App* command) const override;
  std::string make_option_name(const CLI::Option* option, bool positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;

 private:
  [[nodiscard]] std::string fitted(std::string_view text, std::size_t indent) const;
  [[nodiscard]] std::string described(std::string text, std::string_view description) const;

  std::size_t width_;
};

}  // namespace command_line
TMAJIT_END
