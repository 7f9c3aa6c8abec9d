// SPDX-License-Identifier: Apache-2.0
// file_variant <request.json> <architecture> <source> <symbol>: files a source under variants/ of the project as if it
// had been tuned and promoted, for cases whose device is not there.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "build_step/kernel_context.h"
#include "build_step/request.h"
#include "store/evidence_json.h"
#include "util/files.h"
#include "util/hash.h"

namespace {

namespace fs = std::filesystem;
using namespace kagent;

Decision twice_as_fast() {
  Decision decision;
  decision.comparison = Comparison::faster;
  decision.accepted = true;
  decision.ratio = decision.low = decision.high = 0.5;
  return decision;
}

Evidence evidence(const build_step::KernelContext& context, const std::string& source, const std::string& symbol) {
  Evidence evidence;
  evidence.kernel = context.request.kernel;
  evidence.architecture = context.architecture;
  evidence.generation = 1;
  evidence.parent = "baseline";
  evidence.key = context.key;
  evidence.source_name = context.request.source.filename().string();
  evidence.source_hash = util::sha256(source);
  evidence.symbol = symbol;
  evidence.against_incumbent = evidence.against_baseline = twice_as_fast();
  return evidence;
}

void file_variant(const fs::path& request_file, const std::string& architecture, const fs::path& source_file,
                  const std::string& symbol) {
  const KernelRequest request = require(build_step::load_request(request_file));
  const std::string source = require(util::read_file(source_file));
  for (const BuildOutput& output : request.outputs) {
    if (output.architecture != architecture) continue;
    const auto context = require(build_step::load_context(request, output));
    const fs::path folder = request.project_dir / "variants" / request.kernel / context.architecture;
    fs::create_directories(folder);
    require(util::write_file_if_different(folder / request.source.filename(), source));
    require(util::write_file_if_different(folder / "variant.json", store::to_json(evidence(context, source, symbol))));
    return;
  }
  throw UserError("no architecture " + architecture + " in " + request_file.string(), "correct the case");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    file_variant(argv[1], argv[2], argv[3], argv[4]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
