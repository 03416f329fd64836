#include "ops/run_stencil.hpp"

#include "operations/stencil/reference.hpp"
#include "reference/closeness.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/plan.hpp>

#include <cstring>
#include <sstream>
#include <vector>

using namespace tmajit;
using reference::RandomStencil, reference::StencilOperand;

namespace tests {
namespace {

/// An operand on the device and in host memory.
struct Placed {
  Buffer buffer;
  std::vector<std::byte> host;
  Tensor on_device;
  Tensor on_host;

  Placed(const Runtime& runtime, const StencilOperand& operand, std::uint64_t seed)
      : buffer(runtime.device(), operand.bytes), host(operand.bytes) {
    reference::RandomElements(operand.view.type, seed).fill(host);
    on_device = {operand.view, buffer.address() + operand.first};
    on_host = {operand.view, reinterpret_cast<DevicePtr>(host.data()) + operand.first};
    runtime.device()->memory().copy_in(buffer.address(), host, nullptr);
  }
};

}  // namespace

std::string run_stencil(const Runtime& runtime, const RandomStencil& stencil, std::uint64_t seed,
                        const StencilChoice& choice) {
  const Placed destination(runtime, stencil.destination, seed);
  std::vector<Placed> sources;
  std::vector<Tensor> on_device;
  std::vector<Tensor> on_host;
  for (const StencilOperand& source : stencil.sources) {
    const Placed& placed = sources.emplace_back(runtime, source, ++seed);
    on_device.push_back(placed.on_device);
    on_host.push_back({placed.on_host});
  }
  const Operation operation =
      operation::stencil(destination.on_device, stencil.expression, on_device, stencil.stencil);
  const std::vector<KernelPlan> plans = plan_candidates(operation.moves.front(), {.chip = runtime.chip()});
  const KernelPlan& plan = plans[choice(plans)];
  runtime.kernel(plan).launch(plan);
  runtime.device()->streams().synchronize(nullptr);
  std::vector<std::byte> found(destination.host.size());
  runtime.device()->memory().copy_out(found, destination.buffer.address(), nullptr);
  runtime.device()->streams().synchronize(nullptr);

  const auto expression = reference::Expression::parse(stencil.expression);
  if (!expression) return "the reference does not understand " + stencil.expression;
  // On other bytes the reference leaves the same in elements, and those bytes between them.
  const auto computed = [&](std::vector<std::byte>& bytes) {
    const Tensor to{stencil.destination.view,
                    reinterpret_cast<DevicePtr>(bytes.data()) + stencil.destination.first};
    reference::stencil(to, *expression, on_host, stencil.stencil, reference::whole(to.view));
  };
  std::vector<std::byte> expected = destination.host;
  std::vector<std::byte> elsewhere = destination.host;
  for (std::byte& byte : elsewhere) byte = ~byte;
  computed(expected);
  computed(elsewhere);
  const ElementType type = stencil.destination.view.type;
  const bool in_f32 = reference::computes_in_f32(on_host);
  const std::uint32_t size = size_of(type);
  for (std::uint64_t at = 0; at < found.size(); ++at) {
    if (found[at] == expected[at]) continue;
    const bool in_element = expected[at] == elsewhere[at];
    const std::uint64_t element =
        in_element ? at - (at + size - stencil.destination.first % size) % size : at;
    if (in_element && reference::is_close(type, in_f32, &found[element], &expected[element])) continue;
    std::ostringstream out;
    out << plan.choice().text() << ": byte " << at << " of " << found.size();
    if (in_element) {
      out << ", of an element that is " << reference::bits_text(type, &found[element]) << ", not "
          << reference::bits_text(type, &expected[element]);
    } else {
      out << ", between elements, has changed";
    }
    return out.str();
  }
  return {};
}

}  // namespace tests
