/// Mistakes that the device headers reject at compile time, each with a message that says what is legal.
#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Misuse {
  const char* header;
  const char* right;    ///< code that compiles
  const char* wrong;    ///< code that does not compile
  const char* message;  ///< error message
};

constexpr const char* use_words = "extern __shared__ u64 words[]; ";

const Misuse misuses[] = {
    {"barrier", "Barrier<>(words[0]).init(1, true).wait(0u);", "Barrier<>(words[0]).wait(0u);",
     "this barrier was never initialised: use what init() returns"},
    {"barrier", "Barrier<>(words[0]).init(1, true).expect(16);", "Barrier<>(words[0]).expect(16);",
     "this barrier was never initialised"},
    {"barrier", "auto b = Barrier<>(words[0]).init(1, true); b.arrive(); b.invalidate(true);",
     "auto b = Barrier<>(words[0]).init(1, true); b.invalidate(true).arrive();",
     "this barrier has been invalidated"},
    {"barrier", "auto b = Barrier<>(words[0]).init(1, true).invalidate(true).init(2, true);",
     "auto b = Barrier<>(words[0]).init(1, true).init(2, true);",
     "invalidate it before it is initialised again"},
    {"pipeline", "auto p = Pipeline<2>(1024).init(1, 1, true).producer();",
     "auto p = Pipeline<2>(1024).producer();",
     "this pipeline was never initialised: use what init() returns"},
    {"pipeline", "auto s = Pipeline<2>(1024).init(1, 1, true).producer().acquire(16);",
     "auto s = Pipeline<2>(1024).init(1, 1, true).consumer().acquire(16);",
     "a consumer's handle acquires no stage to fill: it calls wait() and release()"},
    {"pipeline", "auto s = Pipeline<2>(1024).init(1, 1, true).consumer().wait();",
     "auto s = Pipeline<2>(1024).init(1, 1, true).producer().wait();",
     "it calls acquire(), which waits for a free one"},
    {"pipeline", "Pipeline<2>(1024).init(1, 1, true).consumer().release();",
     "Pipeline<2, PipelineScope::cluster>(1024).init(1, 1, true).consumer().release();", "release_to(rank)"},
    {"pipeline", "Pipeline<2> p(1024);", "Pipeline<0> p(1024);", "a pipeline has a stage or more"},

    {"reduction", "bulk_reduce<Reduction::add>(reinterpret_cast<float*>(memory), 256, 16);",
     "bulk_reduce<Reduction::min>(reinterpret_cast<float*>(memory), 256, 16);",
     "the copy engine does not reduce elements of this type so: it adds u32, i32, u64, float"},
    {"reduction", "bulk_reduce<Reduction::add>(reinterpret_cast<double*>(memory), 256, 16);",
     "tensor_reduce<Reduction::add, double>(map, Coordinates<1>{0}, 256);", "so through a tensor map"},
    {"reduction", "tensor_reduce<Reduction::bit_or, u64>(map, Coordinates<1>{0}, 256);",
     "tensor_reduce<Reduction::bit_or, i64>(map, Coordinates<1>{0}, 256);",
     "and, or, xor of u32, i32 and u64"},
    {"reduction", "bulk_reduce_shared<Reduction::add, u64>(256, 512, 16, 1024);",
     "bulk_reduce_shared<Reduction::add, float>(256, 512, 16, 1024);",
     "so into shared memory: it adds u32, i32 and u64"},
    {"reduction", "bulk_reduce<Reduction::bit_xor>(reinterpret_cast<i64*>(memory), 256, 16);",
     "bulk_reduce<Reduction::bit_xor>(reinterpret_cast<u16*>(memory), 256, 16);",
     "integers of four and eight bytes"},
    {"reduction", "bulk_reduce<Reduction::inc>(reinterpret_cast<u32*>(memory), 256, 16);",
     "bulk_reduce<Reduction::inc>(reinterpret_cast<i32*>(memory), 256, 16);", "inc and dec of u32"},

    {"matrix_tile", "MatrixTile<u16, MapSwizzle::b128, Major::k, 64, 64>::descriptor(1024);",
     "MatrixTile<u16, MapSwizzle::b64, Major::k, 64, 64>::descriptor(1024);",
     "the box's rows are longer than the swizzle's span"},
    {"matrix_tile", "MatrixTile<u16, MapSwizzle::none, Major::k, 64, 8>::descriptor(1024);",
     "MatrixTile<u16, MapSwizzle::none, Major::k, 64, 64>::descriptor(1024);",
     "without a swizzle wgmma reads boxes of 16 bytes a row"},
    {"matrix_tile", "MatrixTile<u16, MapSwizzle::b128, Major::mn, 64, 64>::descriptor(1024);",
     "MatrixTile<float, MapSwizzle::b128, Major::mn, 64, 32>::descriptor(1024);",
     "wgmma reads only elements of two bytes along M or N"},
    {"matrix_tile", "MatrixTile<u16, MapSwizzle::b128, Major::mn, 16, 64>::descriptor(1024);",
     "MatrixTile<u16, MapSwizzle::b128, Major::mn, 16, 32>::descriptor(1024);",
     "along M or N the box's rows must be as long as the swizzle's span"},
    {"matrix_tile", "MatrixTile<u8, MapSwizzle::b128, Major::k, 8, 96>::descriptor(1024);",
     "MatrixTile<u8, MapSwizzle::b128, Major::k, 8, 80>::descriptor(1024);",
     "wgmma reads 32 bytes along K at a time"},
    {"matrix_tile", "MatrixTile<u8, MapSwizzle::b128, Major::k, 8, 128>::descriptor(1024);",
     "MatrixTile<u8, MapSwizzle::b128, Major::k, 12, 128>::descriptor(1024);", "groups of eight rows"},

    {"wgmma", "ptx::wgmma_wait_group<7>();", "ptx::wgmma_wait_group<8>();",
     "wgmma.wait_group takes 0 to 7 groups"},
    {"registers", "ptx::lower_registers<40>();", "ptx::lower_registers<44>();",
     "setmaxnreg takes a multiple of 8 from 24 to 256"},
    {"sync", "ptx::sync_threads<15, 64>();", "ptx::sync_threads<16, 64>();",
     "a CTA has the named barriers 0 to 15"},
    {"sync", "ptx::sync_threads<1, 64>();", "ptx::sync_threads<1, 48>();", "a multiple of 32 threads"},
    {"cta_mask", "CtaMask m = all_ctas<16>();", "CtaMask m = all_ctas<17>();", "a cluster has 1 to 16 CTAs"},
    {"tensor_map_edit", "ptx::replace_box_dim<4>(256, 8);", "ptx::replace_box_dim<5>(256, 8);",
     "a tensor map has dimensions 0 to 4"},
    {"tensor_map_edit", "ptx::replace_global_stride<3>(256, 64);", "ptx::replace_global_stride<4>(256, 64);",
     "a tensor map has strides 0 to 3"},
};

Source kernel(const Misuse& misuse, const char* body) {
  return custom_source(
      fmt::format("#include \"tmajit/{}.cuh\"\nusing namespace tmajit;\nextern \"C\" __global__ void k(const "
                  "__grid_constant__ params::TensorMap map, u8* memory) {{ {} {} }}\n",
                  misuse.header, use_words, body),
      "k");
}

}  // namespace

TEST_CASE("misuse of the device headers does not compile, and the error says why") {
  for (const Misuse& misuse : misuses) {
    INFO(misuse.wrong);
    CHECK_NOTHROW(compile(kernel(misuse, misuse.right)));
    try {
      static_cast<void>(compile(kernel(misuse, misuse.wrong)));
      FAIL_CHECK("it compiles");
    } catch (const CompileError& error) {
      // The compiler may break lines.
      CHECK_THAT(error.what(), ContainsSubstring(misuse.message));
    }
  }
}
