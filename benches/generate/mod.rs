//! Projects for the benchmarks: the same bytes at every run.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Documents a file of manifests.
const DOCUMENTS: usize = 100;

const CONFIG: &str = "apiVersion: checkfu.com/v1\nkind: Config\nauthoring_owner: example/bench\n";

/// Writes a project with `agents` agents, each with a prompt of 1.2 KB in lines of about 75 characters.
/// `edition` is in a short field of each: another one changes every agent.
pub(crate) fn agents(dir: &Path, agents: usize, edition: &str) -> io::Result<()> {
    fs::create_dir_all(dir.join("manifests"))?;
    fs::write(dir.join("checkfu.yaml"), CONFIG)?;
    let line = "You are a careful support agent. Answer with care and cite the document.";
    let prompt = format!("    {line}\n").repeat(1200 / (line.len() + 1));
    for first in (0..agents).step_by(DOCUMENTS) {
        let mut text = String::with_capacity(DOCUMENTS * 1600);
        for i in first..agents.min(first + DOCUMENTS) {
            let _ = write!(
                text,
                "---\napiVersion: checkfu.com/v1\nkind: Agent\nmetadata:\n  name: agent-{i:05}\n  labels: {{team: bench}}\nspec:\n  name: Agent {i:05}\n  description: {edition}\n  model: claude-sonnet-5\n  instructions: |\n{prompt}    You are number {i}.\n"
            );
        }
        fs::write(dir.join(format!("manifests/agents-{first:05}.yaml")), text)?;
    }
    Ok(())
}

/// Writes a project with `trees` uploaded trees of `files` files, `bytes` in all. Files look an hour old, as
/// those of a check-out do by the time that anyone measures.
pub(crate) fn trees(dir: &Path, trees: usize, files: usize, bytes: u64) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    fs::write(dir.join("checkfu.yaml"), CONFIG)?;
    let size = usize::try_from(bytes).unwrap_or(usize::MAX) / (trees * files);
    let old = SystemTime::now() - Duration::from_hours(1);
    let (mut manifests, mut state, mut block) = (String::new(), 0x9e37_79b9_7f4a_7c15_u64, vec![0_u8; size]);
    for tree in 0..trees {
        let _ = write!(
            manifests,
            "---\napiVersion: checkfu.com/v1\nkind: FileTree\nmetadata: {{name: tree-{tree}}}\nspec: {{source: {{kind: upload, path: tree-{tree}}}}}\n"
        );
        for file in 0..files {
            for chunk in block.chunks_mut(8) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
            }
            let folder = dir.join(format!("tree-{tree}/part-{:02}", file / 50));
            fs::create_dir_all(&folder)?;
            let mut f = File::create(folder.join(format!("file-{file:04}.bin")))?;
            f.write_all(&block)?;
            f.set_modified(old)?;
        }
    }
    fs::write(dir.join("trees.yaml"), manifests)
}
