# SPDX-License-Identifier: Apache-2.0
#[=======================================================================[.rst:
kagent_optimize_kernel
----------------------

Has the build compile the best tested version of one kernel instead of its source::

  kagent_optimize_kernel(<kernel>
    TARGET <target>
    SOURCE <file>
    GOLDEN <folder>
    [ARCHITECTURES <level or CUDA architecture>...]
    [TUNE PICK|MISSING|ALWAYS]
    [PROPOSER <name>]
    [ROUNDS <count>]
    [WIDTH <count>]
    [TIME_BUDGET <seconds>|<number>s|<number>m|<number>h]
    [MIN_GAIN <share>]
    [REQUIRE_TUNED]
    [REQUIRE_REVIEWED])

``<kernel>``
  The name of the kernel, as in its ``kernel.json``. It becomes part of git branch names and of target names:
  a letter, then letters, digits, ``_`` and ``-``.

``TARGET``
  The target that compiles the source: a library, an object library, a module or an executable of this build, made
  in any directory. An alias stands for the target behind it. Call the function once for each target that is to use
  the kernel; a target that is not named keeps the source as it is.

``SOURCE``
  The C++ or CUDA source, one of the target's sources. Relative paths start at the folder of the call, as in
  ``target_sources()``. Flags, definitions and include folders of the target and of the source apply to the
  generated file as they do to the source, also when they are set after this call; files beside the source are
  found by ``#include "..."``.

``GOLDEN``
  The folder with ``kernel.json``, recorded data and reference. Relative paths start at the folder of the call.

``ARCHITECTURES``
  Instruction set levels (``x86-64``, ``x86-64-v2``, ``x86-64-v3``, ``x86-64-v4``). Each gets a variant of its own,
  compiled with its ``-march``, and the program chooses at run time; the baseline serves every other machine.
  Without it (``native``) there is one variant, compiled with the target's own flags, and no dispatcher.
  Of a CUDA source: ``80``, ``90``, ``90a`` or ``sm_90``. Each variant is compiled for its architecture alone and called
  where the current device is exactly that; the baseline, with PTX, serves every other device. One architecture that is
  all the target is compiled for needs no dispatcher. Without it: the target's ``CUDA_ARCHITECTURES``, which have to be
  set before the call.
  Default: ``KAGENT_ARCHITECTURES``, of which each kernel takes what is of its language.

``TUNE``
  ``PICK`` only selects among what is there: offline, deterministic. ``MISSING`` first tunes a kernel that has no
  result for exactly these inputs. ``ALWAYS`` goes on from the newest generation at every build that picks. When
  cross-compiling, ``MISSING`` and ``ALWAYS`` act as ``PICK``. Default: ``KAGENT_TUNE``, else ``MISSING``.

``PROPOSER``
  Who proposes changes beside the built-in search over the tunables: nobody (``search``); the language models that are
  configured (``model``; ``openai``, ``anthropic`` and ``command`` say of what kind ``KAGENT_MODEL`` is); recorded
  answers of models (``replay``, below the folder that the environment variable ``KAGENT_REPLAY`` names); or an agent
  from outside through ``kagent agent`` (``agent``). docs/agents.md tells how models are configured. Where the one that
  is asked for cannot be had, the search goes on alone. Default: ``KAGENT_PROPOSER``.

``ROUNDS``, ``WIDTH``
  How many rounds a tuning has, and how many candidates a round tries.
  Defaults: ``KAGENT_ROUNDS``, else 6; ``KAGENT_WIDTH``, else 8.

``TIME_BUDGET``
  Wall time after which a tuning ends: ``90`` or ``90s``, ``5m``, ``1h``. Default: ``KAGENT_TIME_BUDGET``, else 5m.

``MIN_GAIN``
  The share of time that a variant has to save to be accepted, at least 0 and under 1.
  Default: ``KAGENT_MIN_GAIN``, else 0.01.

``REQUIRE_TUNED``
  The build fails where no variant matches, instead of building the baseline. Default: ``KAGENT_REQUIRE_TUNED``.

``REQUIRE_REVIEWED``
  The build leaves out variants that nobody vouches for: the first ones for an architecture, until a person confirms
  them with ``kagent review``. Default: ``KAGENT_REQUIRE_REVIEWED``.

Two cache variables have no argument, since they are a matter of the machine and not of the project:
``KAGENT_REMOTE_VARIANTS`` also considers variant branches of remotes, ``KAGENT_ALLOW_UNSANDBOXED`` tunes without
bubblewrap. ``KAGENT_TUNE_CONFIG`` is the configuration whose flags candidates are compiled with under a
multi-config generator (default: Release where there is one, else the first).

