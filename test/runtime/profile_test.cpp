// SPDX-License-Identifier: Apache-2.0
#include "runtime/Tensors.h"

using namespace pellucid;
using namespace pellucid::test;

static size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(Profile, RecordsKernelsWithShapesBytesAndFlops) {
  pellucid_profile *profile = nullptr;
  ASSERT_EQ(pellucid_profile_create(&profile), PELLUCID_OK);
  EXPECT_EQ(std::string(pellucid_profile_json(profile)),
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}\n");
  Loaded package(sampleModel());
  Array<float> x = countingArray({16, 64});
  DLTensor input = x.tensor();
  pellucid_run_options options = runOptions();
  options.profile = profile;
  for (int round = 0; round < 2; ++round) {
    DLManagedTensorVersioned *outputs[2];
    ASSERT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_OK)
        << pellucid_last_error();
    for (DLManagedTensorVersioned *output : outputs)
      output->deleter(output);
  }
  std::string json = pellucid_profile_json(profile);
  EXPECT_EQ(countOf(json, "\"cat\":\"kernel\""), 6u);
  EXPECT_EQ(countOf(json, "\"cat\":\"call\""), 2u);
  EXPECT_EQ(countOf(json, "\"name\":\"scale_bias_0\""), 2u);
  EXPECT_EQ(countOf(json, "\"grid\":[4,1,1],\"shapes\":{\"in\":[16,64],\"bias\":[64],\"out\":[16,"
                          "64]},\"bytes\":8448,"
                          "\"flops\":2048"),
            4u);
  EXPECT_EQ(countOf(json, "\"target\":\"cpu:x86-64-v3\""), 6u);
  pellucid_profile_destroy(profile);
  pellucid_profile_destroy(nullptr);
}

/// A failed call leaves no half of it in the trace.
TEST(Profile, RecordsNothingOfARefusedCall) {
  pellucid_profile *profile = nullptr;
  ASSERT_EQ(pellucid_profile_create(&profile), PELLUCID_OK);
  Loaded package(sampleModel());
  Array<float> x({1025, 64});
  DLTensor input = x.tensor();
  DLManagedTensorVersioned *outputs[2];
  pellucid_run_options options = runOptions();
  options.profile = profile;
  EXPECT_EQ(pellucid_run(package, &input, 1, outputs, 2, &options), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(pellucid_profile_json(profile)),
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[]}\n");
  pellucid_profile_destroy(profile);
}
