//! Which folder belongs to a working directory. Pure.

/// The name of the folder that holds the sessions of a working directory: every character outside `A-Z`, `a-z` and
/// `0-9` becomes `-`, and a long name is cut and told apart by a hash.
///
/// The real CLI counts in UTF-16: `😀` becomes two dashes (seen with CLI 2.1.325, as was the hash).
///
/// ```
/// use towline_store::project_folder_name;
///
/// assert_eq!(project_folder_name("/home/ann/my_app"), "-home-ann-my-app");
/// ```
pub fn project_folder_name(cwd: &str) -> String {
    let mut name: String = cwd
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect();
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        name.push('-');
        name.push_str(&base36(hash(cwd)));
    }
    name
}

/// The absolute value of a signed sum, `31 × sum + unit` for each UTF-16 unit, in 32 bits that wrap.
fn hash(text: &str) -> u32 {
    let step = |sum: i32, unit: u16| sum.wrapping_mul(31).wrapping_add(i32::from(unit));
    text.encode_utf16().fold(0, step).unsigned_abs()
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

/// Longer names are cut here.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_written_like_javascript_does() {
        for (number, text) in [(0, "0"), (35, "z"), (36, "10"), (u32::MAX, "1z141z3")] {
            assert_eq!(base36(number), text);
        }
    }
}
