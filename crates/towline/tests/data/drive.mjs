// Drives an agent through the official TypeScript SDK: two turns, a hook and a question. Prints what the SDK makes of it.
//
// usage: drive.mjs CLI FOLDER SDK
const [cli, cwd, sdk] = process.argv.slice(2);
const { query } = await import(sdk);

const tell = (kind, value) => console.log(JSON.stringify([kind, value]));

// The next prompt is said when the turn before it has ended.
let goOn;
async function* prompts() {
  for (const content of ["make a file", "say goodbye"]) {
    const ended = new Promise((resolve) => (goOn = resolve));
    yield { type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "" };
    await ended;
  }
}

const canUseTool = async (tool, input) => {
  tell("asked", { tool, input });
  return { behavior: "allow", updatedInput: input };
};
const beforeTool = async (input) => {
  tell("hook", { event: input.hook_event_name, tool: input.tool_name });
  return {};
};
const options = {
  pathToClaudeCodeExecutable: cli,
  cwd,
  canUseTool,
  hooks: { PreToolUse: [{ hooks: [beforeTool] }] },
};
for await (const message of query({ prompt: prompts(), options })) {
  tell(message.type, message);
  if (message.type === "result") goOn();
}
