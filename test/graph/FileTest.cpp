// SPDX-License-Identifier: Apache-2.0
#include "ExampleProgram.h"
#include "graph/ProgramFile.h"
#include "graph/ProgramText.h"
#include "package/Npy.h"
#include "package/Safetensors.h"
#include "support/Diagnostics.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

using namespace pellucid;
using namespace pellucid::graph;
using namespace pellucid::graph::testing;
namespace fs = std::filesystem;

namespace {
struct File : ::testing::Test {
  File()
      : folder(fs::temp_directory_path() / ("pellucid-file-test-" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~File() override { fs::remove_all(folder); }
  std::string at(const std::string &name) { return (folder / name).string(); }
  static std::string bytes(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void write(const std::string &path, const std::string &content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  template <typename F> static std::string refusal(F &&f) {
    try {
      f();
    } catch (const DiagnosticError &e) {
      return e.what();
    }
    return "accepted";
  }
  fs::path folder;
};

/// A stored zip as numpy.savez writes it, with one member of `method`.
std::string zipOf(const std::string &name, const std::string &data, uint16_t method = 0) {
  auto number = [](uint64_t value, int size) {
    std::string out;
    for (int i = 0; i < size; ++i)
      out += static_cast<char>(value >> (8 * i));
    return out;
  };
  std::string sizes = number(data.size(), 4) + number(data.size(), 4);
  std::string common =
      number(method, 2) + number(0, 4) + number(0, 4) + sizes + number(name.size(), 2);
  std::string local = "PK\3\4" + number(45, 2) + number(0, 2) + common + number(0, 2) + name;
  std::string central = "PK\1\2" + number(45, 2) + number(45, 2) + number(0, 2) + common +
                        number(0, 2) + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                        number(0, 4) + name;
  std::string end = "PK\5\6" + number(0, 2) + number(0, 2) + number(1, 2) + number(1, 2) +
                    number(central.size(), 4) + number(local.size() + data.size(), 4) +
                    number(0, 2);
  return local + data + central + end;
}

std::string npyOf(const std::vector<float> &values) {
  std::vector<uint8_t> header = package::npyHeader(DataType::Float32, {int64_t(values.size())});
  return std::string(header.begin(), header.end()) +
         std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4);
}

float first(const Weight &w) {
  float value;
  std::memcpy(&value, w.data.get(), 4);
  return value;
}

TEST_F(File, carriedWeightsAreMappedAndTiedOnesShared) {
  Program program = exampleProgram();
  saveProgram(program, at("p"));
  Program again = loadProgram(at("p"));
  EXPECT_EQ(printProgram(again), printProgram(program));
  EXPECT_EQ(first(again.weights["linear.weight"]), 0.5f);
  EXPECT_EQ(again.weights["linear.weight"].data, again.weights["tied.weight"].data);
  EXPECT_EQ(first(again.weights["scale"]), 2.0f);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(again.weights["linear.weight"].data.get()) % 64, 0u);
  saveProgram(again, at("q"));
  EXPECT_EQ(bytes(at("p")), bytes(at("q")));
  // Nothing else is left in the folder.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

TEST_F(File, referencedWeightsStayWhereTheyAre) {
  std::vector<package::TensorEntry> entries{
      {"scale", DataType::Float32, {}, 0, 4, false},
      {"linear.weight", DataType::Float32, {4, 4}, 0, 64, false}};
  std::vector<uint8_t> header = package::safetensorsHeader(entries);
  std::string data(68, '\0');
  write(at("w.safetensors"), std::string(header.begin(), header.end()) + data);
  std::map<std::string, Weight> weights = loadWeights(at("w.safetensors"));
  EXPECT_EQ(weights.at("linear.weight").shape, (std::vector<int64_t>{4, 4}));
  Program program = exampleProgram();
  program.weights = weights;
  for (auto &[name, w] : program.weights)
    w.path = "w.safetensors";
  saveProgram(program, at("p"));
  EXPECT_EQ(bytes(at("p")).find("weights\n"), std::string::npos);
  Program again = loadProgram(at("p"));
  EXPECT_EQ(first(again.weights["linear.weight"]), 0.0f);
  fs::remove(at("w.safetensors"));
  EXPECT_NE(refusal([&] { loadProgram(at("p")); }).find("w.safetensors: error: No such file"),
            std::string::npos);
}

TEST_F(File, npzMembersAreReadAndDamagedOnesRefused) {
  write(at("w.npz"), zipOf("fc.weight.npy", npyOf({1.5f, 2.0f})));
  std::map<std::string, Weight> weights = loadWeights(at("w.npz"));
  ASSERT_EQ(weights.count("fc.weight"), 1u);
  EXPECT_EQ(first(weights["fc.weight"]), 1.5f);
  EXPECT_EQ(weights["fc.weight"].shape, (std::vector<int64_t>{2}));
  write(at("c.npz"), zipOf("fc.weight.npy", npyOf({1.5f}), 8));
  EXPECT_NE(refusal([&] {
              loadWeights(at("c.npz"));
            }).find("member 'fc.weight.npy' of the .npz file cannot be decompressed"),
            std::string::npos);
}

TEST_F(File, damagedFilesAreRefusedByName) {
  saveProgram(exampleProgram(), at("p"));
  std::string good = bytes(at("p"));
  size_t textEnd = good.find("\nend\n") + 5;
  for (size_t size : {size_t(0), size_t(5), textEnd / 2, textEnd, textEnd + 4, good.size() - 70,
                      good.size() - 1}) {
    write(at("cut"), good.substr(0, size));
    std::string message = refusal([&] { loadProgram(at("cut")); });
    EXPECT_EQ(message.substr(0, at("cut").size()), at("cut")) << size << ": " << message;
  }
  EXPECT_NE(refusal([&] { loadProgram(at("absent")); }).find("absent: error: No such file"),
            std::string::npos);
  EXPECT_NE(refusal([&] { loadProgram(folder.string()); }).find("it is a folder"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] { saveProgram(exampleProgram(), at("no/such/folder")); }).find("No such file"),
      std::string::npos);
}

// Readers of tensors are safe on any bytes.
TEST_F(File, readersSurviveDamage) {
  std::vector<package::TensorEntry> entries{{"a\"b\n", DataType::BFloat16, {2, 3}, 0, 12, false},
                                            {"c", DataType::Int64, {0}, 0, 0, false}};
  std::vector<uint8_t> header = package::safetensorsHeader(entries);
  std::string safetensors = std::string(header.begin(), header.end()) + std::string(12, 'x');
  auto view = [](const std::string &s) {
    return std::span(reinterpret_cast<const uint8_t *>(s.data()), s.size());
  };
  std::vector<package::TensorEntry> read;
  ASSERT_TRUE(package::readSafetensors(view(safetensors), read).ok());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[1].name, "a\"b\n");
  EXPECT_EQ(read[1].offset, header.size());
  std::mt19937 rng(3);
  size_t refused = 0;
  for (const std::string &good : {safetensors, npyOf({1, 2, 3}), zipOf("a.npy", npyOf({1, 2}))})
    for (int i = 0; i < 20000; ++i) {
      std::string damaged = good.substr(0, i % 3 ? good.size() : rng() % good.size());
      for (int k = 0; k < i % 4 && !damaged.empty(); ++k)
        damaged[rng() % damaged.size()] = static_cast<char>(rng());
      // A copy without slack, so that a sanitizer sees every byte read beyond it.
      std::vector<uint8_t> exact(damaged.begin(), damaged.end());
      package::TensorEntry one;
      std::vector<package::TensorEntry> list;
      for (bool ok : {package::readSafetensors(exact, list).ok(),
                      package::readNpz(exact, list).ok(), package::readNpy(exact, one).ok()})
        refused += !ok;
      for (const package::TensorEntry &e : list)
        ASSERT_LE(e.offset + e.bytes, exact.size());
    }
  EXPECT_GT(refused, 60000u);
}
} // namespace
