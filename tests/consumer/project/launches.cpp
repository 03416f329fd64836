// Calls every function of <tmajit/launch/> and <tmajit/machine/>.
#include "expect.hpp"

#include <tmajit/launch/buffers.hpp>
#include <tmajit/launch/kernels.hpp>
#include <tmajit/launch/memory_image.hpp>
#include <tmajit/machine/machine.hpp>
#include <tmajit/machine/sass.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/view/page.hpp>

#include <fstream>
#include <string>
#include <vector>

using namespace tmajit;

void use_launches();

namespace {

const std::string doubling = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry doubling(.param .u64 data, .param .align 64 .b8 map[128])
{
  .reg .f32 %f<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [data];
  ld.global.f32 %f1, [%rd1];
  add.f32 %f1, %f1, %f1;
  st.global.f32 [%rd1], %f1;
  ret;
}
)";

const std::string described = R"({"grid": 1, "block": 1,
  "buffers": {"a": {"in": "a.npy", "out": "b.npy"}},
  "parameters": [{"buffer": "a"}, {"tensor_map": {"buffer": "a", "box": [4]}}]})";

void write_array(const std::filesystem::path& path) {
  const std::vector<std::uint64_t> shape{8};
  OutputArray file(path);
  const auto elements = file.reserve(npy_descr(ElementType::f32), 4, shape);
  expect(elements.size() == 32, "OutputArray::reserve()");
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = std::byte(i % 4 == 3 ? 0x3f : 0);
  file.commit();
}

void lay_out(const InputArray& array, const std::shared_ptr<Device>& device) {
  array.check(ElementType::f32);
  expect(array.type() == ElementType::f32 && array.header().shape[0] == 8, "InputArray::type()");
  expect(c_order(array.header().shape) == array.layout().strides, "c_order()");
  const TensorView view = TensorView::strided(ElementType::f32, {8}, {2});
  const MemorySpan span = MemorySpan::of(view, 0);
  const MemoryImage image = MemoryImage::of(span, view, array.data(), array.layout());
  std::vector<std::byte> memory(span.bytes);
  scatter(memory, span, view, array.data(), array.layout());
  expect(std::equal(memory.begin(), memory.end(), image.bytes.begin()), "scatter()");
  expect(first_lost_element(span, view, array.data(), array.layout()).empty(), "first_lost_element()");
  const Buffer buffer(device, span.bytes);
  copy_in(*device, buffer.address(), image.bytes);
  copy_out(*device, memory, buffer.address());
  std::vector<std::byte> back(32);
  gather(back, memory, span, view);
  expect(std::equal(back.begin(), back.end(), array.data().begin()), "gather()");
}

void launch(const std::filesystem::path& folder, const std::shared_ptr<Device>& device) {
  const LaunchDescription description = parse_launch(described);
  expect(parse_launch(launch_json(description)) == description, "launch_json()");
  const auto kernels = kernels_of(doubling, "doubling.ptx");
  expect(choose_kernel(kernels, "doubl").name == "doubling", "choose_kernel()");
  expect_error(ErrorCode::invalid_argument,
               [] { (void)parse_launch(first_launch(doubling, "doubling.ptx", "")); });
  Artifact artifact;
  artifact.ptx = doubling;
  artifact.entry = match_kernel(*description.launches().front(), kernels).name;
  DescribedLaunch described_launch(description, folder / "launch.json", device);
  const auto kernel = device->kernels().load(artifact);
  described_launch(std::vector{kernel.get()});
  expect(described_launch.buffers().download().size() == 1, "LaunchBuffers::download()");
  expect(InputArray(folder / "b.npy").data()[3] == std::byte{0x3f}, "the doubled element");
  LaunchBuffers buffers(description, folder);
  buffers.open_outputs();
  buffers.upload(device);
  expect(buffers.bytes() == 32 && buffers.parameter_bytes(description)[1].size() == 128, "parameter_bytes()");
  expect(buffers.own_launch(description).arguments.size() == 2, "own_launch()");
  expect(buffers.map_facts(description)[0].box_bytes == 16, "map_facts()");
  expect(buffers.tensor_maps(description)[0].spec.rank == 1, "tensor_maps()");
}

}  // namespace

void use_launches() {
  const Scratch folder;
  std::filesystem::create_directory(folder.path);
  const std::shared_ptr<Device> device = make_sim_device();
  write_array(folder.path / "a.npy");
  lay_out(InputArray(folder.path / "a.npy"), device);
  launch(folder.path, device);
  std::ofstream(folder.path / "k.cu") << "__global__ void k() {}\n";
  expect(read_kernel_file((folder.path / "k.cu").string()).kernel.include_folders[0] == folder.path,
         "read_kernel_file()");
  try {
    const Runtime runtime({.cache_directory = std::nullopt});
    const KernelFile file = read_kernel_file((folder.path / "k.cu").string());
    expect(compile_kernel_file(runtime, file).entry() == "_Z1kv", "compile_kernel_file()");
    expect(viewed_kernel(runtime, file).headers.empty(), "viewed_kernel() of a file");
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::unavailable, error.what());
  }
  const MachineReport machine = examine_machine(folder.path);
  expect(machine_text(machine, 80, false).find("NVRTC") != std::string::npos, "machine_text()");
  expect(machine_json(machine).starts_with("{\"compiles\""), "machine_json()");
  expect(!nvdisasm_remedy().empty(), "nvdisasm_remedy()");
  if (!find_nvdisasm()) expect_error(ErrorCode::unavailable, [] { (void)disassemble({}); });
}
