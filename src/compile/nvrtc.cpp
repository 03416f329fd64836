#include "compile/nvrtc.hpp"

#include "spec/fork_guard.hpp"
#include "spec/log.hpp"
#include "spec/process_end.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

/// CUDA 12.0 introduced sm_90a, and 12.3 PTX 8.3, which the device headers use. 12.4 is the oldest tested
/// version.
constexpr std::pair oldest{12, 4};

constexpr std::string_view not_found = "not found";

std::string last_dl_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "unknown reason";
}

std::string path_of(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code failed;
  const auto path = std::filesystem::canonical(info.dli_fname, failed);
  return failed ? info.dli_fname : path.string();
}

/// Loads libnvrtc-builtins.so.<version> from NVRTC's own folder. NVRTC opens that library by its bare name at
/// the first compile. If NVRTC came from a folder that the loader does not search, this would fail or find
/// another installation's library. A library that is already loaded under that name is used instead. Returns
/// the reason if the file exists but cannot be loaded.
std::string load_builtins(const CompilerIdentity& nvrtc) {
  const auto file = std::filesystem::path(nvrtc.path).parent_path() /
                    fmt::format("libnvrtc-builtins.so.{}.{}", nvrtc.major, nvrtc.minor);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};  // a distribution may install it elsewhere
  if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
  return fmt::format("; {} was not loaded: {}", file.string(), last_dl_error());
}

/// Counts the threads inside NVRTC. While a fork waits for them to leave, no further thread can enter; once
/// the process ends, none can.
struct Gate {
  void enter() {
    const std::lock_guard lock(entrance);
    if (closed_for_good) {
      throw Error(ErrorCode::unavailable, "nothing is compiled any more: the process is ending");
    }
    ++inside;
  }
  void leave() {
    if (--inside == 0) inside.notify_all();
  }
  void close() {
    entrance.lock();
    for (int count = inside; count != 0; count = inside) inside.wait(count);
  }

  /// Waits until no thread is inside.
  void drain() {
    close();
    entrance.unlock();
  }
  void close_for_good() {
    close();
    closed_for_good = true;
    entrance.unlock();
  }

  std::mutex entrance;
  bool closed_for_good = false;
  std::atomic<int> inside = 0;
  ForkGuard fork_guard{[this] { close(); }, [this](ForkSide) { entrance.unlock(); }};
};

Gate& the_gate() {
  // Never destroyed: a thread may still call enter() while the process ends.
  static auto& gate = *new Gate;
  return gate;
}

// Constructed while the library is loaded: a fork during its construction would leave it incomplete in the
// child.
[[maybe_unused]] const Gate& gate_at_load = []() -> Gate& {
  before_main_thread_ends([] { the_gate().drain(); });
  return the_gate();
}();

/// Makes the process, when it ends, wait for the threads inside NVRTC before it runs the exit handlers that
/// NVRTC has registered so far. These destroy state without which a compile fails or crashes.
void close_gate_at_exit() {
  std::atexit([] { the_gate().close_for_good(); });
}

/// Newest first. Only toolkits and development packages have the name without a version.
constexpr std::array file_names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::filesystem::path own_folder() {
  return std::filesystem::path(path_of(reinterpret_cast<const void*>(&nvrtc_paths))).parent_path();
}

std::vector<std::string> nvrtc_paths() {
  if (auto file = environment("TMAJIT_NVRTC"); !file.empty()) return {file};

  std::vector<std::string> paths;
  const auto add_folder = [&](const std::filesystem::path& folder) {
    if (folder.empty()) return;
    for (const char* file : file_names) paths.push_back((folder / file).string());
  };
#ifdef TMAJIT_NVRTC_HINT
  add_folder(TMAJIT_NVRTC_HINT);
#endif
  paths.insert(paths.end(), file_names.begin(), file_names.end());
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment(variable); !root.empty()) {
      add_folder(std::filesystem::path(root) / "lib64");
      add_folder(std::filesystem::path(root) / "lib");
    }
  }
  add_folder("/usr/local/cuda/lib64");
  add_folder(own_folder());
  return paths;
}

