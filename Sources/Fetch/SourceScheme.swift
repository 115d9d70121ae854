import DarkroomCore

/// The schemes of sources that are URLs; a source without a scheme is a path. Requests and redirects have rules of their
/// own (`RemoteURL`, `Hop`): no server may redirect to any other scheme of a source.
enum SourceScheme: String, CaseIterable {
    case http, https, file

    /// nil if no source has this scheme. Upper case means the same.
    init?(_ scheme: ByteString) { self.init(rawValue: scheme.asciiLowercased.string) }

    /// How such a URL begins, in lower case: what tells it from a path with a colon.
    var beginning: ByteString {
        switch self {
        case .http, .https: "\(rawValue)://"
        case .file: "file:/"
        }
    }
}
