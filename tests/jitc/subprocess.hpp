#pragma once

#include "machine/process.hpp"
#include "seed.hpp"
#include "temporary_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace jitc {
using tmajit::ProcessResult;
using tmajit::run_process;
}  // namespace jitc

namespace jitc::test {

using Folder = TemporaryFolder;
using tests::read_file;
using tests::write_file;

/// Environment variables, limits and redirections for a run of jitc.
struct Surroundings {
  std::vector<std::string> environment = {};  ///< "NAME=value"
  std::uint64_t file_size_limit = 0;          ///< bytes; 0: no limit
  std::string redirect = {};                  ///< in shell syntax, such as "2>/dev/full"
};

/// The jitc of this build, or the one that $JITC_PROGRAM names.
[[nodiscard]] std::string jitc_program();
/// Runs it. Its cache is a temporary folder of the
/// test unless `surroundings` sets another one.
[[nodiscard]] ProcessResult jitc(std::vector<std::string> arguments, const Surroundings& surroundings = {});
/// Runs jitc and returns its standard output as JSON. Fails the test if the output is not JSON.
[[nodiscard]] nlohmann::json jitc_json(std::vector<std::string> arguments, int expected_status = 0);

/// Writes a .npy file in C order.
void write_npy(const std::filesystem::path& path, std::string_view descr,
               const std::vector<std::uint64_t>& shape, std::string_view data);

/// The bytes of a .npy file's elements.
[[nodiscard]] std::string data_of(const std::filesystem::path& path);
/// The bytes of a vector's elements.
template <class Element>
[[nodiscard]] std::string bytes_of(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}
/// The numbers 0, 1, 2 … count - 1.
[[nodiscard]] std::vector<float> counting(std::size_t count);
/// `words` followed by `more`.
[[nodiscard]] std::vector<std::string> operator+(std::vector<std::string> words,
                                                 const std::vector<std::string>& more);
/// The arguments of `jitc run` on the simulated device with `words`.
[[nodiscard]] std::vector<std::string> simulated(const std::vector<std::string>& words);
/// Runs a command that must fail with `status` (2 for wrong usage) and print only an error. Returns the
/// error.
[[nodiscard]] std::string refusal(const std::vector<std::string>& words, int status = 2);

/// $TMAJIT_SEED, or else a random seed. Tests print it.
[[nodiscard]] inline std::uint64_t seed() {
  return tests::seed(std::random_device{}());
}

/// Skips the test where there is no Hopper GPU.
void require_hopper();

/// The path of `program` on $PATH; empty if there is none.
[[nodiscard]] std::filesystem::path find_program(std::string_view program);

}  // namespace jitc::test
