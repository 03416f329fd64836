#include "ops/random_run.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

using namespace tmajit;
using reference::Buffers, reference::RandomMove;

namespace tests {
namespace {

constexpr std::uint64_t most_failures = 20;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The seed of a case's gaps and data.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t n) {
  return (seed ^ n) * 0x9e3779b97f4a7c15ULL + n;
}

/// Part of the device's memory that one thread's moves take turns in, with a stream.
class Arena {
 public:
  Arena(std::shared_ptr<Device> device, std::uint64_t bytes)
      : device_(std::move(device)), memory_(device_, bytes), stream_(device_->streams().create()) {}
  ~Arena() { device_->streams().destroy(stream_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Addresses of buffers, one behind the other, each `shift` bytes after a multiple of 256.
  [[nodiscard]] std::vector<DevicePtr> place(const RandomMove& move, std::uint64_t shift) const {
    std::vector<DevicePtr> addresses;
    DevicePtr next = memory_.address();
    for (const std::uint64_t bytes : move.buffers) {
      addresses.push_back(next + shift);
      next = round_up(next + shift + bytes, 256);
    }
    if (next > memory_.address() + memory_.bytes()) throw std::length_error("the arena is too small");
    return addresses;
  }
  void write(const Buffers& buffers, std::span<const DevicePtr> addresses) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      device_->memory().copy_in(addresses[i], buffers[i], stream_);
  }
  [[nodiscard]] Buffers read(const Buffers& like, std::span<const DevicePtr> addresses) {
    Buffers buffers = like;
    device_->streams().synchronize(stream_);
    for (std::size_t i = 0; i < buffers.size(); ++i)
      device_->memory().copy_out(buffers[i], addresses[i], stream_);
    device_->streams().synchronize(stream_);
    return buffers;
  }
  [[nodiscard]] Stream stream() const { return stream_; }

 private:
  std::shared_ptr<Device> device_;
  Buffer memory_;
  Stream stream_;
};

/// What the threads share.
class Shared {
 public:
  Shared(Runtime& runtime, const RandomRun& run) : runtime_(runtime), run_(run) {}

  /// Cases until there are none left.
  void work() {
    try {
      Arena arena(runtime_.device(), run_.limits.bytes + run_.limits.bytes / 4 + 65'536);
      for (std::uint64_t n = next_++; n < run_.cases && !stop_; n = next_++) one(arena, n);
    } catch (const std::exception& error) {
      stop_ = true;
      const std::lock_guard lock(mutex_);
      result_.failures.emplace_back(error.what());
    }
  }
  [[nodiscard]] RandomRunResult result() { return std::move(result_); }

 private:
  void one(Arena& arena, std::uint64_t n) {
    const RandomMove move =
        reference::random_move(run_.seed + n % run_.patterns, mixed(run_.seed, n), run_.limits);
    try {
      run_twice(arena, n, move);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::device_failed) stop_ = true;  // a GPU does not recover from that
      fail(n, move, error.what());
    } catch (const std::exception& error) {
      fail(n, move, error.what());
    }
  }

  void run_twice(Arena& arena, std::uint64_t n, const RandomMove& move) {
    const Buffers before = random_buffers(move, mixed(run_.seed, n));
    Buffers expected = before;
    apply(move, expected);
    const auto addresses = arena.place(move, 0);
    arena.write(before, addresses);
    const MovePlan plan = tests::plan(runtime_, move, addresses);
    plan(arena.stream());
    if (const auto what = difference(move, expected, arena.read(before, addresses)); !what.empty()) {
      fail(n, move, what);
    }
    if (n % 4 == 0) {
      const auto elsewhere = arena.place(move, largest_element(move));
      arena.write(before, elsewhere);
      const auto [destinations, sources] = tests::addresses(move, elsewhere);
      plan(destinations, sources, arena.stream());
      if (const auto what = difference(move, expected, arena.read(before, elsewhere)); !what.empty()) {
        fail(n, move, "at new addresses, " + what);
      }
    }
    count(move, plan);
  }

  void count(const RandomMove& move, const MovePlan& plan) {
    const std::lock_guard lock(mutex_);
    ++result_.cases;
    tests::count(plan, result_.counts);
    for (const Kernel& kernel : plan.kernels()) result_.kernels.insert(kernel.key().hex());
    for (const reference::BufferView& to : move.destinations) {
      std::uint64_t elements = 1;
      for (std::uint32_t d = 0; d < to.view.rank; ++d) elements *= to.view.shape[d];
      result_.elements += elements;
    }
  }

  void fail(std::uint64_t n, const RandomMove& move, const std::string& what) {
    const std::lock_guard lock(mutex_);
    result_.failures.push_back("case " + std::to_string(n) + ": " + what + "\n  " + describe(move));
    if (result_.failures.size() >= most_failures) stop_ = true;
  }

  Runtime& runtime_;
  const RandomRun& run_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  RandomRunResult result_;
};

}  // namespace

RandomRunResult run_random_moves(Runtime& runtime, const RandomRun& run) {
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
  out << cases << " moves of " << elements << " elements by " << kernels.size() << " kernels in " << seconds
      << " s\n";
  for (const auto& [kernel, times] : counts) out << "  " << kernel << ": " << times << '\n';
  return out.str();
}

}  // namespace tests
