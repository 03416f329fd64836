#pragma once

#include "case.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bench {

/// Elements of each part of a large destination that check() compares.
inline constexpr std::uint64_t compared_part = 1ULL << 14;

/// Each byte of the destinations before what is checked runs.
inline constexpr std::byte poison{0xA5};

/// Compares parts of the destinations with what the operation's reference computes from a buffer of sources
/// that the pattern fills: the ends and random places, or everything if it is small. Returns what is wrong,
/// or nothing. An expression that the reference does not understand is not checked.
std::string check(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                  tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream,
                  std::uint64_t part = compared_part);

/// Throws tmajit::Error{internal} that says what check() finds.
void require_right(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                   tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream,
                   std::uint64_t part = compared_part);

/// How far a peer's result may lie from ours for the order and the precision of its roundings, relative to
/// the larger of 1 and its size; none where nothing is computed, or the reference does not understand it.
std::optional<double> tolerance(const Case& c);

}  // namespace bench
