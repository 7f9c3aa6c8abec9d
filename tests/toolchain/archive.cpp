// SPDX-License-Identifier: Apache-2.0
#include "toolchain/archive.h"

#include <map>
#include <stdexcept>

#include "util/files.h"
#include "util/hash.h"
#include "util/subprocess.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

void must_run(std::vector<std::string> words) {
  util::Command command;
  command.argv = std::move(words);
  command.environment = util::minimal_environment();
  const auto finished = util::run(command);
  if (!finished || !finished->ok()) throw std::runtime_error(command.argv.front() + " failed");
}

}  // namespace

const fs::path& make_archive(const std::string& source, const std::vector<std::string>& options) {
  static const util::TemporaryFolder folder;
  static std::map<std::string, fs::path> made;
  std::string key = source;
  for (const std::string& option : options) key += "\n" + option;
  fs::path& archive = made[key];
  if (!archive.empty()) return archive;
  const fs::path base = folder.path() / util::sha256(key).substr(0, 16);
  const fs::path text = base.string() + ".cpp", object = base.string() + ".o", library = base.string() + ".a";
  if (!util::write_file_atomically(text, source)) throw std::runtime_error("cannot write " + text.string());
  std::vector<std::string> compile = {"/usr/bin/c++", "-O1", "-fPIC"};
  compile.insert(compile.end(), options.begin(), options.end());
  compile.insert(compile.end(), {"-c", text.string(), "-o", object.string()});
  must_run(std::move(compile));
  must_run({"ar", "rcs", library.string(), object.string()});
  return archive = library;
}

}  // namespace kagent::toolchain
