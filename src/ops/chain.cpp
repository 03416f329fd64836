#include <tmajit/fusion.hpp>

TMAJIT_BEGIN

ChainPlan plan(const Runtime& runtime, const Fusion& fusion) {
  ChainPlan chain;
  for (const Operation& operation : fusion.operations) chain.plans_.push_back(plan(runtime, operation));
  chain.sentences_ = fusion.sentences;
  return chain;
}

void ChainPlan::operator()(Stream stream) const {
  for (const Plan& plan : plans_) plan(stream);
}
std::span<const Plan> ChainPlan::plans() const noexcept {
  return plans_;
}
std::span<const std::string> ChainPlan::sentences() const noexcept {
  return sentences_;
}
std::string ChainPlan::explanation() const {
  std::string text;
  for (const std::string& sentence : sentences_) text += sentence + '\n';
  for (const Plan& plan : plans_) text += '\n' + plan.explain().text();
  return text;
}

TMAJIT_END
