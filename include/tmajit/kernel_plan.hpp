#pragma once

#include <tmajit/chip.hpp>
#include <tmajit/device.hpp>
#include <tmajit/prediction.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A kernel family: one way of moving or computing, one template.
struct FamilyInfo {
  std::string_view name;     ///< "transpose"; the kernel's entry is "tmajit_transpose"
  std::string_view summary;  ///< one sentence
  /// The operations that a planner may use the family for: "copy", "pad", "map"; "tiles", if the caller may
  /// choose its tile. Unused entries are empty.
  std::array<std::string_view, 3> operations;
  bool computes = false;  ///< takes an expression
  std::uint32_t max_inputs = 1;
  bool flat = false;           ///< sees memory as one row: arrays are flattened for it
  bool writes_images = false;  ///< writes the tiles' images in shared memory instead of elements

  [[nodiscard]] constexpr bool does(std::string_view wanted) const noexcept {
    return std::ranges::find(operations, wanted) != operations.end();
  }
};

/// Every family, in the order in which a planner asks them.
[[nodiscard]] TMAJIT_API std::span<const FamilyInfo> families() noexcept;
/// The family of that name. Throws Error{invalid_argument} that lists the names.
[[nodiscard]] TMAJIT_API const FamilyInfo& find_family(std::string_view name);

/// One parameter of a kernel.
struct Parameter {
  std::string type;          ///< in the source: "params::ViewPair<2>", "params::TensorMap", "const f32*"
  std::string name;          ///< "views"
  std::uint32_t offset = 0;  ///< in KernelPlan::parameter_bytes()
  std::uint32_t bytes = 0;
  int map_of = -1;  ///< the operand whose tensor map it is, 0 the destination; −1 for any other parameter
  std::optional<TensorMapSpec> map = {};  ///< that map; its address is operand_address(map_of)'s
};

/// The free parameters of a kernel, which affect only its speed. A tuner measures choices, and tuning tables
/// store them. Each family has its own numbers, in its own order.
struct KernelChoice {
  static constexpr std::uint32_t version = 2;  ///< version of the families' numbers
  struct Number {
    std::string_view name;                              ///< "threads", "tile"
    std::array<std::uint32_t, max_view_rank> values{};  ///< one value, or a box's extents; then zeros
    bool is_box = false;
    // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is compared
    friend auto operator<=>(const Number&, const Number&) = default;
  };
  std::string_view family;  ///< name of one of families()
  std::vector<Number> numbers = {};
  friend auto operator<=>(const KernelChoice&, const KernelChoice&) = default;
  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;

  /// The number or box of that name; a box has as many numbers as dimensions. Throws Error{invalid_argument}
  /// that lists the names if there is none.
  [[nodiscard]] TMAJIT_API std::uint32_t number(std::string_view name) const;
  [[nodiscard]] TMAJIT_API std::span<const std::uint32_t> box(std::string_view name) const;
  /// "transpose 64x64, 256 threads, source order", for people.
  [[nodiscard]] TMAJIT_API std::string text() const;
};

/// The work of a kernel, and the resources of an SM that it needs.
struct KernelShape {
  std::vector<std::uint32_t> tile;  ///< elements of a CTA's tile
  std::uint64_t tiles = 0;          ///< tiles that CTAs process
  std::uint32_t threads = 0;        ///< threads of a CTA
  std::uint32_t stages = 1;         ///< tiles of a CTA in flight at once
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t ctas_per_sm = 0;      ///< CTAs that fit, by threads, shared memory and the registers expected
  std::uint64_t bytes_in_flight = 0;  ///< bytes of loads that a CTA has in flight
};

struct KernelPlanState;

/// A kernel to run, as a pure value: its family, the facts that it is specialised for, the user's expression,
/// its parameters and its launch. Made without a compiler, a driver or a device; two plans with equal keys
/// share a kernel. Cheap to copy; const use is thread-safe.
class TMAJIT_API KernelPlan {
 public:
  [[nodiscard]] const FamilyInfo& family() const noexcept;
  /// The bytes that identify a kernel: family, facts, expression. Plans with equal keys have equal sources.
  [[nodiscard]] std::string_view key() const noexcept;
  [[nodiscard]] std::string_view expression() const noexcept;
  [[nodiscard]] std::string_view epilogue() const noexcept;  ///< of a reduction
  [[nodiscard]] const LaunchShape& launch_shape() const noexcept;
  [[nodiscard]] KernelShape shape() const;
  /// The planner's free choices.
  [[nodiscard]] KernelChoice choice() const;
  /// One sentence: why the planner chose a kernel of this family.
  [[nodiscard]] std::string why() const;

  /// The parameters, in the order in which the kernel takes them.
  [[nodiscard]] std::vector<Parameter> parameters() const;
  /// The parameters' bytes for the planned tensors. Bytes of tensor maps, which a device encodes, are zero.
  [[nodiscard]] std::span<const std::byte> parameter_bytes() const noexcept;

  /// Address of the first element of a kernel's operand, as planned; 0 is the destination, then the sources.
  [[nodiscard]] DevicePtr operand_address(std::uint32_t operand) const noexcept;

  [[nodiscard]] std::uint64_t bytes_read() const noexcept;  ///< each element once
  [[nodiscard]] std::uint64_t bytes_written() const noexcept;
  [[nodiscard]] std::uint64_t bytes_moved() const noexcept { return bytes_read() + bytes_written(); }
  /// Microseconds by the cost model; 0 for an empty batch of copies.
  [[nodiscard]] double predicted_us() const noexcept { return prediction().us; }
  [[nodiscard]] const Prediction& prediction() const noexcept;
  /// Whether many problems share this kernel. The planner chooses any other kernel only if a measurement
  /// chose it, or if it is predicted to be far faster.
  [[nodiscard]] bool common() const noexcept;
  /// Whether this kernel is the default choice for most problems of its kind.
  [[nodiscard]] bool is_default() const noexcept;
  /// Whether a measurement chose this kernel, not the model.
  [[nodiscard]] bool tuned() const noexcept;

  // Copied, never moved: a handle is always valid.
  KernelPlan(const KernelPlan&) = default;
  KernelPlan& operator=(const KernelPlan&) = default;
  ~KernelPlan() = default;

 private:
  friend struct Inside;
  explicit KernelPlan(std::shared_ptr<const KernelPlanState> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const KernelPlanState> state_;
};

TMAJIT_END
