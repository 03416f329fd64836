#pragma once

#include <tmajit/runtime.hpp>

#include <memory>
#include <string>

namespace movement {

/// The device that "auto", "gpu", "gpu:N" or "sim" names. Throws tmajit::Error{unavailable} that says what is
/// missing, Error{invalid_argument} for other names.
std::shared_ptr<tmajit::Device> open_device(const std::string& name);

/// A stream that its owner destroys.
class OwnedStream {
 public:
  explicit OwnedStream(std::shared_ptr<tmajit::Device> device)
      : device_(std::move(device)), stream_(device_->create_stream()) {}
  ~OwnedStream() { device_->destroy_stream(stream_); }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  [[nodiscard]] tmajit::Stream get() const { return stream_; }

 private:
  std::shared_ptr<tmajit::Device> device_;
  tmajit::Stream stream_;
};

}  // namespace movement
