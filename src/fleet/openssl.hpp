#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>

TMAJIT_BEGIN

/// The functions of OpenSSL that TLS uses, as openssl/ssl.h of versions 1.1 and 3 declares them.
struct OpenSsl {
  void* (*TLS_client_method)();
  void* (*SSL_CTX_new)(const void* method);
  void (*SSL_CTX_free)(void* context);
  long (*SSL_CTX_ctrl)(void* context, int command, long number, void* pointer);
  int (*SSL_CTX_set_default_verify_paths)(void* context);
  int (*SSL_CTX_load_verify_locations)(void* context, const char* file, const char* folder);
  int (*SSL_CTX_use_certificate_chain_file)(void* context, const char* file);
  int (*SSL_CTX_use_PrivateKey_file)(void* context, const char* file, int type);
  void (*SSL_CTX_set_verify)(void* context, int mode, void* callback);
  void* (*SSL_new)(void* context);
  void (*SSL_free)(void* ssl);
  long (*SSL_ctrl)(void* ssl, int command, long number, void* pointer);
  int (*SSL_set1_host)(void* ssl, const char* host);
  void* (*SSL_get0_param)(void* ssl);
  int (*X509_VERIFY_PARAM_set1_ip_asc)(void* parameters, const char* address);
  void (*SSL_set_connect_state)(void* ssl);
  void (*SSL_set_bio)(void* ssl, void* read, void* write);
  int (*SSL_do_handshake)(void* ssl);
  int (*SSL_read)(void* ssl, void* bytes, int count);
  int (*SSL_write)(void* ssl, const void* bytes, int count);
  int (*SSL_get_error)(const void* ssl, int result);
  long (*SSL_get_verify_result)(const void* ssl);
  const char* (*X509_verify_cert_error_string)(long code);
  unsigned long (*ERR_get_error)();
  void (*ERR_clear_error)();
  void (*ERR_error_string_n)(unsigned long code, char* text, std::size_t bytes);
  void* (*BIO_new)(const void* method);
  const void* (*BIO_s_mem)();
  int (*BIO_read)(void* bio, void* bytes, int count);
  int (*BIO_write)(void* bio, const void* bytes, int count);

  // Macros of openssl/ssl.h and openssl/tls1.h.
  static constexpr int set_min_version = 123;
  static constexpr long tls_1_2 = 0x0303;
  static constexpr int set_server_name = 55;
  static constexpr int verify_peer = 1;
  static constexpr int pem = 1;
  static constexpr int error_want_read = 2;
  static constexpr int error_want_write = 3;
  static constexpr int error_zero_return = 6;
};

/// Loads OpenSSL on the first call. Throws Error{unavailable}.
[[nodiscard]] const OpenSsl& open_ssl();

TMAJIT_END
