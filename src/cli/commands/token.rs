//! `token`: who may ask a server, from the machine that has its database.

use std::path::Path;

use crate::cli::args::{Token, TokenCreate};
use crate::cli::commands::Run;
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, Ran};
use crate::cli::files::normalize;
use crate::cli::session::{actor, runtime};
use crate::cli::view::json::{TokenDoc, TokensDoc};
use crate::cli::view::{Format, lists, tables};
use crate::control::ControlPlane;
use crate::control::embedded::{Embedded, EmbeddedOptions};
use crate::diag::codes;
use crate::model::op::{ActorKind, Context, GetId, Request, Response, Scope, TokenCreate as Create, TokenInfo};

/// Makes, lists, revokes.
pub fn run(run: &Run, args: &Token) -> Ran {
    match args {
        Token::Create(args) => create(run, args),
        Token::List(args) => {
            let workspace = existing(run, &args.db)?;
            let tokens = tokens(run, &workspace)?;
            match run.printer.format {
                Format::Json => run.printer.json(&TokensDoc { format: "checkfu.tokens/v1", tokens }),
                Format::Human => run.printer.data(&tables::tokens(&tokens)),
                Format::Markdown => run.printer.raw(&lists::tokens(&tokens)),
            }
            Ok(Exit::Ok)
        }
        Token::Revoke(args) => {
            let workspace = existing(run, &args.db)?;
            ask(run, &workspace, "revoke the token", Request::TokenRevoke(GetId { id: args.id.clone() }))?;
            let mut tokens = tokens(run, &workspace)?;
            tokens.retain(|t| t.id == args.id);
            match run.printer.format {
                Format::Json => run.printer.json(&TokensDoc { format: "checkfu.tokens/v1", tokens }),
                Format::Human => run.printer.talk(&format!("{} holds no more.", args.id)),
                Format::Markdown => run.printer.raw(&lists::tokens(&tokens)),
            }
            Ok(Exit::Ok)
        }
    }
}

fn create(run: &Run, args: &TokenCreate) -> Ran {
    let name = args.name.clone().unwrap_or_else(|| {
        let words: Vec<&str> =
            std::iter::once(word(args.scope)).chain(args.owners.iter().map(String::as_str)).collect();
        words.join(" ")
    });
    let create = Create {
        name,
        scope: args.scope,
        owners: args.owners.clone(),
        actor_kind: ActorKind::Api,
        expires_at: args.expires.clone(),
    };
    let opened = Embedded::open(&normalize(&run.cwd.join(&args.db)), EmbeddedOptions::default());
    let workspace = opened.map_err(|e| Failure::control("open the workspace", &e))?;
    let Response::Token(made) = ask(run, &workspace, "make a token", Request::TokenCreate(create))? else {
        return Err(Failure::new(&codes::cli::INTERNAL, "a token that was made is none"));
    };
    match run.printer.format {
        Format::Json => {
            run.printer.json(&TokenDoc { format: "checkfu.token/v1", token: made.token, secret: made.secret });
        }
        Format::Human | Format::Markdown => {
            run.printer.talk(&format!("{} `{}`. It is shown this once:", made.token.id, made.token.name));
            run.printer.data(&format!("{}\n", made.secret));
        }
    }
    Ok(Exit::Ok)
}

/// The scope as it is written.
fn word(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Plan => "plan",
        Scope::Apply => "apply",
        Scope::Admin => "admin",
    }
}

fn existing(run: &Run, db: &Path) -> Result<Embedded, Failure> {
    let path = normalize(&run.cwd.join(db));
    Embedded::open_existing(&path, EmbeddedOptions::default())
        .map_err(|e| Failure::control("open the workspace", &e))?
        .ok_or_else(|| {
            let message = format!("there is no workspace: {} does not exist", path.display());
            Failure::new(&codes::cli::NO_WORKSPACE, message).fix("name the database of the server with --db")
        })
}

fn tokens(run: &Run, workspace: &Embedded) -> Result<Vec<TokenInfo>, Failure> {
    match ask(run, workspace, "list tokens", Request::TokenList)? {
        Response::Tokens(tokens) => Ok(tokens),
        _ => Err(Failure::new(&codes::cli::INTERNAL, "tokens that are listed are none")),
    }
}

/// Whoever has the database may do everything.
fn ask(run: &Run, workspace: &Embedded, doing: &str, request: Request) -> Result<Response, Failure> {
    let context = Context { actor: actor(run), admin: true, ..Context::default() };
    runtime()?.block_on(workspace.call(&context, request)).map_err(|e| Failure::control(doing, &e))
}
