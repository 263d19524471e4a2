// Owns the Node row of the decode benchmark: JSON.parse over the corpus, the items
// of src/items.rs read out of each line, timed here (median of 3). Prints one JSON
// report. The strong checksum is computed once and is not timed.

import { readFileSync } from "node:fs";

const ROUNDS = 3;
const TEXT = 1, TOOL = 2, KEY = 3, LEAF_TEXT = 4, LEAF_NUMBER = 5, LEAF_BOOL = 6, ID = 7, TOKENS = 8;

class Cheap {
  sum = 0;
  string(category, value) {
    let first = 0, last = 0;
    if (value.length > 0) {
      first = firstByte(value.codePointAt(0));
      last = value.charCodeAt(value.length - 1);
      // The last byte of a longer character holds the low six bits of its code.
      if (last >= 0x80) last = 0x80 | (last & 0x3f);
    }
    this.sum = (this.sum + category * 1000003 + Buffer.byteLength(value) * 31 + first + 256 * last) | 0;
  }
  number(category, value) {
    this.sum = (this.sum + category * 1000003 + (value | 0)) | 0;
  }
}

function firstByte(code) {
  if (code < 0x80) return code;
  if (code < 0x800) return 0xc0 | (code >> 6);
  if (code < 0x10000) return 0xe0 | (code >> 12);
  return 0xf0 | (code >> 18);
}

// 64-bit FNV-1a in two halves: big integers would take minutes.
class Strong {
  high = 0;
  low = 0;
  items = 0;
  add(category, bytes) {
    let high = 0xcbf29ce4, low = 0x84222325;
    for (let index = -1; index < bytes.length; index++) {
      low = (low ^ (index < 0 ? category : bytes[index])) >>> 0;
      // Times 2^40 + 0x1b3.
      const product = low * 0x1b3;
      const carry = Math.floor(product / 0x100000000);
      high = (high * 0x1b3 + carry + ((low << 8) >>> 0)) % 0x100000000;
      low = product % 0x100000000;
    }
    const sum = this.low + low;
    this.low = sum % 0x100000000;
    this.high = (this.high + high + (sum >= 0x100000000 ? 1 : 0)) % 0x100000000;
    this.items++;
  }
  string(category, value) {
    this.add(category, Buffer.from(value));
  }
  number(category, value) {
    const bytes = Buffer.alloc(category === LEAF_BOOL ? 1 : 8);
    if (category === LEAF_NUMBER) bytes.writeDoubleLE(value);
    else if (category === LEAF_BOOL) bytes[0] = value ? 1 : 0;
    else bytes.writeBigUInt64LE(BigInt(value));
    this.add(category, bytes);
  }
}

function readString(sink, category, value) {
  if (typeof value === "string") sink.string(category, value);
}

function readLeaves(sink, value) {
  if (typeof value === "string") sink.string(LEAF_TEXT, value);
  else if (typeof value === "boolean") sink.number(LEAF_BOOL, value);
  else if (typeof value === "number") sink.number(LEAF_NUMBER, value);
  else if (Array.isArray(value)) for (const child of value) readLeaves(sink, child);
  else if (value !== null && value !== undefined) {
    for (const key in value) {
      sink.string(KEY, key);
      readLeaves(sink, value[key]);
    }
  }
}

function readCount(sink, count) {
  if (typeof count === "number") sink.number(TOKENS, count);
}

function readUsage(sink, usage) {
  if (!usage) return;
  readCount(sink, usage.input_tokens);
  readCount(sink, usage.output_tokens);
  readCount(sink, usage.cache_read_input_tokens);
  readCount(sink, usage.cache_creation_input_tokens);
}

function readBlock(sink, block) {
  switch (block.type) {
    case "text":
      return readString(sink, TEXT, block.text);
    case "thinking":
      return readString(sink, TEXT, block.thinking);
    case "tool_use":
      readString(sink, ID, block.id);
      readString(sink, TOOL, block.name);
      return readLeaves(sink, block.input);
    case "tool_result":
      readString(sink, ID, block.tool_use_id);
      if (!Array.isArray(block.content)) return readString(sink, TEXT, block.content);
      for (const entry of block.content) if (entry.type === "text") readString(sink, TEXT, entry.text);
  }
}

function readMessage(sink, message) {
  readString(sink, ID, message.id);
  readUsage(sink, message.usage);
  if (!Array.isArray(message.content)) return readString(sink, TEXT, message.content);
  for (const block of message.content) readBlock(sink, block);
}

function readLine(sink, line) {
  readString(sink, ID, line.session_id);
  readString(sink, ID, line.uuid);
  readString(sink, ID, line.parent_tool_use_id);
  readString(sink, ID, line.request_id);
  readString(sink, ID, line.api_message_id);
  readString(sink, ID, line.tool_use_id);
  switch (line.type) {
    case "stream_event": {
      const { delta, content_block, message, usage } = line.event;
      if (delta) {
        readString(sink, TEXT, delta.text);
        readString(sink, TEXT, delta.thinking);
        readString(sink, TEXT, delta.partial_json);
      }
      if (content_block) readBlock(sink, content_block);
      if (message) readMessage(sink, message);
      return readUsage(sink, usage);
    }
    case "assistant":
    case "user":
      return readMessage(sink, line.message);
    case "result":
      readString(sink, TEXT, line.result);
      return readUsage(sink, line.usage);
    case "control_request":
      readString(sink, ID, line.request.tool_use_id);
      if (line.request.subtype !== "can_use_tool") return;
      readString(sink, TOOL, line.request.tool_name);
      return readLeaves(sink, line.request.input);
    case "control_response":
      return readString(sink, ID, line.response.request_id);
  }
}

function megabytesPerSecond(size, work) {
  const seconds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    work();
    seconds.push(Number(process.hrtime.bigint() - start) / 1e9);
  }
  seconds.sort((a, b) => a - b);
  return size / 1e6 / seconds[Math.floor(ROUNDS / 2)];
}

const data = readFileSync(process.argv[2]);
const lines = [];
for (let start = 0; start < data.length; ) {
  const end = data.indexOf(10, start);
  lines.push(data.subarray(start, end));
  start = end + 1;
}

let cheap = new Cheap();
const speed = megabytesPerSecond(data.length, () => {
  cheap = new Cheap();
  for (const line of lines) readLine(cheap, JSON.parse(line.toString()));
});
const parseSpeed = megabytesPerSecond(data.length, () => {
  for (const line of lines) JSON.parse(line.toString());
});
const strong = new Strong();
for (const line of lines) readLine(strong, JSON.parse(line.toString()));
const half = (value) => value.toString(16).padStart(8, "0");
console.log(
  JSON.stringify({
    version: "Node " + process.versions.node,
    megabytes_per_second: speed,
    parse_megabytes_per_second: parseSpeed,
    items: strong.items,
    cheap_sum: cheap.sum >>> 0,
    strong_sum: half(strong.high) + half(strong.low),
  }),
);
