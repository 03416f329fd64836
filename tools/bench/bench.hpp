#pragma once

#include "options.hpp"
#include "raw_driver.hpp"
#include "report.hpp"

#include <tmajit/runtime.hpp>

#include <memory>
#include <optional>

namespace bench {

/// What a GPU measurement works with.
struct Gpu {
  /// Throws tmajit::Error{unavailable} if there is no such GPU or it is no Hopper one.
  explicit Gpu(int ordinal)
      : driver(
            ordinal),  // makes the context that the library then finds, so that both launch in the same one
        device(tmajit::open_gpu(ordinal)),
        runtime({.device = device}),
        stream(device->create_stream()) {}

  RawDriver driver;
  std::shared_ptr<tmajit::Device> device;
  tmajit::Runtime runtime;
  tmajit::Stream stream;
};

/// The bandwidth of every family, type and size that the options name.
void measure_bandwidth(const Options& options, Gpu& gpu, Report& report);
/// Compiling, from disk, from memory; needs no GPU.
void measure_jit(const Options& options, Report& report);
/// Host time of a launch.
void measure_launch(const Options& options, Gpu& gpu, Report& report);
/// The best of many specs of one family.
void sweep(const Options& options, Gpu& gpu, Report& report);
/// `--probe`: times one first compile in this process and prints its milliseconds.
void run_probe(const std::string& probe);

}  // namespace bench
