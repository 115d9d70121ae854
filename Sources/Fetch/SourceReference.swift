import DarkroomCore

/// The source of an image: the text that a manifest, a status or a command line has, and what it names. It is made once,
/// where the text is read; everything after that takes it.
///
/// Two sources are equal if their texts have the same bytes.
package enum SourceReference: Sendable {
    case remote(RemoteURL)
    case local(LocalPath)
    /// A text that names no picture. Only its image fails, with this error, and only when its turn comes.
    indirect case refused(ByteString, FetchError)

    package init(_ text: ByteString) {
        do throws(FetchError) {
            self = try Self.read(text)
        } catch {
            self = .refused(text, error)
        }
    }

    /// As it is written, with its secrets.
    package var text: ByteString {
        switch self {
        case .remote(let url): url.written
        case .local(let path): path.written
        case .refused(let text, _): text
        }
    }

    /// As it may be shown.
    package var shown: String { RedactedURL.text(text.string) }

    /// nil if the source is not a file of this machine.
    package var localPath: String? {
        if case .local(let path) = self { path.path } else { nil }
    }

    /// What different sources of one content share, as far as it can be known without a request: a URL may be written
    /// in several ways.
    package var content: ByteString {
        if case .remote(let url) = self { url.requested } else { text }
    }

    private static func read(_ text: ByteString) throws(FetchError) -> SourceReference {
        guard !text.isEmpty else { throw FetchError(.badURL, "the source is empty") }
        // libcurl and the system use C strings: a NUL would cut the name without an error.
        guard !text.utf8.contains(0) else { throw .bad(text, "the source contains a NUL") }
        guard let scheme = RedactedURL.scheme(of: text.string) else {
            return .local(LocalPath(written: text, path: text.string))
        }
        switch scheme.asciiLowercased {
        case "http", "https": return .remote(try RemoteURL(text))
        case "file":
            let path = try LocalPath.path(ofFileURL: text)
            return .local(LocalPath(written: text, path: path))
        default:
            throw .bad(
                text,
                "the text before the first colon is not one of the schemes http, https and file "
                    + "(a relative path with a colon in its first component must begin with ./)",
                .unsupportedScheme)
        }
    }
}

extension FetchError {
    fileprivate static func bad(
        _ source: ByteString, _ words: String, _ code: Code = .badURL
    ) -> FetchError {
        FetchError(code, "\(RedactedURL(source.string)): \(words)")
    }
}

extension SourceReference: Hashable, ExpressibleByStringInterpolation {
    package static func == (a: SourceReference, b: SourceReference) -> Bool { a.text == b.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    package init(stringLiteral text: String) { self.init(ByteString(text)) }
}

/// A path beneath one of the source roots: relative to each of them in turn, or absolute. It is written as a path or as a
/// `file:` URL.
package struct LocalPath: Sendable {
    package let written: ByteString
    package let path: String

    /// The path of a `file:` URL (RFC 8089): without a host or with `localhost`, absolute, in UTF-8.
    fileprivate static func path(ofFileURL source: ByteString) throws(FetchError) -> String {
        var rest = source.utf8.dropFirst("file:".utf8.count)
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != UInt8(ascii: "/") }
            guard host.isEmpty || ByteString(host).asciiLowercased == "localhost" else {
                throw .bad(source, "a file: URL names a path of this machine, without a host")
            }
            rest = rest.dropFirst(host.count)
        }
        guard rest.first == UInt8(ascii: "/") else {
            throw .bad(source, "the path of a file: URL must be absolute")
        }
        guard !rest.contains(UInt8(ascii: "?")), !rest.contains(UInt8(ascii: "#")) else {
            throw .bad(
                source,
                "a file: URL cannot have a query or a fragment (in a name, write ? and # as %3F and %23)"
            )
        }
        guard let path = decodePercent(rest) else {
            throw .bad(
                source, "the %-escapes of the path are invalid, are not UTF-8, or contain a NUL")
        }
        return path
    }

    /// nil if an escape is not `%` and two hexadecimal digits, or if the result is not a C string in UTF-8.
    private static func decodePercent(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap({ Hexadecimal.value(of: $0.asciiLowercased) }),
                let low = iterator.next().flatMap({ Hexadecimal.value(of: $0.asciiLowercased) })
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }
}

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
        do throws(URLAuthority.Problem) {
            _ = try URLAuthority(ByteString(authority))
        } catch {
            throw .bad(source, error.message)
        }
        written = source
        let path = source.utf8[authority.endIndex...]
        text =
            path.contains(where: PercentEscapes.isEscaped)
            ? ByteString(
                String(source.string[..<authority.endIndex]) + PercentEscapes.escape(path))
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
