import DarkroomCore

/// The source of an image: the text that a manifest, a status or a command line has, and what it names. It is made once,
/// where the text is read; everything after that takes it.
///
///     SourceReference("https://example.org/a.png")   // .remote
///     SourceReference("photos/a.png")                // .local, as file:///srv/photos/a.png
///     SourceReference("ftp://example.org/a.png")     // .refused
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
        switch SourceScheme(scheme) {
        case .http, .https: return .remote(try RemoteURL(text))
        case .file:
            let path = try LocalPath.path(ofFileURL: text)
            return .local(LocalPath(written: text, path: path))
        case nil:
            let schemes = Words.list(SourceScheme.allCases.map(\.rawValue), "and")
            throw .bad(
                text,
                "the text before the first colon is not one of the schemes \(schemes) "
                    + "(a relative path with a colon in its first component must begin with ./)",
                .unsupportedScheme)
        }
    }
}

/// What tells a URL from a path.
extension SourceReference {
    /// Whether a source is a path and not a URL: it has no scheme. A path whose first component has a colon is written
    /// with `./` before it.
    package static func isPath(_ text: String) -> Bool { RedactedURL.scheme(of: text) == nil }

    /// Whether an argument of a command is a URL and not a path. A shell completes the names of files, so an argument
    /// such as `a:b.png` is a path, although it is none in a manifest.
    package static func isURL(argument: String) -> Bool {
        let lowered = ByteString(argument).asciiLowercased
        return SourceScheme.allCases.contains { lowered.hasPrefix($0.beginning) }
    }
}

extension FetchError {
    /// The error of a text that names no picture.
    static func bad(_ source: ByteString, _ words: String, _ code: Code = .badURL) -> FetchError {
        FetchError(code, "\(RedactedURL(source.string)): \(words)")
    }
}

extension SourceReference: Hashable, ExpressibleByStringInterpolation {
    package static func == (a: SourceReference, b: SourceReference) -> Bool { a.text == b.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    package init(stringLiteral text: String) { self.init(ByteString(text)) }
}
