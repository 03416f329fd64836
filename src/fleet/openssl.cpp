#include "fleet/openssl.hpp"

#include "spec/refuse.hpp"

#include <array>

#include <dlfcn.h>

TMAJIT_BEGIN
namespace {

OpenSsl load() {
  constexpr std::array files{"libssl.so.3", "libssl.so.1.1"};
  void* library = nullptr;
  for (const char* const file : files) {
    library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    fail(ErrorCode::unavailable,
         "fleet: rediss:// needs OpenSSL, and neither libssl.so.3 nor libssl.so.1.1 can be loaded. Install "
         "Debian's package libssl3, or your distribution's of OpenSSL 3");
  }
  OpenSsl functions{};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr)
      fail(ErrorCode::unavailable, "fleet: OpenSSL has no function {}; versions 1.1 and 3 have it", name);
  };
#define TMAJIT_FIND(name) find(functions.name, #name)
  TMAJIT_FIND(TLS_client_method);
  TMAJIT_FIND(SSL_CTX_new);
  TMAJIT_FIND(SSL_CTX_free);
  TMAJIT_FIND(SSL_CTX_ctrl);
  TMAJIT_FIND(SSL_CTX_set_default_verify_paths);
  TMAJIT_FIND(SSL_CTX_load_verify_locations);
  TMAJIT_FIND(SSL_CTX_use_certificate_chain_file);
  TMAJIT_FIND(SSL_CTX_use_PrivateKey_file);
  TMAJIT_FIND(SSL_CTX_set_verify);
  TMAJIT_FIND(SSL_new);
  TMAJIT_FIND(SSL_free);
  TMAJIT_FIND(SSL_ctrl);
  TMAJIT_FIND(SSL_set1_host);
  TMAJIT_FIND(SSL_get0_param);
  TMAJIT_FIND(X509_VERIFY_PARAM_set1_ip_asc);
  TMAJIT_FIND(SSL_set_connect_state);
  TMAJIT_FIND(SSL_set_bio);
  TMAJIT_FIND(SSL_do_handshake);
  TMAJIT_FIND(SSL_read);
  TMAJIT_FIND(SSL_write);
  TMAJIT_FIND(SSL_get_error);
  TMAJIT_FIND(SSL_get_verify_result);
  TMAJIT_FIND(X509_verify_cert_error_string);
  TMAJIT_FIND(ERR_get_error);
  TMAJIT_FIND(ERR_clear_error);
  TMAJIT_FIND(ERR_error_string_n);
  TMAJIT_FIND(BIO_new);
  TMAJIT_FIND(BIO_s_mem);
  TMAJIT_FIND(BIO_read);
  TMAJIT_FIND(BIO_write);
#undef TMAJIT_FIND
  return functions;
}

}  // namespace

const OpenSsl& open_ssl() {
  static const OpenSsl functions = load();
  return functions;
}

TMAJIT_END
