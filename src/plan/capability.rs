//! What an agent may newly do, or may no more: the lines that a reviewer reads first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::Address;
use crate::model::kinds::{self, KindDef};
use crate::plan::Step;
use crate::plan::actions::Draft;
use crate::plan::item::Item;
use crate::plan::retire::Retired;

/// The tools of the agent toolset.
const BUILT_IN: [&str; 8] = ["bash", "edit", "read", "write", "glob", "grep", "web_fetch", "web_search"];

/// Writes the lines into the drafts.
pub(super) fn describe(drafts: &mut [Draft], items: &[Item<'_>], retired: &[Retired<'_>]) {
    let items: BTreeMap<&Address, &Item<'_>> = items.iter().map(|i| (i.address(), i)).collect();
    let retired: BTreeMap<String, &Retired<'_>> = retired.iter().map(|r| (r.action(), r)).collect();
    for draft in drafts {
        let action = &draft.action;
        let Some(address) = &action.address else { continue };
        let def = kinds::def(address.kind);
        let lines = match &action.step {
            Step::Create { spec, .. } => {
                let item = items.get(address);
                let before = item.filter(|i| !i.is_gone()).and_then(|i| i.live_spec.as_deref());
                between(def, before, Some(spec))
            }
            Step::Update { spec, .. } => {
                // A form that was not read is as wanted: nothing of it is gained or lost.
                between(def, items.get(address).and_then(|i| i.live_spec.as_deref()).or(Some(spec)), Some(spec))
            }
            Step::Retire { .. } => {
                let gone = retired.get(&action.id).filter(|r| !r.superseded);
                between(def, gone.and_then(|r| r.live.body.as_ref()).map(|b| &*b.live), None)
            }
            _ => continue,
        };
        draft.action.about.capabilities = lines;
    }
}

fn between(def: &KindDef, was: Option<&Value>, now: Option<&Value>) -> Vec<String> {
    let mut out = Vec::new();
    if def.field("mount_path").is_some() {
        mount(was, now, &mut out);
    }
    let Some(now) = now else { return out };
    if def.field("tools").is_some() {
        tools(was, now, &mut out);
        skills(was, now, &mut out);
        servers(was, now, &mut out);
    }
    if def.field("execution_identity").is_some() {
        let of = |v: &Value| named_identity(v).into_iter().collect();
        gains(&was.map(of).unwrap_or_default(), &of(now), ["acts as", "no longer acts as"], &mut out);
    }
    if def.field("config").is_some() {
        network(was, now, &mut out);
    }
    out
}

/// Tool → its permission policy; `None`: it is switched off. `SERVER/*` is what holds for tools not named.
type Tools = BTreeMap<String, Option<String>>;

fn enabled(spec: &Value) -> Tools {
    let mut out = Tools::new();
    let text = |v: &Value, k: &str| v.get(k).and_then(Value::as_str).map(str::to_owned);
    for set in spec.get("tools").and_then(Value::as_array).into_iter().flatten() {
        let default = set.get("default_config");
        let (prefix, usual) = match text(set, "mcp_server_name") {
            Some(server) => (format!("{server}/"), "always_ask"),
            None => (String::new(), "always_allow"),
        };
        let mut see = |name: &str, config: Option<&Value>| {
            let get = |k: &str| config.and_then(|c| c.get(k)).or_else(|| default.and_then(|d| d.get(k)));
            let on = get("enabled").and_then(Value::as_bool).unwrap_or(true);
            let policy = get("permission_policy").and_then(|p| text(p, "type").or(p.as_str().map(str::to_owned)));
            out.insert(format!("{prefix}{name}"), on.then(|| policy.unwrap_or_else(|| usual.to_owned())));
        };
        let configs = set.get("configs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let of = |name: &str| configs.iter().find(|c| c.get("name").and_then(Value::as_str) == Some(name));
        if text(set, "type").is_some_and(|t| t.starts_with("agent_toolset")) {
            for name in BUILT_IN {
                see(name, of(name));
            }
        } else if prefix.is_empty() {
            see(set.get("name").and_then(Value::as_str).unwrap_or("?"), None);
        } else {
            see("*", None);
            configs.iter().filter_map(|c| Some((c.get("name")?.as_str()?, c))).for_each(|(n, c)| see(n, Some(c)));
        }
    }
    out
}

/// The policy of a tool that may be used.
fn policy<'t>(tools: &'t Tools, name: &str) -> Option<&'t String> {
    let server = || tools.get(&format!("{}/*", name.split_once('/')?.0));
    tools.get(name).or_else(server)?.as_ref()
}

fn tools(was: Option<&Value>, now: &Value, out: &mut Vec<String>) {
    let (before, after) = (was.map(enabled).unwrap_or_default(), enabled(now));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let usable = |tools: &Tools| names.iter().filter(|n| policy(tools, n).is_some()).map(|n| (*n).clone()).collect();
    gains(&usable(&before), &usable(&after), ["may use", "may no longer use"], out);
    for tool in names {
        match (policy(&before, tool), policy(&after, tool)) {
            (Some(old), Some(new)) if old == "always_ask" && new != "always_ask" => {
                out.push(format!("no longer asks before {tool} ({old} → {new})"));
            }
            (Some(old), Some(new)) if old != new => out.push(format!("permission of {tool}: {old} → {new}")),
            _ => {}
        }
    }
}

