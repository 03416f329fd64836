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

/// The environment of a run of jitc.
struct Surroundings {
  std::vector<std::string> environment = {};  ///< "NAME=value"
  std::uint64_t file_size_limit = 0;          ///< bytes; 0: none
  std::string redirect = {};                  ///< as a shell writes it: "2>/dev/full"
};

/// Runs the jitc that was built, or the one that $JITC_PROGRAM names. Its cache is a folder of the test's own
/// unless the environment says otherwise.
[[nodiscard]] ProcessResult jitc(std::vector<std::string> arguments, const Surroundings& surroundings = {});
/// Runs jitc; returns its standard output as JSON. Fails the test if it is no JSON.
[[nodiscard]] nlohmann::json jitc_json(std::vector<std::string> arguments, int expected_status = 0);

/// A little-endian C-order .npy file.
void write_npy(const std::filesystem::path& path, std::string_view descr,
               const std::vector<std::uint64_t>& shape, std::string_view data);

/// The bytes of a .npy file's elements.
[[nodiscard]] std::string data_of(const std::filesystem::path& path);
/// The bytes of a vector's elements.
template <class Element>
[[nodiscard]] std::string bytes_of(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}
/// 0, 1, 2 …
[[nodiscard]] std::vector<float> counting(std::size_t count);
/// `words` followed by `more`.
[[nodiscard]] std::vector<std::string> operator+(std::vector<std::string> words,
                                                 const std::vector<std::string>& more);
/// The words of `jitc run` with `words` on the simulated device.
[[nodiscard]] std::vector<std::string> simulated(const std::vector<std::string>& words);
/// Runs a command that must fail with `status`, 2 for wrong usage, and print nothing but its error; returns
/// that.
[[nodiscard]] std::string refusal(const std::vector<std::string>& words, int status = 2);

/// $TMAJIT_SEED or a fresh one; the test prints it.
[[nodiscard]] inline std::uint64_t seed() {
  return tests::seed(std::random_device{}());
}

/// Skips the test where there is no Hopper GPU.
void require_hopper();

/// The path of `program` on $PATH; empty if there is none.
[[nodiscard]] std::filesystem::path find_program(std::string_view program);

}  // namespace jitc::test
