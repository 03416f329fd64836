#pragma once

#include <tmajit/error.hpp>

#include <cstdint>
#include <optional>
#include <regex>
#include <string>
#include <vector>

/// A value that a violation names as legal: "box[1] = 32, or swizzle none" has two.
struct Remedy {
  std::string field;                   ///< "box", "swizzle", "rank", "rows", "flat", "address" …
  std::optional<std::uint32_t> index;  ///< dimension, for fields with one number for each dimension
  std::vector<std::uint64_t> numbers;  ///< numbers of the field; strides in bytes if `part` says "bytes"
  std::string word;                    ///< "none" for "swizzle none", "f32" for a type
  bool bytes = false;
  std::optional<std::uint64_t> stages;  ///< stages in "a tile of 8x32 with stages = 2"
};

inline std::vector<std::uint64_t> numbers_of(const std::string& text) {
  static const std::regex number("[0-9]+");
  std::vector<std::uint64_t> numbers;
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at)
    numbers.push_back(std::stoull(at->str()));
  return numbers;
}

/// Returns the value that `part`, an alternative of a violation's text, names; nullopt if it is advice in
/// words.
inline std::optional<Remedy> remedy_of(const std::string& part, const tmajit::Violation& violation) {
  using std::regex;
  static const regex rows_padded(R"(pad rows to [0-9]+ elements? \(([0-9]+) bytes\))");
  static const regex entry(R"(([a-z_.]+)\[([0-9]+)\] = (?:[0-9]+ elements? \()?(-?[0-9]+)( bytes?)?.*)");
  static const regex count(R"(([a-z_.]+) = ([0-9]+).*)");
  static const regex mode(R"((swizzle|interleave|oob-fill|mode) ([0-9A-Za-z]+))");
  static const regex rank(R"(rank ([0-9]).*)");
  static const regex rows(R"(at most ([0-9]+) rows.*)");
  static const regex flat(R"(view it as 1-D of ([0-9]+) elements)");
  static const regex tile(R"(a tile of ([0-9x]+) with stages = ([0-9]+))");
  static const regex list(R"(strides ([0-9,]+))");
  static const regex shape(R"((?:u8 )?\[([0-9, ]*)\])");
  static const regex address(R"(0x([0-9a-f]+).*)");
  std::smatch found;
  if (std::regex_match(part, found, rows_padded)) {
    const auto dimension = numbers_of(violation.subject.substr(violation.subject.find("strides[")));
    return Remedy{"strides", static_cast<std::uint32_t>(dimension.at(0)), {std::stoull(found[1])}, {}, true,
                  {}};
  }
  if (std::regex_match(part, found, entry)) {
    return Remedy{found[1],
                  static_cast<std::uint32_t>(std::stoul(found[2])),
                  {std::stoull(found[3])},  // two's complement for a negative number
                  {},
                  found[4].matched,
                  {}};
  }
  if (std::regex_match(part, found, count))
    return Remedy{found[1], {}, {std::stoull(found[2])}, {}, false, {}};
  if (std::regex_match(part, found, mode)) return Remedy{found[1], {}, {}, found[2], false, {}};
  if (std::regex_match(part, found, rank)) return Remedy{"rank", {}, {std::stoull(found[1])}, {}, false, {}};
  if (std::regex_match(part, found, rows)) return Remedy{"rows", {}, {std::stoull(found[1])}, {}, false, {}};
  if (std::regex_match(part, found, flat)) return Remedy{"flat", {}, {std::stoull(found[1])}, {}, false, {}};
  if (std::regex_match(part, found, tile))
    return Remedy{"tile", {}, numbers_of(found[1]), {}, false, std::stoull(found[2])};
  if (std::regex_match(part, found, list)) return Remedy{"strides", {}, numbers_of(found[1]), {}, false, {}};
  if (std::regex_match(part, found, shape)) return Remedy{"shape", {}, numbers_of(found[1]), {}, false, {}};
  if (std::regex_match(part, found, address))
    return Remedy{"address", {}, {std::stoull(found[1], nullptr, 16)}, {}, false, {}};
  return std::nullopt;
}

/// All values that a violation names.
inline std::vector<Remedy> remedies(const tmajit::Violation& violation) {
  std::vector<Remedy> result;
  std::string rest = violation.legal.substr(0, violation.legal.find(';'));
  while (!rest.empty()) {
    const auto end = rest.find(", or ");
    if (const auto remedy = remedy_of(rest.substr(0, end), violation)) result.push_back(*remedy);
    rest = end == std::string::npos ? std::string() : rest.substr(end + 5);
  }
  return result;
}
