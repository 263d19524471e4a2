//! [`Reader`]: a strict pull reader over one JSON text.
//!
//! It owns the grammar and the byte position of every error. It knows nothing of messages: `wire` asks it for keys,
//! strings and numbers in the order it wants them.

use std::borrow::Cow;

use super::{
    DecodeError, Json, Number, ShortText, Text,
    scan::{block, block_at, large, long_quoted_end, plain_end, specials_at},
};

type Result<T> = std::result::Result<T, DecodeError>;

/// Reads one JSON text from front to back.
pub(crate) struct Reader<'a> {
    whole: &'a Text,
    text: &'a str,
    at: usize,
    depth: usize,
    /// Just behind an opening bracket, where no comma may stand.
    fresh: bool,
    past_tags: PastTags,
}

/// An object that begins with the tags looked up last, and where what follows them starts: whoever reads the object
/// next need not read them again.
#[derive(Clone, Copy, Default)]
struct PastTags {
    object: usize,
    rest: usize,
    count: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(whole: &'a Text) -> Self {
        Self {
            whole,
            text: whole,
            at: 0,
            depth: 0,
            fresh: false,
            past_tags: PastTags::default(),
        }
    }

    /// The byte of the next token.
    pub(crate) fn offset(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// The first byte of the next token; 0 at the end of the text.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        self.skip_space();
        self.bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.peek() {
            0 if self.at == self.text.len() => Ok(()),
            _ => Err(DecodeError::syntax("expected the end of the line", self.at)),
        }
    }

    /// Opens an object, and says how many tags at its start have been looked up and passed over.
    #[inline]
    pub(crate) fn begin_object(&mut self) -> Result<usize> {
        if self.peek() != b'{' {
            return Err(self.expected("an object"));
        }
        let start = self.at;
        self.open()?;
        let past = self.past_tags;
        if past.count != 0 && past.object == start {
            self.at = past.rest;
            self.fresh = false;
            return Ok(past.count);
        }
        Ok(0)
    }

    /// Goes over a tag in the middle of an object. One that comes twice has no one meaning, and what two readers take
    /// for two messages is refused.
    pub(crate) fn skip_tag(&mut self, name: &str, met: &mut usize, tags: &[&str]) -> Result<()> {
        *met += 1;
        if *met > tags.len() {
            return Err(DecodeError::shape(
                format!("`{name}` comes twice"),
                self.offset(),
            ));
        }
        self.skip_value()
    }

