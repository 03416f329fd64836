#pragma once

namespace sequences {

/// Whether this program uses AddressSanitizer's allocator, which GCC announces by a macro and Clang by a
/// feature. With GCC 12 and Clang 14, the allocator's locks may be held for ever in a forked child, by
/// threads that exist only in its parent.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool has_address_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool has_address_sanitizer = true;
#else
inline constexpr bool has_address_sanitizer = false;
#endif
#else
inline constexpr bool has_address_sanitizer = false;
#endif

/// Disables the leak check at the end of this process.
void disable_leak_check() noexcept;

}  // namespace sequences
