import DarkroomCore

/// An `http:` or `https:` URL with a host, in ASCII without spaces, as libcurl needs it.
///
/// It may contain credentials. Its description, and so each interpolation of it, leaves them out.
package struct RemoteURL: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible
{
    package let written: ByteString
    /// The whole URL, including secrets: for libcurl only. It shares the memory of the written one, unless that has
    /// something to escape.
    package let text: ByteString

    /// The maximum length of a source or a redirect, in bytes: longer than any server accepts.
    package static let maximumBytes = 8192

    package var shown: RedactedURL { RedactedURL(written.string) }

    /// `http` or `https`.
    package var scheme: String {
        text.utf8.dropFirst("http".utf8.count).first == UInt8(ascii: ":") ? "http" : "https"
    }

    var authority: ByteString {
        let rest = text.utf8.dropFirst(scheme.utf8.count + "://".utf8.count)
        return ByteString(rest.prefix { !"/?#".utf8.contains($0) })
    }

    /// Whether the URL has a user, with or without a password.
    package var hasUser: Bool { authority.utf8.contains(UInt8(ascii: "@")) }

    /// The part that a server sees: everything except the fragment.
    package var requested: ByteString {
        text.utf8.firstIndex(of: UInt8(ascii: "#")).map { ByteString(text.utf8[..<$0]) } ?? text
    }

    package var description: String { shown.description }
    package var debugDescription: String { shown.description }

    /// Spaces and characters beyond ASCII in path and query are percent-encoded as UTF-8, as browsers do it. In a host
    /// name they are left to libcurl's IDN support.
    package init(_ source: ByteString) throws(FetchError) {
        let scheme = RedactedURL.scheme(of: source.string) ?? ""
        guard ["http", "https"].contains(scheme.asciiLowercased) else {
            throw .bad(source, "the scheme is not http or https", .unsupportedScheme)
        }
        let count = source.utf8.count
        guard count <= Self.maximumBytes else {
            throw .bad(source, "the URL has \(count) bytes; the limit is \(Self.maximumBytes)")
        }
        guard source.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .bad(source, "the URL contains a control character")
        }
        // libcurl would also accept one slash or three; then it could read another host than this code.
        let rest = source.utf8.dropFirst(scheme.utf8.count + 1)
        guard rest.starts(with: "//".utf8) else {
            throw .bad(source, "the scheme must be followed by //, a host and a path")
        }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        do throws(TextProblem) {
            _ = try URLAuthority(ByteString(authority))
        } catch {
            throw .bad(source, error.message)
        }
        written = source
        let path = source.utf8[authority.endIndex...]
        text =
            path.contains(where: PercentEncoding.needsEncoding)
            ? ByteString(
                String(source.string[..<authority.endIndex]) + PercentEncoding.reference(path))
            : source
    }
}

extension Origin {
    /// The origin of a URL; nil if the URL cannot be a `RemoteURL`. An international name is used as it is written, so
    /// pass a URL that may have one in libcurl's form.
    package init?(url: RemoteURL) {
        guard let authority = try? URLAuthority(url.authority) else { return nil }
        self.init(scheme: url.scheme, host: authority.host, port: authority.port)
    }
}
