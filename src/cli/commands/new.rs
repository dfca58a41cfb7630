//! `new agent|skill NAME`.

use crate::cli::args::{New, NewWhat};
use crate::cli::commands::Run;
use crate::cli::commands::init::{File, write_new};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::find_project;
use crate::diag::codes;
use crate::model::address::is_name;

/// Writes one file. Never overwrites.
pub fn run(run: &Run, args: &New) -> Ran {
    let name = &args.name;
    if !is_name(name) {
        return Err(Failure::new(&codes::cli::NAME, format!("`{name}` is not a name"))
            .fix("lower-case letters, digits and single hyphens, at most 64"));
    }
    let project = find_project(&run.cwd)?;
    let file = match args.what {
        NewWhat::Agent => File { path: format!("agents/{name}.md"), text: agent(name) },
        NewWhat::Skill => File { path: format!("skills/{name}/SKILL.md"), text: skill(name) },
    };
    write_new(run, &project, &[file])?;
    run.printer.talk("Next: `checkfu validate`");
    Ok(Exit::Ok)
}

fn title(name: &str) -> String {
    let mut words = name.replace('-', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

fn agent(name: &str) -> String {
    format!(
        "---\nname: {}\ndescription: Say in one line what this agent is for\nmodel: claude-sonnet-5\n\
         tools: [{{type: agent_toolset_20260401}}]\n---\n\
         Say who the agent is, what it does, and when it stops to ask.\n",
        title(name)
    )
}

fn skill(name: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Say what the skill does and when to use it.\n---\n\n# {}\n\n\
         Say step by step what to do.\n",
        title(name)
    )
}
