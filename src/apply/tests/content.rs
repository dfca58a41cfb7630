//! File bodies: which are asked for, checked and sent.

use super::*;

#[tokio::test]
async fn bodies_are_sent_once_just_before_they_are_needed() {
    let p = plan(vec![
        update("a", &[]),
        create_skill("s", &[("SKILL.md", "same"), ("b.md", "held")]),
        create_skill("t", &[("SKILL.md", "same"), ("c.md", "c")]),
    ]);
    let files =
        Files::default().with("skills/s/SKILL.md", "same").with("skills/t/SKILL.md", "same").with("skills/t/c.md", "c");
    let fake = Fake::new().holds(Digest::of(b"held"));
    let told = Mutex::new(Vec::new());
    let o = ApplyOptions { parallelism: 1, ..options() };
    let receipt = apply(&p, &fake, &files, &o, &|e| told.lock().unwrap().push(e)).await.unwrap();
    assert_eq!(receipt.outcome, Outcome::Done);
    let puts = fake.writes().iter().filter(|w| *w == "blobs.put").count();
    assert_eq!(puts, 2);
    assert_eq!(fake.writes()[..3], ["applies.begin", "Agent/a#update", "blobs.put"]);
    assert_eq!(told.lock().unwrap()[0], Event::Checked { bodies: 2, bytes: 5 });
    assert!(!files.opened.lock().unwrap().iter().any(|p| p == "skills/s/b.md"), "held bodies are not read");
}

#[tokio::test]
async fn a_body_that_is_gone_or_changed_sends_nothing() {
    let p = plan(vec![update("a", &[]), create_skill("s", &[("SKILL.md", "s"), ("b.md", "b")])]);
    let files = Files::default().with("skills/s/SKILL.md", "other");
    let fake = Fake::new();
    let Err(ApplyError::ContentMissing { problems }) = go(&p, &fake, &files).await else { panic!() };
    assert_eq!(problems.len(), 2);
    assert!(problems.iter().any(|p| p.contains("skills/s/b.md cannot be read")), "{problems:?}");
    assert!(fake.writes().is_empty());
}

#[tokio::test]
async fn a_body_that_changes_during_the_apply_fails_its_action_alone() {
    struct Late(Files, Mutex<u32>);
    impl crate::control::Blobs for Late {
        fn open(&self, path: &str, digest: &Digest) -> Result<Vec<u8>, crate::control::BlobError> {
            let mut times = self.1.lock().unwrap();
            *times += 1;
            let digest = if *times > 1 { Digest::of(b"x") } else { *digest };
            self.0.open(path, &digest)
        }
    }
    let p = plan(vec![create_skill("s", &[("SKILL.md", "s")]), update("a", &[])]);
    let late = Late(Files::default().with("skills/s/SKILL.md", "s"), Mutex::new(0));
    let receipt = apply(&p, &Fake::new(), &late, &options(), &|_| ()).await.unwrap();
    assert_eq!(outcomes(&receipt), ["stale", "done"], "the file moved since the plan was made");
    assert!(receipt.lines[0].error.as_deref().unwrap().ends_with("(plan.content_missing)"));
}

#[tokio::test]
async fn questions_about_bodies_come_in_batches() {
    let names: Vec<String> = (0..2_500).map(|i| format!("{i}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), n.as_str())).collect();
    let fake = names.iter().fold(Fake::new(), |f, n| f.holds(Digest::of(n.as_bytes())));
    go(&plan(vec![create_skill("s", &files)]), &fake, &Files::default()).await.unwrap();
    let sizes: Vec<usize> = fake
        .log()
        .iter()
        .filter_map(|(_, r)| if let Request::BlobsMissing(d) = r { Some(d.digests.len()) } else { None })
        .collect();
    assert_eq!(sizes, [1_000, 1_000, 500]);
}
