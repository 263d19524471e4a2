//! Owns the definition of what every implementation reads out of a line, and the
//! sinks that receive it.
//!
//! A line is decoded to the implementation's message type; then each of these
//! is handed to a [`Sink`], in any order. "String at `a.b`" means: if that key
//! exists and is a string (the empty one too); anything else is no item.
//!
//! * **Every line**, ids: the strings at `session_id`, `uuid`,
//!   `parent_tool_use_id`, `request_id`, `api_message_id` and `tool_use_id` of
//!   the line itself.
//! * **`assistant` and `user`**: the *message* at `message`.
//! * **`stream_event`**: the *message* at `event.message`; the *block* at
//!   `event.content_block`; texts: the strings at `event.delta.text`,
//!   `event.delta.thinking` and `event.delta.partial_json`; the *usage* at
//!   `event.usage`.
//! * **`result`**: text: the string at `result`; the *usage* at `usage`.
//! * **`control_request`**: id: the string at `request.tool_use_id`; if
//!   `request.subtype` is `can_use_tool` also tool: the string at
//!   `request.tool_name`, and the *leaves* of `request.input`.
//! * **`control_response`**: id: the string at `response.request_id`.
//! * All other lines: only the ids above.
//!
//! A *message*: id: the string at `id`; the *usage* at `usage`; `content` is one
//! text if it is a string, and *blocks* if it is an array.
//!
//! A *block*, by its `type`:
//! * `text`: text: the string at `text`. `thinking`: text: the string at
//!   `thinking`.
//! * `tool_use`: id: the string at `id`; tool: the string at `name`; the *leaves*
//!   of `input`.
//! * `tool_result`: id: the string at `tool_use_id`; `content` is one text if it
//!   is a string; if it is an array, each entry of type `text` gives the text at
//!   `text`.
//! * others: nothing.
//!
//! A *usage*: tokens: the unsigned integers at `input_tokens`, `output_tokens`,
//! `cache_read_input_tokens` and `cache_creation_input_tokens`, zeros too.
//!
//! *Leaves*, recursively: each key of an object is a key item; strings, numbers
//! (as the nearest double) and booleans are leaf items; nulls are nothing.

/// What an item is; part of its hash, so that no text can pass as an id.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Category {
    Text = 1,
    Tool,
    Key,
    LeafText,
    LeafNumber,
    LeafBool,
    Id,
    Tokens,
}

/// Receives the items of lines. Implementations call the named methods; sinks
/// implement the first four.
pub trait Sink {
    fn string(&mut self, category: Category, value: &str);
    fn leaf_number(&mut self, value: f64);
    fn leaf_bool(&mut self, value: bool);
    fn tokens(&mut self, value: u64);

    fn text(&mut self, value: &str) {
        self.string(Category::Text, value);
    }
    fn tool(&mut self, name: &str) {
        self.string(Category::Tool, name);
    }
    fn key(&mut self, value: &str) {
        self.string(Category::Key, value);
    }
    fn leaf_text(&mut self, value: &str) {
        self.string(Category::LeafText, value);
    }
    fn id(&mut self, value: &str) {
        self.string(Category::Id, value);
    }
    /// For ids that a type holds as an option.
    fn maybe_id(&mut self, value: Option<&str>) {
        if let Some(value) = value {
            self.id(value);
        }
    }
}

/// The sink of the timed runs: touches each item so that reading it cannot be
/// optimised away, and costs next to nothing. 32 bits wide because JavaScript
/// must compute the same sum without big integers.
#[derive(Default)]
pub struct CheapSum(pub u32);

impl CheapSum {
    fn add(&mut self, category: Category, value: u32) {
        let constant = category as u32 * 1_000_003;
        self.0 = self.0.wrapping_add(constant).wrapping_add(value);
    }
}

impl Sink for CheapSum {
    fn string(&mut self, category: Category, value: &str) {
        let bytes = value.as_bytes();
        let first = u32::from(bytes.first().copied().unwrap_or(0));
        let last = u32::from(bytes.last().copied().unwrap_or(0));
        let length = (bytes.len() as u32).wrapping_mul(31);
        self.add(category, length.wrapping_add(first + 256 * last));
    }
    fn leaf_number(&mut self, value: f64) {
        self.add(Category::LeafNumber, value as i64 as u32);
    }
    fn leaf_bool(&mut self, value: bool) {
        self.add(Category::LeafBool, u32::from(value));
    }
    fn tokens(&mut self, value: u64) {
        self.add(Category::Tokens, value as u32);
    }
}

/// The sink of the untimed proof: keeps the 64-bit FNV-1a hash of each item over
/// its category and bytes. The wrapping sum of the hashes does not depend on the
/// order in which an implementation reads.
#[derive(Default)]
pub struct ItemHashes(pub Vec<u64>);

impl ItemHashes {
    fn add(&mut self, category: Category, bytes: &[u8]) {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64;
        for byte in std::iter::once(&(category as u8)).chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        self.0.push(hash);
    }

    pub fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, hash| sum.wrapping_add(*hash))
    }
}

impl Sink for ItemHashes {
    fn string(&mut self, category: Category, value: &str) {
        self.add(category, value.as_bytes());
    }
    fn leaf_number(&mut self, value: f64) {
        self.add(Category::LeafNumber, &value.to_bits().to_le_bytes());
    }
    fn leaf_bool(&mut self, value: bool) {
        self.add(Category::LeafBool, &[u8::from(value)]);
    }
    fn tokens(&mut self, value: u64) {
        self.add(Category::Tokens, &value.to_le_bytes());
    }
}
