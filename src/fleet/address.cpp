#include "fleet/address.hpp"

#include "spec/refuse.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <llvm/ADT/StringExtras.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view legal_urls =
    "legal are redis://[user[:password]@]host[:port][/database], rediss://… for TLS, redis+unix:///path and "
    "file:///path";

/// The URL without its password, for messages.
std::string shown(std::string_view url) {
  const auto scheme = url.find("://");
  const auto at = url.rfind('@');
  if (scheme == std::string_view::npos || at == std::string_view::npos) return std::string(url);
  return fmt::format("{}…{}", url.substr(0, scheme + 3), url.substr(at));
}

[[noreturn]] void refuse_url(std::string_view url, std::string_view why) {
  refuse("fleet: the URL \"{}\" {}; {}", shown(url), why, legal_urls);
}

std::string without_escapes(std::string_view text, std::string_view url) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !llvm::isHexDigit(text[i + 1]) || !llvm::isHexDigit(text[i + 2]))
      refuse_url(url, "has a % without two hexadecimal digits after it");
    result += static_cast<char>(llvm::hexDigitValue(text[i + 1]) * 16 + llvm::hexDigitValue(text[i + 2]));
    i += 2;
  }
  return result;
}

bool is_number(std::string_view text, unsigned most) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number <= most;
}

/// The parts of "[user[:password]@]host[:port][/database]".
void read_server(std::string_view rest, std::string_view url, FleetAddress& address) {
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = rest.substr(0, at);
    const auto colon = login.find(':');
    // "password@" has no user in some clients; here it is a user, as in other URLs.
    address.user = without_escapes(login.substr(0, colon), url);
    if (colon != std::string_view::npos) address.password = without_escapes(login.substr(colon + 1), url);
    rest.remove_prefix(at + 1);
  }
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    address.database = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
    constexpr unsigned most_databases = 1'000'000;
    if (!address.database.empty() && !is_number(address.database, most_databases))
      refuse_url(url, "has a database that is no number");
  }
  if (rest.starts_with('[')) {
    const auto end = rest.find(']');
    if (end == std::string_view::npos) refuse_url(url, "has a [ without a ]");
    address.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    address.host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(address.host.size());
  }
  if (!rest.empty()) {
    constexpr unsigned most_ports = 65535;
    if (rest.front() != ':' || !is_number(rest.substr(1), most_ports) || rest == ":0")
      refuse_url(url, "has a port that is no number from 1 to 65535");
    address.port = rest.substr(1);
  }
  if (address.host.empty()) refuse_url(url, "names no host");
}

}  // namespace

std::string FleetAddress::text() const {
  if (kind == Kind::unix_socket || kind == Kind::folder) return path;
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

FleetAddress address_of(const FleetOptions& options) {
  const std::string_view url = options.url;
  const auto scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) refuse_url(url, "has no scheme");
  const std::string_view scheme = url.substr(0, scheme_end);
  const std::string_view rest = url.substr(scheme_end + 3);
  if (std::ranges::any_of(url, [](char c) { return static_cast<unsigned char>(c) <= ' '; }))
    refuse_url(url, "has a space or a control character");
  FleetAddress address;
  if (scheme == "redis" || scheme == "rediss") {
    address.kind = scheme == "redis" ? FleetAddress::Kind::tcp : FleetAddress::Kind::tls;
    read_server(rest, url, address);
  } else if (scheme == "redis+unix" || scheme == "file") {
    address.kind = scheme == "file" ? FleetAddress::Kind::folder : FleetAddress::Kind::unix_socket;
    address.path = without_escapes(rest, url);
    if (!address.path.starts_with('/')) refuse_url(url, "has no absolute path");
  } else {
    refuse_url(url, "has an unknown scheme");
  }
  if (!options.user.empty()) address.user = options.user;
  if (!options.password.empty()) address.password = options.password;
  return address;
}

TMAJIT_END
