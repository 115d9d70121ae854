import DarkroomCore

extension Origin {
    /// The origin of a URL; nil if the URL cannot be a `RemoteURL`. An international name is used as it is written, so
    /// pass a URL that may have one in libcurl's form.
    package init?(url: RemoteURL) {
        let rest = url.text.utf8.dropFirst(url.scheme.utf8.count + "://".utf8.count)
        let text = ByteString(rest.prefix { !"/?#".utf8.contains($0) })
        guard let authority = try? URLAuthority(text) else { return nil }
        self.init(scheme: url.scheme, host: authority.host, port: authority.port)
    }
}
