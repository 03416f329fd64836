#include "fleet/tls.hpp"

#include "fleet/openssl.hpp"
#include "fleet/store.hpp"
#include "spec/refuse.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

TMAJIT_BEGIN

struct Tls::Context {
  Context() : tls(open_ssl()), context(tls.SSL_CTX_new(tls.TLS_client_method())) {
    if (context == nullptr) fail(ErrorCode::unavailable, "fleet: OpenSSL makes no context for TLS");
  }
  ~Context() { tls.SSL_CTX_free(context); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const OpenSsl& tls;
  void* context;
};

namespace {

/// OpenSSL's last error as text.
std::string last_error(const OpenSsl& tls) {
  std::array<char, 256> text{};
  tls.ERR_error_string_n(tls.ERR_get_error(), text.data(), text.size());
  return text.data();
}

/// OpenSSL reads and writes memory, and this class moves the bytes: OpenSSL's own sockets have no deadline,
/// and raise SIGPIPE.
class TlsChannel final : public Channel {
 public:
  TlsChannel(std::shared_ptr<const Tls::Context> context, std::unique_ptr<Channel> plain)
      : context_(std::move(context)),
        tls_(context_->tls),
        plain_(std::move(plain)),
        ssl_(tls_.SSL_new(context_->context)),
        received_(tls_.BIO_new(tls_.BIO_s_mem())),
        to_send_(tls_.BIO_new(tls_.BIO_s_mem())) {
    if (ssl_ == nullptr || received_ == nullptr || to_send_ == nullptr)
      throw StoreFailure("OpenSSL makes no connection");
    tls_.SSL_set_bio(ssl_, received_, to_send_);  // which now owns both
  }
  ~TlsChannel() override { tls_.SSL_free(ssl_); }

  void shake_hands(const std::string& host, Deadline deadline) {
    const bool is_address = tls_.X509_VERIFY_PARAM_set1_ip_asc(tls_.SSL_get0_param(ssl_), host.c_str()) == 1;
    if (!is_address) {
      std::string name = host;
      if (tls_.SSL_set1_host(ssl_, host.c_str()) != 1 ||
          tls_.SSL_ctrl(ssl_, OpenSsl::set_server_name, 0, name.data()) != 1)
        throw StoreFailure("OpenSSL does not take its name");
    }
    tls_.SSL_set_connect_state(ssl_);
    (void)repeat("its TLS handshake failed", deadline, [&] { return tls_.SSL_do_handshake(ssl_); });
  }

  void send(std::string_view bytes, Deadline deadline) override {
    while (!bytes.empty()) {
      constexpr std::size_t most = 1 << 20;
      const int count = static_cast<int>(std::min(bytes.size(), most));
      const int sent =
          repeat("TLS takes no request", deadline, [&] { return tls_.SSL_write(ssl_, bytes.data(), count); });
      if (sent == 0) throw StoreFailure("it has closed the connection");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  std::size_t receive(char* bytes, std::size_t limit, Deadline deadline) override {
    const int count = static_cast<int>(std::min<std::size_t>(limit, std::numeric_limits<int>::max()));
    return static_cast<std::size_t>(
        repeat("TLS has no answer", deadline, [&] { return tls_.SSL_read(ssl_, bytes, count); }));
  }

 private:
  /// Calls a function of OpenSSL until it has all bytes that it wants. Returns 0 if the server has closed the
  /// connection.
  template <class Step>
  int repeat(std::string_view failure, Deadline deadline, Step step) {
    for (;;) {
      tls_.ERR_clear_error();
      const int result = step();
      flush(deadline);
      if (result > 0) return result;
      const int error = tls_.SSL_get_error(ssl_, result);
      if (error == OpenSsl::error_zero_return) return 0;
      if (error == OpenSsl::error_want_write) continue;
      if (error != OpenSsl::error_want_read) throw StoreFailure(fmt::format("{}: {}", failure, reason()));
      std::array<char, 16384> bytes;  // a record of TLS
      const std::size_t count = plain_->receive(bytes.data(), bytes.size(), deadline);
      if (count == 0) return 0;
      if (tls_.BIO_write(received_, bytes.data(), static_cast<int>(count)) != static_cast<int>(count))
        throw StoreFailure("OpenSSL has no memory");
    }
  }
  void flush(Deadline deadline) {
    std::array<char, 16384> bytes;
    for (int count = 0; (count = tls_.BIO_read(to_send_, bytes.data(), bytes.size())) > 0;)
      plain_->send({bytes.data(), static_cast<std::size_t>(count)}, deadline);
  }
  [[nodiscard]] std::string reason() const {
    const long verified = tls_.SSL_get_verify_result(ssl_);
    if (verified != 0) return tls_.X509_verify_cert_error_string(verified);
    return last_error(tls_);
  }

  std::shared_ptr<const Tls::Context> context_;
  const OpenSsl& tls_;
  std::unique_ptr<Channel> plain_;
  void* ssl_;
  void* received_;
  void* to_send_;
};

void require(bool accepted, const OpenSsl& tls, std::string_view what, const std::filesystem::path& file) {
  if (!accepted) refuse("fleet: OpenSSL does not accept {} {}: {}", what, file.string(), last_error(tls));
}

}  // namespace

Tls::Tls(const FleetOptions& options) {
  auto made = std::make_shared<Context>();
  const OpenSsl& tls = made->tls;
  void* const context = made->context;
  tls.SSL_CTX_ctrl(context, OpenSsl::set_min_version, OpenSsl::tls_1_2, nullptr);
  tls.SSL_CTX_set_verify(context, OpenSsl::verify_peer, nullptr);
  tls.ERR_clear_error();
  if (options.ca_file.empty()) {
    require(tls.SSL_CTX_set_default_verify_paths(context) == 1, tls, "the system's authorities", "");
  } else {
    require(tls.SSL_CTX_load_verify_locations(context, options.ca_file.c_str(), nullptr) == 1, tls,
            "the file of authorities", options.ca_file);
  }
  if (options.certificate_file.empty() != options.key_file.empty())
    refuse("fleet: a client's certificate needs its key and a key its certificate: set both files or none");
  if (!options.certificate_file.empty()) {
    require(tls.SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) == 1, tls,
            "the certificate", options.certificate_file);
    require(tls.SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), OpenSsl::pem) == 1, tls,
            "the key", options.key_file);
  }
  context_ = std::move(made);
}

Tls::~Tls() = default;

std::unique_ptr<Channel> Tls::secure(std::unique_ptr<Channel> plain, const std::string& host,
                                     Deadline deadline) const {
  auto channel = std::make_unique<TlsChannel>(context_, std::move(plain));
  channel->shake_hands(host, deadline);
  return channel;
}

TMAJIT_END
