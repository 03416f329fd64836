#include "files/files.hpp"
#include "spec/refuse.hpp"

#include <tmajit/fleet.hpp>

#include <cstdlib>

TMAJIT_BEGIN
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The first line of a file, so that a secret need not be in the environment; `value` if no file is named.
std::string first_line(const std::string& file, std::string value, std::string_view variable) {
  if (file.empty()) return value;
  constexpr std::uint64_t longest = 4096;
  std::error_code error;
  std::string text = read_file(file, longest, error);
  if (error) fail(ErrorCode::io, "${} names {}, which cannot be read: {}", variable, file, error.message());
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

}  // namespace

FleetOptions FleetOptions::from_environment() {
  FleetOptions options;
  options.url = environment("TMAJIT_FLEET");
  if (options.url.empty()) return options;
  options.password = first_line(environment("TMAJIT_FLEET_PASSWORD_FILE"),
                                environment("TMAJIT_FLEET_PASSWORD"), "TMAJIT_FLEET_PASSWORD_FILE");
  options.secret = first_line(environment("TMAJIT_FLEET_SECRET_FILE"), environment("TMAJIT_FLEET_SECRET"),
                              "TMAJIT_FLEET_SECRET_FILE");
  options.ca_file = environment("TMAJIT_FLEET_CA");
  options.certificate_file = environment("TMAJIT_FLEET_CERTIFICATE");
  options.key_file = environment("TMAJIT_FLEET_KEY");
  return options;
}

TMAJIT_END
