//! What a run tells the steps after it: counts, flags, paths and words of a fixed list. Never text of users: a runner
//! drops an output that holds a masked value, and a script may paste it.

/// A row of the table of outputs.
#[derive(Debug)]
pub struct Output {
    /// As in `action.yml`.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
}

macro_rules! outputs {
    ($($name:literal, $doc:literal;)*) => {
        /// All outputs, in the order of `action.yml`.
        pub static OUTPUTS: &[Output] = &[$(Output { name: $name, doc: $doc }),*];
    };
}

outputs! {
    "exit-code", "As of the command line: 0 nothing to do or all done, 1 error, 2 changes, 3 live moved, 4 conflict, 5 refused, 6 partly done";
    "failure-reason", "Why it failed: invalid, usage, unauthorized, unreachable, not-allowed, no-base, plan-stale, plan-changed, approval-missing, refused, conflict, apply-partial, apply-failed, interrupted or on-request; else empty";
    "degraded", "Why less was done than asked for: fork, dependabot or no-token; else empty";
    "changes", "true where the plan has an action";
    "creates", "How many resources come";
    "updates", "How many change: all that is neither a create nor a retirement";
    "retirements", "How many go";
    "unchanged", "How many stay as they are";
    "held", "How many fields or resources moved live and are left so";
    "plan-file", "Path of the saved plan";
    "plan-digest", "sha256:… of the plan";
    "applied", "true where an apply did all that it was to do";
    "apply-id", "The apply, for checkfu show";
    "drift", "true where live moved";
    "drift-status", "none, new, same, changed or resolved";
    "comment-id", "The comment on the pull request";
    "comment-url", "Its address";
    "issue-number", "The issue about drift";
    "pull-request-number", "The pull request that brings what moved live into the files";
    "report-file", "Path of the whole report as Markdown";
    "sarif-file", "Path of the SARIF file";
    "checkfu-version", "The version that ran";
    "checkfu-path", "The program";
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$variant])* $value,)* }
        impl $name {
            /// The word of the output.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$value => $word,)* }
            }
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];
        }
    };
}

words! {
    /// Why a run failed.
    FailureReason {
        /// The project has errors.
        Invalid = "invalid",
        /// An input, or the surroundings, are not as they must be.
        Usage = "usage",
        /// The workspace refused the token.
        Unauthorized = "unauthorized",
        /// The workspace does not answer.
        Unreachable = "unreachable",
        /// The pull request would send the token elsewhere, change the owner, loosen its limits; or the event may not
        /// do this at all.
        NotAllowed = "not-allowed",
        /// The commit to compare with is not in the check-out.
        NoBase = "no-base",
        /// Live moved since the plan was made.
        PlanStale = "plan-stale",
        /// The plan is not the reviewed one.
        PlanChanged = "plan-changed",
        /// Nobody approved some of the actions.
        ApprovalMissing = "approval-missing",
        /// By policy.
        Refused = "refused",
        /// Files and live both moved, or another owner has it.
        Conflict = "conflict",
        /// Some was done, some failed.
        ApplyPartial = "apply-partial",
        /// Nothing was done.
        ApplyFailed = "apply-failed",
        /// Stopped; what was done is told.
        Interrupted = "interrupted",
        /// `fail-on` asks for it.
        OnRequest = "on-request",
    }
}

words! {
    /// Why less was done than asked for.
    Degraded {
        /// The code comes from a fork, which gets no token.
        Fork = "fork",
        /// Dependabot's runs have no secrets.
        Dependabot = "dependabot",
        /// The token may not write comments or issues, or there is none.
        NoToken = "no-token",
    }
}

words! {
    /// How drift stands to what the issue says.
    DriftStatus {
        /// No drift, no issue.
        None = "none",
        /// Drift, and no issue was open.
        New = "new",
        /// As the issue says.
        Same = "same",
        /// Otherwise than the issue says.
        Changed = "changed",
        /// No drift any more.
        Resolved = "resolved",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_those_of_the_table() {
        let doc = |name: &str| OUTPUTS.iter().find(|o| o.name == name).unwrap().doc;
        let has = |name: &str, words: Vec<&str>| {
            for word in words {
                assert!(doc(name).contains(word), "{name}: {word}");
            }
        };
        has("failure-reason", FailureReason::ALL.iter().map(|r| r.as_str()).collect());
        has("degraded", Degraded::ALL.iter().map(|r| r.as_str()).collect());
        has("drift-status", DriftStatus::ALL.iter().map(|r| r.as_str()).collect());
    }
}
