// The HTTP API of the bridge: one function for each thing that can be asked, one kind of error for all of them.

/** Why something could not be done. `code` is for programs, `message` for people; `status` is 0 without a connection. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }

  /** Whether the same request may succeed later: the connection was lost, or the bridge cannot take it in just now. */
  get mayPass() {
    return this.status === 0 || this.status === 429 || this.status >= 502 || this.code === "busy";
  }
}

/** Whoever wants to know that the cookie is not good any more. */
export const door = { closed() {} };

/** Asks the bridge; gives what it says, or throws an `ApiError`. */
async function ask(method, path, body) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: controller.signal,
      credentials: "same-origin",
      cache: "no-store",
    });
    text = await response.text();
  } catch {
    const message = controller.signal.aborted ? "The bridge does not answer." : "The bridge cannot be reached.";
    throw new ApiError(0, "unreachable", message);
  } finally {
    clearTimeout(timer);
  }
  if (response.status === 401 && path !== LOGIN) door.closed();
  if (!response.ok) throw readError(response.status, text);
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(response.status, "unreadable", "The bridge gave an answer that cannot be read.");
  }
}

/** What an answer with an error says: JSON of the API, or plain words of the door. */
export function readError(status, text) {
  try {
    const { code, message } = JSON.parse(text).error;
    return new ApiError(status, String(code), String(message));
  } catch {
    const code = status === 401 ? "login" : "refused";
    return new ApiError(status, code, text.trim().slice(0, 500) || `The bridge answered with ${status}.`);
  }
}

/** A path with a query; what is undefined or empty is left out. */
export function withQuery(path, query) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

const LOGIN = "/api/login";
const session = (id) => `/api/sessions/${encodeURIComponent(id)}`;

export const api = {
  login: (token) => ask("POST", LOGIN, { token }),
  logout: () => ask("DELETE", LOGIN),
  agents: () => ask("GET", "/api/agents"),
  usage: () => ask("GET", "/api/usage"),
  start: (begin) => ask("POST", "/api/sessions", begin),
  describe: (id) => ask("GET", session(id)),
  change: (id, changes) => ask("PATCH", session(id), changes),
  end: (id) => ask("DELETE", session(id)),
  interrupt: (id) => ask("POST", `${session(id)}/interrupt`),
  messages: (id, after, limit) => ask("GET", withQuery(`${session(id)}/messages`, { after, limit })),
  say: (id, content, clientMessageId) =>
    ask("POST", `${session(id)}/messages`, { content, client_message_id: clientMessageId }),
  answer: (id, question, decision) =>
    ask("POST", `${session(id)}/questions/${encodeURIComponent(question)}`, decision),
  search: (words, limit) => ask("GET", withQuery("/api/search", { words, limit })),
  past: (query) => ask("GET", withQuery("/api/past", query)),
  history: (id) => ask("GET", `/api/past/${encodeURIComponent(id)}`),
  directory: (directory) => ask("GET", withQuery("/api/directory", { directory })),
  trust: (directory) => ask("GET", withQuery("/api/trust", { directory })),
  answerTrust: (directory, trusted, digest) => ask("POST", "/api/trust", { directory, trusted, digest }),
  diff: (directory) => ask("GET", withQuery("/api/diff", { directory })),
};

/** How long an answer may take, in milliseconds. */
const TIMEOUT = 60_000;
