#include "subprocess.hpp"

#include "launch/npy.hpp"

#include <tmajit/device.hpp>

#include <cstdlib>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <llvm/Support/Program.h>
#include <unistd.h>

namespace jitc::test {

std::string jitc_program() {
  const char* const program = std::getenv("JITC_PROGRAM");
  return program == nullptr ? JITC_PROGRAM : program;
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
  words.push_back(jitc_program());
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

void write_npy(const std::filesystem::path& path, std::string_view descr,
               const std::vector<std::uint64_t>& shape, std::string_view data) {
  write_file(path, tmajit::format_npy_header(descr, shape) + std::string(data));
}

std::string data_of(const std::filesystem::path& path) {
  const tmajit::InputArray array(path);
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

void require_hopper() {
  for (const auto& gpu : tmajit::list_gpus()) {
    if (gpu.compute_major == 9 && gpu.compute_minor == 0) return;
  }
  SKIP("no Hopper GPU: " << (tmajit::list_gpus().empty() ? tmajit::why_no_gpu()
                                                         : "this machine's GPU is another one"));
}

std::filesystem::path find_program(std::string_view program) {
  const auto found = llvm::sys::findProgramByName(program);
  return found ? *found : "";
}

}  // namespace jitc::test
