#pragma once

#include "case.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/device.hpp>

#include <cstdint>
#include <string>

namespace bench {

/// check() of a convolution: some results, by `seed`, each of which must have the bits of the sum in the
/// order that the library promises.
std::string check_convolution(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                              tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream);

}  // namespace bench
