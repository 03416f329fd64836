// Processes that end while a background thread loads NVRTC or compiles: each must exit with its own code. And
// one whose main thread ends alone, and which then still compiles. A program of its own, because NVRTC must
// not have been loaded before.
#include "ptx_alone.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/prefetch.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tmajit;

namespace {

constexpr int expected_code = 7;
constexpr int wrong = 1;
constexpr int skipped = 77;
constexpr int children = 40;
constexpr unsigned longest_run_s = 60;
constexpr int longest_delay_us = 30'000;  // beyond the time to load NVRTC

Prefetch make_a_kernel() {
  constexpr std::array<std::uint64_t, 1> shape{4096};
  const Tensor from{TensorView::contiguous(ElementType::f32, shape), 0x7f00'0000'0000};
  const Tensor to{TensorView::contiguous(ElementType::f32, shape), 0x7e00'0000'0000};
  const Runtime runtime(
      {.cache_directory = std::nullopt, .compile = tests::ptx_without_lines, .shipped_packs = false});
  return prefetch(runtime, {operation::copy(to, from)});
}

int exit_after(int delay_us) {
  (void)make_a_kernel();
  std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
  return expected_code;
}

[[noreturn]] void end_main_thread() {
  std::thread([main = ::pthread_self()] {
    (void)make_a_kernel();  // makes the main thread's end wait
    ::pthread_detach(main);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const Prefetch made = make_a_kernel();
    made.wait();
    std::_Exit(made.made() == 1 ? expected_code : wrong);
  }).detach();
  ::pthread_exit(nullptr);
}

/// The exit code of a new process of this program; 128 plus the number of a signal that ended it.
int run_child(const char* program, const std::string& argument) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(longest_run_s);
    ::execl(program, program, argument.c_str(), nullptr);
    std::_Exit(wrong);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return wrong;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_right(const std::string& what, int code) {
  if (code == expected_code) return true;
  std::printf("%s: exit code %d instead of %d\n", what.c_str(), code, expected_code);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "leave") end_main_thread();
  if (argc == 2) return exit_after(std::atoi(argv[1]));
  try {
    (void)compiler();
  } catch (const Error& error) {
    std::printf("SKIP: %s\n", error.what());
    return skipped;
  }
  const std::uint64_t seed = tests::seed(20261128);
  std::printf("TMAJIT_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  bool right = true;
  for (int i = 0; i < children; ++i) {
    const std::string delay = std::to_string(random() % longest_delay_us);
    right = is_right("a process that ends after " + delay + " us", run_child(argv[0], delay)) && right;
  }
  right = is_right("a process whose main thread ends alone", run_child(argv[0], "leave")) && right;
  return right ? 0 : wrong;
}
