//! Files: uploaded, listed, expired, deleted.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;

use super::*;

fn upload(ws: &Ws, filename: &str, text: &str, expires_in_seconds: Option<u64>) -> Request {
    let (filename, mime_type) = (filename.to_owned(), "text/plain".to_owned());
    Request::FileCreate(FileCreate {
        filename,
        mime_type,
        digest: ws.blob(text),
        size: text.len() as u64,
        expires_in_seconds,
    })
}

fn get(id: &str) -> Request {
    Request::FileGet(GetId { id: id.to_owned() })
}

/// A workspace whose clock is set.
fn clocked() -> (Ws, Arc<AtomicI64>) {
    let second = Arc::new(AtomicI64::new(1_767_225_600));
    let mut ws = Ws::new();
    let clock = Arc::clone(&second);
    let options = EmbeddedOptions {
        clock: Arc::new(move || jiff::Timestamp::from_second(clock.load(Ordering::Relaxed)).unwrap()),
        ..EmbeddedOptions::seeded(2)
    };
    ws.embedded = Embedded::open(&ws.path(), options).unwrap();
    (ws, second)
}

#[test]
fn an_upload_is_shown_as_the_wire_says_and_never_given_out() {
    let (ws, _) = clocked();
    let id = ws.written(&anyone(), upload(&ws, "notes/a.txt", "hello", Some(3_600))).id;
    let wanted = json!({
        "id": id, "type": "file", "filename": "a.txt", "mime_type": "text/plain", "size_bytes": 5,
        "downloadable": false, "created_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-01T01:00:00Z",
        "created_by": "ann",
    });
    assert!(id.starts_with("file_"));
    assert_eq!(ws.body(get(&id)), wanted);
    let error = ws.refused(&anyone(), Request::FileContent(GetId { id: id.clone() }));
    assert_eq!((error.code, error.kind), ("file.not_downloadable", crate::control::ErrorKind::Invalid));
    assert_eq!(ws.facts(&id)[0].operation, "files.create");
    assert_eq!(ws.refused(&anyone(), get("file_none")).code, "resource.not_found");
}

#[test]
fn what_a_file_may_be_called() {
    let ws = Ws::new();
    let name = |asked: &str| {
        let id = ws.written(&anyone(), upload(&ws, asked, "x", None)).id;
        ws.body(get(&id))["filename"].as_str().unwrap().to_owned()
    };
    let long = "ü".repeat(255);
    for (asked, kept) in [
        ("a b.txt", "a b.txt"),
        ("../../etc/passwd", "passwd"),
        ("c:\\d\\e.txt", "e.txt"),
        ("", "unnamed.txt"),
        (&long, &long),
    ] {
        assert_eq!(name(asked), kept);
    }
    for bad in ["a<b", "a:b", "a|b", "a?", "a*", "a\"b", "a\u{1}", &"x".repeat(256)] {
        assert_eq!(ws.refused(&anyone(), upload(&ws, bad, "x", None)).code, "validation.invalid", "{bad}");
    }
}

#[test]
fn what_an_upload_must_be() {
    let ws = Ws::new();
    for seconds in [0, 3_599, 7_776_001, u64::MAX] {
        assert_eq!(ws.refused(&anyone(), upload(&ws, "a", "x", Some(seconds))).code, "validation.invalid");
    }
    let Request::FileCreate(good) = upload(&ws, "a", "x", None) else { unreachable!() };
    let refuse = |bad| ws.refused(&anyone(), Request::FileCreate(bad)).code;
    assert_eq!(refuse(FileCreate { size: 2, ..good.clone() }), "validation.invalid");
    assert_eq!(refuse(FileCreate { mime_type: "a\nb".to_owned(), ..good.clone() }), "validation.invalid");
    assert_eq!(refuse(FileCreate { digest: Digest::of(b"never"), ..good }), "content.missing");
}

