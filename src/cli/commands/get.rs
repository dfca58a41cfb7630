//! `get [KIND[/NAME]]`: what this project owns in the workspace.

use serde_json::{Value, json};

use crate::cli::args::Get;
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::session::{context, load_project, runtime, target};
use crate::cli::target::{Workspace, choose};
use crate::cli::view::json::{ResourceDoc, ResourcesDoc};
use crate::cli::view::{Format, lists, tables};
use crate::control::{ControlError, ControlPlane};
use crate::diag::codes;
use crate::model::kinds;
use crate::model::op::{Context, Find, IdList, Loaded, Request, Response, Summary};
use crate::model::{Address, Kind, Owner};
use crate::reconcile::read;

/// Lists, or prints one.
pub fn run(run: &Run, args: &Get) -> Ran {
    let (kind, one) = asked(args.what.as_deref())?;
    let (dir, loaded) = load_project(run, None)?;
    let owner = loaded.config.authoring_owner.clone();
    let place = choose(&loaded.config, target(run), &dir)?;
    let control = place.open_to_read(&run.printer)?;
    let context = context(run, &loaded.config);
    let runtime = runtime()?;
    let failed = |e: ControlError| Failure::control("read the workspace", &e);
    let mut resources = runtime.block_on(list(&control, &context, &owner, kind)).map_err(failed)?;
    let Some(address) = one else {
        match run.printer.format {
            Format::Json => run.printer.json(&ResourcesDoc { format: "checkfu.resources/v1", owner, resources }),
            Format::Human => run.printer.data(&tables::resources(&resources)),
            Format::Markdown => run.printer.raw(&lists::resources(&resources)),
        }
        return Ok(Exit::Ok);
    };
    resources.retain(|r| r.address == address && r.state != "superseded");
    let Some(resource) = resources.first_mut() else {
        let offer = runtime.block_on(offer(&control, &context, &owner, &address)).map_err(failed)?;
        let message = format!("{owner} has no {address} in target {}{}", place.name, offer.unwrap_or_default());
        return Err(Failure::new(&codes::cli::NOT_FOUND, message).fix("checkfu get"));
    };
    resource.spec = runtime.block_on(spec(&control, &context, &owner, resource)).map_err(failed)?;
    match run.printer.format {
        Format::Json => run.printer.json(&ResourcesDoc { format: "checkfu.resources/v1", owner, resources }),
        Format::Human => run.printer.data(&yaml(resource)),
        Format::Markdown => run.printer.raw(&lists::resource(&resource.address.to_string(), &yaml(resource))),
    }
    Ok(Exit::Ok)
}

fn asked(what: Option<&str>) -> Result<(Option<Kind>, Option<Address>), Failure> {
    let Some(what) = what else { return Ok((None, None)) };
    let bad = |e: crate::model::address::AddressError| {
        let kinds: Vec<&str> = Kind::ALL.into_iter().map(Kind::as_str).collect();
        Failure::new(&codes::cli::USAGE, e.to_string())
            .fix(format!("KIND or KIND/NAME; kinds are {}", kinds.join(", ")))
    };
    if what.contains('/') {
        let address: Address = what.parse().map_err(bad)?;
        return Ok((Some(address.kind), Some(address)));
    }
    let kind = Kind::ALL.into_iter().find(|k| k.as_str().eq_ignore_ascii_case(what));
    kind.map_or_else(|| what.parse::<Kind>().map_err(bad), Ok).map(|kind| (Some(kind), None))
}

async fn list(
    control: &Workspace,
    context: &Context,
    owner: &Owner,
    kind: Option<Kind>,
) -> Result<Vec<ResourceDoc>, ControlError> {
    let found = read::summaries(control, context, owner, kind).await?;
    let mut out: Vec<ResourceDoc> = found.into_iter().filter_map(resource).collect();
    out.sort_by(|a, b| (&a.address, &a.id).cmp(&(&b.address, &b.id)));
    Ok(out)
}

fn resource(summary: Summary) -> Option<ResourceDoc> {
    let state = match () {
        () if summary.superseded => "superseded",
        () if summary.live_digest.is_none() => "gone",
        () if summary.live_digest == summary.applied_digest => "applied",
        () => "moved",
    };
    Some(ResourceDoc {
        address: summary.address?,
        kind: summary.kind,
        id: summary.id,
        name: summary.name,
        version: summary.version,
        state,
        protected: summary.protected,
        content: summary.content,
        content_version: summary.content_version,
        spec: None,
    })
}

/// What is offered there, to this owner or by it, in words.
async fn offer(
    control: &Workspace,
    context: &Context,
    me: &Owner,
    address: &Address,
) -> Result<Option<String>, ControlError> {
    let find = Find { me: me.clone(), addresses: vec![address.clone()], ids: Vec::new() };
    let Response::Summaries(found) = control.call(context, Request::Find(find)).await? else { return Ok(None) };
    Ok(found.data.into_iter().find_map(|s| match (s.owner?, s.offered?) {
        (from, to) if to == *me => Some(format!("; {from} handed over {}, and it is not taken yet", s.id)),
        (from, to) if from == *me => Some(format!("; {} is handed over to {to}, which has not taken it yet", s.id)),
        _ => None,
    }))
}

async fn spec(
    control: &Workspace,
    context: &Context,
    owner: &Owner,
    resource: &ResourceDoc,
) -> Result<Option<Value>, ControlError> {
    let ids = IdList { ids: vec![resource.id.clone()], me: Some(owner.clone()) };
    let Response::Loaded(Loaded { bodies, refs, .. }) = control.call(context, Request::Bodies(ids)).await? else {
        return Ok(None);
    };
    let from_wire = kinds::def(resource.kind).from_wire;
    Ok(bodies.first().map(|b| from_wire(&b.body, &refs, b.applied.as_ref().map(|a| &*a.spec))))
}

/// One resource as YAML: what is live, in the form that is compared, and its coordinates.
fn yaml(resource: &ResourceDoc) -> String {
    let mut live = json!({
        "id": resource.id, "version": resource.version, "state": resource.state, "protected": resource.protected,
    });
    if let (Some(content), Some(version)) = (&resource.content, &resource.content_version) {
        live["content"] = json!(content);
        live["content_version"] = json!(version);
    }
    let out = json!({
        "kind": resource.kind, "address": resource.address, "name": resource.name, "live": live, "spec": resource.spec,
    });
    crate::manifest::emit(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_addresses_are_read() {
        assert_eq!(asked(Some("agent")).unwrap(), (Some(Kind::Agent), None));
        assert_eq!(asked(Some("Agent/a")).unwrap().1, Some(Address::new(Kind::Agent, "a")));
        for bad in ["thing", "Agent/A", "x/y"] {
            assert_eq!(asked(Some(bad)).unwrap_err().diagnostics.0[0].code.code, "cli.usage");
        }
    }
}
