/// Results of conversions that the PTX ISA leaves open, measured on an H200 with driver 580.159:
/// `jitc conformance --only convert` with the seeds 1, 2 and 3. All other conversions of the suite agreed
/// with the host's.
#include "conformance/conversions.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace conformance;

namespace {

struct Measured {
  const char* forms;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values;  ///< bits before and after
};

const std::vector<Measured>& measured() {
  static const std::vector<Measured> all{
      {"cvt.f32.bf16",
       {{0x7f81, 0x7f810000},
        {0x7fc0, 0x7fc00000},
        {0x7ffe, 0x7ffe0000},
        {0x7fff, 0x7fff0000},
        {0xff81, 0xff810000},
        {0xffc0, 0xffc00000},
        {0xfffe, 0xfffe0000},
        {0xffff, 0xffff0000}}},
      {"cvt.f32.f32",
       {{0x7f800001, 0x7f800001},
        {0x7f97ae27, 0x7f97ae27},
        {0x7fc00000, 0x7fc00000},
        {0x7ffffffe, 0x7ffffffe},
        {0xff800001, 0xff800001},
        {0xff9fc278, 0xff9fc278},
        {0xffc00000, 0xffc00000},
        {0xfffcb09c, 0xfffcb09c},
        {0xfffffffe, 0xfffffffe},
        {0xffffffff, 0xffffffff}}},
      {"cvt.f64.bf16",
       {{0x7f81, 0x7ff8200000000000},
        {0x7fc0, 0x7ff8000000000000},
        {0x7ffe, 0x7fffc00000000000},
        {0x7fff, 0x7fffe00000000000},
        {0xff81, 0xfff8200000000000},
        {0xffc0, 0xfff8000000000000},
        {0xfffe, 0xffffc00000000000},
        {0xffff, 0xffffe00000000000}}},
      {"cvt.f64.f16",
       {{0x7c01, 0x7ff8040000000000},
        {0x7e00, 0x7ff8000000000000},
        {0x7ffe, 0x7ffff80000000000},
        {0x7fff, 0x7ffffc0000000000},
        {0xfc01, 0xfff8040000000000},
        {0xfe00, 0xfff8000000000000},
        {0xfffe, 0xfffff80000000000},
        {0xffff, 0xfffffc0000000000}}},
      {"cvt.f64.f64", {{0x7ff0000000000001, 0x7ff0000000000001}, {0xfff0000000000001, 0xfff0000000000001}}},
      {"cvt.ftz.f64.f32",
       {{0x7f800001, 0x7fffffffe0000000},
        {0x7fc00000, 0x7fffffffe0000000},
        {0x7ff84c55, 0x7fffffffe0000000},
        {0x7ffffffe, 0x7fffffffe0000000},
        {0xff800001, 0x7fffffffe0000000},
        {0xffae3cb2, 0x7fffffffe0000000},
        {0xffc00000, 0x7fffffffe0000000},
        {0xfffffffe, 0x7fffffffe0000000},
        {0xffffffff, 0x7fffffffe0000000}}},
      {"cvt.rm.ftz.f16.f32",
       {{0x80000001, 0x8001},
        {0x80000002, 0x8001},
        {0x80000003, 0x8001},
        {0x80000fff, 0x8001},
        {0x80001000, 0x8001},
        {0x80001001, 0x8001},
        {0x80001fff, 0x8001},
        {0x80002000, 0x8001}}},
      {"cvt.rm.ftz.f32.f64", {{0xb80fffffdfffffff, 0x80000000}, {0xb80fffffe0000000, 0x80000000}}},
      {"cvt.rn.bf16.f64 cvt.rm.bf16.f64 cvt.rp.bf16.f64",
       {{0x7ff0000000000001, 0x7fc0},
        {0x7ff8000000000000, 0x7fc0},
        {0xfff0000000000001, 0xffc0},
        {0xfff8000000000000, 0xffc0},
        {0xfffffffffffffffe, 0xffff},
        {0xffffffffffffffff, 0xffff}}},
      {"cvt.rn.f16.f64 cvt.rm.f16.f64",
       {{0x7ff0000000000001, 0x7e00},
        {0x7ff8000000000000, 0x7e00},
        {0xfff0000000000001, 0xfe00},
        {0xfff8000000000000, 0xfe00},
        {0xfffffffffffffffe, 0xffff},
        {0xffffffffffffffff, 0xffff}}},
      {"cvt.rn.ftz.f32.f64",
       {{0x380fffffe0000000, 0x00000000},
        {0x380fffffe0000001, 0x00000000},
        {0x380fffffefffffff, 0x00000000},
        {0xb80fffffe0000000, 0x80000000},
        {0xb80fffffe0000001, 0x80000000},
        {0xb80fffffefffffff, 0x80000000}}},
      {"cvt.rn.ftz.sat.f32.f64",
       {{0x380fffffe0000000, 0x00000000},
        {0x380fffffe0000001, 0x00000000},
        {0x380fffffefffffff, 0x00000000}}},
      {"cvt.rna.satfinite.tf32.f32",
       {{0x7f800001, 0x7f7fe000},
        {0x7fc00000, 0x7fbfe000},
        {0x7ffffffe, 0x7fffc000},
        {0x7fffffff, 0x7fffc000},
        {0xff800001, 0xff7fe000},
        {0xffc00000, 0xffbfe000},
        {0xfffffffe, 0xffffc000},
        {0xffffffff, 0xffffc000}}},
      {"cvt.rna.tf32.f32",
       {{0x7f800001, 0x7f800000},
        {0x7f89ec14, 0x7f89e000},
        {0x7fc00000, 0x7fc00000},
        {0xff800001, 0xff800000},
        {0xffbaac08, 0xffbaa000},
        {0xffc00000, 0xffc00000},
        {0xffc79861, 0xffc78000},
        {0xfffffffe, 0xffffe000},
        {0xffffffff, 0xffffe000}}},
      {"cvt.rp.f16.f64",
       {{0x7ff0000000000001, 0x7e00},
        {0x7ff304384ac6c0b7, 0x7ec1},
        {0x7ff8000000000000, 0x7e00},
        {0xfff0000000000001, 0xfe00},
        {0xfff8000000000000, 0xfe00},
        {0xfffffffffffffffe, 0xffff},
        {0xffffffffffffffff, 0xffff}}},
      {"cvt.rp.ftz.f16.f32 cvt.rp.ftz.sat.f16.f32",
       {{0x00000001, 0x0001},
        {0x00000002, 0x0001},
        {0x00000003, 0x0001},
        {0x00000fff, 0x0001},
        {0x00001000, 0x0001},
        {0x00001001, 0x0001},
        {0x00001fff, 0x0001},
        {0x00002000, 0x0001}}},
      {"cvt.rp.ftz.f32.f64 cvt.rp.ftz.sat.f32.f64",
       {{0x380fffffdfffffff, 0x00000000}, {0x380fffffe0000000, 0x00000000}}},
      {"cvt.rz.bf16.f64",
       {{0x7ff0000000000001, 0x7fc0},
        {0x7ff8000000000000, 0x7fc0},
        {0xfff0000000000001, 0xffc0},
        {0xfff8000000000000, 0xffc0},
        {0xfffe726d552ef216, 0xfff3},
        {0xfffffffffffffffe, 0xffff},
        {0xffffffffffffffff, 0xffff}}},
      {"cvt.rz.f16.f64",
       {{0x7ff0000000000001, 0x7e00},
        {0x7ff1074a18175db2, 0x7e41},
        {0x7ff8000000000000, 0x7e00},
        {0xfff0000000000001, 0xfe00},
        {0xfff8000000000000, 0xfe00},
        {0xfffffffffffffffe, 0xffff},
        {0xffffffffffffffff, 0xffff}}},
  };
  return all;
}

const CvtForm* find(const std::vector<CvtForm>& forms, const std::string& name) {
  for (const CvtForm& form : forms)
    if (form.name() == name) return &form;
  return nullptr;
}

}  // namespace

TEST_CASE("conversions of the simulated device give the results of an H200") {
  std::vector<CvtForm> forms;
  for (const CvtTarget& target : cvt_targets())
    for (const CvtForm& form : cvt_forms(target)) forms.push_back(form);
  for (const Measured& each : measured()) {
    std::istringstream names(each.forms);
    for (std::string name; names >> name;) {
      const CvtForm* const form = find(forms, name);
      INFO(name);
      REQUIRE(form != nullptr);
      for (const auto& [before, after] : each.values) {
        INFO(std::hex << before);
        CHECK(form->result(before) == after);
      }
    }
  }
}
