"""Owns the Python row of the decode benchmark: json.loads over the corpus, the
items of src/items.rs read out of each line, timed here (median of 3). Prints one
JSON report. The strong checksum is computed once and is not timed."""

import json
import platform
import struct
import sys
import time

ROUNDS = 3
TEXT, TOOL, KEY, LEAF_TEXT, LEAF_NUMBER, LEAF_BOOL, ID, TOKENS = range(1, 9)
LINE_IDS = ("session_id", "uuid", "parent_tool_use_id", "request_id", "api_message_id", "tool_use_id")
COUNTS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class Cheap:
    def __init__(self):
        self.sum = 0

    def string(self, category, value):
        if value.isascii():
            length = len(value)
            ends = ord(value[0]) + 256 * ord(value[-1]) if length else 0
        else:
            data = value.encode()
            length = len(data)
            ends = data[0] + 256 * data[-1]
        self.sum += category * 1_000_003 + 31 * length + ends

    def number(self, category, value):
        self.sum += category * 1_000_003 + int(value)


class Strong:
    def __init__(self):
        self.sum = 0
        self.items = 0

    def add(self, category, data):
        value = ((0xCBF29CE484222325 ^ category) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
        for byte in data:
            value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
        self.sum += value
        self.items += 1

    def string(self, category, value):
        self.add(category, value.encode())

    def number(self, category, value):
        if category == LEAF_NUMBER:
            self.add(category, struct.pack("<d", value))
        elif category == LEAF_BOOL:
            self.add(category, bytes([value]))
        else:
            self.add(category, struct.pack("<Q", value))


def read_string(sink, category, value):
    if isinstance(value, str):
        sink.string(category, value)


def read_leaves(sink, value):
    if isinstance(value, str):
        sink.string(LEAF_TEXT, value)
    elif isinstance(value, bool):
        sink.number(LEAF_BOOL, value)
    elif isinstance(value, (int, float)):
        sink.number(LEAF_NUMBER, value)
    elif isinstance(value, dict):
        for key, child in value.items():
            sink.string(KEY, key)
            read_leaves(sink, child)
    elif isinstance(value, list):
        for child in value:
            read_leaves(sink, child)


def read_usage(sink, usage):
    if isinstance(usage, dict):
        for key in COUNTS:
            count = usage.get(key)
            if isinstance(count, int):
                sink.number(TOKENS, count)


def read_block(sink, block):
    kind = block.get("type")
    if kind == "text":
        read_string(sink, TEXT, block.get("text"))
    elif kind == "thinking":
        read_string(sink, TEXT, block.get("thinking"))
    elif kind == "tool_use":
        read_string(sink, ID, block.get("id"))
        read_string(sink, TOOL, block.get("name"))
        read_leaves(sink, block.get("input"))
    elif kind == "tool_result":
        read_string(sink, ID, block.get("tool_use_id"))
        content = block.get("content")
        if isinstance(content, list):
            for entry in content:
                if entry.get("type") == "text":
                    read_string(sink, TEXT, entry.get("text"))
        else:
            read_string(sink, TEXT, content)


def read_message(sink, message):
    read_string(sink, ID, message.get("id"))
    read_usage(sink, message.get("usage"))
    content = message.get("content")
    if isinstance(content, list):
        for block in content:
            read_block(sink, block)
    else:
        read_string(sink, TEXT, content)


def read_line(sink, line):
    for key in LINE_IDS:
        value = line.get(key)
        if value is not None:
            read_string(sink, ID, value)
    kind = line.get("type")
    if kind == "stream_event":
        event = line["event"]
        delta = event.get("delta")
        if delta is not None:
            read_string(sink, TEXT, delta.get("text"))
            read_string(sink, TEXT, delta.get("thinking"))
            read_string(sink, TEXT, delta.get("partial_json"))
        if "content_block" in event:
            read_block(sink, event["content_block"])
        if "message" in event:
            read_message(sink, event["message"])
        read_usage(sink, event.get("usage"))
    elif kind in ("assistant", "user"):
        read_message(sink, line["message"])
    elif kind == "result":
        read_string(sink, TEXT, line.get("result"))
        read_usage(sink, line.get("usage"))
    elif kind == "control_request":
        request = line["request"]
        read_string(sink, ID, request.get("tool_use_id"))
        if request.get("subtype") == "can_use_tool":
            read_string(sink, TOOL, request.get("tool_name"))
            read_leaves(sink, request.get("input"))
    elif kind == "control_response":
        read_string(sink, ID, line["response"].get("request_id"))


def megabytes_per_second(size, work):
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return size / 1e6 / sorted(seconds)[ROUNDS // 2]


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    lines = data.split(b"\n")[:-1]
    cheap = Cheap()

    def decode_and_read():
        nonlocal cheap
        cheap = Cheap()
        for line in lines:
            read_line(cheap, json.loads(line))

    def decode():
        for line in lines:
            json.loads(line)

    speed = megabytes_per_second(len(data), decode_and_read)
    parse_speed = megabytes_per_second(len(data), decode)
    strong = Strong()
    for line in lines:
        read_line(strong, json.loads(line))
    report = {
        "version": "Python " + platform.python_version(),
        "megabytes_per_second": speed,
        "parse_megabytes_per_second": parse_speed,
        "items": strong.items,
        "cheap_sum": cheap.sum & 0xFFFFFFFF,
        "strong_sum": f"{strong.sum & 0xFFFFFFFFFFFFFFFF:016x}",
    }
    print(json.dumps(report))


main()
