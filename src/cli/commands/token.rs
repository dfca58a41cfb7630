//! `token`: who may use a workspace that is served.

use clap::ValueEnum as _;
use jiff::tz::Offset;
use jiff::{Span, Timestamp, ToSpan, civil};
use tokio::sync::watch;

use crate::cli::args::{ScopeArg, Token, TokenCreate, TokenDb, TokenRevoke, TokenWhat};
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::normalize;
use crate::cli::session::{actor, load_project, runtime, target};
use crate::cli::target::{At, Place, Workspace, choose};
use crate::cli::view::json::{TokenDoc, TokensDoc};
use crate::cli::view::markup::code;
use crate::cli::view::{Format, lists, tables};
use crate::control::{ControlPlane, ErrorKind};
use crate::diag::codes;
use crate::model::op::{ActorKind, Context, GetId, Request, Response, Scope, TokenInfo};

/// Makes, lists or ends tokens.
pub fn run(run: &Run, args: Token) -> Ran {
    let (by_db, ran) = match args.what {
        TokenWhat::Create(args) => (args.db.db.is_some(), create(run, args)),
        TokenWhat::List(db) => (db.db.is_some(), list(run, &db)),
        TokenWhat::Revoke(args) => (args.db.db.is_some(), revoke(run, &args)),
    };
    ran.map_err(|failure| if by_db { failure.of_file("--db") } else { failure })
}

fn create(run: &Run, args: TokenCreate) -> Ran {
    let now = Timestamp::now();
    let expires_at = args.expires.as_deref().map(|text| end(text, now)).transpose()?;
    let place = place(run, &args.db)?;
    if let At::File(path) = &place.at
        && !path.exists()
    {
        run.printer.talk(&format!("There is no workspace at {} yet: it is made.", place.written));
    }
    let request = Request::TokenCreate(crate::model::op::TokenCreate {
        name: args.name.unwrap_or_else(|| default_name(args.scope, &args.owners)),
        scope: scope(args.scope),
        owners: args.owners,
        actor_kind: if args.session { ActorKind::Session } else { ActorKind::Api },
        expires_at: expires_at.map(|end| end.to_string()),
    });
    let made = runtime()?.block_on(async {
        let workspace = match place.open_existing(&run.printer)? {
            Some(workspace) => workspace,
            None => place.open(None, &run.printer, watch::channel(false).1)?,
        };
        match ask(run, &workspace, "make the token", request).await? {
            Response::Token(made) => Ok(made),
            _ => Err(another_answer()),
        }
    })?;
    let cells = tables::token_cells(&made.token, now);
    let ends = if cells[5].is_empty() { "until it is revoked".to_owned() } else { format!("until {}", cells[5]) };
    run.printer.talk(&format!("Made token {} ({}), valid {ends}.", cells[0], cells[1]));
    run.printer.talk("Its secret is shown this once; the workspace keeps only a hash of it.");
    match run.printer.format {
        Format::Json => {
            run.printer.json(&TokenDoc { format: "checkfu.token/v1", token: made.token, secret: made.secret });
        }
        Format::Human => run.printer.raw(&format!("{}\n", made.secret)),
        Format::Markdown => run.printer.raw(&format!("{}\n", code(&made.secret))),
    }
    Ok(Exit::Ok)
}

fn list(run: &Run, db: &TokenDb) -> Ran {
    let place = place(run, db)?;
    let workspace = existing(run, db, &place)?;
    let tokens = runtime()?.block_on(all(run, &workspace))?;
    show(run, tokens);
    Ok(Exit::Ok)
}

fn revoke(run: &Run, args: &TokenRevoke) -> Ran {
    let place = place(run, &args.db)?;
    let workspace = existing(run, &args.db, &place)?;
    let (tokens, id) = runtime()?.block_on(async {
        let token = find(&all(run, &workspace).await?, &args.token)?;
        ask(run, &workspace, "revoke the token", Request::TokenRevoke(GetId { id: token.id.clone() })).await?;
        Ok::<_, Failure>((all(run, &workspace).await?, token.id))
    })?;
    run.printer.talk(&format!("{id} is revoked: the next request with it is refused."));
    show(run, tokens.into_iter().filter(|t| t.id == id).collect());
    Ok(Exit::Ok)
}

fn show(run: &Run, tokens: Vec<TokenInfo>) {
    let now = Timestamp::now();
    match run.printer.format {
        Format::Json => run.printer.json(&TokensDoc { format: "checkfu.tokens/v1", tokens }),
        Format::Human => run.printer.data(&tables::tokens(&tokens, now)),
        Format::Markdown => run.printer.raw(&lists::tokens(&tokens, now)),
    }
}

