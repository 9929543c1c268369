// SPDX-License-Identifier: Apache-2.0
// What the CPU code generator cannot do is refused at the user's line, with the reason.
#include "codegen/KernelFixture.h"

using namespace pellucid;
using namespace pellucid::codegen;

namespace {

std::string refusalOf(const std::string &body) {
  std::string text = "module {\n  tt.func public @k(%p: !tt.ptr<f32>) {\n"
                     "    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
                     "    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
                     "    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
                     "    %v = tt.load %a : tensor<64x!tt.ptr<f32>>\n" +
                     body + "    tt.return\n  }\n}\n";
  try {
    CompiledKernel(text, "k", CpuLevel::X86_64_v3);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

TEST(Refusal, AssemblyOfAnotherProcessor) {
  std::string message = refusalOf(R"(
    %w = tt.elementwise_inline_asm "ex2.approx.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %v : tensor<64xf32> -> tensor<64xf32> loc("silu.py":12:9)
    tt.store %a, %w : tensor<64x!tt.ptr<f32>>
)");
  EXPECT_EQ(message.substr(0, 16), "silu.py:12:9: er") << message;
  EXPECT_NE(message.find("assembly for another processor"), std::string::npos) << message;
}

TEST(Refusal, UnknownLibraryFunction) {
  std::string message = refusalOf(R"(
    %w = tt.extern_elementwise %v {libname = "mylib", libpath = "", symbol = "my_function", pure = true} : (tensor<64xf32>) -> tensor<64xf32> loc("silu.py":7:3)
    tt.store %a, %w : tensor<64x!tt.ptr<f32>>
)");
  EXPECT_EQ(message.substr(0, 15), "silu.py:7:3: er") << message;
  EXPECT_NE(message.find("'my_function'"), std::string::npos) << message;
}

TEST(Refusal, MissingKernel) {
  try {
    CompiledKernel("module {}", "absent", CpuLevel::X86_64_v3);
    FAIL() << "compiled";
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("'absent'"), std::string::npos);
  }
}

} // namespace
