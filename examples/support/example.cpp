#include "support/example.hpp"

#include <tmajit/sim.hpp>

#include <charconv>
#include <cstdio>
#include <exception>
#include <utility>

namespace example {
namespace {

struct Arguments {
  std::string device = "auto";
  bool compile_only = false;
  bool help = false;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--compile-only") {
      arguments.compile_only = true;
    } else if (word == "--device" && i + 1 < argc) {
      arguments.device = argv[++i];
    } else if (word == "--help" || word == "-h") {
      arguments.help = true;
    } else {
      throw UsageError("unexpected argument '" + std::string(word) +
                       "'; legal are --device auto|gpu|gpu:N|sim and --compile-only");
    }
  }
  return arguments;
}

/// The device that `name` asks for: "gpu:N", the first Hopper GPU, or the simulated one, which "auto" takes
/// where there is no such GPU.
std::shared_ptr<tmajit::Device> open(const std::string& name) {
  if (name == "sim") return tmajit::make_sim_device();
  if (name.starts_with("gpu:")) {
    int ordinal = -1;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + 4, end, ordinal);
    if (parsed.ec == std::errc() && parsed.ptr == end && ordinal >= 0) return tmajit::open_gpu(ordinal);
  } else if (name == "auto" || name == "gpu") {
    for (const tmajit::DeviceInfo& gpu : tmajit::list_gpus()) {
      if (gpu.compute_major == 9 && gpu.compute_minor == 0) return tmajit::open_gpu(gpu.ordinal);
    }
    if (name == "auto") return tmajit::make_sim_device();
    return tmajit::open_gpu(0);  // throws, and says what is missing
  }
  throw UsageError("unknown device '" + name + "'; legal are auto, sim, gpu and gpu:N with N = 0, 1, …");
}

void describe(const tmajit::Kernel& kernel, std::uint64_t dynamic_shared_bytes) {
  const tmajit::Resources& resources = kernel.resources();
  const std::uint64_t shared_bytes = resources.static_shared_bytes + dynamic_shared_bytes;
  std::printf("%s: %u registers, %u bytes spilled, %llu bytes of shared memory, cubin of %zu bytes, ",
              kernel.entry().c_str(), resources.registers, resources.spill_store_bytes,
              static_cast<unsigned long long>(shared_bytes), kernel.artifact().cubin.size());
  if (kernel.level() == tmajit::CacheLevel::compiled) {
    std::printf("compiled in %.1f ms\n", kernel.times().compile);
  } else {
    std::printf("from %s in %.3f ms\n", tmajit::name(kernel.level()), kernel.times().fetch);
  }
}

}  // namespace

Session::Session(tmajit::RuntimeOptions options, bool compile_only)
    : runtime_(std::move(options)), compile_only_(compile_only) {}

tmajit::Kernel Session::kernel(const tmajit::KernelPlan& plan) {
  tmajit::Kernel kernel = runtime_.kernel(plan);
  describe(kernel, plan.launch_shape().shared_bytes);
  return kernel;
}

tmajit::Kernel Session::kernel(const tmajit::Source& source, std::uint32_t shared_bytes) {
  tmajit::Kernel kernel = runtime_.kernel(source, shared_bytes);
  describe(kernel, shared_bytes);
  return kernel;
}

tmajit::Buffer Session::poisoned(std::uint64_t bytes) {
  tmajit::Buffer buffer(runtime_.device(), bytes);
  device().memory().fill(buffer.address(), std::byte{0xA5}, bytes, nullptr);
  return buffer;
}

int run(int argc, char** argv, std::string_view about, void (*body)(Session&)) {
  const char* const program = argc > 0 ? argv[0] : "example";
  try {
    const Arguments arguments = parse(argc, argv);
    if (arguments.help) {
      std::printf("%.*s\n\nUsage: %s [--device auto|gpu|gpu:N|sim] [--compile-only]\n",
                  static_cast<int>(about.size()), about.data(), program);
      return 0;
    }
    tmajit::RuntimeOptions options;
    if (!arguments.compile_only) {
      try {
        options.device = open(arguments.device);
      } catch (const tmajit::Error& error) {
        if (error.code() != tmajit::ErrorCode::unavailable) throw;
        std::printf("skipped, no Hopper GPU: %s\n", error.what());
        return exit_skipped;
      }
      std::printf("%s\n", options.device->info().name.c_str());
    }
    Session session(std::move(options), arguments.compile_only);
    body(session);
    std::printf(arguments.compile_only ? "compiled; not run\n" : "right\n");
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  } catch (const Mismatch& mismatch) {
    std::fprintf(stderr, "%s: wrong result: %s\n", program, mismatch.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
  }
  return 1;
}

}  // namespace example
