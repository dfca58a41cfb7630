//! Rules on one authored Agent.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::diag::codes::kind;
use crate::model::Kind;
use crate::model::kinds::agent::{multiagent, tools};
use crate::model::kinds::rules::{Rules, child, items};
use crate::model::kinds::{Problem, file_tree_mount, memory_mount};

/// Characters of the joined instructions.
const MAX_INSTRUCTIONS: usize = 100_000;
/// Tools over all toolsets.
const MAX_TOOLS: usize = 256;
/// The built-in tools of the agent toolset.
const BUILT_IN: usize = 8;
/// Keys of a config that only some built-in tools take.
const ONLY: [(&str, &[&str]); 5] = [
    ("allowed_domains", &["web_fetch", "web_search"]),
    ("blocked_domains", &["web_fetch", "web_search"]),
    ("max_content_tokens", &["web_fetch"]),
    ("url_sources", &["web_fetch"]),
    ("user_location", &["web_search"]),
];

pub(super) fn check(spec: &Value) -> Vec<Problem> {
    let mut rules = Rules::default();
    rules.length(spec, "", "name", 1..=256);
    rules.one_line(spec, "", "name");
    rules.length(spec, "", "description", 0..=2048);
    model(&mut rules, spec, "");
    instructions(&mut rules, spec);
    check_tools(&mut rules, spec);
    servers(&mut rules, spec);
    skills(&mut rules, spec);
    check_multiagent(&mut rules, spec);
    if let Some(identity) = spec.get("execution_identity") {
        rules.length(identity, "/execution_identity", "role_arn", 1..=2048);
    }
    mounts(&mut rules, spec);
    rules.finish()
}

fn model(rules: &mut Rules, spec: &Value, at: &str) {
    rules.length(spec, at, "model", 1..=256);
    if let Some(model) = spec.get("model").filter(|m| m.is_object()) {
        let place = child(at, "model");
        rules.length(model, &place, "id", 1..=256);
        rules.length(model, &place, "inference_geo", 1..=64);
    }
}

/// Each written text, and the texts of a list as they will be joined; files are counted once they are read.
fn instructions(rules: &mut Rules, spec: &Value) {
    rules.length(spec, "", "instructions", 0..=MAX_INSTRUCTIONS);
    let parts = items(spec, "", "instructions");
    let texts: Vec<&str> = parts.iter().filter_map(|(_, p)| p.as_str()).collect();
    if !texts.is_empty() {
        rules.text("/instructions", "instructions", &texts.join("\n\n"), 0..=MAX_INSTRUCTIONS);
    }
}

fn enabled(value: &Value) -> Option<bool> {
    value.get("enabled").and_then(Value::as_bool)
}

/// How many tools a toolset brings, as far as it can be known offline.
fn weight(tool: &Value, configs: &[(String, &Value)]) -> usize {
    match tool.get("type").and_then(Value::as_str) {
        Some(tools::AGENT_TOOLSET) => {
            let default = tool.get("default_config").and_then(enabled).unwrap_or(true);
            let named = configs.iter().filter(|(_, c)| enabled(c).unwrap_or(default)).count();
            named + if default { BUILT_IN.saturating_sub(configs.len()) } else { 0 }
        }
        Some(tools::MCP_TOOLSET) => configs.len(),
        _ => 1,
    }
}

fn check_tools(rules: &mut Rules, spec: &Value) {
    let servers: BTreeSet<&str> = spec
        .get("mcp_servers")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|s| s.get("name")?.as_str())
        .collect();
    let (mut toolsets, mut used, mut custom) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut total = 0;
    for (at, tool) in items(spec, "", "tools") {
        let configs = items(tool, &at, "configs");
        total += weight(tool, &configs);
        let name = |key: &str| tool.get(key).and_then(Value::as_str);
        match name("type") {
            Some(tools::AGENT_TOOLSET) => {
                rules.once(&mut toolsets, &at, "toolset", tools::AGENT_TOOLSET);
                for (place, config) in &configs {
                    built_in(rules, place, config);
                }
            }
            Some(tools::MCP_TOOLSET) => {
                rules.length(tool, &at, "mcp_server_name", 1..=255);
                for (place, config) in &configs {
                    rules.length(config, place, "name", 1..=128);
                }
                if let Some(server) = name("mcp_server_name") {
                    let place = child(&at, "mcp_server_name");
                    rules.once(&mut used, &place, "MCP server", server);
                    if !servers.contains(server) {
                        let message = format!("there is no MCP server `{server}` in `mcp_servers`");
                        rules.say(
                            &kind::MISSING,
                            place,
                            message,
                            format!("add `{{name: {server}, url: …}}` to `mcp_servers`"),
                        );
                    }
                }
            }
            Some("custom") => {
                custom_tool(rules, &at, tool);
                if let Some(name) = name("name") {
                    rules.once(&mut custom, &child(&at, "name"), "custom tool", name);
                }
            }
            _ => {}
        }
        let mut seen = BTreeSet::new();
        for (place, config) in &configs {
            if let Some(name) = config.get("name").and_then(Value::as_str) {
                rules.once(&mut seen, &child(place, "name"), "tool", name);
            }
        }
    }
    if total > MAX_TOOLS {
        let message = format!("{total} tools over all toolsets; at most {MAX_TOOLS} are allowed");
        rules.say(&kind::LIMIT, "/tools", message, format!("remove {} tools", total - MAX_TOOLS));
    }
}

