#pragma once

#include "case.hpp"
#include "case_list.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace movement {

inline constexpr std::uint64_t KiB = 1024;
inline constexpr std::uint64_t MiB = 1024 * KiB;
inline constexpr std::uint64_t GiB = 1024 * MiB;

/// Types of the table of permutations; those that other libraries were measured with.
inline constexpr std::array table_types{tmajit::ElementType::f32, tmajit::ElementType::bf16,
                                        tmajit::ElementType::u8, tmajit::ElementType::f64};
inline constexpr std::array common_types{tmajit::ElementType::f32, tmajit::ElementType::bf16,
                                         tmajit::ElementType::u8};

struct Permutation {
  Shape shape;
  std::vector<std::uint32_t> axes;
};

/// The list as it grows. A case that it added can be changed until the next is added.
class CaseBuilder {
 public:
  explicit CaseBuilder(const ListOptions& options) : options_(options) {}

  [[nodiscard]] const ListOptions& options() const { return options_; }
  [[nodiscard]] std::vector<Case> take() { return std::move(cases_); }

  /// An extent of a permutation.
  [[nodiscard]] std::uint64_t extent(std::uint64_t n) const { return options_.tiny && n > 4 ? 2 + n % 7 : n; }
  /// An extent of, or a position in, a matrix of about 16384 rows or columns.
  [[nodiscard]] std::uint64_t at(std::uint64_t n) const { return options_.tiny ? n * 40 / 16384 : n; }
  /// Elements of a tensor of one dimension.
  [[nodiscard]] std::uint64_t count(std::uint64_t n) const { return options_.tiny ? 1000 + n % 97 : n; }

  Case& add(Case c) { return cases_.emplace_back(std::move(c)); }
  /// Named by its shape and axes unless it has a name.
  Case& permute(const char* group, const Permutation& permutation, tmajit::ElementType type,
                const std::string& name = {});
  Case& copy(const char* group, std::uint64_t bytes, tmajit::ElementType type, const std::string& name);
  /// An expression over arrays of one dimension, named by the expression.
  Case& map(const char* group, const std::string& expression, std::size_t inputs, tmajit::ElementType from,
            tmajit::ElementType to, std::uint64_t elements);
  /// A copy, a transpose and an exchange of the middle dimensions, of `bytes` each and named with that size.
  void series(const char* group, std::uint64_t bytes, tmajit::ElementType type,
              const std::function<void(Case&)>& finish);

 private:
  ListOptions options_;
  std::vector<Case> cases_;
};

}  // namespace movement
