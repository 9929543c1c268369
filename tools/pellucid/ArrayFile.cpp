// SPDX-License-Identifier: Apache-2.0
#include "ArrayFile.h"

#include "support/Diagnostics.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pellucid::cli {

namespace {

[[noreturn]] void fail(const std::string &path, const std::string &message) {
  throw DiagnosticError(SourceLocation(path), message);
}

struct Closer {
  void operator()(FILE *stream) const { std::fclose(stream); }
};
using Stream = std::unique_ptr<FILE, Closer>;

/// The text behind `'key':` in the header's dict.
std::string headerField(const std::string &header, const std::string &key,
                        const std::string &path) {
  size_t at = header.find("'" + key + "'");
  at = at == std::string::npos ? at : header.find(':', at);
  if (at == std::string::npos)
    fail(path, "the .npy header has no '" + key + "'");
  ++at;
  while (at < header.size() && header[at] == ' ')
    ++at;
  return header.substr(at);
}

std::vector<int64_t> parseShape(const std::string &text, const std::string &path) {
  std::vector<int64_t> shape;
  if (text.empty() || text[0] != '(')
    fail(path, "the .npy header's shape is no tuple");
  const char *at = text.c_str() + 1;
  while (*at && *at != ')') {
    char *end = nullptr;
    errno = 0;
    long long size = std::strtoll(at, &end, 10);
    if (end == at || size < 0 || errno)
      fail(path, "the .npy header's shape is damaged");
    shape.push_back(size);
    at = end;
    while (*at == ',' || *at == ' ' || *at == 'L')
      ++at;
  }
  return shape;
}

std::optional<DataType> typeOfDescr(const std::string &descr) {
  for (int i = 0; i <= static_cast<int>(DataType::Float64); ++i) {
    const DataTypeInfo &row = info(static_cast<DataType>(i));
    if (!row.numpy.empty() && descr == row.numpy)
      return row.type;
  }
  if (descr == "<i1" || descr == "<u1" || descr == "<b1")
    return descr == "<i1" ? DataType::Int8 : descr == "<u1" ? DataType::UInt8 : DataType::Bool;
  return std::nullopt;
}

/// The element count; refuses what does not fit.
int64_t countOf(const std::vector<int64_t> &shape, const std::string &path) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 46))
      fail(path, "the .npy header's shape has too many elements");
  return count;
}

std::vector<int64_t> rowMajor(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

std::string readHeader(FILE *stream, const std::string &path) {
  unsigned char head[12];
  if (std::fread(head, 1, 8, stream) != 8 || std::memcmp(head, "\x93NUMPY", 6) != 0)
    fail(path, "this is no .npy file: it does not begin with \\x93NUMPY");
  size_t wide = head[6] >= 2 ? 4 : 2;
  if (std::fread(head + 8, 1, wide, stream) != wide)
    fail(path, "the .npy file ends inside its header");
  size_t length = 0;
  for (size_t i = 0; i < wide; ++i)
    length |= size_t(head[8 + i]) << (8 * i);
  if (length > (1u << 20))
    fail(path,
         "the .npy header claims " + std::to_string(length) + " bytes; at most 1048576 are taken");
  std::string header(length, 0);
  if (std::fread(header.data(), 1, length, stream) != length)
    fail(path, "the .npy file ends inside its header");
  return header;
}

void applyType(Array &array, DataType wanted, const std::string &path) {
  if (wanted == array.dtype)
    return;
  if (byteSize(wanted) != byteSize(array.dtype) || isFloat(array.dtype))
    fail(path, "elements of type " + std::string(info(array.dtype).cli) + " cannot be read as " +
                   std::string(info(wanted).cli) + "; give an unsigned integer array of " +
                   std::to_string(byteSize(wanted)) + "-byte elements");
  array.dtype = wanted;
}

void applyView(Array &array, const TensorArgument::View &view, const std::string &path) {
  int64_t total = array.numel(), last = view.offset, first = view.offset;
  bool empty = false, overflow = false;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    empty |= view.shape[d] == 0;
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(view.shape[d] - 1, view.strides[d], &reach);
    int64_t &end = reach < 0 ? first : last;
    overflow |= __builtin_add_overflow(end, reach, &end);
  }
  if (overflow)
    fail(path, "the view reaches elements beyond 64 bits; the file has " + std::to_string(total));
  if (!empty && (first < 0 || last >= total))
    fail(path, "the view reaches elements " + std::to_string(first) + " to " +
                   std::to_string(last) + "; the file has " + std::to_string(total));
  array.shape = view.shape;
  array.strides = view.strides;
  array.offset = view.offset;
}

} // namespace