fn built_in(rules: &mut Rules, at: &str, config: &Value) {
    let Some(name) = config.get("name").and_then(Value::as_str) else { return };
    if let Some(ty) = config.get("type").and_then(Value::as_str).filter(|ty| *ty != name) {
        let message = format!("`type: {ty}` is not the tool `{name}`");
        rules.say(&kind::CONFLICT, child(at, "type"), message, format!("write `type: {name}`, or remove it"));
    }
    for (key, takers) in ONLY {
        if config.get(key).is_some() && !takers.contains(&name) {
            let message = format!("`{name}` takes no `{key}`; only {} does", takers.join(" or "));
            rules.say(&kind::CONFLICT, child(at, key), message, format!("remove `{key}`"));
        }
    }
    for key in ["allowed_domains", "blocked_domains"] {
        rules.count(config, at, key, 1..=64);
        let mut seen = BTreeSet::new();
        for (place, domain) in items(config, at, key) {
            let Some(text) = domain.as_str() else { continue };
            rules.once(&mut seen, &place, "domain", text);
            if text.is_empty() || text.contains("://") || text.chars().any(char::is_whitespace) {
                let message = format!("`{text}` is no domain");
                rules.say(&kind::FORM, place, message, "write `example.com`, without a scheme");
            }
        }
    }
    if config.get("allowed_domains").is_some() && config.get("blocked_domains").is_some() {
        rules.say(
            &kind::CONFLICT,
            child(at, "blocked_domains"),
            "`allowed_domains` and `blocked_domains` exclude each other",
            "keep one of the two",
        );
    }
    rules.positive(config, at, "max_content_tokens");
}

fn custom_tool(rules: &mut Rules, at: &str, tool: &Value) {
    rules.length(tool, at, "name", 1..=128);
    rules.length(tool, at, "description", 1..=4096);
    if let Some(name) = tool.get("name").and_then(Value::as_str)
        && !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    {
        let fixed: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        let message = format!("`{name}` is no name of a tool: letters, digits, `_` and `-`");
        rules.say(&kind::FORM, child(at, "name"), message, format!("write `{fixed}`"));
    }
}

fn servers(rules: &mut Rules, spec: &Value) {
    rules.count(spec, "", "mcp_servers", 0..=20);
    let named = |name: &str| {
        let tools = spec.get("tools").and_then(Value::as_array).into_iter().flatten();
        let mut names = tools.filter_map(|t| t.get("mcp_server_name")?.as_str());
        names.any(|n| n == name)
    };
    let mut seen = BTreeSet::new();
    for (at, server) in items(spec, "", "mcp_servers") {
        rules.length(server, &at, "name", 1..=255);
        rules.length(server, &at, "url", 1..=2048);
        if let Some(url) = server.get("url").and_then(Value::as_str)
            && !is_http(url)
        {
            let message = format!("`{url}` is no address of an MCP server");
            rules.say(&kind::FORM, child(&at, "url"), message, "write `https://HOST/PATH`");
        } else if server.get("url").and_then(Value::as_str).is_some_and(has_user) {
            let message = "the address holds a user or password, which every reader of the plan would see";
            rules.say(
                &kind::FORM,
                child(&at, "url"),
                message,
                "write `https://HOST/PATH`; credentials are no part of it",
            );
        }
        let Some(name) = server.get("name").and_then(Value::as_str) else { continue };
        rules.once(&mut seen, &child(&at, "name"), "MCP server", name);
        if !named(name) {
            let message = format!("no `mcp_toolset` names the MCP server `{name}`");
            let fix = format!("add `{{type: mcp_toolset, mcp_server_name: {name}}}` to `tools`, or remove the server");
            rules.say(&kind::MISSING, at, message, fix);
        }
    }
}

/// Is there something before an `@` in front of the host?
fn has_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#', '\\']).next().is_some_and(|authority| authority.contains('@'))
}

fn is_http(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|r| {
        !r.is_empty() && !r.starts_with('/') && !r.chars().any(|c| c.is_whitespace() || c.is_control())
    })
}

