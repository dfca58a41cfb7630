//! The plan file: one JSON document, read strictly, refused when it is not what was written.

use crate::diag::Code;
use crate::diag::codes::plan as codes;
use crate::model::Digest;
use crate::plan::{FORMAT, Plan, check, digest};

/// Largest plan file that is read, in bytes.
pub const MOST_BYTES: usize = 512 << 20;

/// Why a plan file is refused.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// Longer than 512 MiB.
    #[error("the plan file has more than {MOST_BYTES} bytes")]
    TooLarge,
    /// Not JSON, or not a plan of this form.
    #[error("the plan file cannot be read")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong there.
        #[source]
        source: serde_json::Error,
    },
    /// Another format, or another version of it.
    #[error("the plan file has the format `{found}`; this version reads `{FORMAT}`")]
    Format {
        /// What it says.
        found: String,
    },
    /// Its digests do not fit what it holds.
    #[error("the plan file was changed since it was made: the digest of {what} does not fit")]
    Digest {
        /// `the plan`, or an action's id.
        what: String,
    },
    /// It breaks a rule that every plan keeps.
    #[error("the plan file is not sound: {}", .problems.join("; "))]
    Unsound {
        /// What [`check`] says.
        problems: Vec<String>,
    },
}

impl PlanFileError {
    /// The row of the code table.
    pub fn code(&self) -> &'static Code {
        match self {
            PlanFileError::TooLarge => &codes::FILE_TOO_LARGE,
            PlanFileError::Syntax { .. } => &codes::FILE_SYNTAX,
            PlanFileError::Format { .. } => &codes::FILE_FORMAT,
            PlanFileError::Digest { .. } => &codes::FILE_DIGEST,
            PlanFileError::Unsound { .. } => &codes::FILE_UNSOUND,
        }
    }
}

/// Only the format, whatever else is there.
#[derive(serde::Deserialize)]
struct Head {
    format: String,
}

/// Reads a plan file. Unknown fields, another format, digests that do not fit and broken rules are refused.
pub fn read(text: &[u8]) -> Result<Plan, PlanFileError> {
    if text.len() > MOST_BYTES {
        return Err(PlanFileError::TooLarge);
    }
    let syntax = |e: serde_json::Error| PlanFileError::Syntax { line: e.line(), column: e.column(), source: e };
    let head: Head = serde_json::from_slice(text).map_err(syntax)?;
    if head.format != FORMAT {
        return Err(PlanFileError::Format { found: head.format.chars().take(80).collect() });
    }
    let mut plan: Plan = serde_json::from_slice(text).map_err(syntax)?;
    if let Some(what) = digest::mismatch(&plan) {
        return Err(PlanFileError::Digest { what });
    }
    // Ids, findings and what people read are under no digest that anyone approves; a file is whole or refused.
    let seal = plan.seal.take();
    if seal != Some(Digest::of_json(&plan)) {
        return Err(PlanFileError::Digest { what: "the file".to_owned() });
    }
    let problems = check(&plan);
    if problems.is_empty() { Ok(plan) } else { Err(PlanFileError::Unsound { problems }) }
}

/// The text of a plan file. A plan always serializes: see [`crate::model::digest::canonical_json`].
pub fn write(plan: &Plan) -> String {
    #[derive(serde::Serialize)]
    struct Sealed<'a> {
        #[serde(flatten)]
        plan: &'a Plan,
        seal: Digest,
    }
    let mut text = serde_json::to_string_pretty(&Sealed { plan, seal: Digest::of_json(plan) }).unwrap_or_default();
    text.push('\n');
    text
}