void *allocateLines(size_t bytes) {
  constexpr size_t line = 64, huge = size_t(2) << 20;
  size_t step = bytes >= 2 * huge ? huge : line;
  void *data = bytes > SIZE_MAX - step
                   ? nullptr
                   : std::aligned_alloc(step, std::max(step, (bytes + step - 1) / step * step));
  if (!data)
    throw std::bad_alloc();
  if (step == huge)
    (void)::madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

int64_t Array::numel() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Array makeArray(DataType dtype, std::vector<int64_t> shape) {
  Array array;
  array.dtype = dtype;
  array.shape = array.wholeShape = std::move(shape);
  array.strides = rowMajor(array.shape);
  array.bytes = std::make_shared<ArrayBytes>(static_cast<size_t>(array.numel()) * byteSize(dtype));
  return array;
}

Array readArray(const TensorArgument &argument) {
  const std::string &path = argument.path;
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    fail(path, S_ISDIR(info.st_mode) ? "cannot be read: it is a folder"
                                     : "cannot be read: it is no regular file");
  Stream stream(std::fopen(path.c_str(), "rb"));
  if (!stream)
    fail(path, std::string("cannot be read: ") + std::strerror(errno));
  std::string header = readHeader(stream.get(), path);
  std::string descr = headerField(header, "descr", path);
  if (descr.size() < 2 || descr[0] != '\'')
    fail(path, "structured .npy files are not taken");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  auto type = typeOfDescr(descr);
  if (!type)
    fail(path, "element type '" + descr +
                   "' is not taken; little-endian f2, f4, f8, i1 to i8, u1 to u8 and b1 are");
  if (headerField(header, "fortran_order", path).rfind("False", 0) != 0)
    fail(path, "the array is in Fortran order; save numpy.ascontiguousarray(x)");
  Array array = [&] {
    std::vector<int64_t> shape = parseShape(headerField(header, "shape", path), path);
    int64_t count = countOf(shape, path);
    long at = std::ftell(stream.get());
    std::fseek(stream.get(), 0, SEEK_END);
    int64_t rest = std::ftell(stream.get()) - at;
    std::fseek(stream.get(), at, SEEK_SET);
    int64_t need = count * static_cast<int64_t>(byteSize(*type));
    if (rest < need)
      fail(path, "the .npy file has " + std::to_string(rest) +
                     " bytes of elements, its shape needs " + std::to_string(need));
    return makeArray(*type, std::move(shape));
  }();
  if (std::fread(array.bytes->data(), 1, array.bytes->size(), stream.get()) != array.bytes->size())
    fail(path, "the .npy file could not be read to its end");
  if (argument.dtype)
    applyType(array, *argument.dtype, path);
  if (argument.view)
    applyView(array, *argument.view, path);
  return array;
}

/// Everything before the elements.
static std::string npyHeader(const Array &array) {
  const DataTypeInfo &row = info(array.dtype);
  std::string descr(row.numpy);
  if (descr.empty())
    descr = row.bytes == 1 ? "|u1" : "<u2";
  std::string shape;
  for (int64_t size : array.wholeShape)
    shape += std::to_string(size) + ", ";
  // A tuple of one keeps its comma.
  shape.resize(shape.size() - (array.wholeShape.empty()       ? 0
                               : array.wholeShape.size() == 1 ? 1
                                                              : 2));
  std::string text =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.append((64 - (10 + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string head("\x93NUMPY\1\0", 8);
  head += static_cast<char>(text.size() & 255);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

void writeArrays(const std::vector<ArrayToWrite> &arrays) {
  std::vector<OutputFile> files;
  files.reserve(arrays.size());
  auto must = [&](bool good, size_t i) {
    if (!good)
      fail(arrays[i].path, "cannot be written: " + files[i].error());
  };
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Array &array = *arrays[i].array;
    std::string header = npyHeader(array);
    OutputFile &file = files.emplace_back(arrays[i].path);
    must(file.append(header.data(), header.size()) &&
             file.append(array.bytes->data(), array.bytes->size()),
         i);
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    must(files[i].commit(), i);
}

} // namespace pellucid::cli