fn skills(rules: &mut Rules, spec: &Value) {
    rules.count(spec, "", "skills", 0..=20);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (at, entry) in items(spec, "", "skills") {
        let what = match entry {
            Value::String(_) => {
                rules.target(&at, entry, Kind::Skill);
                entry
            }
            Value::Object(_) => {
                skill_forms(rules, &at, entry);
                entry.get("skill").or_else(|| entry.get("anthropic")).unwrap_or(&Value::Null)
            }
            _ => continue,
        };
        let key = format!("{}{what}", if entry.get("anthropic").is_some() { "anthropic " } else { "" });
        if !what.is_null() && !seen.insert(key) {
            rules.say(&kind::DUPLICATE, at, format!("the skill {what} is listed twice"), "remove one of the two");
        }
    }
}

fn skill_forms(rules: &mut Rules, at: &str, entry: &Value) {
    let has = |key: &str| entry.get(key).is_some();
    let choices = ["follow", "pin", "version", "content"].iter().filter(|k| has(k)).count();
    let ok = match (has("skill"), has("anthropic")) {
        (true, false) => choices <= 1,
        (false, true) => choices == usize::from(has("version")),
        _ => false,
    };
    if !ok {
        rules.say(
            &kind::FORM,
            at,
            "a skill is `{skill}` with at most one of `follow`, `pin` and `version`, or `{anthropic}` with at most `version`",
            "write `NAME`, `{skill: NAME, follow: latest}`, `{skill: NAME, pin: \"sha256:…\"}`, `{skill: NAME, version: N}` or `{anthropic: xlsx}`",
        );
    }
    rules.reference(entry, at, "skill", Kind::Skill);
    rules.digest(entry, at, "pin");
    rules.length(entry, at, "anthropic", 1..=255);
    rules.positive(entry, at, "version");
    if has("skill") && entry.get("version").is_some_and(Value::is_string) {
        let message = "a version of a skill is a number of the workspace";
        rules.say(&kind::FORM, child(at, "version"), message, "write `version: 3`, or pin by content");
    }
    if has("anthropic") && entry.get("version").is_some_and(Value::is_number) {
        let number = &entry["version"];
        let message = "a version of a platform skill is a text";
        rules.say(&kind::FORM, child(at, "version"), message, format!("write `version: \"{number}\"`"));
    }
}

fn check_multiagent(rules: &mut Rules, spec: &Value) {
    let Some(form) = spec.get("multiagent") else { return };
    rules.count(form, "/multiagent", "agents", 1..=20);
    roster(rules, form, "/multiagent", "agents");
    if let Some(advisor) = form.get("advisor") {
        model(rules, advisor, "/multiagent/advisor");
    }
    for key in multiagent::PARTS {
        if let Some(part) = form.get(key) {
            let at = child("/multiagent", key);
            rules.count(part, &at, "predefined_agents", 0..=20);
            roster(rules, part, &at, "predefined_agents");
        }
    }
}

fn roster(rules: &mut Rules, value: &Value, at: &str, key: &str) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (place, entry) in items(value, at, key) {
        let what = entry.get("agent").or_else(|| entry.get("type")).unwrap_or(entry);
        if !seen.insert(what.to_string()) {
            rules.say(
                &kind::DUPLICATE,
                place.clone(),
                format!("the agent {what} is listed twice"),
                "remove one of the two",
            );
        }
        if entry.is_string() {
            rules.target(&place, entry, Kind::Agent);
            continue;
        }
        let Some(map) = entry.as_object() else { continue };
        let keys: BTreeSet<&str> = map.keys().map(String::as_str).collect();
        let ty = entry.get("type").and_then(Value::as_str);
        let allowed: &[&str] = match ty {
            Some("self") => &["type"],
            Some("advisor") => &["type", "model"],
            None if keys.contains("id") => &["id"],
            _ => &["agent", "version"],
        };
        let needed = if ty == Some("advisor") { "model" } else { allowed[0] };
        if !keys.contains(needed) || keys.iter().any(|k| !allowed.contains(k)) {
            let message = "this is no member of a roster";
            let fix =
                "write `NAME`, `{id: …}`, `{agent: NAME, version: N}`, `{type: self}` or `{type: advisor, model: …}`";
            rules.say(&kind::FORM, place.clone(), message, fix);
        }
        rules.reference(entry, &place, "agent", Kind::Agent);
        rules.positive(entry, &place, "version");
        model(rules, entry, &place);
    }
}

fn mounts(rules: &mut Rules, spec: &Value) {
    rules.count(spec, "", "memory", 0..=8);
    for (at, mount) in items(spec, "", "memory") {
        rules.reference(mount, &at, "store", Kind::MemoryStore);
        memory_mount::check_at(rules, mount, &at, "at");
    }
    for (at, mount) in items(spec, "", "files") {
        rules.reference(mount, &at, "tree", Kind::FileTree);
        file_tree_mount::check_at(rules, mount, &at, "at");
    }
}
