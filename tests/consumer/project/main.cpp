// An application outside this repository that calls every function of the library tmajit::tmajit. Without
// a GPU a function that needs one must report its absence. tests/consumer/symbols.sh compares the
// called functions with the exported ones.
#include "expect.hpp"

#include <tmajit/tmajit.hpp>

int main() try {
  describe();
  describe_operations();
  plan_moves();
  plan_own_tiles();
  keep_choices();
  compile_and_cache();
  record_and_pack();
  run_without_a_device();
  std::puts("tmajit " TMAJIT_VERSION_STRING);
  return EXIT_SUCCESS;
} catch (const tmajit::Error& error) {
  std::fprintf(stderr, "%s: %s\n", name(error.code()).data(), error.what());
  return EXIT_FAILURE;
}
