#include "report/json.hpp"
#include "view/assets.hpp"
#include "view/facts.hpp"
#include "view/line_diff.hpp"

#include <tmajit/report/findings.hpp>
#include <tmajit/report/layout.hpp>
#include <tmajit/view/page.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using namespace view;

constexpr std::uint32_t lines_of_picture = 16;
constexpr std::size_t explanation_width = 110;

// The JSON of a text has its lines as one string, and arrays with one entry for each line.

/// `headings` lists only the indices of headings.
Json source_json(const Facts& facts) {
  std::string text;
  Json lines = Json::array();
  Json headings = Json::array();
  const auto& rows = facts.source.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].is_heading) headings.push_back(i);
    text += rows[i].text + "\n";
    lines.push_back(rows[i].line);
  }
  return {{"text", text}, {"lines", lines}, {"headings", headings}};
}

Json ptx_json(const Facts& facts) {
  std::string text;
  Json locations = Json::array();
  Json words = Json::array();
  Json predicates = Json::array();
  for (std::size_t i = 0; i < facts.ptx.texts.size(); ++i) {
    const PtxLine& line = facts.ptx.facts[i];
    text += facts.ptx.texts[i] + "\n";
    locations.push_back(line.location == Location::none ? -1 : static_cast<std::int64_t>(line.location));
    words.push_back(line.live ? Json(line.live->words) : Json());
    predicates.push_back(line.live ? Json(line.live->predicates) : Json());
  }
  return {{"text", text},
          {"locations", locations},
          {"live", {words, predicates}},
          {"missing_reason", facts.ptx.missing_reason},
          {"opcodes", facts.ptx.opcodes}};
}

Json sass_json(const Facts& facts) {
  std::string text;
  Json locations = Json::array();
  Json ptx = Json::array();
  Json addresses = Json::array();
  std::array<Json, std::tuple_size_v<SassLiveRegisters>> live;
  live.fill(Json::array());
  for (const SassRow& row : facts.sass.rows) {
    text += row.text + "\n";
    locations.push_back(row.location == Location::none ? -1 : static_cast<std::int64_t>(row.location));
    ptx.push_back(static_cast<std::int64_t>(row.ptx_line) - 1);
    addresses.push_back(row.address ? Json(*row.address) : Json());
    for (std::size_t kind = 0; kind < live.size(); ++kind)
      live[kind].push_back(row.live ? Json((*row.live)[kind]) : Json());
  }
  return {{"text", text},
          {"locations", locations},
          {"ptx", ptx},
          {"addresses", addresses},
          {"live", live},
          {"missing_reason", facts.sass.missing_reason},
          {"opcodes", facts.sass.opcodes}};
}

Json locations_json(const Facts& facts) {
  Json locations = Json::array();
  for (const PageLocation& location : facts.page_locations)
    locations.push_back({location.file, location.line, location.row, location.inlined_at, location.function});
  return locations;
}

Json findings_json(const LintResult& lint) {
  Json findings = Json::array();
  for (const Finding& finding : lint.findings) findings.push_back(Json::parse(finding_json(finding)));
  return findings;
}

Json explanation_of(const ViewedKernel& kernel) {
  if (!kernel.explanation || kernel.explanation->steps.empty()) return nullptr;
  const MoveStep& step = kernel.explanation->steps.front();
  Json candidates = Json::array();
  candidates.push_back({{"choice", step.choice},
                        {"predicted_us", step.predicted_us},
                        {"measured_us", kernel.measured_us ? Json(*kernel.measured_us) : Json()},
                        {"chosen", true}});
  for (const auto& other : step.alternatives) {
    candidates.push_back({{"choice", other.choice},
                          {"predicted_us", other.predicted_us},
                          {"measured_us", nullptr},
                          {"chosen", false}});
  }
  return {{"text", explanation_text(kernel.title, {}, *kernel.explanation, explanation_width, false)},
          {"candidates", candidates}};
}

/// Each distinct tile once, under the names of all maps that have it.
Json tiles_json(const ViewedKernel& kernel) {
  Json tiles = Json::array();
  std::map<std::string, std::size_t> known;
  for (const ViewedTile& tile : kernel.tiles) {
    const auto extents = tile.layout.extents();
    LayoutView picture{
        .box = tile.layout, .extents = {extents.begin(), extents.end()}, .lines = lines_of_picture};
    picture.patterns = conflicts_of_patterns(picture.box, picture.extents);
    if (tile.layout.row_bytes() == bank_bytes * 4) picture.colour = ColourBy::row;
    const auto [at, fresh] = known.try_emplace(layout_svg(picture), tiles.size());
    if (fresh) {
      tiles.push_back({{"name", tile.name},
                       {"box", describe_box(picture) + ": " + describe_image(picture)},
                       {"svg", at->first}});
    } else {
      tiles[at->second]["name"] = tiles[at->second]["name"].get<std::string>() + ", " + tile.name;
    }
  }
  return tiles;
}

