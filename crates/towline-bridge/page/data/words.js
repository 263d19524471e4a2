// Numbers, times and states in words (pure).

/** What a session does, for a person. */
export const STATUS = {
  idle: "Ready",
  running: "Working",
  waiting_approval: "Needs you",
  starting: "Starting",
  compacting: "Summing up",
  dead: "Agent ended",
  unknown: "Not connected",
};

/** How a question ended, for a person. */
const OUTCOME = {
  allowed: "Allowed",
  allowed_for_session: "Allowed, and accepted for this session",
  allowed_and_saved: "Allowed, rule saved",
  denied: "Denied",
  answered: "Answered",
  cancelled: "Withdrawn",
  timed_out: "Nobody answered: denied",
  agent_ended: "The agent ended",
};

/** The permission modes that can be chosen. */
export const MODES = [
  ["default", "Ask first"],
  ["acceptEdits", "Accept edits"],
  ["plan", "Plan only"],
  ["dontAsk", "Never ask, deny"],
  ["bypassPermissions", "Allow everything"],
];

/** The requests of a folder's files, in words for a person. */
export const TRUST_KINDS = {
  allow: "Runs without asking",
  directory: "Works in another folder",
  mode: "Begins in the mode",
  hook: "Runs at an event",
  server: "Starts the server",
  variable: "Sets the variable",
  key_helper: "Runs for the key",
  program: "Starts or redirects",
};

/** How long ago something was. */
export function ago(then, now) {
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A count, short. */
export function count(number) {
  if (number < 1000) return String(number);
  if (number < 999_500) return `${(number / 1000).toFixed(number < 9_950 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** Money, in US dollars. */
export function dollars(amount) {
  if (!amount) return "";
  return amount < 0.01 ? "< $0.01" : `$${amount.toFixed(2)}`;
}

/** What was used, in a few words. */
export function usage({ input_tokens: read = 0, cached_tokens: cached = 0, output_tokens: written = 0, cost_usd: cost = 0 }) {
  const tokens = read + cached + written;
  return [tokens ? `${count(tokens)} tokens` : "", dollars(cost)].filter(Boolean).join(" · ");
}

/** How long something took. */
export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

/** A path, from the directory of the session if it is in there. */
export function shortPath(path, directory) {
  const text = String(path ?? "");
  return directory && text.startsWith(`${directory}/`) ? text.slice(directory.length + 1) : text;
}

/** What allowing would change besides, one line each. */
export function suggestionWords(suggestion) {
  const rules = (suggestion.rules ?? []).map(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName));
  const directories = suggestion.directories ?? [];
  switch (suggestion.type) {
    case "addRules":
    case "replaceRules":
      return `${suggestion.behavior ?? "allow"} ${rules.join(", ")}`;
    case "removeRules":
      return `forget the rule ${rules.join(", ")}`;
    case "addDirectories":
      return `work in ${directories.join(", ")}`;
    case "removeDirectories":
      return `no longer work in ${directories.join(", ")}`;
    case "setMode":
      return `mode: ${MODES.find(([mode]) => mode === suggestion.mode)?.[1] ?? suggestion.mode}`;
    default:
      return JSON.stringify(suggestion);
  }
}

/** Several of them in a line that is not too long. */
function effects(suggestions) {
  const words = suggestions.map(suggestionWords).join(" · ");
  return words.length > LONGEST_EFFECTS ? `${words.slice(0, LONGEST_EFFECTS)}… (${words.length - LONGEST_EFFECTS} more characters)` : words;
}

/** How a question ended, with what was truly accepted in the words in which that is offered. */
export function outcomeWords({ outcome, accepted = [], message }) {
  const how = OUTCOME[outcome] ?? outcome;
  const where = outcome === "allowed_and_saved" ? savedWhere(accepted) : null;
  // A mode in which a plan is gone on with is told by itself.
  const what = outcome === "allowed" ? message : (message ?? effects(accepted));
  return [[how, where].filter(Boolean).join(" "), what].filter(Boolean).join(": ");
}

/** What allowing for the session offers: what the agent suggests, and nothing where it suggests nothing. Whether that
 * covers the next question only the agent knows, so nothing is promised about it. */
export function sessionOffer(suggestions) {
  return suggestions.length ? `Allow, and accept for this session: ${effects(suggestions)}` : null;
}

/** Where a rule would be saved, or nothing if it would not. */
export function savedWhere(suggestions) {
  const places = { localSettings: "for me in this project", projectSettings: "for this project", userSettings: "for all my projects" };
  return suggestions.map((suggestion) => places[suggestion.destination]).find(Boolean) ?? null;
}

/** The words of a Markdown text, to be heard: without its signs, and not all of a long one. */
export function plain(text) {
  const words = text
    .replace(/```[\s\S]*?(```|$)/g, " (code) ")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_`#>|]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return words.length > LONGEST_HEARD ? `${words.slice(0, LONGEST_HEARD)}…` : words;
}

/** So much of it stands on a button; beside it all of it does. */
const LONGEST_EFFECTS = 140;
/** So much of an answer is read out. */
const LONGEST_HEARD = 600;
