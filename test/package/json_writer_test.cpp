// SPDX-License-Identifier: Apache-2.0
#include "package/JsonWriter.h"

#include <cmath>
#include <gtest/gtest.h>

using pellucid::package::JsonWriter;

TEST(JsonWriter, PutsCommasBetweenMembersOnly) {
  JsonWriter json;
  json.beginObject()
      .field("a", 1)
      .key("b")
      .beginArray()
      .value(true)
      .null()
      .beginObject()
      .endObject()
      .endArray();
  json.field("c", "x").key("d").json("{\"e\":2}").endObject();
  EXPECT_EQ(json.text(), R"({"a":1,"b":[true,null,{}],"c":"x","d":{"e":2}})");
}

TEST(JsonWriter, EscapesWhatJsonDoesNotAllow) {
  JsonWriter json;
  json.value(std::string_view("\"\\\n\x01\0z", 6));
  EXPECT_EQ(json.text(), R"("\"\\\u000a\u0001\u0000z")");
}

TEST(JsonWriter, ReplacesBytesThatAreNoUtf8) {
  auto text = [](std::string_view raw) {
    JsonWriter json;
    json.value(raw);
    return json.take();
  };
  EXPECT_EQ(text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
            "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
  EXPECT_EQ(text("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(text("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\"") << "an overlong slash";
  EXPECT_EQ(text("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\"") << "a cut sequence";
  EXPECT_EQ(text("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"") << "a surrogate";
}

TEST(JsonWriter, WritesNumbersThatReadBackEqual) {
  for (double number : {0.1, 1e300, -2.5, 1.0 / 3}) {
    JsonWriter json;
    json.value(number);
    EXPECT_EQ(std::stod(json.text()), number);
  }
  JsonWriter json;
  json.beginArray().value(NAN).value(INFINITY).value(INT64_MIN).endArray();
  EXPECT_EQ(json.text(), "[null,null,-9223372036854775808]");
}
