// SPDX-License-Identifier: Apache-2.0
#include "spec/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "spec/npy_header.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::spec {
namespace {

namespace fs = std::filesystem;

// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = 64 * 1024;  // a plain array's is 118 bytes long
constexpr std::size_t kAlignment = 64;

struct OpenFile {
  std::ifstream stream;
  NpyHeader header;
  std::int64_t data_bytes = 0;
};

std::unexpected<StageError> refuse(const fs::path& file, const std::string& problem, const std::string& fix) {
  return failure("'" + file.string() + "': " + problem, fix);
}

// What a file may say for a dtype, the form that is written first. NumPy has no descr of its own for bfloat16 and
// float8, so these come as raw or unsigned elements of their size.
std::vector<std::string_view> descriptions(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return {"<f8"};
    case DType::float32:
      return {"<f4"};
    case DType::float16:
      return {"<f2"};
    case DType::bfloat16:
      return {"<V2", "|V2", "<u2"};
    case DType::float8_e4m3:
    case DType::float8_e5m2:
      return {"|V1", "<V1", "|u1", "<u1", "<f1", "|f1"};
    case DType::int8:
      return {"|i1", "<i1"};
    case DType::int16:
      return {"<i2"};
    case DType::int32:
      return {"<i4"};
    case DType::int64:
      return {"<i8"};
    case DType::uint8:
      return {"|u1", "<u1"};
    case DType::uint16:
      return {"<u2"};
    case DType::uint32:
      return {"<u4"};
    case DType::uint64:
      return {"<u8"};
    case DType::boolean:
      return {"|b1"};
  }
  return {};
}

Result<void> check_description(const fs::path& file, const std::string& descr, DType dtype) {
  const auto allowed = descriptions(dtype);
  if (std::find(allowed.begin(), allowed.end(), descr) != allowed.end()) return {};
  const std::string shown = util::clean(descr, 20);
  if (descr.starts_with('>'))
    return refuse(file, "it is big endian ('" + shown + "')", "save a.astype(a.dtype.newbyteorder('<'))");
  if (descr.find('O') != std::string::npos)
    return refuse(file, "it holds Python objects ('" + shown + "')", "save a numeric array");
  return refuse(
      file,
      "it holds '" + shown + "' and the spec says " + std::string(name(dtype)) + " ('" + std::string(allowed[0]) + "')",
      "correct the dtype in kernel.json, or save the array with that type");
}

// Bytes of the data, or nothing if they do not fit 63 bits. A zero extent counts as 1 for that question.
std::optional<std::int64_t> data_bytes(const std::vector<std::int64_t>& shape, DType dtype) {
  auto bytes = static_cast<std::int64_t>(size_bytes(dtype));
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes)) return std::nullopt;
    empty = empty || extent == 0;
  }
  return empty ? 0 : bytes;
}

