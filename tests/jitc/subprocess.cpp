#include "subprocess.hpp"

#include "npy.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

namespace jitc::test {

Folder::Folder() {
  auto pattern = (std::filesystem::temp_directory_path() / "jitc-test-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

ProcessResult jitc(std::vector<std::string> arguments, const Surroundings& surroundings) {
  static const Folder cache;
  std::vector<std::string> words{"TMAJIT_CACHE_DIR=" + cache.path().string()};
  words.insert(words.end(), surroundings.environment.begin(), surroundings.environment.end());
  if (surroundings.file_size_limit != 0) {
    words.insert(words.end(), {"prlimit", "--fsize=" + std::to_string(surroundings.file_size_limit), "--"});
  }
  if (!surroundings.redirect.empty()) {
    words.insert(words.end(), {"sh", "-c", "exec \"$@\" " + surroundings.redirect, "sh"});
  }
  const char* const program = std::getenv("JITC_PROGRAM");
  words.emplace_back(program == nullptr ? JITC_PROGRAM : program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_process(find_program("env"), words);
}

nlohmann::json jitc_json(std::vector<std::string> arguments, int expected_status) {
  arguments.emplace_back("--json");
  const auto result = jitc(std::move(arguments));
  INFO(result.err << result.out);
  REQUIRE(result.status == expected_status);
  auto json = nlohmann::json::parse(result.out, nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  return json;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(file.good());
}

void write_npy(const std::filesystem::path& path, std::string_view descr,
               const std::vector<std::uint64_t>& shape, std::string_view data) {
  write_file(path, format_npy_header(descr, shape) + std::string(data));
}

std::string data_of(const std::filesystem::path& path) {
  const jitc::InputArray array(path);
  return {reinterpret_cast<const char*>(array.data().data()), array.data().size()};
}

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

std::vector<std::string> operator+(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> simulated(const std::vector<std::string>& words) {
  return std::vector<std::string>{"run"} + words + std::vector<std::string>{"--device", "sim"};
}

std::string refusal(const std::vector<std::string>& words, int status) {
  const auto result = jitc(words);
  INFO(result.err);
  CHECK(result.status == status);
  CHECK(result.out.empty());
  CHECK(result.err.starts_with("jitc: error: "));
  return result.err;
}

std::uint64_t seed() {
  if (const char* const text = std::getenv("TMAJIT_SEED"); text != nullptr)
    return std::strtoull(text, nullptr, 0);
  return std::random_device{}();
}

std::filesystem::path find_program(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto candidate = std::filesystem::path(folder) / program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace jitc::test
