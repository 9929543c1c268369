// SPDX-License-Identifier: Apache-2.0
/// The CUDA road as far as it goes without a device: a clear status, and the CPU program still
/// runs.
#include "runtime/Tensors.h"

using namespace pellucid;
using namespace pellucid::test;
using package::PlaceKind;

static package::Contents bothDevices() {
  package::Contents contents = sampleModel();
  const char *ptx =
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry scale_bias() { ret; }\n";
  contents.records.push_back(package::textRecord("code/all.sm_80.ptx", ptx));
  for (package::Kernel &kernel : contents.manifest.kernels) {
    package::Executable executable;
    executable.target = {Target::Kind::Cuda, CpuLevel::X86_64_v3, 80};
    executable.format = package::CodeFormat::Ptx;
    executable.record = "code/all.sm_80.ptx";
    executable.entry = kernel.name;
    kernel.executables.push_back(executable);
  }
  package::Program cuda = contents.manifest.programs[0];
  cuda.device = Target::Kind::Cuda;
  contents.manifest.programs.push_back(cuda);
  return contents;
}

static bool hasDriver() {
  return std::string(pellucid_describe_system()).find("\"available\":true") != std::string::npos;
}

TEST(Cuda, WithoutADriverTheCallIsRefusedAndTheCpuStillRuns) {
  if (hasDriver())
    GTEST_SKIP() << "this machine has a CUDA driver";
  Loaded package(bothDevices());
  Array<float> x = countingArray({4, 64}), y({4, 64}), total({4});
  DLTensor input = x.tensor(), outputs[] = {y.tensor(), total.tensor()};
  input.device = {kDLCUDA, 0};
  EXPECT_EQ(pellucid_run_into(package, &input, 1, outputs, 2, nullptr), PELLUCID_UNSUPPORTED);
  EXPECT_NE(std::string(pellucid_last_error()).find("no CUDA driver"), std::string::npos)
      << pellucid_last_error();
  input.device = {kDLCPU, 0};
  EXPECT_EQ(pellucid_run_into(package, &input, 1, outputs, 2, nullptr), PELLUCID_OK)
      << pellucid_last_error();
  expectSample(x, y.data.data(), total.data.data());
}

TEST(Cuda, TheSystemIsDescribed) {
  std::string text = pellucid_describe_system();
  EXPECT_NE(text.find("\"cuda\":{\"available\":"), std::string::npos);
  EXPECT_NE(text.find(hasDriver() ? "\"driver_version\":" : "\"reason\":\"no CUDA driver"),
            std::string::npos)
      << text;
}
