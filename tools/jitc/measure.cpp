#include "measure.hpp"

#include "terminal.hpp"

#include <algorithm>
#include <vector>

namespace jitc {

Measurement measure(tmajit::Device& device, std::uint64_t bytes, std::uint32_t repeats,
                    const std::function<void()>& work) {
  const Progress progress("timing");
  work();
  device.synchronize(nullptr);
  auto times = device.time(nullptr, repeats, work);
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  const double median =
      times.size() % 2 == 1 ? times[middle] : (static_cast<double>(times[middle - 1]) + times[middle]) / 2;
  return {bytes, median, times.front(), repeats};
}

Measurement measure_launch(tmajit::Device& device, const tmajit::PreparedLaunch& launch,
                           std::uint32_t repeats) {
  return measure(device, launch.bytes_moved(), repeats, [&] { launch(nullptr); });
}

Measurement measure_copy(tmajit::Device& device, const tmajit::Operand& destination,
                         const tmajit::Operand& source, std::uint32_t repeats) {
  const auto bytes = std::min(destination.view.span_bytes(), source.view.span_bytes());
  return measure(device, 2 * bytes, repeats,
                 [&] { device.copy(destination.address, source.address, bytes, nullptr); });
}

}  // namespace jitc