``KAGENT_MODEL``, ``KAGENT_DRAFT_MODEL``, ``KAGENT_REFINE_MODEL``, ``KAGENT_MODEL_API``, ``KAGENT_MODEL_URL`` and
``KAGENT_MODEL_KEY`` (where the key is: ``env:NAME`` or ``file:PATH``, never the key), ``KAGENT_TOKEN_BUDGET`` and
``KAGENT_MONEY_BUDGET`` say which language model is asked and how much it may use. Environment variables of the same
names serve where these are empty.

Targets made: ``<kernel>-tune``, and once a build tree ``kagent-tune``, ``kagent-verify`` and ``kagent-report``.
#]=======================================================================]
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

set(KAGENT_TUNE "MISSING" CACHE STRING "What a build does with kernels: PICK, MISSING or ALWAYS")
set_property(CACHE KAGENT_TUNE PROPERTY STRINGS PICK MISSING ALWAYS)
set(KAGENT_PROPOSER "search" CACHE STRING "Who proposes changes to kernels")
set_property(CACHE KAGENT_PROPOSER PROPERTY STRINGS search model openai anthropic command agent replay)
set(KAGENT_MODEL "" CACHE STRING "Language model of both roles: a configured name, or the provider's")
set(KAGENT_DRAFT_MODEL "" CACHE STRING "Language model that drafts")
set(KAGENT_REFINE_MODEL "" CACHE STRING "Language model that refines")
set(KAGENT_MODEL_API "" CACHE STRING "Protocol of KAGENT_MODEL: openai or anthropic")
set(KAGENT_MODEL_URL "" CACHE STRING "Base URL of KAGENT_MODEL")
set(KAGENT_MODEL_KEY "" CACHE STRING "Where the key of KAGENT_MODEL is: env:NAME or file:PATH")
set(KAGENT_TOKEN_BUDGET "" CACHE STRING "Tokens that models may use in a tuning")
set(KAGENT_MONEY_BUDGET "" CACHE STRING "Money that models may cost in a tuning")
set(KAGENT_ROUNDS "6" CACHE STRING "Rounds of a tuning")
set(KAGENT_WIDTH "8" CACHE STRING "Candidates a round")
set(KAGENT_TIME_BUDGET "5m" CACHE STRING "Wall time of a tuning: 90, 90s, 5m, 1h")
set(KAGENT_MIN_GAIN "0.01" CACHE STRING "Share of time that a variant has to save")
set(KAGENT_ARCHITECTURES "" CACHE STRING
  "Instruction set levels and CUDA architectures of kernels; empty: those of the target's own flags")
set(KAGENT_TUNE_CONFIG "" CACHE STRING "Configuration that candidates are compiled with (multi-config generators)")
option(KAGENT_REQUIRE_TUNED "Fail the build where no variant matches" OFF)
option(KAGENT_REQUIRE_REVIEWED "Build only variants that a person vouches for" OFF)
option(KAGENT_REMOTE_VARIANTS "Also consider variant branches of remotes" OFF)
option(KAGENT_ALLOW_UNSANDBOXED "Tune without bubblewrap" OFF)
mark_as_advanced(KAGENT_MODEL KAGENT_DRAFT_MODEL KAGENT_REFINE_MODEL KAGENT_MODEL_API KAGENT_MODEL_URL KAGENT_MODEL_KEY
  KAGENT_TOKEN_BUDGET KAGENT_MONEY_BUDGET)
mark_as_advanced(KAGENT_PROPOSER KAGENT_ROUNDS KAGENT_WIDTH KAGENT_MIN_GAIN KAGENT_TUNE_CONFIG
  KAGENT_REMOTE_VARIANTS KAGENT_ALLOW_UNSANDBOXED)

include("${CMAKE_CURRENT_LIST_DIR}/KAgentArguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KAgentCuda.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KAgentRequest.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KAgentRules.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KAgentLevels.cmake")

# From here and not from a call: a project that has taken out its last call is to be cleaned up after as well.
_kagent_at_the_end(_kagent_forget)

function(kagent_optimize_kernel)
  list(APPEND CMAKE_MESSAGE_CONTEXT "kagent_optimize_kernel")
  set(flags REQUIRE_TUNED REQUIRE_REVIEWED)
  set(values TARGET SOURCE GOLDEN TUNE PROPOSER ROUNDS WIDTH TIME_BUDGET MIN_GAIN)
  set(lists ARCHITECTURES)
  cmake_parse_arguments(PARSE_ARGV 1 arg "${flags}" "${values}" "${lists}")
  set(kagent_kernel "${ARGV0}")
  set(kagent_words "${ARGV}")
  set(kagent_single_valued ${values})
  _kagent_check_arguments(${flags} ${values} ${lists})
  _kagent_check_generator()
  _kagent_resolve_target()
  _kagent_resolve_files()
  _kagent_resolve_settings()
  _kagent_register()

  _kagent_write_request()
  _kagent_replace_source()
  _kagent_add_pick()
  foreach(level IN LISTS kagent_levels)
    _kagent_add_level(${level})
  endforeach()
  _kagent_add_commands()
endfunction()
