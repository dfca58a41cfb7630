//! Writes that come together are committed together.

use super::*;

#[test]
fn requests_that_are_queued_together_share_a_commit_and_stand_alone() {
    let ws = Ws::new();
    let context = by("acme/a");
    ws.agent(Some("acme/a"), "taken");
    let names: Vec<String> = (0..40).map(|n| format!("a{n}")).collect();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let call = |name: &String| {
            // Three (a17, a27, a37) claim the address of another: they are refused, and nobody else is.
            let address = if name.len() > 2 && name.ends_with('7') { "taken".to_owned() } else { name.clone() };
            let request = create(Kind::Agent, agent_body(name), Some(&address));
            let (ws, context) = (&ws, &context);
            scope.spawn(move || ws.call(context, request))
        };
        let threads: Vec<_> = names.iter().map(call).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let refused = answers.iter().filter(|a| a.is_err()).count();
    assert_eq!(refused, 3);
    assert_eq!(ws.owner("acme/a").count, 38);
}
