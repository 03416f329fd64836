#include "fleet/seal.hpp"

#include "seed.hpp"

#include <random>

#include <catch2/catch_test_macros.hpp>
#include <llvm/ADT/StringExtras.h>

using namespace tmajit;

TEST_CASE("HMAC-SHA256 gives the values of RFC 4231") {
  const auto hex = [](std::string_view secret, std::string_view message) {
    return llvm::toHex(hmac_sha256(secret, message), /*LowerCase=*/true);
  };
  CHECK(hex(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hex("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("sealed bytes open with their secret and kind only, and with no bit changed") {
  const auto seed = tests::seed(20261128);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const Seal seal("secret");
    const std::string sealed = seal.close("kind", bytes);
    CHECK(sealed.size() == bytes.size() + Seal::overhead);
    CHECK(seal.open("kind", sealed).bytes == bytes);
    CHECK(seal.open("kind", sealed).fault.empty());
    CHECK_FALSE(seal.open("other", sealed).fault.empty());
    CHECK_FALSE(Seal("Secret").open("kind", sealed).fault.empty());
    CHECK_FALSE(Seal("").open("kind", sealed).fault.empty());
    std::string changed = sealed;
    changed[random() % changed.size()] ^= static_cast<char>(1 << random() % 8);
    CHECK_FALSE(seal.open("kind", changed).fault.empty());
    CHECK_FALSE(
        seal.open("kind", std::string_view(sealed).substr(0, random() % sealed.size())).fault.empty());
  }
}

TEST_CASE("without a secret bytes are stored as they are, and a secret accepts none of them") {
  CHECK(Seal("").close("kind", "bytes") == "bytes");
  CHECK(Seal("").open("kind", "bytes").bytes == "bytes");
  CHECK_FALSE(Seal("secret").open("kind", "bytes").fault.empty());
}
