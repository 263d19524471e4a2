//! Whether a message, written again, is the JSON value it was read from. Pure.

use serde_json::Value;

use super::super::message::Message;

/// Where the message, written again, differs from its line; nothing if it is the same JSON value.
pub(crate) fn change(line: &str, message: &Message) -> Option<String> {
    let again = message.to_json();
    if again.as_str() == line {
        return None;
    }
    let Ok(before) = serde_json::from_str::<Value>(line) else {
        // serde_json refuses some texts that are JSON, such as lone surrogates and very deep nesting.
        let same = message.reads_from(again.text());
        return (!same).then(|| "written again, it reads as another message".to_owned());
    };
    match again.parse::<Value>() {
        Ok(after) => difference(&before, &after, &mut String::new()),
        Err(error) => Some(format!("written again, it is not JSON: {error}")),
    }
}

/// The first place where two values differ.
fn difference(before: &Value, after: &Value, path: &mut String) -> Option<String> {
    if before == after {
        return None;
    }
    let length = path.len();
    let found = match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let added = after.iter().filter(|(name, _)| !before.contains_key(*name));
            let names = before.keys().chain(added.map(|(name, _)| name));
            names.into_iter().find_map(|name| {
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                let found = inside(before.get(name), after.get(name), path);
                path.truncate(length);
                found
            })
        }
        (Value::Array(before), Value::Array(after)) => {
            (0..before.len().max(after.len())).find_map(|index| {
                path.push_str(&format!("[{index}]"));
                let found = inside(before.get(index), after.get(index), path);
                path.truncate(length);
                found
            })
        }
        _ => None,
    };
    found.or_else(|| Some(format!("{path}: {before} became {after}")))
}

fn inside(before: Option<&Value>, after: Option<&Value>, path: &mut String) -> Option<String> {
    match (before, after) {
        (Some(before), Some(after)) => difference(before, after, path),
        (Some(before), None) => Some(format!("{path}: {before} is lost")),
        (None, Some(after)) => Some(format!("{path}: {after} was not there")),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: Option<&str>) {
        let parse = |text| serde_json::from_str(text).unwrap();
        let found = difference(&parse(before), &parse(after), &mut String::new());
        assert_eq!(found.as_deref(), expected, "{before} and {after}");
    }

    #[test]
    fn the_first_difference_is_named() {
        check(r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#, None);
        check(
            r#"{"a":{"b":[1,2]}}"#,
            r#"{"a":{"b":[1,3]}}"#,
            Some("a.b[1]: 2 became 3"),
        );
        check(r#"{"a":null}"#, "{}", Some("a: null is lost"));
        check("{}", r#"{"a":[]}"#, Some("a: [] was not there"));
        check("[1]", "[]", Some("[0]: 1 is lost"));
        check("1", "1.0", Some(": 1 became 1.0"));
    }

    #[test]
    fn a_message_is_compared_with_its_line() {
        let message = Message::to_host(&r#"{"type":"keep_alive","note":1}"#.into()).unwrap();
        let check = |line, expected: Option<&str>| {
            assert_eq!(change(line, &message).as_deref(), expected, "{line}");
        };
        check(r#"{"type":"keep_alive","note":1}"#, None);
        check(r#"{ "note": 1, "type": "keep_alive" }"#, None);
        check(
            r#"{"type":"keep_alive","note":2}"#,
            Some("note: 2 became 1"),
        );
    }

    #[test]
    fn a_line_that_serde_json_refuses_is_compared_by_reading_it_again() {
        let line = r#"{"note":"\ud800","type":"keep_alive"}"#;
        assert!(serde_json::from_str::<Value>(line).is_err());
        let message = Message::to_host(&line.into()).unwrap();
        assert_eq!(change(line, &message), None);
    }
}
