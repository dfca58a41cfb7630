//! Codes of the workspace over HTTP: what the server says of requests it cannot take, and what its client says of
//! answers it cannot read.

codes! {
    UNAUTHENTICATED = "http.unauthenticated", Error, "the server does not know this token",
        "Every request but those for health needs a token: none came, or it is wrong, revoked or over.",
        "Use a token that holds, in the variable that `targets.NAME.token` names or as `Authorization: Bearer`; `checkfu token create` makes one.";
    NO_ROUTE = "http.no_route", Error, "there is no such path",
        "The path is none of the API, or one of its parts is empty, `.`, `..` or too long.",
        "Correct the path, or `targets.NAME.url`: it has none but where a proxy adds one. `/openapi.json` lists all paths.";
    METHOD = "http.method_not_allowed", Error, "the path does not take this method",
        "Updates are POST on the path of the resource; there is no PUT or PATCH.",
        "Use a method that the answer's `allow` header names.";
    TIMEOUT = "http.timeout", Error, "the request took too long",
        "The server gave up on it. A write may have been carried out or not.",
        "Send the same request with the same idempotency key again.";
    OVERLOADED = "http.overloaded", Error, "the server has too much to do",
        "It refuses what it could not begin in time, before anything is done.",
        "Wait, then send it again.";
    REMOTE_ANSWER = "remote.answer", Error, "the answer cannot be read",
        "It is not what a workspace answers: a proxy or another server speaks, or the answer was cut.",
        "Check the target's URL and what stands between; the message shows the beginning of the answer.";
    REMOTE_ERROR = "remote.error", Error, "the server refuses with a code that this checkfu does not know",
        "The server is newer, or another product; `error_code` in the details is its code.",
        "Read the message; a newer checkfu can explain the code.";
    REMOTE_TOKEN = "remote.token", Error, "there is no token for the server",
        "A target of kind checkfu names an environment variable that holds its token, and that one is not set, is empty or holds no token.",
        "Set the variable; `checkfu token create` on the server's machine makes a token.";
    REMOTE_ADDRESS = "remote.address", Error, "the target's URL cannot be used",
        "A token goes over https, or stays on this machine, and only to the address that is written: no redirect is followed. A URL holds no user, password, query or fragment; its path is the one under which a proxy serves the API, and else there is none.",
        "Check and correct `targets.NAME.url`; `insecure: true` allows plain http to another machine.";
    REMOTE_UNREACHABLE = "remote.unreachable", Error, "the server cannot be reached",
        "Nothing listens at the target's URL, its name is unknown, or the connection ended before the answer did.",
        "Check that the server runs and the URL; then run the command again: what is done stays done.";
    REMOTE_TLS = "remote.tls", Error, "there is no safe connection to the server",
        "Its certificate is over, for another name, by nobody who is trusted or an authority's own, or it speaks no TLS.",
        "Name the certificate of its issuer as `targets.NAME.ca`, or correct the URL; docs/server.md tells how to make a certificate.";
    REMOTE_TIMEOUT = "remote.timeout", Error, "the server did not answer in time",
        "It is overloaded, or something between it and this machine keeps silent. A write may have been carried out or not.",
        "Run the command again: what is done stays done.";
    REMOTE_VERSION = "remote.version", Error, "the server speaks another version of the API",
        "It is newer or older than this checkfu.",
        "Use a checkfu of the server's version.";
}
