"""Drives an agent through the official Python SDK: two turns, a hook and a question. Prints what the SDK makes of it.

usage: drive.py CLI FOLDER
"""
import asyncio
import dataclasses
import json
import sys

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, PermissionResultAllow


def tell(kind, value):
    print(json.dumps([kind, value], default=str), flush=True)


async def may_use(tool, tool_input, _context):
    tell("asked", {"tool": tool, "input": tool_input})
    return PermissionResultAllow()


async def before_tool(hook_input, _tool_use_id, _context):
    tell("hook", {"event": hook_input["hook_event_name"], "tool": hook_input["tool_name"]})
    return {}


async def main(cli, folder):
    options = ClaudeAgentOptions(
        cli_path=cli,
        cwd=folder,
        can_use_tool=may_use,
        hooks={"PreToolUse": [HookMatcher(hooks=[before_tool])]},
    )
    async with ClaudeSDKClient(options) as client:
        for prompt in ["make a file", "say goodbye"]:
            await client.query(prompt)
            async for message in client.receive_response():
                tell(type(message).__name__, dataclasses.asdict(message))


asyncio.run(main(*sys.argv[1:]))
