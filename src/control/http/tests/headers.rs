//! `decode_context(encode_context(context)) == context`, but for the fields of the actor.

use proptest::prelude::*;

use crate::control::http::{decode_context, encode_context};
use crate::model::op::{ActorKind, Context};

fn context(owner: bool, text: &str, token: &str, represent: bool) -> Context {
    let ascii = || Some(token.to_owned());
    Context {
        owner: owner.then(|| "acme/support".parse().unwrap()),
        apply: ascii(),
        action: Some("Agent/support#update".to_owned()),
        key: ascii(),
        break_glass: Some(text.to_owned()),
        epoch: ascii(),
        represent,
        ..Context::default()
    }
}

fn comes_back(context: &Context) {
    let headers = encode_context(context);
    assert!(headers.iter().all(|(_, value)| value.bytes().all(|b| b.is_ascii_graphic())), "{headers:?}");
    let read = decode_context(|name| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str()));
    assert_eq!(&read.unwrap(), context);
}

#[test]
fn contexts_come_back() {
    comes_back(&Context::default());
    comes_back(&Context { represent: true, ..Context::default() });
    comes_back(&context(true, "Ausfall: 100 % über\nNacht ", "key-1", true));
    let acting = Context { actor: "kim".to_owned(), actor_kind: ActorKind::Session, admin: true, ..Context::default() };
    assert_eq!(encode_context(&acting), encode_context(&Context::default()), "who acts is the token's");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn any_context_comes_back(owner: bool, text in ".{0,40}[^\\s]", token in "[!-~]{1,40}", represent: bool) {
        comes_back(&context(owner, &text, &token, represent));
    }
}

#[test]
fn other_clients_are_understood() {
    let read = |pairs: &[(&str, &str)]| {
        decode_context(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)).map_err(|e| e.message)
    };
    assert!(read(&[]).unwrap().represent);
    assert!(!read(&[("prefer", "respond-async, Return=Minimal")]).unwrap().represent);
    let reason = read(&[("checkfu-break-glass", "incident 12, 100% sure")]).unwrap().break_glass;
    assert_eq!(reason.as_deref(), Some("incident 12, 100% sure"));
    assert_eq!(
        read(&[("checkfu-owner", "a b"), ("idempotency-key", " "), ("checkfu-epoch", "ü")]).unwrap_err(),
        "`idempotency-key`: it has 1 to 1024 visible ASCII characters; `checkfu-epoch`: it has 1 to 1024 visible \
         ASCII characters; `checkfu-owner`: `a b` is not an owner: letters, digits, `.`, `_`, `-` in up to four parts \
         joined by `/`"
    );
}

#[test]
fn versions_and_features() {
    let read = |name: &'static str, value: &'static str| {
        decode_context(|n| (n == name).then_some(value)).map(drop).map_err(|e| e.message)
    };
    assert_eq!(read("checkfu-version", "2026-11-30"), Ok(()));
    assert_eq!(read("checkfu-version", "2027-01-01").unwrap_err(), "`checkfu-version`: this server speaks 2026-11-30");
    assert_eq!(read("anthropic-beta", "agent-memory-2026-07-22, something-new"), Ok(()));
    assert_eq!(
        read("anthropic-beta", "managed-agents-2026-04-01,agent-memory-2026-07-22").unwrap_err(),
        "`anthropic-beta`: agent-memory-2026-07-22 and managed-agents-2026-04-01 exclude each other"
    );
}
