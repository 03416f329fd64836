#include "runtime/hash.hpp"

#include <cstddef>
#include <set>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

KernelSpec sample(std::string_view expression) {
  const TensorView view = TensorView::contiguous(ElementType::f32, std::array<std::uint64_t, 2>{256, 256});
  return map_spec(expression, {&view, 1}, view);
}

}  // namespace

TEST_CASE("every byte of a spec that is in use reaches its hash") {
  const KernelSpec spec = sample("x * 2");
  std::set<std::uint64_t> hashes{hash_of(spec)};
  const std::size_t used = offsetof(KernelSpec, expression) + spec.expression_text().size();
  for (std::size_t i = 0; i < used; ++i) {
    KernelSpec other = spec;
    reinterpret_cast<unsigned char*>(&other)[i] ^= 1;
    hashes.insert(hash_of(other));
  }
  CHECK(hashes.size() == used + 1);
}

TEST_CASE("equal specs have equal hashes, and a full expression is read to its end only") {
  CHECK(hash_of(sample("x * 2")) == hash_of(sample("x * 2")));
  KernelSpec full = sample("x");
  full.expression.fill('x');  // no NUL at all
  KernelSpec other = full;
  other.expression.back() = 'y';
  CHECK(hash_of(full) != hash_of(other));
}

TEST_CASE("text, entry and shared memory tell custom kernels apart") {
  const CustomKernel one{{"text", "entry", ""}, 0};
  const CustomKernel same{{"text", "entry", ""}, 0};
  CHECK(one == same);
  CHECK(hash_of(one) == hash_of(same));
  for (const CustomKernel& other :
       {CustomKernel{{"texT", "entry", ""}, 0}, CustomKernel{{"text", "entrY", ""}, 0},
        CustomKernel{{"text", "entry", ""}, 1}}) {
    CHECK_FALSE(one == other);
    CHECK(hash_of(one) != hash_of(other));
  }
}
