// SPDX-License-Identifier: Apache-2.0
#include "support/SourceFile.h"

#include <cerrno>
#include <cstdio>
#include <sys/stat.h>

namespace pellucid {

SourceFile::SourceFile(std::string path, std::string text)
    : filePath(std::move(path)), fileText(std::move(text)) {
  lineStarts.push_back(0);
  for (uint32_t i = 0; i < fileText.size(); ++i) {
    bool carriageReturnAlone =
        fileText[i] == '\r' && (i + 1 == fileText.size() || fileText[i + 1] != '\n');
    if (fileText[i] == '\n' || carriageReturnAlone)
      lineStarts.push_back(i + 1);
  }
}

std::shared_ptr<const SourceFile> SourceFile::open(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return nullptr;
  }
  FILE *stream = std::fopen(path.c_str(), "rb");
  if (!stream)
    return nullptr;
  std::string text;
  char block[1 << 16];
  for (size_t n; (n = std::fread(block, 1, sizeof block, stream)) > 0;)
    text.append(block, n);
  bool failed = std::ferror(stream);
  std::fclose(stream);
  if (failed)
    return nullptr;
  return std::make_shared<SourceFile>(path, std::move(text));
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > lineStarts.size())
    return {};
  size_t begin = lineStarts[number - 1];
  size_t end = number < lineStarts.size() ? lineStarts[number] : fileText.size();
  while (end > begin && (fileText[end - 1] == '\n' || fileText[end - 1] == '\r'))
    --end;
  return std::string_view(fileText).substr(begin, end - begin);
}

} // namespace pellucid
