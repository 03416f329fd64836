#include "runtime/ledger.hpp"

#include "spec/log.hpp"

#include <exception>

TMAJIT_BEGIN
namespace {

void add_to(CounterPage::Number& number, std::uint64_t value) {
  number.store(number.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

void add_ms(CounterPage::Number& nanoseconds, double milliseconds) {
  constexpr double nanoseconds_in_ms = 1e6;
  add_to(nanoseconds, static_cast<std::uint64_t>(milliseconds * nanoseconds_in_ms));
}

/// Marks the page as changing while it lives.
class PageChange {
 public:
  explicit PageChange(CounterPage& page) : page_(page) {
    add_to(page_.sequence, 1);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~PageChange() {
    page_.sequence.store(page_.sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  PageChange(const PageChange&) = delete;
  PageChange& operator=(const PageChange&) = delete;

 private:
  CounterPage& page_;
};

}  // namespace

void Ledger::add_times(const StageTimes& times) {
  const auto& [generate, key, fetch, compile, store, load] = times;
  std::size_t stage = 0;
  for (const double time : {generate, key, fetch, compile, store, load})
    add_ms(page_->nanoseconds[stage++], time);
}

void Ledger::add(const KernelRecord& record, std::uint64_t loaded_bytes, bool is_kept) {
  history_.use([&](std::deque<KernelRecord>& history) {
    if (history.size() == max_history) history.pop_front();
    history.push_back(record);
    const PageChange change(*page_);
    add_to(page_->requests[static_cast<std::size_t>(record.level)], 1);
    add_times(record.times);
    if (record.level != CacheLevel::compiled) {
      add_to(page_->bytes_read, record.bytes);
    } else if (is_kept) {
      add_to(page_->bytes_written, record.bytes);
    }
    add_to(page_->bytes_loaded, loaded_bytes);
    const MadeFor& made_for = record.made_for;
    CounterPage::write(page_->last_kernel,
                       made_for.operation.empty()
                           ? record.entry
                           : fmt::format("{} {} {}", record.entry, made_for.types, made_for.shape));
  });
  if (!on_kernel_) return;
  try {
    on_kernel_(record);
  } catch (const std::exception& error) {
    log(LogLevel::warn, "the program's function for each kernel failed: {}", error.what());
  } catch (...) {
    log(LogLevel::warn, "the program's function for each kernel failed");
  }
}

void Ledger::add_failure(const StageTimes& times) {
  history_.use([&](std::deque<KernelRecord>&) {
    const PageChange change(*page_);
    add_to(page_->failures, 1);
    add_times(times);
  });
}

void Ledger::add_served() {
  history_.use([&](std::deque<KernelRecord>&) {
    const PageChange change(*page_);
    add_to(page_->served, 1);
  });
}

void Ledger::add_waited() {
  history_.use([&](std::deque<KernelRecord>&) {
    const PageChange change(*page_);
    add_to(page_->waited, 1);
  });
}

void Ledger::add_swap(double milliseconds) {
  history_.use([&](std::deque<KernelRecord>&) {
    const PageChange change(*page_);
    add_to(page_->swaps, 1);
    add_ms(page_->swap_nanoseconds, milliseconds);
  });
}

// The lock keeps writers away. A reader of another process, `jitc top`, gives up after some attempts instead.
Counters Ledger::counters() const {
  return history_.use([&](const std::deque<KernelRecord>&) { return page_->read().counters; });
}

std::vector<KernelRecord> Ledger::history() const {
  return history_.use([](const std::deque<KernelRecord>& history) {
    return std::vector<KernelRecord>(history.begin(), history.end());
  });
}

TMAJIT_END
