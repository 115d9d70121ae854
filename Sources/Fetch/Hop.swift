import DarkroomCore

/// One request of a transfer: for the URL asked for, or for where a redirect leads. It exists only if the
/// rules let it be made.
struct Hop {
    let url: CurlURL
    let shown: RedactedURL
    /// Where credentials may go.
    let origin: Origin
    /// Names the URL without telling it; nil for the URL that was asked for.
    let target: String?

    /// The first one. The URL's user and password are for its origin.
    init(to url: RemoteURL, rules: FetchRules) throws(FetchError) {
        try self.init(url, target: nil, rules: rules)
    }

    /// The one that a redirect's Location leads to from `previous`.
    ///
    /// - Parameter first: the transfer's first hop, whose user and password go along to the same origin only;
    ///   those of a Location, where the server chose whom we are, go nowhere.
    init(
        following location: ByteString, from previous: Hop, first: Hop, rules: FetchRules
    ) throws(FetchError) {
        let scheme = RedactedURL.scheme(of: location.string)?.asciiLowercased
        guard scheme == nil || scheme == "http" || scheme == "https" else {
            throw FetchError(
                .unsupportedScheme, "the server redirects to a scheme other than http and https")
        }
        guard !URLAuthority.hasBackslash(in: location),
            let text = previous.url.resolve(location)
        else {
            throw FetchError(.badURL, "the server redirects to an invalid URL")
        }
        // Passes what is asked of a source's URL, too.
        let target = try RemoteURL(text)
        try self.init(target, target: SHA256Digest.hex(of: target.text.utf8), rules: rules)
        if origin == first.origin, first.url.hasUser { url.takeUser(of: first.url) }
    }

    private init(_ url: RemoteURL, target: String?, rules: FetchRules) throws(FetchError) {
        self.url = try CurlURL(url)
        self.target = target
        shown = url.shown
        origin = self.url.origin
        if let refusal = rules.refusal(host: self.url.host) {
            throw FetchError(refusal.code, "\(shown): \(refusal.words)")
        }
    }

    /// The request's fields that are ours: those of the origin, and what makes the request conditional or
    /// asks for a part.
    func fields(
        headers: OriginHeaders, validators: Validators?, resume: PartialBody?
    ) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for header in headers.headers(for: origin) {
            // What a manifest says for this one picture goes before what holds for the whole origin.
            if ByteString(header.name).asciiLowercased == "authorization", url.hasUser { continue }
            fields.append(header)
        }
        if !fields.contains(where: { ByteString($0.name).asciiLowercased == "accept" }) {
            fields.append(("Accept", "image/png, image/*;q=0.8, */*;q=0.1"))
        }
        if let resume {
            fields.append(("Range", "bytes=\(resume.bytes)-"))
            fields.append(("If-Range", resume.validator.string))
        } else if let validators {
            if let tag = validators.entityTag { fields.append(("If-None-Match", tag.string)) }
            if let date = validators.lastModified {
                fields.append(("If-Modified-Since", date.string))
            }
        }
        return fields
    }
}
