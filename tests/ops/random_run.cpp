#include "ops/run_case.hpp"

#include <tmajit/error.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

using namespace tmajit;
using reference::Buffers, reference::TestCase;

namespace tests {
namespace {

constexpr std::uint64_t max_failures = 20;

/// The seed of a case's gaps and data.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t n) {
  return (seed ^ n) * 0x9e3779b97f4a7c15ULL + n;
}

/// Device memory and a stream for the cases of one thread, which use the memory one after the other.
class Arena {
 public:
  Arena(std::shared_ptr<Device> device, std::uint64_t bytes)
      : device_(std::move(device)), memory_(device_, bytes), stream_(device_->streams().create()) {}
  ~Arena() { device_->streams().destroy(stream_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Places the buffers in succession, each `shift` bytes after a multiple of 256.
  [[nodiscard]] std::unique_ptr<CaseMemory> place(const TestCase& test_case, std::uint64_t shift) const {
    std::vector<DevicePtr> addresses;
    DevicePtr next = memory_.address();
    for (const std::uint64_t bytes : test_case.buffers) {
      addresses.push_back(next + shift);
      next = reference::round_up(next + shift + bytes, 256);
    }
    if (next > memory_.address() + memory_.bytes()) throw std::length_error("the arena is too small");
    return std::make_unique<Placed>(*this, std::move(addresses));
  }

 private:
  class Placed : public CaseMemory {
   public:
    Placed(const Arena& arena, std::vector<DevicePtr> addresses)
        : arena_(arena), addresses_(std::move(addresses)) {}
    void write(const Buffers& buffers) override {
      for (std::size_t i = 0; i < buffers.size(); ++i)
        arena_.device_->memory().copy_in(addresses_[i], buffers[i], arena_.stream_);
    }
    [[nodiscard]] Buffers read(const Buffers& like) override {
      Buffers buffers = like;
      arena_.device_->streams().synchronize(arena_.stream_);
      for (std::size_t i = 0; i < buffers.size(); ++i)
        arena_.device_->memory().copy_out(buffers[i], addresses_[i], arena_.stream_);
      arena_.device_->streams().synchronize(arena_.stream_);
      return buffers;
    }
    [[nodiscard]] std::span<const DevicePtr> addresses() const override { return addresses_; }
    [[nodiscard]] Stream stream() const override { return arena_.stream_; }

   private:
    const Arena& arena_;
    std::vector<DevicePtr> addresses_;
  };

  std::shared_ptr<Device> device_;
  Buffer memory_;
  Stream stream_;
};

/// State that the threads share.
class Shared {
 public:
  Shared(Runtime& runtime, const RandomRun& run) : runtime_(runtime), run_(run) {}

  /// Runs cases until none are left. Several threads call this.
  void work() {
    try {
      const Arena arena(runtime_.device(), run_.limits.bytes + run_.limits.bytes / 4 + 65'536);
      KernelsMet met;
      for (std::uint64_t n = next_++; n < run_.cases && !stop_; n = next_++) run_one(arena, n, met);
      const std::lock_guard lock(mutex_);
      result_.met.keys.merge(met.keys);
      for (const auto& [kernel, times] : met.counts) result_.met.counts[kernel] += times;
    } catch (const std::exception& error) {
      fail(error.what(), true);
    }
  }
  [[nodiscard]] RandomRunResult result() {
    result_.cases = done_;
    return std::move(result_);
  }

 private:
  void run_one(const Arena& arena, std::uint64_t n, KernelsMet& met) {
    const TestCase test_case = reference::random_test_case(run_.operations, run_.seed + n % run_.kernel_seeds,
                                                           mixed(run_.seed, n), run_.limits);
    const std::string what = "case " + std::to_string(n) + ", " + test_case.text() + ":\n  ";
    const auto place = [&](const TestCase& placed, std::uint64_t shift) {
      return arena.place(placed, shift);
    };
    try {
      const std::string wrong = run_case(runtime_, test_case, place, mixed(run_.seed, n), n, met);
      ++done_;
      if (!wrong.empty()) fail(what + wrong, false);
    } catch (const Error& error) {
      // No more cases after a failure of the device, from which a GPU does not recover.
      fail(what + error.what(), error.code() == ErrorCode::device_failed);
    } catch (const std::exception& error) {
      fail(what + error.what(), false);
    }
  }

  void fail(const std::string& what, bool is_last) {
    const std::lock_guard lock(mutex_);
    result_.failures.push_back(what);
    if (is_last || result_.failures.size() >= max_failures) stop_ = true;
  }

  Runtime& runtime_;
  const RandomRun& run_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  RandomRunResult result_;
};

}  // namespace

RandomRunResult run_random_cases(Runtime& runtime, const RandomRun& run) {
  const auto start = std::chrono::steady_clock::now();
  Shared shared(runtime, run);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < run.threads; ++i) threads.emplace_back([&] { shared.work(); });
    shared.work();
  }
  RandomRunResult result = shared.result();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::string RandomRunResult::text() const {
  std::ostringstream out;
  out << cases << " cases by " << met.keys.size() << " kernels in " << seconds << " s\n" << met.text();
  return out.str();
}

}  // namespace tests
