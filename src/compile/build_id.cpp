#include "compile/nvrtc.hpp"
#include "compile/options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include <elf.h>
#include <link.h>
#include <llvm/ADT/StringExtras.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>

TMAJIT_BEGIN

namespace {

struct Search {
  std::uintptr_t address;  ///< an address in the library
  std::string id;          ///< the library's build id, once it is found
};

/// The build id among the notes of one PT_NOTE segment; empty if there is none.
std::string find_note(std::span<const std::uint8_t> notes) {
  constexpr std::string_view owner{"GNU\0", 4};
  const auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const std::size_t name_bytes = padded(header.n_namesz);
    const std::size_t value_bytes = padded(header.n_descsz);
    if (name_bytes > notes.size() || header.n_descsz > notes.size() - name_bytes) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == owner.size() &&
        std::memcmp(notes.data(), owner.data(), owner.size()) == 0) {
      return llvm::toHex(llvm::ArrayRef(notes.data() + name_bytes, header.n_descsz), /*LowerCase=*/true);
    }
    notes = notes.subspan(std::min(name_bytes + value_bytes, notes.size()));
  }
  return {};
}

/// Called by dl_iterate_phdr for each loaded library. `data` points to the Search.
int visit_library(dl_phdr_info* library, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::span headers(library->dlpi_phdr, library->dlpi_phnum);
  const bool holds_address = std::any_of(headers.begin(), headers.end(), [&](const ElfW(Phdr) & header) {
    const std::uintptr_t begin = library->dlpi_addr + header.p_vaddr;
    return header.p_type == PT_LOAD && search.address >= begin && search.address - begin < header.p_memsz;
  });
  if (!holds_address) return 0;
  for (const auto& header : headers) {
    if (header.p_type != PT_NOTE || !search.id.empty()) continue;
    const std::uintptr_t begin = library->dlpi_addr + header.p_vaddr;
    const auto* notes = reinterpret_cast<const std::uint8_t*>(begin);  // NOLINT(performance-no-int-to-ptr)
    search.id = find_note({notes, header.p_memsz});
  }
  return 1;  // no other library holds the address
}

}  // namespace

std::string build_id(const void* address, const std::string& path) {
  Search search{reinterpret_cast<std::uintptr_t>(address), {}};
  ::dl_iterate_phdr(visit_library, &search);
  return search.id.empty() ? file_stamp(path) : search.id;
}

std::string file_stamp(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
  return fmt::format("{}-{}.{}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

bool is_installed(const CompilerIdentity& compiler) {
  const char* const chosen = std::getenv("TMAJIT_NVRTC");
  if (chosen != nullptr && *chosen != '\0' && compiler.path != chosen) return false;
  return !compiler.stamp.empty() && file_stamp(compiler.path) == compiler.stamp;
}

TMAJIT_END