    /// The next key of the object, its colon read; nothing behind the last one.
    pub(crate) fn next_key(&mut self) -> Result<Option<Cow<'a, str>>> {
        if self.next_member(b'}')? {
            if self.peek() != b'"' {
                return Err(self.unexpected("expected a key"));
            }
            let key = self.str_token()?;
            if self.peek() != b':' {
                return Err(self.unexpected("expected `:`"));
            }
            self.at += 1;
            return Ok(Some(key));
        }
        Ok(None)
    }

    /// The next key of the object, where `keys` are those that are likely, in their usual order. A key that stands
    /// where it is expected costs one comparison instead of a scan and a search.
    #[inline]
    pub(crate) fn next_key_in(&mut self, keys: &[Likely], order: &mut usize) -> Result<Key<'a>> {
        let next = self.bytes().get(self.at).copied().unwrap_or(0);
        if next == b'}' {
            self.close();
            return Ok(Key::End);
        }
        if self.fresh || next == b',' {
            let start = self.at + usize::from(!self.fresh);
            if let Some(index) = self.likely_key(keys, *order, start) {
                self.at = start + keys[index].text.len();
                self.fresh = false;
                *order = index + 1;
                return Ok(Key::Expected(index));
            }
        }
        Ok(self.next_key()?.map_or(Key::End, Key::Other))
    }

    /// Goes over a key of the object if it is surely the next one.
    #[inline]
    pub(crate) fn takes_key(&mut self, key: &Likely) -> bool {
        let bytes = self.bytes();
        let start = self.at + usize::from(!self.fresh);
        let is_next = (self.fresh || bytes.get(self.at) == Some(&b','))
            && Window::at(bytes, start).is_some_and(|window| key.surely_begins(&window));
        if is_next {
            self.at = start + key.text.len();
            self.fresh = false;
        }
        is_next
    }

    /// Which of the next few keys stands at `start`.
    #[inline]
    fn likely_key(&self, keys: &[Likely], order: usize, start: usize) -> Option<usize> {
        let window = Window::at(self.bytes(), start)?;
        let mut ahead = keys.iter().skip(order).take(LOOK_AHEAD);
        ahead
            .position(|key| key.begins(&window))
            .map(|skipped| order + skipped)
    }

    #[inline]
    pub(crate) fn begin_array(&mut self) -> Result<()> {
        if self.peek() != b'[' {
            return Err(self.expected("an array"));
        }
        self.open()
    }

    /// Whether another item follows in the array.
    #[inline]
    pub(crate) fn next_item(&mut self) -> Result<bool> {
        self.next_member(b']')
    }

    #[inline]
    pub(crate) fn text(&mut self) -> Result<Text> {
        if self.peek() != b'"' {
            return Err(self.expected("a string"));
        }
        let start = self.at + 1;
        match self.plain_token() {
            Ok(plain) => Ok(self.whole.share(plain)),
            Err(escape) => match self.unescape_short(start, escape) {
                Some(short) => Ok(short),
                None => self.unescape(start, escape).map(Text::from),
            },
        }
    }

    /// A string that is short as a rule.
    #[inline]
    pub(crate) fn short_text(&mut self) -> Result<ShortText> {
        if self.peek() != b'"' {
            return Err(self.expected("a string"));
        }
        match self.str_token()? {
            Cow::Borrowed(plain) => Ok(ShortText::share(self.whole, plain)),
            Cow::Owned(text) => Ok(ShortText::from(&*text)),
        }
    }

    /// A string that is not kept.
    #[inline]
    pub(crate) fn str(&mut self) -> Result<Cow<'a, str>> {
        if self.peek() != b'"' {
            return Err(self.expected("a string"));
        }
        self.str_token()
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        match self.peek() {
            b't' => self.literal("true").map(|()| true),
            b'f' => self.literal("false").map(|()| false),
            _ => Err(self.expected("true or false")),
        }
    }

    /// Takes a `null` if one is next.
    #[inline]
    pub(crate) fn null(&mut self) -> Result<bool> {
        if self.peek() == b'n' {
            self.literal("null")?;
            return Ok(true);
        }
        Ok(false)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        let start = self.offset();
        if let Some(small) = self.small_number() {
            return Ok(small);
        }
        let number = self.number_token("a whole number")?;
        number
            .parse()
            .map_err(|_| DecodeError::shape("expected a whole number", start))
    }

    /// A number of one to nine digits and nothing else: nearly all of them.
    #[inline]
    fn small_number(&mut self) -> Option<u64> {
        let digits = &self.bytes()[self.at..];
        let mut value = 0;
        for (length, byte) in digits.iter().take(10).enumerate() {
            match byte {
                b'0'..=b'9' => value = value * 10 + u64::from(byte - b'0'),
                b',' | b'}' | b']' if length > 0 && (digits[0] != b'0' || length == 1) => {
                    self.at += length;
                    return Some(value);
                }
                _ => return None,
            }
        }
        None
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        let start = self.offset();
        let number = self.number_token("a whole number")?;
        number
            .parse()
            .map_err(|_| DecodeError::shape("expected a whole number", start))
    }

    pub(crate) fn number(&mut self) -> Result<Number> {
        let start = self.offset();
        if let Some(small) = self.small_number() {
            return Ok(Number(small.into()));
        }
        let token = self.number_token("a number")?;
        let whole = token.parse::<u64>().map(Into::into);
        let number = match whole.or_else(|_| token.parse::<i64>().map(Into::into)) {
            // `-0` is a float, as serde_json has it.
            Ok(number) if token != "-0" => Some(number),
            _ => token.parse().ok().and_then(serde_json::Number::from_f64),
        };
        number
            .map(Number)
            .ok_or_else(|| DecodeError::shape("expected a number that a float can hold", start))
    }

    /// The next value as text, checked but not looked into.
    #[inline]
    pub(crate) fn json(&mut self) -> Result<Json> {
        let start = self.offset();
        self.skip_value()?;
        Ok(Json::from_checked(
            self.whole.share(&self.text[start..self.at]),
        ))
    }

    /// Checks the next value and goes behind it.
    pub(crate) fn skip_value(&mut self) -> Result<()> {
        match self.peek() {
            b'"' => self.skip_string(),
            b'{' => {
                self.open()?;
                while self.next_member(b'}')? {
                    if self.peek() != b'"' {
                        return Err(self.unexpected("expected a key"));
                    }
                    self.skip_string()?;
                    if self.peek() != b':' {
                        return Err(self.unexpected("expected `:`"));
                    }
                    self.at += 1;
                    self.skip_value()?;
                }
                Ok(())
            }
            b'[' => {
                self.open()?;
                while self.next_member(b']')? {
                    self.skip_value()?;
                }
                Ok(())
            }
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number_token("a value").map(|_| ()),
        }
    }

    /// Looks up the string field `tag` of the object that comes next, without moving. Nothing if there is none.
    #[inline]
    pub(crate) fn tag(&mut self, tag: &Tag) -> Result<Option<Cow<'a, str>>> {
        let (at, depth, fresh) = (self.offset(), self.depth, self.fresh);
        if let Some(window) = Window::at(self.bytes(), at)
            && tag.first.begins(&window)
        {
            self.at = at + tag.first.text.len() - 1;
            let found = self.str_token()?;
            self.past_tags = PastTags {
                object: at,
                rest: self.at,
                count: 1,
            };
            self.at = at;
            return Ok(Some(found));
        }
        let passed = self.begin_object()?;
        let mut found = None;
        let mut is_first = true;
        while let Some(key) = self.next_key()? {
            if key == tag.name {
                if self.peek() != b'"' {
                    return Err(self.expected("a string").within(tag.name));
                }
                found = Some(self.str_token()?);
                if is_first {
                    self.past_tags = PastTags {
                        object: at,
                        rest: self.at,
                        count: passed + 1,
                    };
                }
                break;
            }
            self.skip_value()?;
            is_first = false;
        }
        (self.at, self.depth, self.fresh) = (at, depth, fresh);
        Ok(found)
    }

    /// An error for a value of another kind than wanted, or for text that is no value at all.
    #[cold]
    pub(crate) fn expected(&mut self, what: &'static str) -> DecodeError {
        match self.peek() {
            b'"' | b'{' | b'[' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9' => {
                DecodeError::shape(format!("expected {what}"), self.at)
            }
            _ => self.unexpected("expected a value"),
        }
    }

    #[cold]
    fn unexpected(&self, problem: &'static str) -> DecodeError {
        if self.at >= self.text.len() {
            DecodeError::syntax("the line ends too early", self.at)
        } else {
            DecodeError::syntax(problem, self.at)
        }
    }

    #[inline]
    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes().get(self.at) {
            self.at += 1;
        }
    }

    #[inline]
    fn open(&mut self) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return Err(DecodeError::syntax(
                format!("nested deeper than {MAX_DEPTH} levels"),
                self.at,
            ));
        }
        self.depth += 1;
        self.at += 1;
        self.fresh = true;
        Ok(())
    }

    #[inline]
    fn close(&mut self) {
        self.depth -= 1;
        self.at += 1;
        self.fresh = false;
    }

    /// Goes over the comma before the next member, or over the closing bracket.
    #[inline]
    fn next_member(&mut self, close: u8) -> Result<bool> {
        let next = self.peek();
        if next == close {
            self.close();
            return Ok(false);
        }
        if self.fresh {
            self.fresh = false;
            return Ok(true);
        }
        if next != b',' {
            return Err(self.unexpected("expected `,` or a closing bracket"));
        }
        self.at += 1;
        Ok(true)
    }

    fn literal(&mut self, word: &'static str) -> Result<()> {
        if self.bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        Err(self.unexpected("expected a value"))
    }

    /// The string that starts at the quote under the cursor.
    #[inline]
    fn str_token(&mut self) -> Result<Cow<'a, str>> {
        let start = self.at + 1;
        match self.plain_token() {
            Ok(plain) => Ok(Cow::Borrowed(plain)),
            Err(escape) => self.unescape(start, escape).map(Cow::Owned),
        }
    }

    /// The string that begins here, if it has no escape; else where the first one is, and nothing is read.
    #[inline]
    fn plain_token(&mut self) -> std::result::Result<&'a str, usize> {
        let start = self.at + 1;
        let end = plain_end(self.bytes(), start);
        if self.bytes().get(end) != Some(&b'"') {
            return Err(end);
        }
        self.at = end + 1;
        Ok(&self.text[start..end])
    }

    #[inline]
    fn skip_string(&mut self) -> Result<()> {
        let bytes = self.bytes();
        let mut at = self.at + 1;
        loop {
            // Most strings end soon. In one that does not, one look at a large block finds all of its escapes.
            let (mut hits, size) = match bytes.get(at..).and_then(<[u8]>::first_chunk) {
                Some(block) if at > self.at + 1 => (large::specials(block), large::SIZE),
                _ => (specials_at(bytes, at).into(), block::SIZE),
            };
            let end = at + size;
            while hits != 0 {
                let ahead = large::first(hits);
                at += ahead;
                match bytes.get(at) {
                    Some(b'"') => {
                        self.at = at + 1;
                        return Ok(());
                    }
                    Some(b'\\') => {}
                    _ => return Err(self.bad_string(at)),
                }
                let escape = bytes.get(at + 1).copied().unwrap_or(0);
                if ESCAPES[usize::from(escape)] == 0 {
                    self.at = at;
                    if escape != b'u' {
                        return Err(self.bad_escape());
                    }
                    self.hex4(at + 2)?;
                }
                // The digits of `\u` are plain text.
                at += 2;
                hits = hits >> ahead >> 2;
            }
            at = at.max(end);
        }
    }

    /// The string from `start`, whose first escape stands at `at`, if it is short and has none but simple escapes. Most
    /// are: pieces of a text that is being written. They get the memory they need at once, and never a second time.
    fn unescape_short(&mut self, start: usize, mut at: usize) -> Option<Text> {
        let bytes = self.bytes();
        let mut out = [0; SHORT];
        let mut length = at - start;
        out.get_mut(..length)?.copy_from_slice(&bytes[start..at]);
        loop {
            let block = block(bytes, at)?;
            *out[length..].first_chunk_mut()? = *block;
            let hits = block::specials(block);
            if hits == 0 {
                at += block::SIZE;
                length += block::SIZE;
                continue;
            }
            at += block::first(hits);
            length += block::first(hits);
            if bytes[at] == b'"' {
                break;
            }
            let character = ESCAPES[usize::from(*bytes.get(at + 1)?)];
            if bytes[at] != b'\\' || character == 0 {
                return None;
            }
            out[length] = character;
            length += 1;
            at += 2;
        }
        let text = std::str::from_utf8(&out[..length]).ok()?;
        self.at = at + 1;
        Some(Text::from(text))
    }

    /// The string from `start`, whose first escape stands at `at`.
    ///
    /// It is put together as bytes, a block at a time: one copy of a whole block, of which what stands behind the next
    /// escape is overwritten, is cheaper than a copy of just the right length.
    fn unescape(&mut self, start: usize, mut at: usize) -> Result<String> {
        let bytes = self.bytes();
        let mut length = at - start;
        let mut out = Vec::with_capacity(length * 2 + 64);
        out.extend_from_slice(&bytes[start..at]);
        out.resize(length * 2 + 64, 0);
        let mut most = 0;
        loop {
            let (read, written) =
                unescape_simple(&bytes[at.min(bytes.len())..], &mut out[length..]);
            at += read;
            length += written;
            let block = block_at(bytes, at);
            match out[length..].first_chunk_mut() {
                Some(room) => *room = block,
                None => {
                    if most == 0 {
                        // No escape is shorter than what it stands for, so what is left of the string is enough.
                        let end = long_quoted_end(bytes, at).unwrap_or(bytes.len());
                        most = length + end.saturating_sub(at) + block::SIZE;
                        out.reserve_exact(most - out.len());
                    }
                    // A step at a time: what is not needed in the end is never touched.
                    out.resize(most.min(length + STEP), 0);
                    continue;
                }
            }
            let hits = block::specials(&block);
            if hits == 0 {
                at += block::SIZE;
                length += block::SIZE;
                continue;
            }
            at += block::first(hits);
            length += block::first(hits);
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {}
                _ => return Err(self.bad_string(at)),
            }
            let escape = bytes.get(at + 1).copied().unwrap_or(0);
            let character = ESCAPES[usize::from(escape)];
            if character != 0 {
                out[length] = character;
                length += 1;
                at += 2;
                continue;
            }
            self.at = at;
            if escape != b'u' {
                return Err(self.bad_escape());
            }
            let (character, next) = self.unicode(at)?;
            // Never longer than the escape, but it may stand at the end of the room.
            let enough = out.len().max(length + 4);
            out.resize(enough, 0);
            length += character.encode_utf8(&mut out[length..]).len();
            at = next;
        }
        self.at = at + 1;
        out.truncate(length);
        // Cannot fail: it is made of whole characters.
        String::from_utf8(out).map_err(|_| self.bad_string(at))
    }

    /// The character of the `\u` escape at `at`, and the index behind it. Half of a surrogate pair is legal in what
    /// JavaScript writes (a text cut in the middle of an emoji) and becomes U+FFFD; the raw line still has it.
    fn unicode(&self, at: usize) -> Result<(char, usize)> {
        let unit = self.hex4(at + 2)?;
        let next = at + 6;
        if (0xD800..0xDC00).contains(&unit)
            && self.bytes()[next.min(self.text.len())..].starts_with(b"\\u")
        {
            let low = self.hex4(next + 2)?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Ok((
                    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                    next + 6,
                ));
            }
        }
        Ok((
            char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER),
            next,
        ))
    }

    fn hex4(&self, at: usize) -> Result<u32> {
        let digits = self
            .bytes()
            .get(at..at + 4)
            .ok_or_else(|| self.bad_escape())?;
        digits.iter().try_fold(0, |code, &byte| {
            let digit = char::from(byte)
                .to_digit(16)
                .ok_or_else(|| self.bad_escape())?;
            Ok(code * 16 + digit)
        })
    }

    #[cold]
    fn bad_escape(&self) -> DecodeError {
        DecodeError::syntax("bad escape in a string", self.at)
    }

    #[cold]
    fn bad_string(&self, at: usize) -> DecodeError {
        let problem = if at < self.text.len() {
            "control character in a string"
        } else {
            "the line ends inside a string"
        };
        DecodeError::syntax(problem, at)
    }

    fn number_token(&mut self, wanted: &'static str) -> Result<&'a str> {
        if !matches!(self.peek(), b'-' | b'0'..=b'9') {
            return Err(self.expected(wanted));
        }
        let start = self.at;
        let bytes = self.bytes();
        let digits = |mut at: usize| {
            while matches!(bytes.get(at), Some(b'0'..=b'9')) {
                at += 1;
            }
            at
        };
        let mut at = start + usize::from(bytes[start] == b'-');
        let integer = at;
        at = digits(at);
        let mut good = at > integer && (bytes[integer] != b'0' || at == integer + 1);
        if bytes.get(at) == Some(&b'.') {
            let fraction = at + 1;
            at = digits(fraction);
            good &= at > fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let exponent = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
            at = digits(exponent);
            good &= at > exponent;
        }
        if !good {
            return Err(DecodeError::syntax("bad number", start));
        }
        self.at = at;
        Ok(&self.text[start..at])
    }
}