#[test]
fn lists_page_newest_first_or_name_ids() {
    let ws = Ws::new();
    let made: Vec<String> = (0..5).map(|n| ws.written(&anyone(), upload(&ws, &n.to_string(), "x", None)).id).collect();
    let newest: Vec<&str> = made.iter().rev().map(String::as_str).collect();
    let (mut all, mut page) = (Vec::new(), None);
    loop {
        let found = ws.page(Request::FileList(FileList { page, limit: Some(2), ..FileList::default() }));
        all.extend(found.data);
        page = found.next_page;
        match &page {
            Some(cursor) => assert!(cursor.starts_with("page_")),
            None => break,
        }
    }
    assert_eq!(ids(&all), newest);
    let named = FileList {
        ids: vec![made[1].clone(), "file_none".to_owned(), made[3].clone(), made[1].clone()],
        ..FileList::default()
    };
    assert_eq!(ids(&ws.page(Request::FileList(named.clone())).data), [&made[3], &made[1]]);
    for none in [named.clone(), FileList::default()] {
        let scope = Some("sesn_1".to_owned());
        assert!(ws.page(Request::FileList(FileList { scope, ..none })).data.is_empty());
    }
    let many = (0..101).map(|n| format!("file_{n}")).collect();
    for bad in [
        FileList { limit: Some(1), ..named.clone() },
        FileList { page: Some("page_31".to_owned()), ..named },
        FileList { ids: many, ..FileList::default() },
        FileList { limit: Some(1_001), ..FileList::default() },
        FileList { page: Some("x".to_owned()), ..FileList::default() },
    ] {
        assert_eq!(ws.refused(&anyone(), Request::FileList(bad)).code, "validation.invalid");
    }
}

#[test]
fn a_file_expires_by_the_clock_and_its_bytes_go() {
    let (ws, second) = clocked();
    let short = ws.written(&anyone(), upload(&ws, "short", "short-lived", Some(3_600))).id;
    let long = ws.written(&anyone(), upload(&ws, "long", "x", Some(7_776_000))).id;
    second.fetch_add(3_599, Ordering::Relaxed);
    ws.body(get(&short));
    second.fetch_add(1, Ordering::Relaxed);
    for request in [get(&short), Request::FileContent(GetId { id: short.clone() })] {
        let error = ws.refused(&anyone(), request);
        assert_eq!((error.code, error.kind), ("file.expired", crate::control::ErrorKind::NotFound));
    }
    assert_eq!(ids(&ws.page(Request::FileList(FileList::default())).data), [&long]);
    let named = FileList { ids: vec![short.clone(), long.clone()], ..FileList::default() };
    assert_eq!(ids(&ws.page(Request::FileList(named)).data), [&long]);
    let held = |text: &str| {
        let digests = Digests { digests: vec![Digest::of(text.as_bytes())] };
        ws.call(&anyone(), Request::BlobsMissing(digests)).unwrap() == Response::Missing(vec![])
    };
    assert!(held("short-lived"));
    ws.written(&anyone(), upload(&ws, "next", "y", None));
    assert!(!held("short-lived") && held("x"));
    assert_eq!(ws.refused(&anyone(), get(&short)).code, "file.expired");
    ws.written(&anyone(), Request::FileDelete(GetId { id: short.clone() }));
    assert_eq!(ws.refused(&anyone(), get(&short)).code, "resource.not_found");
}

#[test]
fn deleting_lets_go_of_bytes_that_nobody_else_has() {
    let ws = Ws::new();
    let first = ws.written(&anyone(), upload(&ws, "a", "same", None)).id;
    let second = ws.written(&anyone(), upload(&ws, "b", "same", None)).id;
    let held = || {
        let digests = Digests { digests: vec![Digest::of(b"same")] };
        ws.call(&anyone(), Request::BlobsMissing(digests)).unwrap() == Response::Missing(vec![])
    };
    ws.written(&anyone(), Request::FileDelete(GetId { id: first.clone() }));
    assert!(held());
    assert_eq!(ws.refused(&anyone(), Request::FileDelete(GetId { id: first })).code, "resource.not_found");
    ws.written(&anyone(), Request::FileDelete(GetId { id: second }));
    assert!(!held());
}
