#include "sequences/sanitizer.hpp"

namespace sequences {
namespace {

bool forgotten = false;

}  // namespace

void forget_leaks() noexcept {
  forgotten = true;
}

}  // namespace sequences

// Functions of a program that LeakSanitizer calls, if it is present; their names are reserved for it.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off();
int __lsan_is_turned_off() {
  return sequences::forgotten ? 1 : 0;
}
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  return "leak:libcuda.so\nleak:libnvrtc\n";
}
// NOLINTEND(bugprone-reserved-identifier)