std::string nvrtc_remedy() {
  return fmt::format(
      "install the CUDA toolkit {}.{} or later, or its Python wheel nvidia-cuda-nvrtc, or set TMAJIT_NVRTC "
      "to "
      "the file libnvrtc.so.13 or libnvrtc.so.12",
      oldest.first, oldest.second);
}

NvrtcApi::Address NvrtcApi::find(const char* name) {
  if (library == nullptr) return {};
  const Address found{::dlsym(library, name)};
  if (found.address == nullptr) complete = false;
  return found;
}

NvrtcUse::NvrtcUse() {
  the_gate().enter();
}

NvrtcUse::~NvrtcUse() {
  // NVRTC registers exit handlers when it is loaded and at its first compile. Handlers run in reverse order,
  // so this one is registered after each of the two.
  static std::atomic<int> uses = 0;
  if (uses.load(std::memory_order_relaxed) < 2 && ++uses <= 2) close_gate_at_exit();
  the_gate().leave();
}

const Nvrtc& Nvrtc::instance() {
  static std::atomic<const Nvrtc*> loaded = nullptr;
  if (const Nvrtc* const nvrtc = loaded.load(std::memory_order_acquire)) return *nvrtc;
  const auto load = []() -> const Nvrtc& {
    const NvrtcUse use;
    // Never destroyed: a thread may still compile while the process ends.
    static const auto& nvrtc = *new Nvrtc(nvrtc_paths());
    return nvrtc;
  };
  const Nvrtc& nvrtc = load();
  if (loaded.exchange(&nvrtc) == nullptr) log(LogLevel::debug, "{}", nvrtc.report());
  return nvrtc;
}

Nvrtc::Nvrtc(std::span<const std::string> paths) {
  std::size_t missing = 0;
  std::string unusable;  // files that exist but are unusable, with the reasons
  const auto refuse = [&](const std::string& path, std::string_view reason) {
    log(LogLevel::debug, "NVRTC: {}: {}", path, reason);
    if (reason == not_found && paths.size() > 1) {
      ++missing;
    } else {
      unusable += fmt::format("{}{}: {}", paths.size() == 1 ? ": " : "\n  ", path, reason);
    }
  };
  for (const auto& path : paths) {
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      auto reason = last_dl_error();
      if (reason.find("No such file") != std::string::npos) reason = not_found;
      refuse(path, reason);
      continue;
    }
    const NvrtcApi api(library);
    int major = 0;
    int minor = 0;
    if (!api.complete || api.version(&major, &minor) != NVRTC_SUCCESS) {
      refuse(path, "not an NVRTC that makes cubins");
    } else if (std::pair(major, minor) < oldest) {
      refuse(path, fmt::format("NVRTC {}.{} is too old; {}.{} or later is needed", major, minor, oldest.first,
                               oldest.second));
    } else {
      const auto* address = reinterpret_cast<const void*>(api.version);
      api_ = api;
      identity_.major = major;
      identity_.minor = minor;
      identity_.path = path_of(address);
      identity_.build = build_id(address, identity_.path);
      identity_.stamp = file_stamp(identity_.path);
      report_ = fmt::format("NVRTC {}.{} ({}) from {}{}", major, minor, identity_.build, identity_.path,
                            load_builtins(identity_));
      return;
    }
    ::dlclose(library);
  }
  const std::string searched =
      missing > 0 ? fmt::format(" ({} places searched: docs/environment.md)", paths.size()) : std::string();
  throw Error(ErrorCode::unavailable,
              fmt::format("no NVRTC, CUDA's run-time compiler, on this machine{}{}\nTo get it: {}", searched,
                          unusable, nvrtc_remedy()));
}

const CompilerIdentity& compiler() {
  return Nvrtc::instance().identity();
}

TMAJIT_END
