// SPDX-License-Identifier: Apache-2.0
#include "runtime/Tensors.h"

#include <cstring>
#include <filesystem>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace pellucid;
using namespace pellucid::test;

static std::string writeSample(const std::string &name,
                               const package::Contents &contents = sampleModel()) {
  std::string path = temporaryFolder() + "/" + name;
  package::Status status = package::writePackage(contents, path);
  EXPECT_TRUE(status.ok()) << status.message();
  return path;
}

/// Loads `path` and runs it once; the status of the first thing that fails.
static pellucid_status loadAndRun(const std::string &path, int32_t threads = 0) {
  pellucid_package *package = nullptr;
  if (pellucid_status status = pellucid_load(path.c_str(), &package); status != PELLUCID_OK)
    return status;
  Array<float> x = countingArray({5, 64});
  DLTensor input = x.tensor();
  DLManagedTensorVersioned *outputs[2];
  pellucid_run_options options = runOptions(threads);
  pellucid_status status = pellucid_run(package, &input, 1, outputs, 2, &options);
  if (status == PELLUCID_OK)
    expectSample(x, static_cast<float *>(outputs[0]->dl_tensor.data),
                 static_cast<float *>(outputs[1]->dl_tensor.data));
  for (DLManagedTensorVersioned *output : outputs)
    if (output)
      output->deleter(output);
  pellucid_unload(package);
  return status;
}

TEST(Load, FromAFile) {
  EXPECT_EQ(loadAndRun(writeSample("file.plc")), PELLUCID_OK) << pellucid_last_error();
}

TEST(Load, DescribesItself) {
  Loaded package(sampleModel());
  std::string text = pellucid_describe(package);
  EXPECT_NE(text.find("\"name\":\"sample\""), std::string::npos);
  EXPECT_NE(text.find("\"min\":1,\"max\":1024"), std::string::npos);
  EXPECT_EQ(pellucid_input_count(package), 1u);
  EXPECT_EQ(pellucid_output_count(package), 2u);
  EXPECT_EQ(pellucid_describe(nullptr), nullptr);
  EXPECT_STREQ(pellucid_last_error(), "the package is null");
  EXPECT_NE(std::string(pellucid_describe_system()).find("\"cpu\""), std::string::npos);
  uint32_t format = 0, abi = 0;
  pellucid_package_versions(&format, &abi);
  EXPECT_EQ(format, 1u);
  EXPECT_EQ(abi, 1u);
}

TEST(Load, FailuresSetStatusAndMessage) {
  pellucid_package *package = reinterpret_cast<pellucid_package *>(1);
  EXPECT_EQ(pellucid_load("/no/such/file.plc", &package), PELLUCID_IO_ERROR);
  EXPECT_EQ(package, nullptr);
  EXPECT_STREQ(pellucid_last_error(), "cannot open '/no/such/file.plc': No such file or directory");
  EXPECT_EQ(pellucid_load(nullptr, &package), PELLUCID_INVALID_ARGUMENT);
  EXPECT_EQ(pellucid_load("x", nullptr), PELLUCID_INVALID_ARGUMENT);
  std::string path = writeSample("damaged.plc");
  std::vector<uint8_t> bytes = readFile(path);
  bytes[4096 + 40] ^= 1;
  writeFile(path, bytes);
  EXPECT_EQ(pellucid_load(path.c_str(), &package), PELLUCID_INVALID_PACKAGE);
  EXPECT_EQ(std::string(pellucid_last_error()),
            "'" + path +
                "' cannot be loaded: the checksum of its record "
                "'manifest.bin' does not match: it is corrupted");
  EXPECT_EQ(pellucid_unload(nullptr), PELLUCID_OK);
  EXPECT_STREQ(pellucid_last_error(), "");
}

TEST(Load, TheLastErrorBelongsToItsThread) {
  pellucid_package *package = nullptr;
  EXPECT_EQ(pellucid_load("/no/such/file.plc", &package), PELLUCID_IO_ERROR);
  std::thread([] { EXPECT_STREQ(pellucid_last_error(), ""); }).join();
  EXPECT_STRNE(pellucid_last_error(), "");
}