fn gains(before: &BTreeSet<String>, after: &BTreeSet<String>, [gained, lost]: [&str; 2], out: &mut Vec<String>) {
    let join = |set: Vec<&String>| set.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    let (more, less) = (join(after.difference(before).collect()), join(before.difference(after).collect()));
    if !more.is_empty() {
        out.push(format!("{gained} {more}"));
    }
    if !less.is_empty() {
        out.push(format!("{lost} {less}"));
    }
}

fn named(spec: &Value, list: &str, keys: &[&str]) -> BTreeSet<String> {
    let items = spec.get(list).and_then(Value::as_array).into_iter().flatten();
    items
        .filter_map(|i| keys.iter().find_map(|k| i.get(*k)))
        .map(|v| v.as_str().or_else(|| v.get("id")?.as_str()).map_or_else(|| v.to_string(), str::to_owned))
        .collect()
}

fn skills(was: Option<&Value>, now: &Value, out: &mut Vec<String>) {
    let of = |v: &Value| named(v, "skills", &["skill", "anthropic"]);
    gains(&was.map(of).unwrap_or_default(), &of(now), ["has the skill", "no longer has the skill"], out);
}

/// What an address reaches: host and path. A user, a query or a fragment reaches nothing else, and may hold a secret.
fn reached(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", authority.rsplit('@').next().unwrap_or_default())
}

fn servers(was: Option<&Value>, now: &Value, out: &mut Vec<String>) {
    let of = |v: &Value| named(v, "mcp_servers", &["url", "name"]).iter().map(|url| reached(url)).collect();
    gains(&was.map(of).unwrap_or_default(), &of(now), ["reaches", "no longer reaches"], out);
}

/// The identity that is not the usual one: its type, and whatever else says which.
fn named_identity(spec: &Value) -> Option<String> {
    let identity = spec.get("execution_identity")?;
    let texts: Vec<&str> = identity.as_object().into_iter().flatten().filter_map(|(_, v)| v.as_str()).collect();
    Some(if texts.is_empty() { identity.to_string() } else { texts.join(" ") })
}

fn network(was: Option<&Value>, now: &Value, out: &mut Vec<String>) {
    let kind = |v: &Value| {
        let text = |pointer: &str| v.pointer(pointer).and_then(Value::as_str);
        match text("/config/type") {
            Some("self_hosted") => "self_hosted".to_owned(),
            _ => text("/config/networking/type").unwrap_or("unrestricted").to_owned(),
        }
    };
    let hosts = |v: &Value| -> BTreeSet<String> {
        let list = v.pointer("/config/networking/allowed_hosts").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let after = kind(now);
    match was.map(kind) {
        Some(before) if before != after => {
            let word = match (before.as_str(), after.as_str()) {
                ("limited", "unrestricted") => "loosened",
                ("unrestricted", "limited") => "tightened",
                // How far another network reaches is not known here.
                _ => "changed",
            };
            out.push(format!("network {word}: {before} → {after}"));
        }
        _ => {
            let known = was.map(hosts).unwrap_or_default();
            gains(&known, &hosts(now), ["network reaches", "network no longer reaches"], out);
            let flag = |v: &Value, k: &str| {
                v.pointer(&format!("/config/networking/{k}")).and_then(Value::as_bool).unwrap_or(false)
            };
            for k in ["allow_mcp_servers", "allow_package_managers"] {
                if was.is_some_and(|w| !flag(w, k)) && flag(now, k) {
                    out.push(format!("network loosened: {k}"));
                }
            }
        }
    }
}

fn mount(was: Option<&Value>, now: Option<&Value>, out: &mut Vec<String>) {
    let text = |v: &Value, k: &str| match v.get(k) {
        Some(Value::String(s)) => Some(s.clone()),
        Some(other) => Some(other.to_string()),
        None => None,
    };
    let what = |v: &Value| text(v, "memory_store").or_else(|| text(v, "file_tree")).unwrap_or_default();
    let access = |v: &Value| text(v, "access").unwrap_or_else(|| "read_only".to_owned());
    let agent = |v: &Value| text(v, "agent").unwrap_or_default();
    match (was, now) {
        (None, Some(n)) => out.push(format!("{} gains {} access to {}", agent(n), access(n), what(n))),
        (Some(w), None) => out.push(format!("{} loses {} access to {}", agent(w), access(w), what(w))),
        (Some(w), Some(n)) if (agent(w), what(w)) != (agent(n), what(n)) => {
            mount(Some(w), None, out);
            mount(None, Some(n), out);
        }
        (Some(w), Some(n)) if access(w) != access(n) => {
            out.push(format!("{}: access to {}: {} → {}", agent(n), what(n), access(w), access(n)));
        }
        _ => {}
    }
}
