#include "sequences/journal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iostream>
#include <new>

#include <sys/mman.h>

namespace sequences {

struct Journal::Page {
  std::atomic<std::uint64_t> seed;
  std::atomic<std::uint64_t> completed;  ///< number of sequences
  std::atomic<std::uint64_t> progress;
  std::atomic<std::size_t> used;  ///< bytes of text, including those for which there was no room
  std::array<char, 65'000> text;
};

Journal::Journal(bool verbose) : verbose_(verbose) {
  void* const memory =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  page_ = new (memory) Page{};
}

Journal::~Journal() {
  ::munmap(page_, sizeof(Page));
}

void Journal::begin(std::uint64_t seed) {
  page_->seed = seed;
  page_->used = 0;
  ++page_->progress;
}

void Journal::note(std::string_view text) {
  const std::string line = (child_ ? "    in the child: " : "  ") + std::string(text) + "\n";
  if (verbose_) std::cerr << line << std::flush;
  ++page_->progress;
  const std::size_t at = page_->used.fetch_add(line.size());
  if (at >= page_->text.size()) return;
  std::memcpy(page_->text.data() + at, line.data(), std::min(line.size(), page_->text.size() - at));
}

void Journal::end() {
  ++page_->completed;
  ++page_->progress;
}

std::uint64_t Journal::seed() const {
  return page_->seed;
}
std::uint64_t Journal::completed() const {
  return page_->completed;
}
void Journal::reset_completed() {
  page_->completed = 0;
}
std::uint64_t Journal::progress() const {
  return page_->progress;
}
std::string Journal::text() const {
  return {page_->text.data(), std::min<std::size_t>(page_->used, page_->text.size())};
}

}  // namespace sequences
