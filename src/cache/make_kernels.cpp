#include <tmajit/error.hpp>
#include <tmajit/kernel_recipe.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The work that the threads share.
class Work {
 public:
  Work(std::span<const KernelRecipe> records, const DiskCache& cache, const MakeOptions& options)
      : records_(records), cache_(cache), options_(options), keys_(records.size()) {}

  /// Makes kernels until none is left, or one could not be kept. Several threads call this.
  void run() {
    try {
      for (std::size_t i = next_++; i < records_.size() && !stop_; i = next_++) make(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  [[nodiscard]] MadeKernels result() {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    for (const std::optional<CacheKey>& key : keys_)
      if (key) made_.keys.push_back(*key);
    return std::move(made_);
  }

 private:
  void make(std::size_t i) {
    const KernelRecipe& record = records_[i];
    const CacheKey key = record.key(compiler_);
    bool compiled = false;
    std::string why;
    if (!cache_.fetch(key)) {
      try {
        Artifact artifact = compile(record.source, record.options);
        artifact.made_for = record.made_for;
        if (!cache_.store(key, artifact)) {
          throw Error(ErrorCode::io, fmt::format("kernels cannot be kept in {}; the log says why",
                                                 cache_.directory().string()));
        }
        compiled = true;
      } catch (const CompileError& error) {
        why = error.what();
      }
    }
    const std::lock_guard lock(mutex_);
    if (why.empty())
      keys_[i] = key;
    else
      made_.failures.push_back({key, std::move(why)});
    made_.compiled += compiled ? 1 : 0;
    if (options_.progress) options_.progress(++done_, records_.size());
  }

  std::span<const KernelRecipe> records_;
  const DiskCache& cache_;
  const MakeOptions& options_;
  const CompilerIdentity& compiler_ = compiler();
  std::vector<std::optional<CacheKey>> keys_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::exception_ptr failure_;
  MadeKernels made_;
};

}  // namespace

MadeKernels make_kernels(std::span<const KernelRecipe> records, const DiskCache& cache,
                         const MakeOptions& options) {
  Work work(records, cache, options);
  {
    const std::size_t wanted = options.threads == 0 ? std::thread::hardware_concurrency() : options.threads;
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(wanted, records.size()); ++i)
      threads.emplace_back([&] { work.run(); });
    work.run();
  }
  MadeKernels made = work.result();
  if (made.compiled > 0) cache.remember(compiler());
  return made;
}

TMAJIT_END
