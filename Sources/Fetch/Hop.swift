import DarkroomCore

/// One request of a transfer: for the requested URL, or for the target of a redirect. A value exists only if the rules
/// allow the request.
struct Hop {
    let url: CurlURL
    let shown: RedactedURL
    let origin: Origin
    /// Identifies the URL without containing it; nil for the requested URL.
    let target: String?

    /// The first request. The user and password of the URL are for its origin.
    init(to url: RemoteURL, rules: FetchRules) throws(FetchError) {
        try self.init(url, target: nil, rules: rules)
    }

    /// The request for the target of a redirect from `previous`.
    ///
    /// - Parameter first: the first request of the transfer. Its user and password are sent to the same origin only.
    ///   Those of a Location are never sent, because the server has chosen them.
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
        else { throw FetchError(.badURL, "the server redirects to an invalid URL") }
        // The target must also fulfil the rules for the URL of a source.
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
}
