#pragma once

#include "cudart/device.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

TMAJIT_BEGIN
namespace cudart {

/// Objects whose addresses are the handles that the program gets. Thread-safe; the program does not destroy
/// an object while another thread uses it.
template <class Object>
class Handles {
 public:
  explicit Handles(const char* noun) : noun_(noun) {}

  Object& add(std::unique_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    Object& added = *object;
    objects_[&added] = std::move(object);
    return added;
  }
  /// Null if no object has that handle.
  [[nodiscard]] Object* find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  /// Throws Failure if no object has that handle.
  [[nodiscard]] Object& at(const void* handle) const {
    if (Object* const found = find(handle); found != nullptr) return *found;
    throw Failure(cudaErrorInvalidResourceHandle,
                  std::string("no ") + noun_ + " has this handle; it may have been destroyed");
  }
  /// Throws Failure if no object has that handle.
  void remove(const void* handle) {
    (void)at(handle);
    const std::lock_guard lock(mutex_);
    objects_.erase(handle);
  }

 private:
  const char* noun_;
  mutable std::mutex mutex_;
  std::map<const void*, std::unique_ptr<Object>> objects_;
};

}  // namespace cudart
TMAJIT_END
