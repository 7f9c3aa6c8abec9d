# SPDX-License-Identifier: Apache-2.0
"""Talks to `kagent mcp` (the command line) through the public client library, by every way that it knows.

Prints "skipped: <reason>" where the library is not installed; ends with an error where the server misbehaves.
"""
import asyncio
import sys

try:
    import mcp
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

TOOLS = {"read_task", "submit_candidate", "read_profile", "list_history"}
WRONG = (
    '#include "scale.h"\n'
    "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i]; }\n"
)


def text_of(result):
    return "".join(part.text for part in result.content if part.type == "text")


def is_error(result):
    return getattr(result, "isError", getattr(result, "is_error", False))


async def use(session):
    tools = await session.list_tools()
    names = {tool.name for tool in tools.tools}
    assert names == TOOLS, names
    task = await session.call_tool("read_task", {})
    assert not is_error(task) and "scale" in text_of(task), text_of(task)
    usage = {"input_tokens": 5, "output_tokens": 6, "cost": 0.1}
    tried = await session.call_tool("submit_candidate", {"source": WRONG, "model": "a test", "usage": usage})
    assert "wrong_result" in text_of(tried) or "on record" in text_of(tried), text_of(tried)
    history = await session.call_tool("list_history", {})
    assert "wrong_result" in text_of(history), text_of(history)
    refused = await session.call_tool("submit_candidate", {})
    assert is_error(refused), text_of(refused)


async def by_handshake(parameters):
    async with stdio_client(parameters) as (read, write):
        async with ClientSession(read, write) as session:
            agreed = await session.initialize()
            version = getattr(agreed, "protocolVersion", getattr(agreed, "protocol_version", None))
            assert version >= "2025-06-18", version
            await use(session)
            return version


async def by_newest(parameters):
    async with mcp.Client(parameters) as client:
        await use(client)


def main():
    parameters = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    print("spoke", asyncio.run(by_handshake(parameters)))
    if hasattr(mcp, "Client"):
        asyncio.run(by_newest(parameters))
        print("spoke the newest revision of the library")


main()
