#pragma once

#include <tmajit/element_type.hpp>
#include <tmajit/kernel_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What a run measures; the command line.
struct Options {
  std::vector<std::string> only;           ///< groups; empty for all of them
  std::vector<std::uint64_t> sizes;        ///< bytes of a case's largest operand
  std::vector<tmajit::ElementType> types;  ///< element types
  std::string device = "auto";             ///< auto, none, gpu, gpu:N
  unsigned rounds = 15;                    ///< measurements of each contender
  bool quick = false;
  std::string json;                     ///< file to write; empty for none
  std::optional<tmajit::Family> sweep;  ///< tune this family instead
  std::string expression;               ///< of a sweep
  std::size_t limit = 500;              ///< candidates of a sweep
  std::uint64_t seed = 1;               ///< of the data, and of which candidates a sweep takes
  std::string probe;                    ///< internal: one first compile in a fresh process

  [[nodiscard]] bool wants(std::string_view group) const;
};

/// Parses the command line. Returns an exit code instead where there is nothing to run: 0 after --help,
/// 2 after a message on wrong usage.
struct Parsed {
  Options options;
  std::optional<int> exit_code;
};
Parsed parse(int argc, char** argv);

/// "64 KiB", "1 GiB", "1.5 MiB".
std::string human_bytes(std::uint64_t bytes);

}  // namespace bench
