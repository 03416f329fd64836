#pragma once

namespace sequences {

/// Whether this program has AddressSanitizer's allocator, which GCC announces by a macro and Clang by a
/// feature. In GCC 12 and Clang 14, a forked child may find the allocator's locks held for ever by threads of
/// its parent.
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

/// Turns the leak check at the end of this process off.
void forget_leaks() noexcept;

}  // namespace sequences
