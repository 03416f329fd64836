#include "report/json.hpp"
#include "report/layout_parts.hpp"

#include <utility>

TMAJIT_BEGIN
namespace {

Json to_json(const BoxLayout& box, BoxElement element) {
  const auto index = box.index(element);
  Json list = Json::array();
  for (std::size_t d = 0; d < box.extents().size(); ++d) list.push_back(index[d]);
  return list;
}

Json units_of(const BoxLayout& box) {
  Json units = Json::array();
  for (std::uint32_t offset = 0; offset < box.bytes(); offset += layout_unit_bytes) {
    const auto element = box.element(offset);
    if (!element) continue;
    units.push_back({{"offset", offset}, {"bank", bank_of(offset)}, {"index", to_json(box, *element)}});
  }
  return units;
}

Json to_json(const Conflicts& conflicts) {
  return {{"instructions", conflicts.instructions},
          {"conflicting", conflicts.conflicting},
          {"wavefronts", conflicts.wavefronts},
          {"ideal_wavefronts", conflicts.ideal},
          {"ways", conflicts.ways}};
}

Json to_json(const std::vector<PatternConflicts>& patterns) {
  Json list = Json::array();
  for (const auto& pattern : patterns) {
    Json under = Json::object();
    for (std::size_t i = 0; i < layout_swizzles.size(); ++i) {
      const auto& conflicts = pattern.under[i];
      under[std::string(name(layout_swizzles[i]))] = conflicts ? to_json(*conflicts) : Json(nullptr);
    }
    list.push_back({{"pattern", name(pattern.pattern)},
                    {"access_bytes", pattern.width},
                    {"swizzles", std::move(under)}});
  }
  return list;
}

Json to_json(const BoxLayout& box, const ShownAccess& shown) {
  Json lanes = Json::array();
  for (std::uint32_t lane = 0; lane < shown.access.lanes; ++lane) {
    const auto offset = shown.access.offsets[lane];
    lanes.push_back({{"lane", lane}, {"offset", offset}, {"bank", bank_of(offset)}});
    if (const auto element = box.element(offset)) lanes.back()["index"] = to_json(box, *element);
  }
  const auto taken = wavefronts(shown.access);
  return {{"pattern", name(shown.pattern)},
          {"access_bytes", shown.access.width},
          {"instruction", shown.number},
          {"instructions", shown.instructions},
          {"wavefronts", taken.needed},
          {"ideal_wavefronts", taken.ideal},
          {"ways", taken.ways},
          {"words_of_banks", words_of_banks(shown.access)},
          {"lanes", std::move(lanes)}};
}

}  // namespace

std::string layout_json(const LayoutView& view) {
  const auto& box = view.box;
  Json json{{"type", name(box.type())},
            {"box", view.extents},
            {"swizzle", name(box.swizzle())},
            {"interleave", name(box.interleave())},
            {"rows", box.rows()},
            {"columns", box.columns()},
            {"element_bytes", box.element_bytes()},
            {"row_bytes", box.row_bytes()},
            {"pitch_bytes", box.pitch_bytes()},
            {"bytes", box.bytes()},
            {"alignment", box.alignment()},
            {"elements_per_unit", layout_unit_bytes / box.element_bytes()},
            {"units", units_of(box)},
            {"patterns", to_json(view.patterns)}};
  if (view.shown) json["access"] = to_json(box, *view.shown);
  return json_text(json);
}

TMAJIT_END
