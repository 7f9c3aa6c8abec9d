// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include <git2.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/example_evidence.h"
#include "store/variant_store.h"
#include "util/files.h"

namespace kagent::store {

// A real git repository with one commit, a project in it, and no configuration of the user's.
class RepositoryTest : public testing::Test {
 protected:
  RepositoryTest() {
    for (const char* name : {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME",
                             "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE", "GIT_DIR", "EMAIL"})
      ::unsetenv(name);
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    ::setenv("GIT_CEILING_DIRECTORIES", std::filesystem::temp_directory_path().c_str(), 1);
    set_home(folder.path() / "home");
    make(root);
    write(root / "kernels/softmax.cpp", "int baseline;\n");
    write(root / "golden/softmax/kernel.json", "{}\n");
    write(root / "other.txt", "other\n");
    git("init -q -b main .");
    commit_all("first");
  }

  static void set_home(const std::filesystem::path& home) {
    make(home);
    ::setenv("HOME", home.c_str(), 1);
    ::unsetenv("XDG_CONFIG_HOME");
    git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, home.c_str());
    git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_XDG, home.c_str());
  }
  static void make(const std::filesystem::path& path) { std::filesystem::create_directories(path); }
  static void write(const std::filesystem::path& file, const std::string& text) {
    make(file.parent_path());
    if (auto done = util::write_file_atomically(file, text); !done) throw std::runtime_error(done.error().message);
  }
  static std::string read(const std::filesystem::path& file) {
    auto text = util::read_file(file);
    return text ? *text : "cannot read: " + text.error().message;
  }

  // What a shell command prints, run in `where`; throws if it fails.
  static std::string shell(const std::string& command, const std::filesystem::path& where) {
    std::string output;
    FILE* pipe = ::popen(("cd '" + where.string() + "' && { " + command + " ; } 2>&1").c_str(), "r");
    char buffer[4096];
    for (std::size_t got; (got = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
    if (::pclose(pipe) != 0) throw std::runtime_error(command + ": " + output);
    while (output.ends_with('\n')) output.pop_back();
    return output;
  }
  std::string git(const std::string& arguments) const { return git_in(root, arguments); }
  static std::string git_in(const std::filesystem::path& where, const std::string& arguments) {
    return shell("git -c user.name=Ann -c user.email=ann@example.org " + arguments, where);
  }
  void commit_all(const std::string& message) const {
    git("add -A . && git -c user.name=Ann -c user.email=ann@example.org commit -q -m '" + message + "'");
  }

  // All that must not change when a variant is made.
  std::string untouched() const {
    return git("status --porcelain=v2 --branch --ignored") + git("stash list") + git("ls-files -s") +
           read(root / ".git/HEAD") +
           shell("find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum", root);
  }

  VariantStore open() const { return open(root); }
  VariantStore open(const std::filesystem::path& project) const {
    auto store = VariantStore::open(project, folder.path() / "build");
    if (!store) throw std::runtime_error(store.error().message + "; " + store.error().fix);
    return std::move(*store);
  }
  NewVariant example(const std::string& source = "int optimised;\n") const {
    NewVariant variant{example_evidence(source), source, {}, std::nullopt};
    for (const char* file : {"kernels/softmax.cpp", "golden/softmax/kernel.json"})
      variant.files.push_back({root / file});
    return variant;
  }
  // Adds a variant and answers with its branch.
  static std::string add(VariantStore& store, const NewVariant& variant) {
    auto added = store.add(variant);
    if (!added) throw std::runtime_error(added.error().message + "; " + added.error().fix);
    return added->reference;
  }

  // A process of its own; what throws in it makes ended_well() false.
  static pid_t start_process(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    try {
      work();
    } catch (const std::exception& error) {
      ::fprintf(stderr, "in a child: %s\n", error.what());
      ::_exit(1);
    }
    ::_exit(0);
  }
  static bool ended_well(pid_t child) {
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  util::TemporaryFolder folder{"kagent-store"};
  std::filesystem::path root = folder.path() / "project";
};

}  // namespace kagent::store