/// Writes out what a string holds, up to its end, to an escape that is more than a character behind a backslash, or to
/// where there are not two large blocks to read from and one to write to. How much was read, and how much written.
///
/// Where the next escape comes is what the processor cannot guess. So there is one look at a large block for all of its
/// escapes, and behind each the whole rest of the block is copied, however soon the next one comes.
fn unescape_simple(from: &[u8], to: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let Some(window) = from[read..].first_chunk::<{ 2 * large::SIZE }>()
        && let Some(block) = window.first_chunk()
    {
        let mut hits = large::specials(block);
        let mut at = 0;
        while let Some(block) = window[at..].first_chunk::<{ large::SIZE }>() {
            let Some(room) = to[written..].first_chunk_mut() else {
                return (read + at, written);
            };
            *room = *block;
            if hits == 0 {
                written += large::SIZE - at;
                at = large::SIZE;
                break;
            }
            let ahead = large::first(hits);
            let character = match block[ahead] {
                b'\\' => ESCAPES[usize::from(window[at + ahead + 1])],
                _ => 0,
            };
            if character == 0 {
                return (read + at + ahead, written + ahead);
            }
            room[ahead] = character;
            written += ahead + 1;
            at += ahead + 2;
            hits = hits >> ahead >> 2;
        }
        read += at;
    }
    (read, written)
}

