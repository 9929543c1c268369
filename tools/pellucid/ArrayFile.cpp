// SPDX-License-Identifier: Apache-2.0
#include "ArrayFile.h"

#include "CommandLine.h"

#include "package/MappedFile.h"
#include "package/Npy.h"
#include "support/Diagnostics.h"
#include "support/OutputFile.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace pellucid::cli {

namespace {

std::vector<int64_t> rowMajor(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
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
  if (bytes > SIZE_MAX - step)
    throw std::bad_alloc();
  size_t whole = std::max(step, (bytes + step - 1) / step * step);
  auto *data = static_cast<char *>(std::aligned_alloc(step, whole));
  if (!data)
    throw std::bad_alloc();
  // NaN in every float type: what a kernel reads behind the last element shows in its result.
  std::memset(data + bytes, 0xff, std::min(line, whole - bytes));
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
  package::Status status;
  std::shared_ptr<const package::MappedFile> file = package::MappedFile::open(path, status);
  if (!file)
    fail(path, "cannot be read: " + status.message());
  package::TensorEntry entry;
  if (status = package::readNpy(file->bytes(), entry); !status.ok())
    fail(path, status.message());
  if (entry.fortranOrder && entry.shape.size() > 1)
    fail(path, "the array is in Fortran order; save numpy.ascontiguousarray(x)");
  Array array = makeArray(entry.dtype, std::move(entry.shape));
  array.path = path;
  std::copy_n(file->bytes().data() + entry.offset, entry.bytes, array.bytes->data());
  if (argument.dtype)
    applyType(array, *argument.dtype, path);
  if (argument.view)
    applyView(array, *argument.view, path);
  return array;
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
    std::vector<uint8_t> header = package::npyHeader(array.dtype, array.wholeShape);
    OutputFile &file = files.emplace_back(arrays[i].path);
    must(file.append(header.data(), header.size()) &&
             file.append(array.bytes->data(), array.bytes->size()),
         i);
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    must(files[i].commit(), i);
}

} // namespace pellucid::cli
