#pragma once

#include <tmajit/tmajit.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Support for all examples: the command line, the device, buffers, and a comparison that fails the program.
namespace example {

/// Exit status if `--device gpu` finds no Hopper GPU; ctest counts it as a skip.
inline constexpr int exit_skipped = 77;

/// The kernel's result differs from that of a simple loop on the CPU.
class Mismatch : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An option of one example: `--size 300,520,136`. A list of as many numbers as the default has.
struct Option {
  std::string_view name;  ///< "--size"
  std::vector<std::uint32_t> value;
  std::string_view about;
};

/// The command line's settings except the device.
struct Settings {
  bool compile_only = false;
  std::string kernel_file;  ///< empty: the kernel that the program was built with
  std::uint32_t repeats = 0;
  std::vector<Option> own;
};

/// One run of an example: a runtime, on the device that `--device` names.
class Session {
 public:
  Session(tmajit::RuntimeOptions options, Settings settings);

  /// `--compile-only`: stop after the cubin; there is no device.
  [[nodiscard]] bool compile_only() const { return settings_.compile_only; }
  /// `--repeat N`: how often time() measures; 0 without it.
  [[nodiscard]] std::uint32_t repeats() const { return settings_.repeats; }
  /// The value of the example's own option `name`; its default if the command line does not give it.
  [[nodiscard]] const std::vector<std::uint32_t>& option(std::string_view name) const;
  [[nodiscard]] tmajit::Runtime& runtime() { return runtime_; }
  [[nodiscard]] tmajit::Device& device() { return *runtime_.device(); }

  /// The kernel, compiled or from the cache; prints its registers, shared memory and size.
  tmajit::Kernel kernel(const tmajit::KernelPlan& plan);
  /// The same for a kernel given as text, with `shared_bytes` of dynamic shared memory. `--kernel FILE`
  /// replaces the text by that of the file.
  tmajit::Kernel kernel(tmajit::OwnKernel own, std::uint32_t shared_bytes);

  /// Device memory filled with 0xA5, to show elements that the kernel does not write.
  [[nodiscard]] tmajit::Buffer poisoned(std::uint64_t bytes);

  template <class T>
  [[nodiscard]] tmajit::Buffer upload(const std::vector<T>& values) {
    tmajit::Buffer buffer(runtime_.device(), values.size() * sizeof(T));
    device().memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
    return buffer;
  }

  /// Waits for the default stream. Throws tmajit::Error{device_failed} if a kernel faulted.
  template <class T>
  [[nodiscard]] std::vector<T> download(const tmajit::Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    device().memory().copy_out(std::as_writable_bytes(std::span(values)), buffer.address(), nullptr);
    device().streams().synchronize(nullptr);
    return values;
  }

  /// With `--repeat N` takes N measurements, each of ten calls of `launches` back to back. `launches`
  /// enqueues on the stream that it is given. Prints the median and the best time of a call in microseconds,
  /// and `work` per second in `unit`. Only times of a GPU are meaningful.
  void time(const std::function<void(tmajit::Stream)>& launches, double work, std::string_view unit);
  /// The same for one launch.
  void time(const tmajit::PreparedLaunch& launch, double work, std::string_view unit) {
    time([&](tmajit::Stream stream) { launch(stream); }, work, unit);
  }
  /// The same in GB/s of the bytes of its tensors.
  void time(const tmajit::PreparedLaunch& launch) {
    time(launch, static_cast<double>(launch.bytes_moved()) / 1e9, "GB/s");
  }

 private:
  tmajit::Runtime runtime_;
  Settings settings_;
};

/// Runs `body` as the program's main: takes `--device auto|gpu|gpu:N|sim`, `--sim-mode late|early|random`,
/// `--compile-only`, `--kernel FILE`, `--repeat N` and the example's `own` options, and returns 0 for
/// success, 1 after a failure or a Mismatch, 2 for wrong usage, exit_skipped without a Hopper GPU.
int run(int argc, char** argv, std::string_view about, void (*body)(Session&), std::vector<Option> own = {});

/// Throws a Mismatch that names the first element that differs. T needs == and std::to_string.
template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& want) {
  if (got.size() != want.size()) {
    throw Mismatch(std::to_string(got.size()) + " elements instead of " + std::to_string(want.size()));
  }
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!(got[i] == want[i])) {
      throw Mismatch("element " + std::to_string(i) + " is " + std::to_string(got[i]) + " instead of " +
                     std::to_string(want[i]));
    }
  }
}

}  // namespace example