/// How long a string may be to be put together on the stack.
const SHORT: usize = 512;

/// How much of a long string is made ready to be written to at once.
const STEP: usize = 16 << 10;

/// What an escape stands for, by the byte behind its backslash; 0 if there is no such escape, and for `\u`.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 0x8;
    table[b'f' as usize] = 0xc;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};

/// What comes next in an object.
pub(crate) enum Key<'a> {
    /// Its end.
    End,
    /// The key of this index.
    Expected(usize),
    /// A key that may be any.
    Other(Cow<'a, str>),
}

/// Text as it is likely to stand in compact JSON, such as `"name":`, prepared for comparing.
pub(crate) struct Likely {
    text: &'static str,
    /// Its first sixteen bytes, and which of them there are.
    head: u128,
    mask: u128,
    /// Its last sixteen bytes, if it has more.
    tail: u128,
}

impl Likely {
    pub(crate) const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let (mut head, mut mask, mut tail, mut index) = (0, 0, 0, 0);
        while index < 16 && index < bytes.len() {
            head |= (bytes[index] as u128) << (8 * index);
            mask |= 0xff << (8 * index);
            if bytes.len() > 16 {
                tail |= (bytes[bytes.len() - 16 + index] as u128) << (8 * index);
            }
            index += 1;
        }
        Self {
            text,
            head,
            mask,
            tail,
        }
    }

    /// The key that it is the text of.
    pub(crate) fn name(&self) -> &'static str {
        self.text
            .trim_start_matches('"')
            .trim_end_matches(':')
            .trim_end_matches('"')
    }

    /// The place of a key that was not expected.
    pub(crate) fn find(keys: &[Self], key: &str) -> Option<usize> {
        keys.iter()
            .position(|known| known.text.len() == key.len() + 3 && known.text[1..].starts_with(key))
    }

    #[inline]
    fn begins(&self, window: &Window<'_>) -> bool {
        self.fits(window)
            && (self.text.len() <= 32 || window.rest.starts_with(self.text.as_bytes()))
    }

    /// The same for all but very long keys, without a call.
    #[inline]
    fn surely_begins(&self, window: &Window<'_>) -> bool {
        self.text.len() <= 32 && self.fits(window)
    }

    /// Whether both ends are the same. They cover all of most keys.
    #[inline]
    fn fits(&self, window: &Window<'_>) -> bool {
        (window.head ^ self.head) & self.mask == 0
            && (self.text.len() <= 16 || {
                let whole = window.rest.get(..self.text.len());
                let tail = whole.and_then(<[u8]>::last_chunk);
                tail.is_some_and(|tail| u128::from_le_bytes(*tail) == self.tail)
            })
    }
}

/// The text from some place on, with its first sixteen bytes at hand.
struct Window<'a> {
    rest: &'a [u8],
    head: u128,
}

impl<'a> Window<'a> {
    #[inline]
    fn at(bytes: &'a [u8], start: usize) -> Option<Self> {
        let rest = bytes.get(start..)?;
        rest.first_chunk().map(|head| Self {
            rest,
            head: u128::from_le_bytes(*head),
        })
    }
}

/// The field that says what an object is.
pub(crate) struct Tag {
    name: &'static str,
    /// An object that begins with it: `{"name":"`.
    first: Likely,
}

impl Tag {
    pub(crate) const fn new(name: &'static str, first: &'static str) -> Self {
        Self {
            name,
            first: Likely::new(first),
        }
    }
}

/// How many keys that are often absent may lie between two that are there.
const LOOK_AHEAD: usize = 3;

/// As deep as serde_json goes, so that what is read here can be parsed there.
const MAX_DEPTH: usize = 127;
