#include "sim/mutants.hpp"

#include <array>
#include <sstream>

namespace tests {

using namespace tmajit;

Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change, int nth) {
  return [=](const std::string& text) {
    std::istringstream in(text);
    std::string result;
    int n = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.find(needle) != std::string::npos && (nth < 0 || n++ == nth)) line = change(line);
      result += line;
      result += '\n';
    }
    return result;
  };
}

Edit drop(const std::string& needle, int nth) {
  return lines(
      needle, [](const std::string&) { return std::string(); }, nth);
}
Edit drop_last(const std::string& needle) {
  return [=](const std::string& text) {
    const std::size_t at = text.rfind(needle);
    if (at == std::string::npos) return text;
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(0, begin) + text.substr(text.find('\n', at) + 1);
  };
}
Edit twice(const std::string& needle, int nth) {
  return lines(
      needle, [](const std::string& line) { return line + "\n" + line; }, nth);
}
Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth) {
  return lines(
      needle,
      [=](const std::string& line) {
        const std::size_t at = line.find(from);
        return at == std::string::npos ? line : line.substr(0, at) + to + line.substr(at + from.size());
      },
      nth);
}

Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth) {
  return lines(
      needle,
      [=](const std::string& line) {
        // The registers of the line, in order.
        std::size_t at = 0;
        for (std::size_t n = 0;; ++n) {
          at = line.find("%r", at);
          if (at == std::string::npos) return line;
          const std::size_t end = line.find_first_not_of("rd0123456789", at + 1);
          const std::string name = line.substr(at, end - at);
          if (name.compare(0, 3, "%rd") == 0) {
            at = end;
            --n;
            continue;
          }
          if (n == which) {
            return "{\n.reg .b32 mutant;\nadd.s32 mutant, " + name + ", " + amount + ";\n" +
                   line.substr(0, at) + "mutant" + line.substr(end) + "\n}";
          }
          at = end;
        }
      },
      nth);
}

std::shared_ptr<SimDevice> run(Base kind, const Edit& edit, bool& finished, std::uint64_t seed,
                               SimOptions::Mode mode) {
  const auto sim = make_sim_device(
      {.mode = mode, .seed = seed, .threads = 1, .instruction_limit = 2'000'000, .sm_count = 2});
  Runtime runtime({.device = std::make_shared<EditingDevice>(sim, edit), .cache_directory = std::nullopt});
  const bool flat = kind == Base::bulk;
  const auto view = flat ? TensorView::contiguous(ElementType::f32, std::array<std::uint64_t, 1>{20'000})
                         : TensorView::contiguous(ElementType::f32, std::array<std::uint64_t, 2>{160, 96});
  const std::array<std::uint32_t, 2> box{16, 32};
  const std::array<std::uint32_t, 1> chunk{512};
  TileOptions options;
  options.box = flat ? std::span<const std::uint32_t>(chunk) : std::span<const std::uint32_t>(box);
  options.stages = 3;
  options.ctas_per_sm = 1;
  if (kind == Base::swizzled) options.swizzle = Swizzle::b128;
  KernelSpec spec;
  switch (kind) {
    case Base::map: spec = map_spec("x * 2 + 1", {&view, 1}, view, options); break;
    case Base::bulk: spec = bulk_spec("x * 2 + 1", view.type, view.type, options); break;
    default: spec = copy_spec(view, view, options);
  }
  const Buffer in(sim, view.span_bytes());
  const Buffer out(sim, view.span_bytes());
  sim->fill(in.address(), std::byte{1}, view.span_bytes(), nullptr);
  const tmajit::Operand input{view, in.address()};
  finished = true;
  runtime.kernel(spec).launch({&input, 1}, {view, out.address()});
  try {
    sim->synchronize(nullptr);
  } catch (const Error&) {
    finished = false;
  }
  return sim;
}

}  // namespace tests
