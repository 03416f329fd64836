#pragma once

#include <tmajit/device.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace sequences {

/// Work that was captured from a stream.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  virtual ~Graph() = default;
  virtual void launch(tmajit::Stream stream) const = 0;
  /// Destroys the captured graph; the executable graph stays.
  virtual void drop_template() = 0;
};

/// Opens devices of one kind, and says what they support. It must be constructed in the process that uses it.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::shared_ptr<tmajit::Device> open() = 0;
  /// Whether memory keeps written bytes, and kernels compute.
  [[nodiscard]] virtual bool computes() const = 0;
  /// Whether a forked child can continue to use the devices of its parent.
  [[nodiscard]] virtual bool survives_fork() const = 0;
  [[nodiscard]] virtual bool has_graphs() const { return false; }
  /// Captures the launches that `work` enqueues on `stream`. `threads_allocate`: other threads may allocate
  /// meanwhile.
  [[nodiscard]] virtual std::unique_ptr<Graph> capture(tmajit::Stream stream, std::uint64_t mode,
                                                       bool threads_allocate,
                                                       const std::function<void()>& work);
  /// Throws Failure if a device's resource has leaked. All handles must have been destroyed.
  virtual void check_nothing_left() {}
};

/// "null", "sim" or "gpu:0". Throws Error{unavailable} where there is no such GPU, and
/// std::invalid_argument for another name.
[[nodiscard]] std::unique_ptr<Backend> make_backend(std::string_view device);

}  // namespace sequences
