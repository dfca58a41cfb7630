//! Profiles: what a finding about a `SKILL.md` weighs for whom. Rule sets apart from targets.

use crate::diag::codes::{bundle, manifest, skill};
use crate::diag::{Code, Diagnostics, Severity};

/// Whose rules count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Profile {
    /// What breaks a client is an error, what only some refuse a warning.
    #[default]
    Checkfu,
    /// The open format as its reference validator reads it.
    Agentskills,
    /// What an upload to Claude refuses.
    Claude,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Profile; 3] = [Profile::Checkfu, Profile::Agentskills, Profile::Claude];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Checkfu => "checkfu",
            Profile::Agentskills => "agentskills",
            Profile::Claude => "claude",
        }
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Profile {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let known = || format!("`{s}` is not a profile: one of checkfu, agentskills, claude");
        Profile::ALL.into_iter().find(|p| p.as_str() == s).ok_or_else(known)
    }
}

const E: Option<Severity> = Some(Severity::Error);
const W: Option<Severity> = Some(Severity::Warning);
const N: Option<Severity> = Some(Severity::Note);
const OFF: Option<Severity> = None;

/// Code → severity for `checkfu`, `agentskills`, `claude`. Codes that are not listed weigh the same for all.
pub static TABLE: &[(&Code, [Option<Severity>; 3])] = &[
    (&manifest::BOM, [W, E, E]),
    (&skill::NAME_UNICODE, [E, OFF, E]),
    (&skill::NAME_RESERVED, [W, OFF, E]),
    (&skill::DESCRIPTION_BREAK, [OFF, E, OFF]),
    (&skill::DESCRIPTION_TAGS, [W, OFF, E]),
    (&skill::FIELD_SHAPE, [W, W, W]),
    (&skill::TYPED_SCALAR, [W, OFF, E]),
    (&skill::UNKNOWN_FIELD, [W, E, E]),
    (&skill::FLOW_STYLE, [W, E, OFF]),
    (&skill::ANCHORS, [W, E, OFF]),
    (&skill::BODY_EMPTY, [W, N, W]),
    (&bundle::NESTED_SKILL, [W, N, E]),
    (&bundle::MANY_FILES, [W, N, E]),
];

/// Weighs findings about a `SKILL.md` by a profile.
pub fn weigh(found: Diagnostics, profile: Profile) -> Diagnostics {
    let weighed = found.0.into_iter().filter_map(|d| match TABLE.iter().find(|(c, _)| *c == d.code) {
        Some((_, weights)) => weights[profile as usize].map(|severity| d.severity(severity)),
        None => Some(d),
    });
    Diagnostics(weighed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_column_is_the_codes_own_severity_or_off() {
        for (code, [checkfu, ..]) in TABLE {
            assert!(checkfu.is_none_or(|s| s == code.severity), "{}", code.code);
        }
    }

    #[test]
    fn names_read_back() {
        for p in Profile::ALL {
            assert_eq!(p.to_string().parse::<Profile>(), Ok(p));
        }
        assert!("skills".parse::<Profile>().unwrap_err().contains("agentskills"));
    }
}
