#include "runtime/counter_page.hpp"

#include "files/files.hpp"
#include "spec/log.hpp"
#include "spec/refuse.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

constexpr std::size_t page_bytes = (sizeof(CounterPage) + 4095) / 4096 * 4096;
constexpr std::string_view file_suffix = ".stats";

std::uint64_t relaxed(const CounterPage::Number& number) {
  return number.load(std::memory_order_relaxed);
}

double relaxed_ms(const CounterPage::Number& nanoseconds) {
  constexpr double nanoseconds_in_ms = 1e6;
  return static_cast<double>(relaxed(nanoseconds)) / nanoseconds_in_ms;
}

std::string read_text(const CounterPage::Text& text) {
  std::string result;
  for (const CounterPage::Number& word : text) {
    const std::uint64_t bytes = relaxed(word);
    for (unsigned i = 0; i < 8; ++i) {
      const char c = static_cast<char>(bytes >> (8 * i));
      if (c == '\0') return result;
      result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return result;
}

PublishedCounters read_once(const CounterPage& page) {
  PublishedCounters read{.process = static_cast<int>(relaxed(page.process)),
                         .program = read_text(page.program),
                         .counters = {},
                         .last_kernel = read_text(page.last_kernel)};
  Counters& counters = read.counters;
  for (std::size_t i = 0; i < Counters::levels; ++i) counters.requests[i] = relaxed(page.requests[i]);
  for (const LaneHits& lane : page.memory) counters.requests[0] += relaxed(lane.count);
  counters.failures = relaxed(page.failures);
  auto& [generate, key, fetch, compile, store, load] = counters.times;
  std::size_t stage = 0;
  for (double* const time : {&generate, &key, &fetch, &compile, &store, &load})
    *time = relaxed_ms(page.nanoseconds[stage++]);
  counters.bytes_read = relaxed(page.bytes_read);
  counters.bytes_written = relaxed(page.bytes_written);
  counters.bytes_loaded = relaxed(page.bytes_loaded);
  counters.served = relaxed(page.served);
  counters.waited = relaxed(page.waited);
  counters.swaps = relaxed(page.swaps);
  counters.swap_ms = relaxed_ms(page.swap_nanoseconds);
  return read;
}

/// A page of another process's file, mapped for reading.
class MappedPage {
 public:
  explicit MappedPage(int descriptor)
      : memory_(::mmap(nullptr, page_bytes, PROT_READ, MAP_SHARED, descriptor, 0)) {}
  ~MappedPage() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, page_bytes);
  }
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;
  [[nodiscard]] const CounterPage* get() const {
    return memory_ == MAP_FAILED ? nullptr : static_cast<const CounterPage*>(memory_);
  }

 private:
  void* memory_;
};

/// The counters in a file; nothing for a file that is none of a runtime, or whose process has ended, which is
/// removed.
std::optional<PublishedCounters> read_published(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::optional<PublishedCounters> result;
  std::error_code error;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    std::filesystem::remove(file, error);
  } else if (::lseek(descriptor, 0, SEEK_END) == static_cast<off_t>(page_bytes)) {
    const MappedPage page(descriptor);
    if (page.get() != nullptr && relaxed(page.get()->magic) == CounterPage::expected_magic)
      result = page.get()->read();
  }
  ::close(descriptor);
  return result;
}

}  // namespace

PublishedCounters CounterPage::read() const {
  // A writer takes well below a microsecond. One that was stopped must not hang a reader.
  constexpr int most_attempts = 1000;
  PublishedCounters result;
  for (int i = 0; i < most_attempts; ++i) {
    const std::uint64_t before = sequence.load(std::memory_order_acquire);
    result = read_once(*this);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && relaxed(sequence) == before) break;
  }
  return result;
}

void CounterPage::write(Text& text, std::string_view value) {
  value = value.substr(0, text.size() * 8 - 1);
  for (Number& word : text) {
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < 8 && i < value.size(); ++i)
      bytes |= std::uint64_t{static_cast<unsigned char>(value[i])} << (8 * i);
    word.store(bytes, std::memory_order_relaxed);
    value.remove_prefix(std::min<std::size_t>(8, value.size()));
  }
}

SharedCounterPage::SharedCounterPage(std::optional<std::filesystem::path> directory)
    : directory_(std::move(directory)) {
  map(nullptr);
}

SharedCounterPage::~SharedCounterPage() {
  ::munmap(page_, page_bytes);
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());
  ::close(descriptor_);
}

void SharedCounterPage::make_file() {
  static std::atomic<unsigned> number = 0;
  std::error_code error = make_private_folder(*directory_);
  const auto last_error = [] { return std::error_code(errno, std::generic_category()); };
  file_ = *directory_ / fmt::format("{}-{}{}", ::getpid(), ++number, file_suffix);
  const std::filesystem::path unlocked = file_.string() + ".new";
  if (!error) {
    ::unlink(unlocked.c_str());  // of an ended process with the same id
    descriptor_ = ::open(unlocked.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor_ < 0) error = last_error();
  }
  if (!error && ::flock(descriptor_, LOCK_SH | LOCK_NB) != 0) error = last_error();
  // Without reserved bytes, a full disk would end the process by a signal when it first writes to the page.
  if (!error) error = {::posix_fallocate(descriptor_, 0, page_bytes), std::generic_category()};
  // Readers see the file only when it is locked.
  if (!error && ::rename(unlocked.c_str(), file_.c_str()) != 0) error = last_error();
  if (!error) return;
  // A child that was just forked may not log: the logger's locks are still taken.
  if (page_ == nullptr)
    log(LogLevel::warn, "counters are not published in {}: {}", directory_->string(), error.message());
  if (descriptor_ < 0) return;
  ::unlink(unlocked.c_str());
  ::close(std::exchange(descriptor_, -1));
}

void SharedCounterPage::map(void* at) {
  if (directory_) make_file();
  const int fixed = at == nullptr ? 0 : MAP_FIXED;
  const int flags = fixed | (descriptor_ < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  void* memory = ::mmap(at, page_bytes, PROT_READ | PROT_WRITE, flags, descriptor_, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  page_ = new (memory) CounterPage{};
  page_->process = static_cast<std::uint64_t>(::getpid());
  CounterPage::write(page_->program, program_invocation_short_name);
  page_->magic.store(CounterPage::expected_magic, std::memory_order_release);
}

void SharedCounterPage::after_fork(ForkSide side) {
  if (side == ForkSide::parent) return;
  // The parent still holds the lock on its file. The child's page replaces the parent's at the same address.
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  map(page_);
}

std::vector<PublishedCounters> published_counters(const std::filesystem::path& directory) {
  std::vector<PublishedCounters> result;
  std::error_code error;
  std::filesystem::directory_iterator file(directory, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    if (file->path().extension() != file_suffix) continue;
    if (auto published = read_published(file->path())) result.push_back(*std::move(published));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    fail(ErrorCode::io, "cannot list {}: {}", directory.string(), error.message());
  std::ranges::stable_sort(result, {}, &PublishedCounters::process);
  return result;
}

TMAJIT_END
