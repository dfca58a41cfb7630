//! Who may do what: every route without a token, each scope against each row, owners, break-glass.

use checkfu::model::op::{ActorKind, OPERATIONS, Scope, TokenCreate};
use serde_json::json;

use super::*;

#[tokio::test]
async fn nothing_but_health_answers_without_a_token() {
    let server = Server::start();
    for path in ["/healthz", "/readyz"] {
        let answer = send(server.request("GET", path)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(answer.header("request-id").unwrap().starts_with("req_"));
    }
    let rows = OPERATIONS.iter().map(|o| (word(o.method), filled(o.path)));
    let others = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
    let paths = ["/metrics", "/openapi.json", "/", "/v1/agents", "/v1/nothing", "/v1/projects"];
    let more = paths.iter().flat_map(|p| others.iter().map(|m| (*m, (*p).to_owned())));
    for (method, path) in rows.chain(more) {
        for request in [server.request(method, &path), server.by("cfu_wrong", method, &path)] {
            let answer = send(request.header("content-type", "application/json").body("{}")).await;
            assert_eq!(answer.status, 401, "{method} {path}: {}", answer.text());
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            if method != "HEAD" {
                assert_eq!(answer.code(), "http.unauthenticated");
                assert_eq!(answer.json()["error"]["type"], "authentication_error");
            }
        }
    }
    server.stop().await.unwrap();
}

#[tokio::test]
async fn each_scope_reaches_its_rows_and_no_other() {
    let server = Server::start();
    let scopes = [("read", Scope::Read), ("plan", Scope::Plan), ("apply", Scope::Apply), ("admin", Scope::Admin)];
    for (name, scope) in scopes {
        let secret = server.token(name, scope, &["acme/*"]).await.secret;
        for row in OPERATIONS {
            let request = server.by(&secret, word(row.method), &filled(row.path)).header("checkfu-owner", "acme/a");
            let answer = send(request.json(&json!({}))).await;
            let wrong = format!("{name} {}: {} {}", row.name, answer.status, answer.text());
            if scope >= row.scope {
                assert!(answer.status < 400 || answer.code() != "auth.scope", "{wrong}");
                assert_ne!(answer.status, 401, "{wrong}");
            } else {
                assert_eq!(answer.refused(), (403, "auth.scope".to_owned()), "{wrong}");
            }
        }
    }
}

#[tokio::test]
async fn a_token_acts_as_its_owners_and_no_other() {
    let server = Server::start();
    let body = json!({"name": "a", "model": "claude-sonnet-5"});
    let rows: [(&str, &[&str], &str, bool); 7] = [
        ("folder", &["acme/*"], "acme/x", true),
        ("folder2", &["acme/*"], "other/x", false),
        ("prefix", &["acme/*"], "acmes/x", false),
        ("one", &["acme/x", "other/x"], "other/x", true),
        ("one2", &["acme/x"], "acme/y", false),
        ("all", &["*"], "other/x", true),
        ("none", &[], "acme/x", false),
    ];
    for (name, owners, owner, may) in rows {
        let secret = server.token(name, Scope::Apply, owners).await.secret;
        let answer = send(server.by(&secret, "POST", "/v1/agents").header("checkfu-owner", owner).json(&body)).await;
        if may {
            assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        } else {
            assert_eq!(answer.refused(), (403, "authoring.owner_not_allowed".to_owned()), "{name}");
            assert_eq!(answer.json()["error"]["details"]["owner"], owner);
        }
        // As nobody's owner a token of any list may write.
        let answer = send(server.by(&secret, "POST", "/v1/agents").json(&body)).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
    }
    // A header that is there twice is no owner, whatever the first one says.
    let secret = server.token("twice", Scope::Apply, &["acme/x"]).await.secret;
    let twice = server.by(&secret, "POST", "/v1/agents").header("checkfu-owner", "acme/x");
    assert_eq!(send(twice.header("checkfu-owner", "other/x").json(&body)).await.status, 400);
}

#[tokio::test]
async fn break_glass_needs_admin_and_the_admin_scope_no_owner() {
    let server = Server::start();
    let apply = server.token("apply", Scope::Apply, &["acme/*"]).await.secret;
    let admin = server.token("boss", Scope::Admin, &["acme/*"]).await.secret;
    let with = |secret: &str| {
        let request = server.by(secret, "POST", "/v1/agents").header("checkfu-break-glass", "the pager");
        request.json(&json!({"name": "a", "model": "claude-sonnet-5"}))
    };
    assert_eq!(send(with(&apply)).await.refused(), (403, "authoring.not_admin".to_owned()));
    assert_eq!(send(with(&admin)).await.status, 200);
    let other = with(&admin).header("checkfu-owner", "other/x");
    assert_eq!(send(other).await.refused(), (403, "authoring.owner_not_allowed".to_owned()));
}

#[tokio::test]
async fn what_another_owner_has_is_taken_with_admin_alone_unless_it_was_offered() {
    let server = Server::start();
    let of = async |name: &str, scope, owner: &str| server.token(name, scope, &[owner]).await.secret;
    let (a, b) = (of("a", Scope::Apply, "acme/a").await, of("b", Scope::Apply, "acme/b").await);
    let (c, boss) = (of("c", Scope::Admin, "acme/c").await, of("boss", Scope::Admin, "acme/*").await);
    let post = |secret: &str, owner: &str, path: &str, body: &Value| {
        send(server.by(secret, "POST", path).header("checkfu-owner", owner).json(body))
    };
    let claim = json!({"address": "Agent/x", "applied": {"spec": {"name": "x", "model": "m"}}});
    let body = json!({"name": "x", "model": "m", "authoring": claim});
    let made = post(&a, "acme/a", "/v1/agents", &body).await.json();
    let at = |seq: u64| json!({"at": {"id": made["id"], "version": 1}, "seq": seq});
    let take = |to: &str, from: &str, seq: u64| json!({"at": at(seq), "from": from, "to": to, "address": "Agent/x"});

    let refused = post(&b, "acme/b", "/v1/authoring/transfer", &take("acme/b", "acme/a", 1)).await;
    assert_eq!(refused.refused(), (409, "authoring.owned_elsewhere".to_owned()));
    assert_eq!(refused.json()["error"]["details"]["owner"], "acme/a");
    // No owner gives to another but by an offer.
    let pushed = post(&a, "acme/a", "/v1/authoring/transfer", &take("acme/b", "acme/a", 1)).await;
    assert_eq!(pushed.refused(), (403, "authoring.not_admin".to_owned()));
    assert!(pushed.text().contains("acme/b"), "{}", pushed.text());
    assert_eq!(post(&boss, "acme/b", "/v1/authoring/transfer", &take("acme/b", "acme/a", 1)).await.status, 200);

    let offer = json!({"at": at(2), "to": "acme/a", "address": "Agent/x"});
    assert_eq!(post(&b, "acme/b", "/v1/authoring/hand_over", &offer).await.status, 200);
    let third = post(&c, "acme/c", "/v1/authoring/transfer", &take("acme/c", "acme/b", 3)).await;
    assert_eq!(third.refused(), (409, "authoring.owned_elsewhere".to_owned()));
    let details = &third.json()["error"]["details"];
    assert_eq!((&details["owner"], &details["offered"]), (&json!("acme/b"), &json!("acme/a")));
    assert_eq!(post(&a, "acme/a", "/v1/authoring/transfer", &take("acme/a", "acme/b", 3)).await.status, 200);
}

#[tokio::test]
async fn a_token_ends_by_time_or_by_being_revoked() {
    let server = Server::start();
    let admin = server.admin().await;
    let create = |name: &str, end: &str| TokenCreate {
        name: name.to_owned(),
        scope: Scope::Read,
        owners: Vec::new(),
        actor_kind: ActorKind::Api,
        expires_at: Some(end.to_owned()),
    };
    let over = server.new_token(create("over", "2020-01-01T00:00:00Z")).await;
    let holds = server.new_token(create("holds", "2999-01-01T00:00:00Z")).await;
    let get = |secret: &str| server.request("GET", "/v1/workspace").header("x-api-key", secret);
    assert_eq!(send(get(&over.secret)).await.status, 401);
    assert_eq!(send(get(&holds.secret)).await.status, 200);
    let revoke = server.by(&admin, "POST", &format!("/v1/tokens/{}/revoke", holds.token.id));
    assert_eq!(send(revoke).await.status, 200);
    assert_eq!(send(get(&holds.secret)).await.status, 401);
    // Its name is free again; who holds two secrets has none.
    let again = server.new_token(create("holds", "2999-01-01T00:00:00Z")).await;
    assert_eq!(send(get(&again.secret)).await.status, 200);
    assert_eq!(send(get(&again.secret).bearer_auth(&admin)).await.status, 401);
}

#[tokio::test]
async fn tokens_are_made_and_listed_over_http_without_their_secrets() {
    let server = Server::start();
    let admin = server.admin().await;
    let body = json!({"name": "ci", "scope": "apply", "owners": ["acme/*"], "actor_kind": "api", "expires_at": null});
    let made = send(server.by(&admin, "POST", "/v1/tokens").json(&body)).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let secret = made.json()["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("cfu_") && secret.len() > 50, "{secret}");
    let list = send(server.by(&admin, "GET", "/v1/tokens")).await;
    assert!(list.text().contains("\"ci\"") && !list.text().contains("cfu_"), "{}", list.text());
    assert_eq!(send(server.by(&secret, "GET", "/v1/tokens")).await.refused(), (403, "auth.scope".to_owned()));
    for bad in [
        json!({"name": "ci", "scope": "read", "owners": [], "actor_kind": "api", "expires_at": null}),
        json!({"name": "x", "scope": "read", "owners": ["acme*"], "actor_kind": "api", "expires_at": null}),
        json!({"name": "", "scope": "read", "owners": [], "actor_kind": "api", "expires_at": null}),
        json!({"name": "x", "scope": "read", "owners": [], "actor_kind": "api", "expires_at": "tomorrow"}),
    ] {
        let answer = send(server.by(&admin, "POST", "/v1/tokens").json(&bad)).await;
        assert!(matches!(answer.status, 400 | 409), "{bad}: {}", answer.text());
    }
}
