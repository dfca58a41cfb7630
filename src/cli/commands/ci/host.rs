//! The code host of a run: the event that started it, and the client of its API.

use std::sync::Arc;

use crate::ci::{Event, Inputs};
use crate::cli::commands::ci::{Provider, Surroundings};
use crate::cli::failure::Failure;
use crate::cli::view::Printer;
use crate::diag::codes::ci as codes;
use crate::forge::{ForgeError, GitHub, Options};

/// The event that started the run; `None` where nothing tells of one. Of GitLab it is that of a merge request.
///
/// # Errors
/// It cannot be read.
pub fn event(around: &Surroundings) -> Result<Option<Event>, Failure> {
    match around.provider {
        Provider::GitHub => {}
        Provider::GitLab => return Ok(Event::of_gitlab(|name| around.variable(name).map(str::to_owned))),
        Provider::Plain => return Ok(None),
    }
    let payload = match around.variable("GITHUB_EVENT_PATH") {
        Some(path) => std::fs::read_to_string(path).map_err(|e| {
            Failure::new(&codes::SURROUNDINGS, format!("the event cannot be read: {e}"))
                .fix("GITHUB_EVENT_PATH names the file of the event; the runner writes it")
        })?,
        None => String::new(),
    };
    let event = Event::read(|name| around.variable(name).map(str::to_owned), &payload);
    event.map(Some).map_err(|e| Failure::caused(&codes::SURROUNDINGS, &e))
}

/// The client of GitHub's API; `None` without a token, or where the run is not GitHub's.
///
/// # Errors
/// The token or an address cannot be used.
pub fn github(
    printer: &Arc<Printer>,
    inputs: &Inputs,
    around: &Surroundings,
    event: &Event,
) -> Option<Result<GitHub, ForgeError>> {
    let token = inputs.github_token.clone().filter(|_| around.provider == Provider::GitHub)?;
    let api = around.variable("GITHUB_API_URL").unwrap_or("https://api.github.com");
    let mut options = Options::new(api, token, &event.repository);
    options.graphql_url = around.variable("GITHUB_GRAPHQL_URL").map(str::to_owned);
    let printer = Arc::clone(printer);
    options.on_retry = Arc::new(move |again| {
        printer.err(&format!("GitHub is asked again in {} ms: {}", again.after.as_millis(), again.error));
    });
    Some(GitHub::new(options))
}

/// The page of the repository, as `https://github.com/acme/agents`.
pub fn repository_url(around: &Surroundings) -> Option<String> {
    let server = around.variable("GITHUB_SERVER_URL")?;
    Some(format!("{server}/{}", around.variable("GITHUB_REPOSITORY")?))
}

/// The page of this run.
pub fn run_url(around: &Surroundings) -> Option<String> {
    Some(format!("{}/actions/runs/{}", repository_url(around)?, around.variable("GITHUB_RUN_ID")?))
}