// What lies in the working tree where Git LFS is not installed, or did not fetch.
bool is_lfs_pointer(const fs::path& file) {
  constexpr std::string_view kVersion = "version https://git-lfs.github.com/spec/";
  std::string start(kVersion.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kVersion;
}

Result<std::string> read_dictionary(std::ifstream& stream, const fs::path& file, std::uintmax_t file_bytes) {
  std::array<char, 12> start{};
  stream.read(start.data(), 8);
  if (stream.gcount() != 8 || std::string_view(start.data(), kMagic.size()) != kMagic) {
    if (is_lfs_pointer(file)) return refuse(file, "it is a Git LFS pointer, not the data", "git lfs pull");
    return refuse(file, "it does not begin as a .npy file", "write it with numpy.save");
  }
  const int major = static_cast<unsigned char>(start[6]);
  if (major < 1 || major > 3)
    return refuse(file, "it has .npy version " + std::to_string(major) + ", known are 1 to 3",
                  "write it with numpy.save");
  const std::streamsize length_bytes = major == 1 ? 2 : 4;
  stream.read(start.data() + 8, length_bytes);
  if (stream.gcount() != length_bytes) return refuse(file, "it ends within its header", "write it again");
  std::size_t length = 0;
  for (std::streamsize i = 0; i < length_bytes; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(start[static_cast<std::size_t>(8 + i)])) << (8 * i);
  if (length > kMaxHeader)
    return refuse(file, "its header says to be " + std::to_string(length) + " bytes long", "write it with numpy.save");
  if (length > file_bytes) return refuse(file, "it ends within its header", "write it again");
  std::string text(length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  if (stream.gcount() != static_cast<std::streamsize>(length))
    return refuse(file, "it ends within its header", "write it again");
  return text;
}

Result<OpenFile> open(const fs::path& file, DType dtype) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return refuse(file, "there is no such file", "write it with numpy.save");
  const std::uintmax_t file_bytes = fs::file_size(file, error);
  OpenFile opened;
  opened.stream.open(file, std::ios::binary);
  if (error || !opened.stream) return refuse(file, "it cannot be read", "check its permissions");
  const Result<std::string> text = read_dictionary(opened.stream, file, file_bytes);
  if (!text) return std::unexpected(text.error());
  Result<NpyHeader> header = parse_npy_dictionary(*text);
  if (!header) return refuse(file, header.error().message, header.error().fix);
  opened.header = std::move(*header);
  if (auto checked = check_description(file, opened.header.descr, dtype); !checked)
    return std::unexpected(checked.error());
  const auto bytes = data_bytes(opened.header.shape, dtype);
  if (!bytes) return refuse(file, "its shape " + shape_text(opened.header.shape) + " overflows", "write it again");
  const auto present = file_bytes - static_cast<std::uintmax_t>(opened.stream.tellg());
  if (present != static_cast<std::uintmax_t>(*bytes))
    return refuse(file,
                  "its shape " + shape_text(opened.header.shape) + " needs " + std::to_string(*bytes) +
                      " bytes and it has " + std::to_string(present),
                  "write it again");
  opened.data_bytes = *bytes;
  return opened;
}

// From first index fastest to last index fastest.
std::vector<std::byte> to_c_order(const std::vector<std::byte>& fortran, const std::vector<std::int64_t>& shape,
                                  std::size_t item) {
  std::vector<std::byte> result(fortran.size());
  std::vector<std::int64_t> stride(shape.size()), index(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) stride[d] = step, step *= shape[d];
  std::int64_t from = 0;
  for (std::size_t to = 0; to < result.size(); to += item) {
    std::memcpy(&result[to], &fortran[static_cast<std::size_t>(from) * item], item);
    for (std::size_t d = shape.size(); d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Result<std::vector<std::int64_t>> read_npy_shape(const fs::path& file, DType dtype) {
  Result<OpenFile> opened = open(file, dtype);
  if (!opened) return std::unexpected(opened.error());
  return std::move(opened->header.shape);
}

Result<Tensor> read_npy(const fs::path& file, DType dtype) {
  Result<OpenFile> opened = open(file, dtype);
  if (!opened) return std::unexpected(opened.error());
  Tensor tensor{dtype, std::move(opened->header.shape), {}};
  tensor.bytes.resize(static_cast<std::size_t>(opened->data_bytes));
  opened->stream.read(reinterpret_cast<char*>(tensor.bytes.data()), opened->data_bytes);
  if (opened->stream.gcount() != opened->data_bytes) return refuse(file, "it ends within its data", "write it again");
  // In C++ a bool with any other bits is undefined behaviour, in the user's kernel.
  if (dtype == DType::boolean &&
      std::any_of(tensor.bytes.begin(), tensor.bytes.end(), [](std::byte value) { return value > std::byte{1}; }))
    return refuse(file, "it holds a bool that is neither 0 nor 1", "save a.astype(bool)");
  if (opened->header.fortran_order && tensor.shape.size() > 1)
    tensor.bytes = to_c_order(tensor.bytes, tensor.shape, size_bytes(dtype));
  return tensor;
}

Result<void> write_npy(const fs::path& file, const Tensor& tensor) {
  std::string dictionary = "{'descr': '" + std::string(descriptions(tensor.dtype)[0]) +
                           "', 'fortran_order': False, 'shape': " + shape_text(tensor.shape) + ", }";
  constexpr std::size_t kBefore = 10;  // magic, version, length
  const std::size_t unpadded = kBefore + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string contents(kMagic);
  contents += std::string("\x01\x00", 2);
  contents += static_cast<char>(dictionary.size() & 0xFF);
  contents += static_cast<char>(dictionary.size() >> 8);
  contents += dictionary;
  contents.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return util::write_file_atomically(file, contents);
}

}  // namespace kagent::spec
