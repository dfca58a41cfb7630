//! Codes of `server`: what an HTTP request is refused for before it becomes an operation, beside those of `http`.

codes! {
    SCOPE = "auth.scope", Error, "the token's scope is too small",
        "Each operation needs a scope: read, plan, apply or admin, each of which holds the ones before.",
        "Use a token with the scope that the message names.";
    OWNER_NOT_ALLOWED = "authoring.owner_not_allowed", Error, "the token may not act as this owner",
        "A token lists the authoring owners that its holder may act as.",
        "Use a token for this owner, or act as an owner of this token.";
    BODY = "request.body", Error, "the request cannot be read",
        "Its body is no JSON, is cut off, nests too deep or holds too many values, or its query is broken.",
        "Correct what the message names.";
    MEDIA_TYPE = "request.media_type", Error, "a body of this type is not taken here",
        "Operations take JSON; uploads of skills and files take `multipart/form-data`; nothing takes an encoded body.",
        "Set the header `content-type`, and send the body as it is.";
    TOO_LARGE = "request.too_large", Error, "the request is too large",
        "Path, JSON bodies, uploads and their parts have limits; the message names the one.",
        "Send less, or in parts: bodies of files go one by one by digest.";
    SLOW = "request.timeout", Error, "the request took too long to arrive",
        "The time for a body is limited, so that slow ones do not keep others out.",
        "Send it again.";
    PANIC = "server.panic", Error, "the server made a mistake",
        "A defect of checkfu. Nothing was half done; the server goes on.",
        "Report it with the request id.";
    UPLOAD = "upload.invalid", Error, "the upload cannot be taken",
        "A skill comes as files with one shared folder, or as one zip, with a `SKILL.md` whose front matter has a name; paths are relative, none is there twice, none is a link.",
        "Correct what the message names.";
    LISTEN = "server.listen", Error, "the server cannot listen",
        "The address belongs to another program or another machine, or the port needs more rights.",
        "Choose another address with --listen.";
    TLS = "server.tls", Error, "certificate or key cannot be used",
        "Both are PEM files; the key belongs to the first certificate.",
        "Correct the files of --tls-cert and --tls-key.";
}
