#include "support/example.hpp"

#include <tmajit/sim.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

namespace example {
namespace {

struct Arguments {
  std::string device = "auto";
  tmajit::SimOptions simulation;
  Settings settings;
  bool help = false;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The numbers of "300,520,136".
std::vector<std::uint32_t> numbers(std::string_view option, std::string_view text, std::size_t count) {
  std::vector<std::uint32_t> all;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (bool more = true; more;) {
    auto [next, error] = std::from_chars(at, end, all.emplace_back());
    if (error != std::errc()) break;
    more = next != end && *next == ',';
    at = more ? next + 1 : next;
  }
  if (at != end || all.size() != count) {
    throw UsageError("'" + std::string(option) + " " + std::string(text) + "': legal are " +
                     std::to_string(count) + " numbers with commas between");
  }
  return all;
}

tmajit::SimOptions::Mode mode(std::string_view text) {
  using enum tmajit::SimOptions::Mode;
  if (text == "late") return late;
  if (text == "early") return early;
  if (text == "random") return random;
  throw UsageError("unknown --sim-mode '" + std::string(text) + "'; legal are late, early and random");
}

std::string usage(const std::vector<Option>& own) {
  std::string text =
      "--device auto|gpu|gpu:N|sim, --sim-mode late|early|random, --compile-only, --kernel FILE, --repeat N";
  for (const Option& option : own) text += ", " + std::string(option.name);
  return text;
}

Arguments parse(int argc, char** argv, std::vector<Option> own) {
  Arguments arguments;
  arguments.settings.own = std::move(own);
  auto& options = arguments.settings.own;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto option = std::ranges::find(options, word, &Option::name);
    if (word == "--compile-only") {
      arguments.settings.compile_only = true;
    } else if (word == "--kernel" && i + 1 < argc) {
      arguments.settings.kernel_file = argv[++i];
    } else if (word == "--repeat" && i + 1 < argc) {
      arguments.settings.repeats = numbers(word, argv[++i], 1)[0];
    } else if (word == "--device" && i + 1 < argc) {
      arguments.device = argv[++i];
    } else if (word == "--sim-mode" && i + 1 < argc) {
      arguments.simulation.mode = mode(argv[++i]);
    } else if (word == "--help" || word == "-h") {
      arguments.help = true;
    } else if (option != options.end() && i + 1 < argc) {
      option->value = numbers(word, argv[++i], option->value.size());
    } else {
      throw UsageError("unexpected argument '" + std::string(word) + "'; legal are " + usage(options));
    }
  }
  return arguments;
}

/// The device that `name` selects: "gpu:N"; the first Hopper GPU ("gpu", "auto"); or the simulated device
/// ("sim", and "auto" without such a GPU).
std::shared_ptr<tmajit::Device> open(const std::string& name, const tmajit::SimOptions& simulation) {
  if (name == "sim") return tmajit::make_sim_device(simulation);
  if (name.starts_with("gpu:")) {
    int ordinal = -1;
    const char* const end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + 4, end, ordinal);
    if (parsed.ec == std::errc() && parsed.ptr == end && ordinal >= 0) return tmajit::open_gpu(ordinal);
  } else if (name == "auto" || name == "gpu") {
    for (const tmajit::DeviceInfo& gpu : tmajit::list_gpus()) {
      if (gpu.compute_major == 9 && gpu.compute_minor == 0) return tmajit::open_gpu(gpu.ordinal);
    }
    if (name == "auto") return tmajit::make_sim_device(simulation);
    return tmajit::open_gpu(0);  // throws an error that says what is missing
  }
  throw UsageError("unknown device '" + name + "'; legal are auto, sim, gpu and gpu:N with N = 0, 1, …");
}

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw UsageError("--kernel " + file + " cannot be read");
  return text;
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
    std::printf("from %s in %.3f ms\n", tmajit::name(kernel.level()).data(), kernel.times().fetch);
  }
}

}  // namespace

Session::Session(tmajit::RuntimeOptions options, Settings settings)
    : runtime_(std::move(options)), settings_(std::move(settings)) {}

const std::vector<std::uint32_t>& Session::option(std::string_view name) const {
  const auto found = std::ranges::find(settings_.own, name, &Option::name);
  if (found == settings_.own.end()) {
    throw std::logic_error("this example has no option " + std::string(name));
  }
  return found->value;
}

tmajit::Kernel Session::kernel(const tmajit::KernelPlan& plan) {
  tmajit::Kernel kernel = runtime_.kernel(plan);
  describe(kernel, plan.launch_shape().shared_bytes);
  return kernel;
}

tmajit::Kernel Session::kernel(tmajit::OwnKernel own, std::uint32_t shared_bytes) {
  if (!settings_.kernel_file.empty()) {
    own.text = text_of(settings_.kernel_file);
    own.file = settings_.kernel_file;
  }
  tmajit::Kernel kernel = runtime_.kernel(tmajit::source(own), shared_bytes);
  describe(kernel, shared_bytes);
  return kernel;
}

tmajit::Buffer Session::poisoned(std::uint64_t bytes) {
  tmajit::Buffer buffer(runtime_.device(), bytes);
  device().memory().fill(buffer.address(), std::byte{0xA5}, bytes, nullptr);
  return buffer;
}

void Session::time(const std::function<void(tmajit::Stream)>& launches, double work, std::string_view unit) {
  if (repeats() == 0) return;
  constexpr std::uint32_t back_to_back = 10;
  std::vector<float> times = device().timing().time_in_graph(repeats(), back_to_back, launches);
  std::ranges::sort(times);
  const auto print = [&](const char* which, double milliseconds, const char* end) {
    std::printf("%s %.1f us, %.1f %.*s%s", which, milliseconds * 1e3, work / (milliseconds * 1e-3),
                static_cast<int>(unit.size()), unit.data(), end);
  };
  print("median", static_cast<double>(times[times.size() / 2]), "; ");
  print("best", static_cast<double>(times[0]), "\n");
}

int run(int argc, char** argv, std::string_view about, void (*body)(Session&), std::vector<Option> own) {
  const char* const program = argc > 0 ? argv[0] : "example";
  try {
    Arguments arguments = parse(argc, argv, std::move(own));
    const Settings& settings = arguments.settings;
    if (arguments.help) {
      std::printf("%.*s\n\nUsage: %s [options]: %s\n", static_cast<int>(about.size()), about.data(), program,
                  usage(settings.own).c_str());
      for (const Option& option : settings.own) {
        std::printf("  %-10.*s %.*s\n", static_cast<int>(option.name.size()), option.name.data(),
                    static_cast<int>(option.about.size()), option.about.data());
      }
      return 0;
    }
    tmajit::RuntimeOptions options;
    if (!settings.compile_only) {
      try {
        options.device = open(arguments.device, arguments.simulation);
      } catch (const tmajit::Error& error) {
        if (error.code() != tmajit::ErrorCode::unavailable) throw;
        std::printf("skipped, no Hopper GPU: %s\n", error.what());
        return exit_skipped;
      }
      std::printf("%s\n", options.device->info().name.c_str());
    }
    Session session(std::move(options), settings);
    body(session);
    std::printf(settings.compile_only ? "compiled; not run\n" : "right\n");
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
