//! Uploads: skills as files and as zips, files, blobs; what comes back is what went in.

use std::io::{Cursor, Read, Write};

use checkfu::model::Digest;
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::*;

const SKILL: &str = "---\nname: triage\ndescription: Sorts what comes in.\n---\nSort it.\n";
const BOUNDARY: &str = "a-boundary-of-a-test";

/// A part: its header's parameters, and its bytes.
type Part<'a> = (&'a str, &'a [u8]);

fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (disposition, bytes) in parts {
        write!(body, "--{BOUNDARY}\r\ncontent-disposition: form-data; {disposition}\r\n\r\n").unwrap();
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    write!(body, "--{BOUNDARY}--\r\n").unwrap();
    body
}

fn upload(server: &Server, secret: &str, path: &str, parts: &[Part<'_>]) -> reqwest::RequestBuilder {
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    server.by(secret, "POST", path).header("content-type", kind).body(form(parts))
}

/// A zip of paths, modes and bytes.
fn zip(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, mode, bytes) in files {
        let options = SimpleFileOptions::default().unix_permissions(*mode);
        zip.start_file(*path, options.compression_method(CompressionMethod::Deflated)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Paths, executable bits and bytes of a zip.
fn unzip(bytes: &[u8]) -> Vec<(String, bool, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let file = |at| {
        let mut file = zip.by_index(at).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        (file.name().unwrap().into_owned(), file.unix_mode().unwrap() & 0o100 != 0, content)
    };
    (0..ZipArchive::new(Cursor::new(bytes)).unwrap().len()).map(file).collect()
}

fn files_of<'a>(name: &'a str, bytes: &'a [u8]) -> (String, &'a [u8]) {
    (format!("name=\"files[]\"; filename=\"{name}\""), bytes)
}

#[tokio::test]
async fn a_skill_goes_up_as_files_and_comes_down_as_a_zip() {
    let server = Server::start();
    let admin = server.admin().await;
    let (a, b) = (files_of("triage/SKILL.md", SKILL.as_bytes()), files_of("triage/data/x.bin", &[0, 159, 146, 150]));
    let parts = [(&*a.0, a.1), (&*b.0, b.1), ("name=\"display_name\"", "Triage of tickets".as_bytes())];
    let made = send(upload(&server, &admin, "/v1/skills", &parts)).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let id = made.json()["written"]["id"].as_str().unwrap().to_owned();
    let skill = send(server.by(&admin, "GET", &format!("/v1/skills/{id}"))).await.json();
    assert_eq!(skill["display_name"], "Triage of tickets");
    let content = format!("/v1/skills/{id}/versions/latest/content");
    let (down, again) =
        (send(server.by(&admin, "GET", &content)).await, send(server.by(&admin, "GET", &content)).await);
    assert_eq!((down.status, down.header("content-type")), (200, Some("application/zip")), "{}", down.text());
    assert_eq!(down.bytes, again.bytes, "the same bytes each time");
    assert_eq!(down.header("content-length"), Some(&*down.bytes.len().to_string()));
    assert_eq!(
        unzip(&down.bytes),
        [
            ("triage/SKILL.md".to_owned(), false, SKILL.as_bytes().to_vec()),
            ("triage/data/x.bin".to_owned(), false, vec![0, 159, 146, 150]),
        ]
    );
    // What came down goes up again, and with a key it is the version that is there.
    let part = files_of("triage.zip", &down.bytes);
    let publish = upload(&server, &admin, &format!("/v1/skills/{id}/versions"), &[(&*part.0, part.1)]);
    let published = send(publish.header("idempotency-key", "again")).await;
    assert_eq!(published.status, 200, "{}", published.text());
    assert_eq!(published.json()["written"]["changed"], false);
}

#[tokio::test]
async fn a_skill_goes_up_as_a_zip_with_its_executable_files() {
    let server = Server::start();
    let admin = server.admin().await;
    let files: [(&str, u32, &[u8]); 4] = [
        ("triage/run.sh", 0o755, b"#!/bin/sh\n"),
        ("triage/SKILL.md", 0o644, SKILL.as_bytes()),
        ("__MACOSX/triage/._SKILL.md", 0o644, b"x"),
        ("triage/empty", 0o600, b""),
    ];
    let bytes = zip(&files);
    let part = files_of("triage.zip", &bytes);
    let made = send(upload(&server, &admin, "/v1/skills", &[(&*part.0, part.1)])).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let id = made.json()["written"]["id"].as_str().unwrap().to_owned();
    let down = send(server.by(&admin, "GET", &format!("/v1/skills/{id}/versions/latest/content"))).await;
    assert_eq!(
        unzip(&down.bytes),
        [
            ("triage/SKILL.md".to_owned(), false, SKILL.as_bytes().to_vec()),
            ("triage/empty".to_owned(), false, Vec::new()),
            ("triage/run.sh".to_owned(), true, b"#!/bin/sh\n".to_vec()),
        ]
    );
    // A version from a stale view of the skill is refused.
    let publish = format!("/v1/skills/{id}/versions?expected_version=7");
    let stale = send(upload(&server, &admin, &publish, &[(&*part.0, part.1)])).await;
    assert_eq!(stale.refused(), (409, "validation.conflict".to_owned()));
    assert_eq!(stale.json()["error"]["details"]["reason"], "stale");
}

#[tokio::test]
async fn an_upload_that_is_no_skill_is_refused() {
    let limits = Limits { skill_bytes: 100_000, skill_files: 5, ..Limits::default() };
    let server = Server::with(limits, None);
    let admin = server.admin().await;
    let skill = SKILL.as_bytes();
    let sized = |n: usize| vec![b'a'; n];
    let bad_zips: Vec<(&str, Vec<u8>)> = vec![
        ("no skill", zip(&[("a/README.md", 0o644, b"x")])),
        ("two folders", zip(&[("a/SKILL.md", 0o644, skill), ("b/x", 0o644, b"x")])),
        ("leaves", zip(&[("a/SKILL.md", 0o644, skill), ("a/../../x", 0o644, b"x")])),
        ("absolute", zip(&[("a/SKILL.md", 0o644, skill), ("/etc/x", 0o644, b"x")])),
        ("backslash", zip(&[("a/SKILL.md", 0o644, skill), ("a\\x", 0o644, b"x")])),
        ("no name", zip(&[("a/SKILL.md", 0o644, b"# hello\n")])),
        ("bad name", zip(&[("a/SKILL.md", 0o644, b"---\nname: A B\ndescription: x\n---\n")])),
        ("link", linked(skill)),
        ("twice", doubled(skill)),
        ("cut off", zip(&[("a/SKILL.md", 0o644, skill)])[..60].to_vec()),
    ];
    for (why, bytes) in &bad_zips {
        let part = files_of("a.zip", bytes);
        let answer = send(upload(&server, &admin, "/v1/skills", &[(&*part.0, part.1)])).await;
        assert_eq!(answer.refused(), (400, "upload.invalid".to_owned()), "{why}: {}", answer.text());
    }
    let too_much: Vec<(&str, Vec<u8>)> = vec![
        ("a bomb", zip(&[("a/SKILL.md", 0o644, skill), ("a/x", 0o644, &sized(5_000_000))])),
        (
            "two that are too large together",
            zip(&[("a/SKILL.md", 0o644, skill), ("a/x", 0o644, &sized(60_000)), ("a/y", 0o644, &sized(60_000))]),
        ),
        ("too many", zip(&["a/1", "a/2", "a/3", "a/4", "a/5", "a/6"].map(|p| (p, 0o644, &b"x"[..])))),
        ("too large as it is", sized(100_001)),
    ];
    for (why, bytes) in &too_much {
        let part = files_of("a.zip", bytes);
        let answer = send(upload(&server, &admin, "/v1/skills", &[(&*part.0, part.1)])).await;
        assert_eq!(answer.refused(), (413, "request.too_large".to_owned()), "{why}: {}", answer.text());
    }
    let other: [(&[Part<'_>], &str); 5] = [
        (&[("name=\"other\"", b"x")], "upload.invalid"),
        (&[("name=\"files[]\"", b"x")], "upload.invalid"),
        (&[], "upload.invalid"),
        (&[("name=\"display_name\"", &[0xff])], "upload.invalid"),
        (&[("name=\"display_name\"", &[b'a'; 5_000])], "request.too_large"),
    ];
    for (parts, code) in other {
        assert_eq!(send(upload(&server, &admin, "/v1/skills", parts)).await.code(), code, "{parts:?}");
    }
    let no_end = server.by(&admin, "POST", "/v1/skills");
    let no_end = no_end.header("content-type", "multipart/form-data; boundary=b").body("--b\r\n");
    assert_eq!(send(no_end).await.refused(), (400, "request.body".to_owned()));
    let no_boundary = server.by(&admin, "POST", "/v1/skills").header("content-type", "multipart/form-data").body("x");
    assert_eq!(send(no_boundary).await.refused(), (400, "request.body".to_owned()));
    // Nothing of it can be understood, so no limit of a part holds.
    for fill in ["x".repeat(20 << 20), format!("--b\r\n{}", "a: b\r\n".repeat(4 << 20))] {
        let endless = server.by(&admin, "POST", "/v1/files").header("content-type", "multipart/form-data; boundary=b");
        assert_eq!(send(endless.body(fill)).await.refused(), (400, "request.body".to_owned()));
    }
    let none = send(server.by(&admin, "GET", "/v1/skills")).await;
    assert_eq!(none.json()["data"], json!([]), "nothing of it was made");
}

fn linked(skill: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("a/SKILL.md", SimpleFileOptions::default()).unwrap();
    zip.write_all(skill).unwrap();
    zip.add_symlink("a/x", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// The writer makes no path twice, so one is renamed afterwards, wherever it stands.
fn doubled(skill: &[u8]) -> Vec<u8> {
    let mut bytes = zip(&[("a/SKILL.md", 0o644, skill), ("a/one", 0o644, b"x"), ("a/two", 0o644, b"y")]);
    for at in 0..bytes.len() - 5 {
        if &bytes[at..at + 5] == b"a/two" {
            bytes[at..at + 5].copy_from_slice(b"a/one");
        }
    }
    bytes
}

#[tokio::test]
async fn a_key_stands_for_one_upload() {
    let server = Server::start();
    let admin = server.admin().await;
    let with = |text: &str| {
        let bytes = format!("{SKILL}{text}\n").into_bytes();
        let part = files_of("triage/SKILL.md", &bytes);
        upload(&server, &admin, "/v1/skills", &[(&*part.0, part.1)]).header("idempotency-key", "one")
    };
    let (first, again) = (send(with("a")).await, send(with("a")).await);
    assert_eq!((first.status, again.status), (200, 200), "{}", again.text());
    assert_eq!(first.json()["written"]["id"], again.json()["written"]["id"]);
    assert_eq!(send(with("b")).await.refused(), (409, "idempotency.key_reused".to_owned()));
    assert_eq!(send(server.by(&admin, "GET", "/v1/skills")).await.json()["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_blob_goes_through_a_file_and_is_checked() {
    let server = Server::with(Limits { blob_bytes: 3_000_000, ..Limits::default() }, None);
    let admin = server.admin().await;
    let bytes: Vec<u8> = (0..2_500_000_u32).map(|n| (n % 251).to_le_bytes()[0]).collect();
    let digest = Digest::of(&bytes).to_string();
    let missing = || server.by(&admin, "POST", "/v1/blobs/missing").json(&json!({"digests": [digest]}));
    assert_eq!(send(missing()).await.json()["digests"], json!([digest]));
    let put =
        |digest: &str, bytes: Vec<u8>| server.by(&admin, "POST", &format!("/v1/blobs?digest={digest}")).body(bytes);
    assert_eq!(send(put(&digest, bytes.clone())).await.status, 200);
    assert_eq!(send(missing()).await.json()["digests"], json!([]));
    let back = send(server.by(&admin, "GET", &format!("/v1/blobs/{digest}"))).await;
    assert_eq!((back.status, back.bytes == bytes), (200, true));
    assert_eq!(send(put(&digest, b"other".to_vec())).await.refused(), (400, "content.mismatch".to_owned()));
    assert_eq!(send(put(&digest, vec![0; 3_000_001])).await.refused(), (413, "request.too_large".to_owned()));
    assert_eq!(send(put("sha256:1", b"x".to_vec())).await.status, 400);
}

#[tokio::test]
async fn a_file_goes_up_with_its_last_name_and_type() {
    let server = Server::start();
    let admin = server.admin().await;
    let parts: [Part<'_>; 2] =
        [("name=\"file\"; filename=\"a/b/report.csv\"", b"a,b\n"), ("name=\"expires_in_seconds\"", b"3600")];
    let made = send(upload(&server, &admin, "/v1/files", &parts).header("idempotency-key", "f")).await;
    assert_eq!(made.status, 200, "{}", made.text());
    let id = made.json()["written"]["id"].as_str().unwrap().to_owned();
    let file = send(server.by(&admin, "GET", &format!("/v1/files/{id}"))).await.json();
    assert_eq!(
        (&file["filename"], &file["mime_type"], &file["size_bytes"]),
        (&json!("report.csv"), &json!("text/csv"), &json!(4))
    );
    let again = send(upload(&server, &admin, "/v1/files", &parts).header("idempotency-key", "f")).await;
    assert_eq!(again.json()["written"]["id"].as_str(), Some(&*id));
    for bad in [
        &[("name=\"other\"", &b"x"[..])][..],
        &[parts[0], parts[0]],
        &[parts[0], ("name=\"expires_in_seconds\"", b"x")],
    ] {
        assert_eq!(send(upload(&server, &admin, "/v1/files", bad)).await.code(), "upload.invalid");
    }
}
