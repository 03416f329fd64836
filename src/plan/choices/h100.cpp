// Choices measured on an NVIDIA H100 80GB HBM3. Written by tools/bench/movement/ship.py.
#include "plan/shipped_choices.hpp"

TMAJIT_BEGIN
namespace {

// The members of ShapeClass in order, the fastest kernel's family and its numbers, and its microseconds.
// clang-format off
constexpr ShippedChoice h100[] = {
    {{"general", 1, 5, true, {26}, 1, {}, {20, 336, 29, 15, 5}, 0}, {"linear", {{4}, {4}, {1}}}, 15.1392},
    {{"general", 2, 6, true, {494}, 1, {1}, {8, 24, 8, 100, 10, 7}, 0}, {"flat", {{3, 24, 1, 1, 10, 7}, {128}, {16}, {0}, {0}}}, 16.8435},
    {{"transpose", 1, 2, false, {1}, 0, {}, {8500, 2048}, 0}, {"flat", {{128, 128}, {128}, {16}, {0}, {0}}}, 9.64352},
    {{"transpose", 1, 2, true, {1}, 0, {}, {41388, 2287}, 0}, {"transpose", {{128, 256}, {160}, {16}, {0}}}, 91.968},
    {{"transpose", 1, 2, true, {1}, 0, {}, {1682583, 100}, 0}, {"flat", {{256, 100}, {256}, {4}, {1}, {0}}}, 164.512},
    {{"transpose", 1, 3, true, {1}, 0, {}, {18, 4700, 447}, 0}, {"flat", {{1, 36, 447}, {256}, {8}, {0}, {1}}}, 36.6701},
    {{"transpose", 1, 5, false, {69}, 0, {}, {64, 32, 32, 64, 64}, 0}, {"transpose", {{64, 1, 1, 4, 64}, {64}, {16}, {1}}}, 186.336},
    {{"transpose", 1, 5, true, {11}, 0, {}, {7, 40, 64, 6, 745}, 0}, {"flat", {{1, 40, 1, 1, 384}, {128}, {16}, {0}, {0}}}, 65.888},
    {{"transpose", 1, 5, true, {13}, 0, {}, {39, 224, 7, 24, 14}, 0}, {"flat", {{1, 19, 7, 24, 14}, {256}, {8}, {1}, {0}}}, 19.8611},
    {{"transpose", 1, 5, true, {71}, 0, {}, {9, 13, 127, 54, 28}, 0}, {"flat", {{9, 8, 1, 10, 28}, {256}, {8}, {0}, {0}}}, 22.1331},
    {{"transpose", 2, 2, false, {1}, 0, {}, {1500, 13312}, 0}, {"transpose", {{128, 128}, {256}, {16}, {1}}}, 30.9139},
    {{"transpose", 2, 2, false, {1}, 0, {}, {20200, 512}, 0}, {"transpose", {{256, 64}, {256}, {16}, {0}}}, 12.3795},
    {{"transpose", 2, 2, true, {1}, 0, {}, {645120, 73}, 0}, {"flat", {{64, 73}, {256}, {8}, {0}, {1}}}, 69.888},
    {{"transpose", 2, 6, false, {567}, 0, {}, {3, 16, 16, 15, 43, 24}, 0}, {"linear", {{8}, {4}, {1}}}, 21.7478},
    {{"transpose", 2, 6, true, {683}, 0, {}, {8, 8, 5, 100, 96, 5}, 0}, {"flat", {{8, 2, 5, 1, 13, 5}, {128}, {16}, {0}, {0}}}, 25.049},
    {{"transpose", 4, 2, false, {1}, 0, {}, {1237, 134400}, 0}, {"transpose", {{64, 64}, {256}, {16}, {1}}}, 470.304},
    {{"transpose", 4, 4, true, {7}, 0, {}, {9, 800, 23, 131}, 0}, {"transpose", {{1, 1, 24, 96}, {160}, {16}, {0}}}, 71.712},
    {{"transpose", 4, 5, false, {37}, 0, {}, {100, 23, 76, 3, 100}, 0}, {"transpose", {{1, 1, 48, 1, 100}, {320}, {16}, {0}}}, 153.696},
};
// clang-format on
static_assert(std::ranges::is_sorted(h100, {}, &ShippedChoice::shape_class));

}  // namespace

std::span<const ShippedChoice> h100_choices() noexcept {
  return h100;
}

TMAJIT_END
