// SPDX-License-Identifier: Apache-2.0
#include "toolchain/isolate.h"

#include <memory>
#include <vector>

#include <fmt/core.h>

#include "build_step/generated_source.h"
#include "build_step/pick.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "toolchain/device_code.h"

namespace kagent::cli {
namespace {

struct IsolateOptions {
  std::filesystem::path request, output;
  std::string architecture;
  std::vector<std::filesystem::path> objects;
};

// A level's object has to hold device code for the level alone: other devices get the baseline.
void check_device_code(const IsolateOptions& options) {
  for (const std::filesystem::path& object : options.objects) {
    const auto images = require(toolchain::device_code(object));
    if (const std::string foreign = toolchain::foreign_device_code(images, options.architecture); !foreign.empty())
      throw UserError(
          fmt::format("{} is to hold code for {} alone, and holds {}", object.string(), options.architecture, foreign),
          "name architectures in CUDA_ARCHITECTURES of the target, and not with -arch or -gencode in its options");
  }
}

int isolate(const IsolateOptions& options) {
  const KernelRequest request = require(build_step::load_request(options.request));
  const auto chosen = require(build_step::chosen_function(request, options.architecture));
  const std::string name = build_step::isolated_name(request.target, request.kernel, options.architecture);
  std::string symbol = chosen ? chosen->symbol : "";
  if (chosen && symbol.empty()) symbol = require(toolchain::symbol_of(options.objects.front(), chosen->name));
  if (request.language == Language::cuda) check_device_code(options);
  require(toolchain::isolate_symbols(options.objects, symbol, name, options.output));
  return kDone;
}

}  // namespace

void add_isolate(CLI::App& app, Action& action) {
  auto options = std::make_shared<IsolateOptions>();
  CLI::App* command =
      app.add_subcommand("isolate", "Make one level's object share nothing with the program (called by the build)");
  command->add_option("--request", options->request, "request.json of one kernel of one target")->required();
  command->add_option("--architecture", options->architecture, "The level")->required();
  command->add_option("--object", options->objects, "What the compiler made")->required();
  command->add_option("--output", options->output, "What is linked")->required();
  add_example(*command,
              "kagent isolate --request build/kagent/ops/softmax/request.json --architecture x86-64-v3 "
              "--object softmax.cpp.o --output softmax.o");
  command->callback([options, &action] { action = [options] { return isolate(*options); }; });
}

}  // namespace kagent::cli
