//! [`Leaves`]: a walk over a raw value, for callers that want what is in it and not a tree.

use std::borrow::Cow;

use super::{Json, Number, error::DecodeError, reader::Reader};

/// One thing found in a raw value.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf<'a> {
    /// A key; what it holds follows.
    Key(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
    /// A number.
    Number(Number),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

/// The keys and the plain values of a raw value, in its order.
pub struct Leaves<'a> {
    reader: Reader<'a>,
    /// A value comes next, rather than a member or the end of something.
    at_value: bool,
    /// The open brackets, innermost in the lowest bit: 1 for an object, below a leading 1. The reader goes no deeper
    /// than there are bits.
    open: u128,
}

impl<'a> Leaves<'a> {
    pub(super) fn new(json: &'a Json) -> Self {
        Self {
            reader: Reader::new(json.text()),
            at_value: true,
            open: 1,
        }
    }

    fn step(&mut self) -> Result<Option<Leaf<'a>>, DecodeError> {
        loop {
            if self.at_value {
                self.at_value = false;
                return match self.reader.peek() {
                    b'{' => {
                        self.reader.begin_object()?;
                        self.open = self.open << 1 | 1;
                        continue;
                    }
                    b'[' => {
                        self.reader.begin_array()?;
                        self.open <<= 1;
                        continue;
                    }
                    b'"' => self.reader.str().map(Leaf::Text),
                    b't' | b'f' => self.reader.bool().map(Leaf::Bool),
                    b'n' => self.reader.null().map(|_| Leaf::Null),
                    _ => self.reader.number().map(Leaf::Number),
                }
                .map(Some);
            }
            if self.open == 1 {
                return Ok(None);
            }
            let in_object = self.open & 1 == 1;
            if in_object {
                if let Some(key) = self.reader.next_key()? {
                    self.at_value = true;
                    return Ok(Some(Leaf::Key(key)));
                }
            } else if self.reader.next_item()? {
                self.at_value = true;
                continue;
            }
            self.open >>= 1;
        }
    }
}

impl<'a> Iterator for Leaves<'a> {
    type Item = Leaf<'a>;

    fn next(&mut self) -> Option<Leaf<'a>> {
        // Raw values are checked when they are made. What a caller made of a tree deeper than any line may be, or of a
        // number no float can hold, ends there.
        self.step().unwrap_or_else(|_| {
            (self.at_value, self.open) = (false, 1);
            None
        })
    }
}

impl std::fmt::Debug for Leaves<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Leaves")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_come_in_order_and_unescaped() {
        let json =
            Json::new(r#" {"a\n":[1,{"b":null},[]],"c":{},"d":"x\ty","e":[true,-1.5]} "#).unwrap();
        let leaves: Vec<_> = json.leaves().collect();
        assert_eq!(
            leaves,
            [
                Leaf::Key("a\n".into()),
                Leaf::Number(1.into()),
                Leaf::Key("b".into()),
                Leaf::Null,
                Leaf::Key("c".into()),
                Leaf::Key("d".into()),
                Leaf::Text("x\ty".into()),
                Leaf::Key("e".into()),
                Leaf::Bool(true),
                Leaf::Number((-1.5).into()),
            ]
        );
    }

    #[test]
    fn a_plain_value_is_its_own_leaf() {
        for (text, leaf) in [("null", Leaf::Null), (r#""a""#, Leaf::Text("a".into()))] {
            assert_eq!(
                Json::new(text).unwrap().leaves().collect::<Vec<_>>(),
                [leaf]
            );
        }
    }

    #[test]
    fn the_deepest_value_is_walked_to_its_end() {
        let deep = format!("{}7{}", "[".repeat(127), "]".repeat(127));
        let json = Json::new(deep).unwrap();
        assert_eq!(json.leaves().collect::<Vec<_>>(), [Leaf::Number(7.into())]);
    }
}
