#pragma once

namespace sequences {

/// From now on this process is not asked at its end what it leaked.
void forget_leaks() noexcept;

}  // namespace sequences