/// `apply acme/* beta/x`: what it may do, as whom.
fn default_name(scope: ScopeArg, owners: &[String]) -> String {
    let scope = scope.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
    std::iter::once(&scope).chain(owners).map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// The token of an id, else the valid one of a name: names are given again once a token has ended.
fn find(tokens: &[TokenInfo], wanted: &str) -> Result<TokenInfo, Failure> {
    let is = |t: &&TokenInfo| t.id == wanted;
    let named = |t: &&TokenInfo| t.name == wanted && t.revoked_at.is_none();
    let found = tokens.iter().find(is).or_else(|| tokens.iter().find(named));
    found.cloned().ok_or_else(|| {
        Failure::new(&codes::cli::NOT_FOUND, format!("no token has the id {wanted}, and no valid one this name"))
            .fix("list them with `checkfu token list`")
    })
}

/// The database that is named, else the target.
fn place(run: &Run, db: &TokenDb) -> Result<Place, Failure> {
    let Some(db) = &db.db else {
        let (dir, loaded) = load_project(run, None)?;
        return choose(&loaded.config, target(run), &dir);
    };
    let written = db.display().to_string();
    Ok(Place { name: "--db".to_owned(), written, at: At::File(normalize(&run.cwd.join(db))) })
}

/// The workspace, which is not made for this.
fn existing(run: &Run, db: &TokenDb, place: &Place) -> Result<Workspace, Failure> {
    match place.open_existing(&run.printer)? {
        Some(workspace) => Ok(workspace),
        None if db.db.is_none() => place.open_to_read(&run.printer),
        None => Err(Failure::new(&codes::cli::NO_WORKSPACE, format!("{} does not exist", place.written))
            .fix("correct `--db`; `checkfu serve` and `checkfu token create` make a workspace")),
    }
}

async fn all(run: &Run, workspace: &Workspace) -> Result<Vec<TokenInfo>, Failure> {
    match ask(run, workspace, "list the tokens", Request::TokenList).await? {
        Response::Tokens(tokens) => Ok(tokens),
        _ => Err(another_answer()),
    }
}

async fn ask(run: &Run, workspace: &Workspace, doing: &str, request: Request) -> Result<Response, Failure> {
    let context = Context { actor: actor(run), ..Context::default() };
    workspace.call(&context, request).await.map_err(|e| {
        let mut failure = Failure::control(doing, &e);
        if e.details.get("reason").is_some_and(|r| r == "name_taken") {
            failure = failure.fix("choose another name, or revoke it first: checkfu token revoke ID");
        }
        let hint = "tokens of a server are made with an admin token of it, or on its machine with `--db FILE`";
        if e.kind == ErrorKind::Permission { failure.hint(hint) } else { failure }
    })
}

fn another_answer() -> Failure {
    Failure::new(&codes::cli::INTERNAL, "the workspace answered something else than was asked")
}

fn scope(scope: ScopeArg) -> Scope {
    match scope {
        ScopeArg::Read => Scope::Read,
        ScopeArg::Plan => Scope::Plan,
        ScopeArg::Apply => Scope::Apply,
        ScopeArg::Admin => Scope::Admin,
    }
}

/// Reads `30d`, `12h`, `2027-01-31` or a time as in RFC 3339.
fn end(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let wrong = |why: &str| {
        Failure::new(&codes::cli::USAGE, format!("`--expires {text}` {why}"))
            .fix("write a time as 30d or 12h, or a date as 2027-01-31")
    };
    let utc = Offset::UTC;
    let after = |span: Span| utc.to_timestamp(utc.to_datetime(now).checked_add(span).ok()?).ok();
    let read = || {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Some(at);
        }
        if let Ok(date) = text.parse::<civil::Date>() {
            return utc.to_timestamp(date.at(0, 0, 0, 0)).ok();
        }
        after(text.parse::<Span>().ok()?)
    };
    let at = read().ok_or_else(|| wrong("is no time and no date"))?;
    let at = at.checked_sub(i64::from(at.subsec_nanosecond()).nanoseconds()).unwrap_or(at);
    if at > now { Ok(at) } else { Err(wrong("is over already")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::view::sample;

    #[test]
    fn an_end_is_a_span_a_date_or_a_time() {
        let now: Timestamp = "2026-11-30T12:00:00.5Z".parse().unwrap();
        let of = |text: &str| end(text, now).map(|t| t.to_string()).map_err(|f| f.diagnostics.0[0].code.code);
        let rows = [
            ("30d", "2026-12-30T12:00:00Z"),
            ("12h", "2026-12-01T00:00:00Z"),
            ("1y", "2027-11-30T12:00:00Z"),
            ("2027-01-31", "2027-01-31T00:00:00Z"),
            ("2027-01-31T10:00:00+01:00", "2027-01-31T09:00:00Z"),
        ];
        for (text, wanted) in rows {
            assert_eq!(of(text).as_deref(), Ok(wanted), "{text}");
        }
        for text in ["", "soon", "2026-11-30", "-1d", "0s", "2020-01-01T00:00:00Z", "99999999y", "30"] {
            assert_eq!(of(text), Err("cli.usage"), "{text}");
        }
    }

    #[test]
    fn a_token_is_found_by_id_or_by_the_name_of_a_valid_one() {
        let token = sample::token();
        let old = TokenInfo { id: "tok_0".to_owned(), revoked_at: Some(token.created_at.clone()), ..token.clone() };
        let all = vec![old, token];
        let of = |wanted: &str| find(&all, wanted).map(|t| t.id).ok();
        assert_eq!(of("tok_0").as_deref(), Some("tok_0"));
        assert_eq!(of("ci").as_deref(), Some("tok_1"));
        assert_eq!(of("other"), None);
    }
}
