#include "sequences/sanitizer.hpp"

namespace sequences {
namespace {

bool leak_check_enabled = true;

}  // namespace

void disable_leak_check() noexcept {
  leak_check_enabled = false;
}

}  // namespace sequences

// If LeakSanitizer is linked in, it calls these functions of the program. Their names are reserved for it.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off();
int __lsan_is_turned_off() {
  return sequences::leak_check_enabled ? 0 : 1;
}
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  return "leak:libcuda.so\nleak:libnvrtc\n";
}
// NOLINTEND(bugprone-reserved-identifier)
