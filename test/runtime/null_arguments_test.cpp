// SPDX-License-Identifier: Apache-2.0
/// NULL in every place of every function of runtime.h: a status or an empty answer, never a crash.
#include "runtime/Tensors.h"

using namespace pellucid;
using namespace pellucid::test;

namespace {

class NullArguments : public testing::Test {
protected:
  Loaded package{sampleModel()};
  Array<float> x = countingArray({2, 64}), y{{2, 64}}, total{{2}};
  DLTensor input = x.tensor(), outputs[2] = {y.tensor(), total.tensor()};
};

void expectRefused(pellucid_status status, const char *why) {
  EXPECT_EQ(status, PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), why);
}

TEST_F(NullArguments, Load) {
  pellucid_package *loaded = reinterpret_cast<pellucid_package *>(1);
  expectRefused(pellucid_load_with(nullptr, nullptr, &loaded), "the path is null");
  EXPECT_EQ(loaded, nullptr);
  expectRefused(pellucid_load_with("x", nullptr, nullptr), "the place for the package is null");
  expectRefused(pellucid_load_memory(nullptr, 100, nullptr, &loaded), "the data is null");
  expectRefused(pellucid_load_memory("PK", 2, nullptr, nullptr),
                "the place for the package is null");
  EXPECT_EQ(pellucid_load_memory("", 0, nullptr, &loaded), PELLUCID_INVALID_PACKAGE);
  EXPECT_EQ(pellucid_unload(nullptr), PELLUCID_OK);
}

TEST_F(NullArguments, Questions) {
  EXPECT_EQ(pellucid_describe(nullptr), nullptr);
  EXPECT_STREQ(pellucid_last_error(), "the package is null");
  EXPECT_EQ(pellucid_input_count(nullptr), 0u);
  EXPECT_EQ(pellucid_output_count(nullptr), 0u);
  pellucid_package_versions(nullptr, nullptr);
  uint32_t format = 0;
  pellucid_package_versions(&format, nullptr);
  EXPECT_EQ(format, package::formatVersion);
}

TEST_F(NullArguments, Run) {
  DLManagedTensorVersioned *made[2] = {};
  expectRefused(pellucid_run(nullptr, &input, 1, made, 2, nullptr), "the package is null");
  expectRefused(pellucid_run(package, nullptr, 1, made, 2, nullptr), "the array of inputs is null");
  expectRefused(pellucid_run(package, &input, 1, nullptr, 2, nullptr),
                "the array of outputs is null");
  expectRefused(pellucid_run(package, nullptr, 0, made, 2, nullptr),
                "0 inputs given, the package has 1");
  expectRefused(pellucid_run(package, &input, 1, nullptr, 0, nullptr),
                "room for 0 outputs given, the package has 2");
  expectRefused(pellucid_run(package, &input, SIZE_MAX, nullptr, 2, nullptr),
                "the array of outputs is null");
}

TEST_F(NullArguments, RunInto) {
  expectRefused(pellucid_run_into(nullptr, &input, 1, outputs, 2, nullptr), "the package is null");
  expectRefused(pellucid_run_into(package, nullptr, 1, outputs, 2, nullptr),
                "the array of inputs is null");
  expectRefused(pellucid_run_into(package, &input, 1, nullptr, 2, nullptr),
                "the array of outputs is null");
  expectRefused(pellucid_run_into(package, &input, 1, nullptr, 0, nullptr),
                "0 outputs given, the package has 2");
  DLTensor empty[2] = {};
  expectRefused(pellucid_run_into(package, &input, 1, empty, 2, nullptr),
                "output 'y': dtype is DLPack code 0 with 0 bits and 0 lanes, must be f32");
  DLTensor nothing = {};
  EXPECT_EQ(pellucid_run_into(package, &nothing, 1, outputs, 2, nullptr),
            PELLUCID_INVALID_ARGUMENT);
}

TEST_F(NullArguments, OutputShapes) {
  int32_t ranks[2] = {-1, -1};
  int64_t shapes[128];
  expectRefused(pellucid_output_shapes(nullptr, &input, 1, ranks, shapes, 2),
                "the package is null");
  expectRefused(pellucid_output_shapes(package, nullptr, 1, ranks, shapes, 2),
                "the array of inputs is null");
  expectRefused(pellucid_output_shapes(package, &input, 1, nullptr, shapes, 2),
                "the array of outputs is null");
  expectRefused(pellucid_output_shapes(package, &input, 1, ranks, nullptr, 2),
                "the array of shapes is null");
  expectRefused(pellucid_output_shapes(package, &input, 1, ranks, shapes, 1),
                "room for 1 outputs given, the package has 2");
  EXPECT_EQ(ranks[0], -1) << "a refused call writes nothing";
}

TEST_F(NullArguments, Profile) {
  expectRefused(pellucid_profile_create(nullptr), "the place for the profile is null");
  EXPECT_EQ(pellucid_profile_json(nullptr), nullptr);
  EXPECT_STREQ(pellucid_last_error(), "the profile is null");
  pellucid_profile_destroy(nullptr);
}

} // namespace
