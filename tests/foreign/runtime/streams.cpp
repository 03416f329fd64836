// Streams and events: everything has happened when the call that asks for it returns.
#include "device.hpp"

#include <chrono>

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point& time_of(cudaEvent_t event) {
  return *reinterpret_cast<Clock::time_point*>(event);
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceSynchronize() {
  return stand_in::last_error(false);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return stand_in::last_error(false);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new Clock::time_point);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete &time_of(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  time_of(event) = Clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(time_of(to) - time_of(from)).count();
  return cudaSuccess;
}

}  // extern "C"
