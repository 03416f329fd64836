#pragma once

namespace sequences {

/// Whether AddressSanitizer's allocator is in this program, which GCC tells by a macro and Clang by a
/// feature. Of GCC 12 and Clang 14 it has locks that a forked child finds held by its parent's threads for
/// ever.
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

/// From now on this process is not asked at its end what it leaked.
void forget_leaks() noexcept;

}  // namespace sequences
