//! What an earlier Apply recorded → the desired state that a rollback plans.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::control::{ControlError, ControlPlane};
use crate::desired::{Desired, Digested, Places, Wanted, WantedFile};
use crate::diag::Location;
use crate::model::config::{Config, Moved};
use crate::model::kinds::{self, Applied, is_under};
use crate::model::op::{ApplyInfo, Context, Recorded, Source, Summary};
use crate::model::tree::{Entry, FileSet};
use crate::model::{Address, Digest};
use crate::reconcile::ask::Ask;

/// The folder that stands for the workspace: all bodies of what was applied are there already.
const HELD: &str = ".";

/// What an owner had once an Apply of it had ended, as a desired state. The policy is the one in force: going back is
/// held against today's limits. Of `config` the lines that let resources go count, of which no file is asked.
///
/// # Errors
/// Whatever the workspace answers.
pub async fn recorded<C: ControlPlane>(
    control: &C,
    context: &Context,
    config: &Config,
    apply: &ApplyInfo,
) -> Result<Desired, ControlError> {
    let ask = Ask { control, context, me: &apply.owner };
    let policy = ask.owner().await?.policy.unwrap_or_default();
    let recorded = ask.state(&apply.id).await?;
    let moved = moved(&recorded, &ask.summaries(None).await?);
    let row = |r: Recorded| (r.address.clone(), wanted(r.address, r.applied, r.protected, r.entries));
    let resources = recorded.into_iter().map(row).collect();
    let removed = config.removed.iter().filter(|line| !line.keep && line.to.is_none());
    Ok(Desired {
        owner: apply.owner.clone(),
        resources,
        policy,
        moved,
        removed: removed.map(|line| (line.clone(), None)).collect(),
        adopt: Vec::new(),
        accept: Vec::new(),
        lines: BTreeMap::new(),
        source: Source { apply: Some(apply.id.clone()), ..apply.source.clone() },
    })
}

/// What has another address by now goes back to its old one, and is not made anew there.
fn moved(recorded: &[Recorded], live: &[Summary]) -> Vec<Moved> {
    let now: BTreeMap<&str, &Address> =
        live.iter().filter(|s| !s.superseded).filter_map(|s| Some((s.id.as_str(), s.address.as_ref()?))).collect();
    let went = recorded.iter().filter_map(|r| Some((*now.get(r.id.as_str())?, &r.address)));
    let went = went.filter(|(from, to)| from != to);
    went.map(|(from, to)| Moved { from: from.clone(), to: to.clone() }).collect()
}

/// A resource as it was applied. `entries` are the files of its content, or its memories by path.
fn wanted(address: Address, applied: Applied, protected: bool, entries: Vec<Entry>) -> Wanted {
    let def = kinds::def(address.kind);
    let text = |field: &str| applied.spec.get(field).and_then(Value::as_str);
    let memories = memories(&applied.spec, &entries);
    let content = def.field("content").filter(|_| text("content").is_some());
    let content = content.map(|_| (FileSet::new(entries), HELD.to_owned()));
    Wanted {
        refs: (def.refs)(&applied.spec),
        seeded: seeded(&applied),
        spec: applied.spec,
        unowned: applied.unowned,
        protected,
        at: Location::file(HELD),
        places: Places::default(),
        instructions: Vec::new(),
        content,
        memories,
        digested: Digested::default(),
        address,
    }
}

/// Memories under a prefix of mode `seed`, which are written once; the record knows of no other seeds that are left
/// to be set.
fn seeded(applied: &Applied) -> Vec<String> {
    let modes = applied.spec.get("modes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let seeds = modes.iter().filter(|m| m.get("mode").and_then(Value::as_str) == Some("seed"));
    let seeds: Vec<&str> = seeds.filter_map(|m| m.get("at")?.as_str()).collect();
    let is_seed = |path: &str| seeds.iter().any(|at| is_under(path, at));
    let named = |unowned: &&String| unowned.strip_prefix("contents.").is_some_and(is_seed);
    applied.unowned.iter().filter(named).cloned().collect()
}

fn memories(spec: &Value, entries: &[Entry]) -> BTreeMap<String, WantedFile> {
    let sizes: BTreeMap<Digest, u64> = entries.iter().map(|e| (e.sha256, e.size)).collect();
    let contents = spec.get("contents").and_then(Value::as_object);
    let file = |(path, digest): (&String, &Value)| {
        let sha256: Digest = digest.as_str()?.parse().ok()?;
        let size = sizes.get(&sha256).copied().unwrap_or_default();
        Some((path.clone(), WantedFile { file: path.trim_start_matches('/').to_owned(), sha256, size }))
    };
    contents.into_iter().flatten().filter_map(file).collect()
}
