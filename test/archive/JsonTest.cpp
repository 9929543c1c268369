// SPDX-License-Identifier: Apache-2.0
#include "archive/Json.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace pellucid::archive;

TEST(Json, ReadsEveryKindOfValue) {
  JsonDocument document;
  ASSERT_TRUE(document
                  .read(R"( {"a": [1, -2.5, "x\n\u00e9\ud83d\ude00", true, null], "b": {}, "n": NaN,
                            "i": -Infinity, "big": 123456789012345678901} )")
                  .ok());
  JsonValue root = document.root(), list = root.member("a");
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list.at(0).integer(), 1);
  EXPECT_EQ(list.at(1).number(), -2.5);
  EXPECT_EQ(list.at(2).string(), "x\n\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_TRUE(list.at(3).boolean());
  EXPECT_TRUE(list.at(4).isNull());
  EXPECT_TRUE(list.at(5).isNull());
  EXPECT_EQ(root.key(1), "b");
  EXPECT_TRUE(root.member("b").isObject());
  EXPECT_TRUE(std::isnan(root.member("n").number()));
  EXPECT_EQ(root.member("i").number(), -HUGE_VAL);
  EXPECT_FALSE(root.member("big").isInteger());
  EXPECT_TRUE(root.member("absent").member("further").at(3).isNull());
}

TEST(Json, SaysWhereATextIsWrong) {
  for (auto [text, message] : {std::pair<std::string, std::string>{"[1, 2", "byte 5"},
                               {"[1 2]", "byte 3: expects ',' or ']', got '2'"},
                               {"{1: 2}", "byte 1: expects a key in quotes, got '1'"},
                               {"\"a", "byte 2"},
                               {"\"\\u12g4\"", "four hexadecimal digits"},
                               {"[] []", "byte 3: expects the end"},
                               {"", "byte 0: expects a value"},
                               {"-", "a value"},
                               {"1.2.3", "a value"}}) {
    JsonDocument document;
    auto status = document.read(text);
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_NE(status.message().find(message), std::string::npos) << status.message();
    EXPECT_TRUE(document.root().isNull());
  }
}

// Each level of a value costs a level of the stack.
TEST(Json, BoundsItsDepth) {
  for (const char *open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i)
      text += open;
    JsonDocument document;
    auto status = document.read(text);
    EXPECT_NE(status.message().find("nested more than 256 deep"), std::string::npos);
  }
  std::string deepest = std::string(256, '[') + std::string(256, ']');
  JsonDocument document;
  EXPECT_TRUE(document.read(deepest).ok());
}