Json resources_json(const Resources& resources) {
  return {{"registers", resources.registers},
          {"spill stores, bytes", resources.spill_store_bytes},
          {"spill loads, bytes", resources.spill_load_bytes},
          {"stack, bytes", resources.stack_bytes},
          {"static shared memory, bytes", resources.static_shared_bytes},
          {"barriers", resources.barriers}};
}

Json viewed_json(const Facts& facts) {
  const ViewedKernel& kernel = facts.kernel;
  Json rows = Json::array();
  for (const PageRow& row : kernel.rows) rows.push_back({row.heading, row.text});
  return {{"title", kernel.title},
          {"rows", rows},
          {"resources", kernel.artifact.cubin.empty() ? Json() : resources_json(kernel.artifact.resources)},
          {"locations", locations_json(facts)},
          {"source", source_json(facts)},
          {"ptx", ptx_json(facts)},
          {"sass", sass_json(facts)},
          {"findings", findings_json(kernel.lint)},
          {"kernels", kernel.lint.kernels},
          {"explanation", explanation_of(kernel)},
          {"tiles", tiles_json(kernel)}};
}

Json rows_json(const std::vector<DiffRow>& rows) {
  Json left = Json::array();
  Json right = Json::array();
  for (const DiffRow& row : rows) {
    left.push_back(row.left);
    right.push_back(row.right);
  }
  return {left, right};
}

/// The diffs of the three texts: for each text two arrays of line indices, one for each kernel.
Json diffs_json(const Facts& left, const Facts& right) {
  const auto source = [](const Facts& facts) {
    std::vector<std::string> keys;
    for (const SourceRow& row : facts.source.rows()) keys.push_back(row.text);
    return keys;
  };
  const auto ptx = [](const Facts& facts) {
    std::vector<std::string> keys;
    std::ranges::transform(facts.ptx.texts, std::back_inserter(keys), ptx_key);
    return keys;
  };
  const auto sass = [](const Facts& facts) {
    std::vector<std::string> keys;
    for (const SassRow& row : facts.sass.rows) keys.push_back(sass_key(row.text));
    return keys;
  };
  return {{"source", rows_json(diff(source(left), source(right)))},
          {"ptx", rows_json(diff(ptx(left), ptx(right)))},
          {"sass", rows_json(diff(sass(left), sass(right)))}};
}

/// Escapes text for the inside of an HTML element.
std::string escaped_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '&') {
      html += "&amp;";
    } else if (c == '<') {
      html += "&lt;";
    } else {
      html += c;
    }
  }
  return html;
}

/// Escapes JSON for the inside of a script element, which ends at the first "</script".
std::string escaped_data(const Json& data) {
  std::string script;
  for (const char c : json_text(data)) {
    if (c == '<') {
      script += "\\u003c";
    } else {
      script += c;
    }
  }
  return script;
}

/// Puts the parts into page.html, replacing its comments <!--NAME-->.
std::string filled(const std::map<std::string_view, std::string>& parts) {
  constexpr std::string_view open = "<!--";
  constexpr std::string_view close = "-->";
  std::string page;
  std::string_view rest = view_frame();
  for (auto begin = rest.find(open); begin != rest.npos; begin = rest.find(open)) {
    const auto end = rest.find(close, begin);
    page += rest.substr(0, begin);
    page += parts.at(rest.substr(begin + open.size(), end - begin - open.size()));
    rest.remove_prefix(end + close.size());
  }
  return page += rest;
}

std::string page_of(const std::string& title, const Json& data) {
  return filled({{"TITLE", escaped_html(title)},
                 {"STYLE", std::string(view_style())},
                 {"DATA", escaped_data(data)},
                 {"SCRIPT", fmt::format("{}{}{}{}", view_kernels_script(), view_pane_script(),
                                        view_details_script(), view_page_script())}});
}

}  // namespace

std::string view_page(const ViewedKernel& kernel) {
  const Facts facts(kernel);
  return page_of(kernel.title, {{"kernels", Json::array({viewed_json(facts)})}, {"diffs", nullptr}});
}

std::string view_page(const ViewedKernel& kernel, const ViewedKernel& other) {
  const Facts left(kernel);
  const Facts right(other);
  return page_of(kernel.title + " | " + other.title,
                 {{"kernels", Json::array({viewed_json(left), viewed_json(right)})},
                  {"diffs", diffs_json(left, right)}});
}

TMAJIT_END