TEST(Load, OptionsAreChecked) {
  std::string path = writeSample("options.plc");
  pellucid_package *package = nullptr;
  pellucid_load_options options{};
  EXPECT_EQ(pellucid_load_with(path.c_str(), &options, &package), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(), "the options' struct_size is 0, must be sizeof the struct");
  options.struct_size = sizeof(options);
  options.target = "cpu:x86-64-v9";
  EXPECT_EQ(pellucid_load_with(path.c_str(), &options, &package), PELLUCID_INVALID_ARGUMENT);
  EXPECT_NE(std::string(pellucid_last_error()).find("unknown target 'cpu:x86-64-v9'"),
            std::string::npos);
  options.target = "cuda";
  EXPECT_EQ(pellucid_load_with(path.c_str(), &options, &package), PELLUCID_UNSUPPORTED);
  EXPECT_STREQ(pellucid_last_error(), "the package has no program for cuda");
  options.target = "cpu:x86-64-v3";
  EXPECT_EQ(pellucid_load_with(path.c_str(), &options, &package), PELLUCID_OK)
      << pellucid_last_error();
  pellucid_unload(package);
  struct {
    pellucid_load_options known;
    int64_t later;
  } newer = {{sizeof(newer), nullptr, 0}, 1};
  EXPECT_EQ(pellucid_load_with(path.c_str(), &newer.known, &package), PELLUCID_INVALID_ARGUMENT);
  EXPECT_STREQ(pellucid_last_error(),
               "the options have a field that this version of the run time does not know");
}

TEST(Load, VerifyReadsTheWeights) {
  std::string path = writeSample("verify.plc");
  std::vector<uint8_t> bytes = readFile(path);
  std::vector<float> bias = sampleBias();
  auto at = std::search(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t *>(bias.data()),
                        reinterpret_cast<uint8_t *>(bias.data() + bias.size()));
  ASSERT_NE(at, bytes.end());
  *at ^= 1;
  writeFile(path, bytes);
  pellucid_load_options options{sizeof(options), nullptr, 1};
  pellucid_package *package = nullptr;
  EXPECT_EQ(pellucid_load_with(path.c_str(), &options, &package), PELLUCID_INVALID_PACKAGE);
  EXPECT_NE(std::string(pellucid_last_error()).find("'weights/0'"), std::string::npos);
}

/// The highest level that runs here is taken; a package for a better machine only is refused by
/// name.
TEST(Load, PicksTheCpuLevel) {
  package::Contents contents = sampleModel();
  for (package::Kernel &kernel : contents.manifest.kernels)
    kernel.executables[0].target.cpu = CpuLevel::X86_64_v4;
  std::string path = writeSample("v4.plc", contents);
  pellucid_load_options options{sizeof(options), "cpu:x86-64-v3", 0};
  pellucid_package *package = nullptr;
  EXPECT_EQ(pellucid_load_with(path.c_str(), &options, &package), PELLUCID_UNSUPPORTED);
  EXPECT_STREQ(pellucid_last_error(),
               "kernel 'scale_bias' has no code for cpu:x86-64-v3; the package has cpu:x86-64-v4");
}

/// A mount without exec in a child of its own: the code is copied, and runs.
TEST(Load, WorksFromANoexecFileSystem) {
  std::string folder = temporaryFolder() + "/noexec";
  std::filesystem::create_directory(folder);
  std::string source = writeSample("for-noexec.plc");
  pid_t child = fork();
  if (child == 0) {
    constexpr int skipped = 77;
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.c_str(), "tmpfs", MS_NOEXEC, nullptr) != 0)
      _exit(skipped);
    writeFile(folder + "/x.plc", readFile(source));
    _exit(loadAndRun(folder + "/x.plc", 1) == PELLUCID_OK && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    GTEST_SKIP() << "mounting needs privileges";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Load, ManyTimesLeaksNoDescriptors) {
  std::string path = writeSample("many.plc");
  auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  auto before = descriptors();
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(loadAndRun(path), PELLUCID_OK);
  EXPECT_EQ(descriptors(), before);
}
