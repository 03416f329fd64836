#pragma once

#include "driver/api.hpp"

#include <tmajit/device.hpp>

#include <functional>

TMAJIT_BEGIN
namespace driver {

/// Work that was captured from a stream, to be launched as a whole.
class Graph {
 public:
  /// Captures what `work` enqueues on `stream`, which is not the default stream. Throws what `work` throws,
  /// and Error{device_failed}.
  Graph(const Api& api, Stream stream, const std::function<void()>& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(Stream stream) const;

 private:
  const Api& api_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace driver
TMAJIT_END
