#pragma once

#include "sequences/backend.hpp"
#include "sequences/cases.hpp"
#include "sequences/journal.hpp"
#include "sequences/threads.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace sequences {

/// How a process ends.
enum class EndOfProcess : std::uint8_t {
  by_return,            ///< all objects are destroyed, main() returns
  by_return_with_all,   ///< main() returns while static objects hold all objects
  by_exit_with_all,     ///< exit() while static objects hold all objects
  by_exit,              ///< exit() while local objects exist, which are not destroyed
  by_exit_with_thread,  ///< like by_exit, while another thread makes calls
  at_once,              ///< _exit()
};

/// A random sequence of steps with the public API. The objects that a step creates are used and destroyed by
/// later steps.
class Sequence {
 public:
  struct Environment {
    Backend& backend;
    Journal& journal;
    const std::vector<Case>& cases;
    std::filesystem::path cache;   ///< cache folder with the kernels of all cases
    std::filesystem::path folder;  ///< folder for the sequence's files
  };
  Sequence(const Environment& environment, std::uint64_t seed);
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  /// Runs all steps. Returns how the process must end; nothing if it can run further sequences. Throws
  /// Failure.
  [[nodiscard]] std::optional<EndOfProcess> run();

  /// Whether this process was forked by the sequence.
  [[nodiscard]] bool is_child() const { return child_; }

 private:
  struct Planned {
    tmajit::Plan plan;
    std::shared_ptr<Placement> placement;
  };
  struct Prepared {
    std::vector<tmajit::PreparedLaunch> launches;
    std::shared_ptr<Placement> placement;  ///< to which they are bound
    tmajit::Chip chip;
  };
  struct Captured {
    std::unique_ptr<Graph> graph;
    std::shared_ptr<tmajit::Device> device;
    std::vector<std::shared_ptr<Placement>> writes;
  };
  struct MadeKernel {
    tmajit::Kernel kernel;
    bool loaded;  ///< whether it is loaded on a device
  };
  /// Objects of one kind, from which later steps draw.
  template <class T>
  using Pool = std::vector<std::shared_ptr<T>>;
  struct Step {
    unsigned weight;  ///< its probability, relative to the other steps
    void (Sequence::*run)();
  };
  static std::span<const Step> steps();

  // Devices and runtimes.
  void open_device();
  void drop_device();
  void make_runtime();
  void copy_runtime();
  void assign_runtime();
  void drop_runtime();
  // Plans.
  void make_plan();
  void copy_plan();
  void use_plan();
  void use_plan_at_other_addresses();
  void misuse_plan();
  void explain_plan();
  void drop_plan();
  void plan_invalid_operation();
  // Kernels and prepared launches.
  void make_kernel();
  void make_custom_kernel();
  void prepare();
  void launch();
  void rebind();
  void misuse_rebind();
  void move_launch();
  void drop_launch();
  void misuse_prepare();
  void drop_kernel();
  // Calls, threads, graphs, processes.
  void call_operation();
  void call_in_thread();
  void start_thread();
  void join_thread();
  void capture();
  void replay();
  void drop_graph_template();
  void drop_graph();
  void fork_child();

  [[nodiscard]] std::uint64_t below(std::uint64_t end) { return random_() % end; }
  [[nodiscard]] bool one_in(std::uint64_t n) { return below(n) == 0; }
  /// A random object of a pool.
  template <class T>
  [[nodiscard]] std::shared_ptr<T>& any(Pool<T>& pool) {
    return pool[below(pool.size())];
  }
  /// Adds an object. If the pool is then too large, drops a random object.
  template <class T>
  void add(Pool<T>& pool, std::shared_ptr<T> one) {
    constexpr std::size_t max_objects = 6;
    pool.push_back(std::move(one));
    if (pool.size() > max_objects) drop(pool);
  }
  /// Removes a random object from a pool.
  template <class T>
  void drop(Pool<T>& pool) {
    if (!pool.empty()) pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(below(pool.size())));
  }
  /// Throws Failure unless `f` throws Error{code}.
  template <class F>
  static void must_throw(tmajit::ErrorCode code, F&& f) {
    std::string instead = "no error";
    try {
      std::forward<F>(f)();
    } catch (const tmajit::Error& error) {
      if (error.code() == code) return;
      instead = std::string(name(error.code())) + ": " + error.what();
    }
    throw Failure("expected an error " + std::string(name(code)) + ", got " + instead);
  }
  void note(const std::string& text) { environment_.journal.note(text); }

  [[nodiscard]] tmajit::Runtime& any_runtime();
  [[nodiscard]] const Case& any_case();
  [[nodiscard]] std::shared_ptr<Placement> place(const std::shared_ptr<tmajit::Device>& device,
                                                 const Case& test_case, bool aligned = false);
  /// Calls `work` on a random stream. If the device computes, first writes the placement's data, and then
  /// checks the result.
  void run_at(const Placement& placement, const std::function<void(tmajit::Stream)>& work);
  void launch_all(const Prepared& prepared, tmajit::Stream stream);
  [[nodiscard]] std::shared_ptr<Prepared> prepare_case(const tmajit::Runtime& runtime);
  void step();
  void become_child();
  void wait_for(int child);
  void end_by(EndOfProcess how);
  [[nodiscard]] EndOfProcess random_end();
  void destroy_all();
  /// Removes all objects except the threads from their pools, and returns them in a random order.
  [[nodiscard]] std::vector<std::shared_ptr<void>> take_all();
  [[nodiscard]] bool has_devices() const { return !child_ || environment_.backend.survives_fork(); }

  Environment environment_;
  std::mt19937_64 random_;
  bool child_ = false;
  std::uint64_t steps_left_;
  std::optional<EndOfProcess> end_;
  Pool<tmajit::Device> devices_;
  Pool<tmajit::Runtime> runtimes_;
  Pool<Planned> plans_;
  Pool<MadeKernel> kernels_;
  Pool<Prepared> launches_;
  Pool<Captured> graphs_;
  Pool<Caller> callers_;
  std::vector<std::shared_ptr<void>>
      inherited_;  ///< objects of the parent process, which this child cannot use
};

/// Ends the process by `how`, after Sequence::run(). If `how` is a return from main(), returns main()'s
/// return value.
[[nodiscard]] int end_process(EndOfProcess how);

}  // namespace sequences
