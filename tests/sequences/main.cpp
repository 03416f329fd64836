// Executes random sequences of a program's steps with the library: create, plan, move, destroy, rebind,
// capture, replay, fork and exit. See docs/development.md.
#include "sequences/run.hpp"

#include <charconv>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string_view>

namespace {

constexpr std::string_view usage =
    "usage: random_sequences --cache DIR [option]…\n"
    "\n"
    "  --cache DIR     folder of the kernels of all sequences; filled before the first sequence\n"
    "  --device NAME   null (does nothing), sim, or gpu:0; exit status 77 if there is no such GPU\n"
    "  --first N       seed of the first sequence (1)\n"
    "  --count N       number of sequences; each seed is 1 more than the last (100)\n"
    "  --seconds N     begin no further sequence after N seconds\n"
    "  --in-process N  largest number of sequences of one process (25)\n"
    "  --seed N        run only this sequence, with its steps on standard error\n";

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size()) {
    throw std::invalid_argument("'" + std::string(text) + "' is not a number");
  }
  return value;
}

sequences::RunOptions parse(int argc, char** argv) {
  sequences::RunOptions options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(std::string(name) + " needs a value");
    const std::string_view value = argv[i + 1];
    if (name == "--cache") {
      options.cache = value;
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--first") {
      options.first = number(value);
    } else if (name == "--count") {
      options.count = number(value);
    } else if (name == "--seconds") {
      options.limit = std::chrono::seconds(number(value));
    } else if (name == "--in-process") {
      options.in_process = number(value);
    } else if (name == "--seed") {
      options.first = number(value);
      options.count = 1;
      options.verbose = true;
    } else {
      throw std::invalid_argument("there is no option " + std::string(name));
    }
  }
  if (options.cache.empty()) throw std::invalid_argument("--cache is needed");
  if (options.in_process == 0) throw std::invalid_argument("--in-process needs at least 1");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  sequences::RunOptions options;
  try {
    options = parse(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::cerr << "error: " << error.what() << "\n\n" << usage;
    return 2;
  }
  try {
    return sequences::run(options);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
