// Calls every function of <tmajit/report/> and <tmajit/view/>.
#include "expect.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/machine/machine.hpp>
#include <tmajit/report/findings.hpp>
#include <tmajit/report/layout.hpp>
#include <tmajit/report/plan.hpp>
#include <tmajit/report/source_location.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/tiles.hpp>
#include <tmajit/tmajit.hpp>
#include <tmajit/view/page.hpp>

#include <sstream>
#include <string>
#include <vector>

using namespace tmajit;

void use_reports();

namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

void name_enumerators() {
  expect(parse<ColourBy>(name(ColourBy::row)) == ColourBy::row, "a colour's name");
  expect(parse<Health>(name(Health::poor)) == Health::poor, "a health's name");
  expect(parse<Severity>(name(Severity::advice)) == Severity::advice, "a severity's name");
  using Mode = SimOptions::Mode;
  expect(parse<Mode>(name(Mode::early)) == Mode::early, "the name of a simulated device's mode");
}

void print_plans() {
  const Runtime runtime({.cache_directory = std::nullopt});
  const Tensor to = Tensor::contiguous(ElementType::f32, {8, 4}, 1 << 20);
  const Plan turned =
      plan(runtime, operation::permute(to, Tensor::contiguous(ElementType::f32, {4, 8}, 2 << 20), {1, 0}));
  std::ostringstream out;
  out << turned << turned.plans()[0] << to.view;
  expect(contains(out.str(), "f32 8x4 <- f32 4x8") && contains(describe(turned), "f32 8x4"),
         "a printed plan");
}

void draw_layout() {
  const std::vector<std::uint32_t> extents{16, 64};
  LayoutView view{.box = BoxLayout(ElementType::bf16, extents, Swizzle::b128), .extents = extents};
  view.patterns = conflicts_of_patterns(view.box, extents);
  expect(describe_box(view) == "bf16 16x64, swizzle 128B", "describe_box()");
  expect(contains(describe_image(view), "16 rows of 128 bytes"), "describe_image()");
  expect(contains(layout_text(view, 80, false), "BANK CONFLICTS"), "layout_text()");
  expect(contains(layout_svg(view), "<svg"), "layout_svg()");
  expect(contains(layout_json(view), "\"swizzle\":\"128B\""), "layout_json()");
}

void write_findings() {
  Artifact artifact;
  artifact.entry = std::string("k");
  artifact.source = std::string("first\nsecond\n");
  artifact.ptx = std::string(".entry k()\n{\n.loc 1 2 3\nret;\n}\n.file 1 \"k.cu\"\n");
  Finding finding;
  finding.rule = std::string("syntax");
  finding.kernel = std::string("k");
  finding.ptx_line = 4;
  finding.instruction = std::string("ret;");
  const std::vector<const Artifact*> artifacts{&artifact};
  const std::vector<std::vector<SourceLocation>> locations{source_locations(artifacts, finding)};
  expect(locations[0].size() == 1 && describe(locations[0][0]) == "k.cu:2: second",
         "source_locations() of a finding");
  expect(describe(source_locations(artifact, 4).at(0)) == "k.cu:2: second", "source_locations() of a line");
  std::vector<SourceLocation> marked = locations[0];
  mark_own(marked, finding);
  expect(own_first(marked).size() == 1 && contains(location_json(marked[0]), "k.cu"), "places of a finding");
  const FindingsReport report{.tool = "consumer",
                              .input = "k.ptx",
                              .source = "",
                              .kernels = {},
                              .findings = {&finding, 1},
                              .locations = locations};
  Report reported;
  static_cast<Finding&>(reported) = finding;
  expect(contains(report_json(reported, artifacts), "\"k.cu\""), "report_json()");
  expect(contains(report_text(reported, artifacts, 80, false), "k.cu:2"), "report_text()");
  expect(contains(finding_json(finding), "\"ptx_line\":4"), "finding_json()");
  expect(contains(finding_of(reported).found, "thread (0, 0, 0)"), "finding_of()");
  expect(contains(findings_json(report), "\"input\":\"k.ptx\""), "findings_json()");
  expect(contains(findings_sarif(report), "\"version\": \"2.1.0\""), "findings_sarif()");
  expect(contains(findings_junit(report), "tests=\"1\" failures=\"1\""), "findings_junit()");
}

void write_plans() {
  const TensorView view = TensorView::contiguous(ElementType::f32, {64, 64});
  const KernelPlan plan = plan_tiles({.family = "copy", .destination = view, .sources = {view}});
  expect(contains(plan_json(plan), "\"family\":\"copy\""), "plan_json()");
  expect(contains(describe(plan), "threads"), "describe() of a plan");
  expect(describe(view) == "f32 64x64" && contains(view_json(view), "[64,64]"), "describe() of a view");
  MoveExplanation explanation;
  explanation.steps.emplace_back().kernel = "copy";
  expect(contains(explanation_json(explanation), "\"kernel\":\"copy\""), "explanation_json()");
  const ChainPlan chain = tmajit::plan(Runtime(), Fusion{.operations = {}, .sentences = {"not fused"}});
  expect(contains(explanation_json(chain), "not fused"), "explanation_json() of a chain");
  expect(contains(explanation_text("copy", {}, explanation, 80, false), "kernel"), "explanation_text()");
  const std::vector<Violation> broken{{"box.rank", "box", "6", "at most 5", "5", "cuda.h"}};
  expect(contains(violations_json(broken), "box.rank"), "violations_json()");
  expect(contains(violations_text(broken, 80), "box.rank"), "violations_text()");
  const ViewedKernel foreign = viewed_ptx(".version 8.0\n", "k.ptx");
  expect(contains(view_page(foreign), "<title>k.ptx"), "view_page()");
  expect(contains(view_page(foreign, foreign), "k.ptx | k.ptx"), "view_page() of two kernels");
  try {
    expect(contains(compiler_json(compiler()), "NVRTC"), "compiler_json()");
    const Kernel kernel = Runtime({.cache_directory = std::nullopt}).kernel(plan);
    expect(contains(kernel_json(kernel, plan.launch_shape()), "\"registers\""), "kernel_json()");
    const Runtime runtime({.cache_directory = std::nullopt});
    const Plan moved = tmajit::plan(runtime, operation::copy(Tensor{view, 0x10000}, Tensor{view, 0x20000}));
    expect(viewed_kernel(runtime, moved).explanation.has_value(), "viewed_kernel() of a plan");
    expect(contains(describe_origin(kernel), "compiled in"), "describe_origin()");
    expect(contains(describe_resources(kernel, 0), "registers"), "describe_resources()");
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::unavailable, error.what());
  }
}

}  // namespace

void use_reports() {
  name_enumerators();
  print_plans();
  draw_layout();
  write_findings();
  write_plans();
}
