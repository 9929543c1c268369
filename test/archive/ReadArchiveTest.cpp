// SPDX-License-Identifier: Apache-2.0
#include "archive/Archive.h"
#include "support/Diagnostics.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace pellucid;
using namespace pellucid::archive;

static const std::string folder = PELLUCID_SOURCE_DIR "/test/archive/data/";

static std::vector<uint8_t> bytesOf(const std::string &name) {
  std::ifstream file(folder + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static Archive readBytes(const std::vector<uint8_t> &bytes) {
  return readArchive(bytes, nullptr, "model.pt2");
}

/// What the reader says; empty where it takes the file.
static std::string complaint(const std::vector<uint8_t> &bytes) {
  try {
    readBytes(bytes);
    return {};
  } catch (const DiagnosticError &error) {
    return error.diagnostic.message;
  }
}

TEST(ReadArchive, FindsGraphSignatureAndSizes) {
  Archive archive = readArchive(folder + "net.pt2");
  EXPECT_EQ(archive.schemaMajor, 8);
  EXPECT_EQ(archive.dialects, std::vector<std::string>{"TRAINING"});
  ASSERT_FALSE(archive.graph->nodes.empty());
  EXPECT_EQ(archive.graph->nodes[0].target, "torch.ops.aten.linear.default");
  EXPECT_EQ(archive.inputs.size(), archive.graph->inputs.size());
  ASSERT_EQ(archive.ranges.size(), 1u);
  EXPECT_EQ(archive.ranges[0].second.min, 1);
  EXPECT_EQ(archive.ranges[0].second.max, 64);
  EXPECT_EQ(archive.hints.at(archive.ranges[0].first), 3);
  EXPECT_EQ(archive.weights.at("a.weight").sizes, (std::vector<int64_t>{16, 8}));
}

// The same model as torch 2.6 and as torch 2.15 write it.
TEST(ReadArchive, ReadsTheLayoutOfTorch26) {
  Archive now = readArchive(folder + "net.pt2"), before = readArchive(folder + "net_old.pt2");
  ASSERT_EQ(now.graph->nodes.size(), before.graph->nodes.size());
  ASSERT_EQ(now.weights.size(), before.weights.size());
  for (const auto &[name, tensor] : now.weights) {
    const Tensor &old = before.weights.at(name);
    EXPECT_EQ(tensor.sizes, old.sizes) << name;
    EXPECT_EQ(tensor.dtype, old.dtype) << name;
    ASSERT_EQ(tensor.bytes, old.bytes) << name;
    // Random weights differ from run to run of the generator; sizes and places do not.
  }
}

TEST(ReadArchive, SharesWhatIsTiedAndKeepsViews) {
  Archive archive = readArchive(folder + "tensors.pt2");
  const auto &w = archive.weights;
  EXPECT_EQ(w.at("first.weight").storage, w.at("tied").storage);
  EXPECT_EQ(w.at("part").offset, 8);
  EXPECT_EQ(w.at("transposed").strides, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(w.at("spread").strides, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(w.at("gaps").strides, (std::vector<int64_t>{8, 2}));
  EXPECT_EQ(w.at("empty").sizes, (std::vector<int64_t>{0, 4}));
  EXPECT_TRUE(archive.constants.count("mask"));
}

TEST(ReadArchive, SaysWhatItWasGivenInstead) {
  std::vector<uint8_t> whole = bytesOf("net.pt2");
  auto replaced = [&](std::string from, std::string to) {
    std::vector<uint8_t> copy = whole;
    auto at = std::search(copy.begin(), copy.end(), from.begin(), from.end());
    EXPECT_NE(at, copy.end());
    std::copy(to.begin(), to.end(), at);
    return complaint(copy);
  };
  EXPECT_NE(complaint({}).find("not a complete zip archive"), std::string::npos);
  EXPECT_NE(replaced("\"min_val\": 1,", "\"min_val\": 2,").find("checksum"), std::string::npos);
  EXPECT_EQ(complaint(whole), "");
}

// A cut or a changed byte gives one sentence or is one that does not count; nothing else happens.
TEST(ReadArchive, SurvivesCutsAndFlips) {
  for (const char *name : {"tensors.pt2", "net_old.pt2", "branch.pt2"}) {
    std::vector<uint8_t> whole = bytesOf(name);
    ASSERT_FALSE(whole.empty());
    for (size_t size = 0; size < whole.size(); size += 97)
      EXPECT_NE(complaint({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "")
          << name << " cut to " << size;
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
      std::vector<uint8_t> copy = whole;
      for (int change = round % 3; change >= 0; --change)
        copy[random() % copy.size()] = static_cast<uint8_t>(random());
      (void)complaint(copy);
    }
  }
}

/// The archive with `edit` applied to its bytes of JSON, and without checksums.
static std::vector<uint8_t> withoutChecksums(const char *name, const std::string &from,
                                             const std::string &to) {
  std::vector<uint8_t> bytes = bytesOf(name);
  EXPECT_EQ(from.size(), to.size());
  for (auto at = bytes.begin();
       (at = std::search(at, bytes.end(), from.begin(), from.end())) != bytes.end();)
    at = std::copy(to.begin(), to.end(), at);
  const uint8_t central[] = {'P', 'K', 1, 2};
  for (auto at = bytes.begin();
       (at = std::search(at, bytes.end(), central, central + 4)) != bytes.end(); at += 4)
    std::memset(&*at + 16, 0, 4);
  return bytes;
}

TEST(ReadArchive, ChecksWhatTheRecordsSay) {
  auto said = [](const char *name, const std::string &from, const std::string &to) {
    return complaint(withoutChecksums(name, from, to));
  };
  EXPECT_EQ(said("net.pt2", "x", "x"), "");
  EXPECT_NE(said("net.pt2", "\"major\": 8", "\"major\": 9").find("is of schema 9"),
            std::string::npos);
  EXPECT_NE(said("net.pt2", "\"as_int\": 16", "\"as_int\": 96").find("needs"), std::string::npos);
  EXPECT_NE(said("net.pt2", "\"dtype\": 7", "\"dtype\": 9").find("complex32"), std::string::npos);
  EXPECT_NE(said("net.pt2", "\"outputs\"", "\"outpots\"").find("list of"), std::string::npos);
  EXPECT_NE(said("sizes.pt2", "Symbol('", "Wymbol('").find("'Wymbol(…)'"), std::string::npos);
}
