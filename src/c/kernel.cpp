#include "c/kernel_source.hpp"
#include "c/launches.hpp"

#include <tmajit/launch/kernels.hpp>
#include <tmajit/machine/sass.hpp>

#include <memory>
#include <string>
#include <utility>

struct tmajit_prepared {
  std::shared_ptr<tmajit::Device> device;
  tmajit::PreparedLaunch launch;
};

TMAJIT_BEGIN
namespace c {
namespace {

/// One part of a kernel, as tmajit_kernel_text() gives it.
std::string part_of(const Artifact& artifact, std::int32_t part) {
  switch (part) {
    case TMAJIT_KERNEL_SOURCE: return artifact.source;
    case TMAJIT_KERNEL_PTX: return artifact.ptx;
    case TMAJIT_KERNEL_CUBIN:
      return {reinterpret_cast<const char*>(artifact.cubin.data()), artifact.cubin.size()};
    case TMAJIT_KERNEL_LOG: return artifact.log;
    case TMAJIT_KERNEL_SASS:
      if (artifact.cubin.empty())
        fail(ErrorCode::unsupported, "'{}' has no machine code: it was compiled for the simulated device",
             artifact.entry);
      return disassemble(artifact.cubin);
    default:
      refuse("part is {}; legal are TMAJIT_KERNEL_SOURCE, {}, to TMAJIT_KERNEL_SASS, {}", part,
             static_cast<int>(TMAJIT_KERNEL_SOURCE), static_cast<int>(TMAJIT_KERNEL_SASS));
  }
}

}  // namespace
}  // namespace c
TMAJIT_END

using namespace tmajit;

tmajit_status tmajit_kernel_make(tmajit_runtime* runtime, const tmajit_kernel_source* kernel_source,
                                 tmajit_kernel** kernel, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(kernel, "kernel");
    const Runtime& cpp_runtime = c::require_non_null(runtime, "runtime").runtime;
    const tmajit_kernel_source c_source = c::read(kernel_source, "source");
    *kernel = new tmajit_kernel{
        .device = cpp_runtime.device(),
        .kernel = cpp_runtime.kernel(source(c::to_own_kernel(c_source)), c_source.shared_bytes)};
  });
}

tmajit_status tmajit_kernel_load_ptx(tmajit_runtime* runtime, const char* ptx, size_t ptx_bytes,
                                     const char* entry, uint32_t shared_bytes, tmajit_kernel** kernel,
                                     tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(kernel, "kernel");
    SimDevice& simulator = c::simulator_of(runtime);
    const auto bytes = c::array(ptx, ptx_bytes, "ptx");
    auto made = std::make_unique<tmajit_kernel>();
    made->device = runtime->runtime.device();
    made->artifact.ptx.assign(bytes.begin(), bytes.end());
    made->artifact.entry =
        choose_kernel(kernels_of(made->artifact.ptx, "ptx"), std::string(c::text(entry)), "entry").name;
    auto loaded = simulator.kernels().load(made->artifact);
    loaded->allow_shared_bytes(shared_bytes);
    made->loaded = std::move(loaded);
    *kernel = made.release();
  });
}

void tmajit_kernel_destroy(tmajit_kernel* kernel) {
  delete kernel;
}

const char* tmajit_kernel_entry(const tmajit_kernel* kernel) {
  if (kernel == nullptr) return "";
  return kernel->kernel ? kernel->kernel->entry().c_str() : kernel->artifact.entry.c_str();
}

tmajit_status tmajit_kernel_text(const tmajit_kernel* kernel, int32_t part, tmajit_text** text,
                                 tmajit_error** error) {
  return c::store_text(
      text, error, [&] { return c::part_of(c::artifact_of(c::require_non_null(kernel, "kernel")), part); });
}

tmajit_status tmajit_kernel_resources(const tmajit_kernel* kernel, tmajit_resources* resources,
                                      tmajit_error** error) {
  return c::guarded(error, [&] {
    const tmajit_kernel& handle = c::require_non_null(kernel, "kernel");
    const Resources found = handle.kernel ? handle.kernel->resources() : handle.artifact.resources;
    c::fill(resources, "resources",
            {.size = 0,
             .registers = found.registers,
             .spill_store_bytes = found.spill_store_bytes,
             .spill_load_bytes = found.spill_load_bytes,
             .stack_bytes = found.stack_bytes,
             .static_shared_bytes = found.static_shared_bytes,
             .barriers = found.barriers});
  });
}

tmajit_status tmajit_kernel_launch(const tmajit_kernel* kernel, const tmajit_launch* launch, void* stream,
                                   tmajit_error** error) {
  return c::guarded(error, [&] {
    const tmajit_kernel& handle = c::require_non_null(kernel, "kernel");
    const OwnLaunch own = c::to_launch(launch);
    if (handle.kernel) {
      handle.kernel->prepare(own)(c::to_stream(stream));
    } else {
      c::launch_loaded(handle, own, c::to_stream(stream));
    }
  });
}

tmajit_status tmajit_kernel_prepare(const tmajit_kernel* kernel, const tmajit_launch* launch,
                                    tmajit_prepared** prepared, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(prepared, "prepared");
    const tmajit_kernel& handle = c::require_non_null(kernel, "kernel");
    if (!handle.kernel) {
      fail(ErrorCode::unsupported, "'{}' was loaded from PTX: launch it by tmajit_kernel_launch()",
           handle.artifact.entry);
    }
    *prepared = new tmajit_prepared{handle.device, handle.kernel->prepare(c::to_launch(launch))};
  });
}

void tmajit_prepared_destroy(tmajit_prepared* prepared) {
  delete prepared;
}

tmajit_status tmajit_prepared_launch(const tmajit_prepared* prepared, void* stream, tmajit_error** error) {
  return c::guarded(error, [&] { c::require_non_null(prepared, "prepared").launch(c::to_stream(stream)); });
}

tmajit_status tmajit_prepared_rebind(tmajit_prepared* prepared, const uint64_t* addresses,
                                     size_t address_count, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::require_non_null(prepared, "prepared")
        .launch.rebind(List<DevicePtr>(c::array(addresses, address_count, "addresses")));
  });
}
