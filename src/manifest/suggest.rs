//! "Did you mean": the nearest of the words that are known.

/// The known word that is nearest, if any is near enough to be a slip.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace(['-', '_', ' '], "");
    let meant = plain(word);
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|k| (if plain(k) == meant { 0 } else { strsim::osa_distance(word, k) }, k))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let known = ["description", "allowed-tools", "model", "name"];
        for (word, near) in [
            ("desciption", Some("description")),
            ("allowed_tools", Some("allowed-tools")),
            ("allowedTools", Some("allowed-tools")),
            ("Name", Some("name")),
            ("modle", Some("model")),
            ("x", None),
            ("temperature", None),
        ] {
            assert_eq!(nearest(word, known), near, "{word}");
        }
    }
}
