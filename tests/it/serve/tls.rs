//! HTTPS.

use super::*;

const CERTIFICATE: &[u8] = include_bytes!("certificate.pem");
const KEY: &[u8] = include_bytes!("key.pem");

#[tokio::test]
async fn a_certificate_makes_it_https() {
    let tls = Tls { certificate: CERTIFICATE.to_vec(), key: KEY.to_vec() };
    assert_eq!(format!("{tls:?}"), "Tls");
    let server = Server::with(Limits::default(), Some(tls));
    let root = reqwest::Certificate::from_pem(CERTIFICATE).unwrap();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([root]).build().unwrap();
    let url = format!("https://localhost:{}/healthz", server.at.port());
    let answer = client.get(url).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.version()), (200, reqwest::Version::HTTP_2));
    assert!(server.request("GET", "/healthz").send().await.is_err(), "plain HTTP gets no answer");
    server.stop().await.unwrap();
}

#[tokio::test]
async fn what_is_no_certificate_does_not_start() {
    let both: [(&[u8], &[u8]); 3] = [(b"no", KEY), (CERTIFICATE, b"no"), (KEY, CERTIFICATE)];
    for (certificate, key) in both {
        let tls = Tls { certificate: certificate.to_vec(), key: key.to_vec() };
        let server = Server::with(Limits::default(), Some(tls));
        assert!(matches!(server.ended.await.unwrap(), Err(ServeError::Tls(_))));
    }
}
