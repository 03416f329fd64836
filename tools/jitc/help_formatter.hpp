#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace jitc {

/// CLI11's help with descriptions wrapped to the terminal, and only the names, what an option takes and its
/// default beside them.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter();
  std::string make_option(const CLI::Option* option, bool positional) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace jitc
