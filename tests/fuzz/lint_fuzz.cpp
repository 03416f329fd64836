/// Lints arbitrary text, and random kernels of the instructions that lint checks. Lint must end and its
/// report must contain its findings.
#include <tmajit/lint.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace std::string_view_literals;

/// Templates of statements. R, D and P stand for registers of 32 bits, 64 bits and predicates, N for a
/// number, L for a label.
constexpr std::array statements{
    "add.s32 R, R, N;"sv,
    "add.s32 R, R, R;"sv,
    "sub.s64 D, D, D;"sv,
    "mad.lo.s32 R, R, N, R;"sv,
    "mul.wide.u32 D, R, N;"sv,
    "shl.b32 R, R, N;"sv,
    "shr.u32 R, R, N;"sv,
    "and.b32 R, R, N;"sv,
    "or.b32 R, R, R;"sv,
    "xor.b32 R, R, N;"sv,
    "not.b32 R, R;"sv,
    "neg.s32 R, R;"sv,
    "bfi.b32 R, R, R, N, N;"sv,
    "min.u32 R, R, N;"sv,
    "rem.u32 R, R, N;"sv,
    "selp.b32 R, R, N, P;"sv,
    "mov.u32 R, N;"sv,
    "mov.u32 R, R;"sv,
    "mov.u32 R, %tid.x;"sv,
    "mov.u32 R, buffer;"sv,
    "mov.u64 D, dynamic;"sv,
    "mov.u64 D, map;"sv,
    "cvt.u32.u64 R, D;"sv,
    "cvt.u64.u32 D, R;"sv,
    "cvta.to.shared.u64 D, D;"sv,
    "ld.param.u32 R, [count];"sv,
    "ld.shared.v2.u32 {R, R}, [R+8];"sv,
    "st.shared.u32 [R], R;"sv,
    "st.shared.v4.u32 [R], {R, R, R, R};"sv,
    "st.u32 [D], R;"sv,
    "setp.eq.s32 P, R, N;"sv,
    "setp.lt.u32 P, R, R;"sv,
    "setp.ge.and.s32 P, R, N, P;"sv,
    "and.pred P, P, P;"sv,
    "or.pred P, P, P;"sv,
    "not.pred P, P;"sv,
    "elect.sync _|P, 0xffffffff;"sv,
    "bra L;"sv,
    "bra L;"sv,
    "brx.idx R, table;"sv,
    "ret;"sv,
    "trap;"sv,
    "bar.sync 0;"sv,
    "bar.warp.sync -1;"sv,
    "fence.proxy.async;"sv,
    "fence.mbarrier_init.release.cluster;"sv,
    "mbarrier.init.shared::cta.b64 [R], N;"sv,
    "mbarrier.arrive.shared::cta.b64 _, [R];"sv,
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [R], R;"sv,
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [R], N;"sv,
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [R], N;"sv,
    "mbarrier.try_wait.parity.shared::cta.b64 P, [R], R;"sv,
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [R], [D, {R, R}], [R];"sv,
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [D, {R, R}], [R];"sv,
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [R], [D], N, [R];"sv,
    "cp.async.bulk.global.shared::cta.bulk_group [D], [R], N;"sv,
    "cp.async.bulk.commit_group;"sv,
    "cp.async.bulk.wait_group N;"sv,
    "cp.async.bulk.wait_group.read 0;"sv,
};
constexpr std::array numbers{0U,    1U,    3U,    8U,          16U,         128U,
                             1024U, 4096U, 1023U, 0xfffffff0U, 0xffffffffU, 1048576U};

/// Reads the input byte by byte. After its end every byte is 0.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ == size_; }
  std::size_t below(std::size_t bound) { return at_ < size_ ? data_[at_++] % bound : 0; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

/// The statement with registers, numbers and labels in place of its letters that stand alone.
std::string fill(std::string_view statement, Bytes& bytes) {
  std::string text;
  for (std::size_t i = 0; i < statement.size(); ++i) {
    const bool alone =
        (i == 0 || std::string_view(" {[|").find(statement[i - 1]) != std::string_view::npos) &&
        std::string_view(",;]}+").find(statement[i + 1 < statement.size() ? i + 1 : i]) !=
            std::string_view::npos;
    switch (alone ? statement[i] : '.') {
      case 'R': text += "%r" + std::to_string(bytes.below(8)); break;
      case 'D': text += "%rd" + std::to_string(bytes.below(4)); break;
      case 'P': text += "%p" + std::to_string(bytes.below(4)); break;
      case 'N': text += std::to_string(numbers[bytes.below(numbers.size())]); break;
      case 'L': text += "L" + std::to_string(bytes.below(8)); break;
      default: text += statement[i];
    }
  }
  return text;
}

std::string kernel(Bytes& bytes) {
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n"
      ".visible .entry k(.param .align 64 .b8 map[128], .param .u32 count)\n{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.shared .align 128 .b8 buffer[4096];\n"
      "table: .branchtargets L0, L3, L5;\n";
  std::size_t label = 0;
  while (!bytes.empty()) {
    const std::size_t prefix = bytes.below(8);  // 0: a label; 1, 2: a guard
    if (prefix == 0 && label < 8) text += "L" + std::to_string(label++) + ":\n";
    if (prefix == 1 || prefix == 2) text += prefix == 1 ? "@%p0 " : "@!%p1 ";
    text += fill(statements[bytes.below(statements.size())], bytes);
    text += '\n';
  }
  while (label < 8) text += "L" + std::to_string(label++) + ":\n";
  return text + "ret;\n}\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tmajit::LintOptions options;
  options.maps = {{"0", 4096, 2, 4, 1024}};
  Bytes bytes(data, size);
  const bool is_generated = bytes.below(4) != 0;
  const std::string text =
      is_generated ? kernel(bytes) : std::string(reinterpret_cast<const char*>(data), size);
  const tmajit::LintResult result = lint_ptx(text, options);
  if (result.report.empty() != result.findings.empty()) std::abort();
  for (const tmajit::Finding& finding : result.findings) {
    if (finding.rule.empty() || finding.found.empty() || finding.expected.empty()) std::abort();
    if (is_generated && (finding.rule == "syntax" || finding.rule == "name")) std::abort();
  }
  return 0;
}
