import DarkroomCore

/// The cookies that the redirects of one transfer have set (RFC 6265), for the rest of this transfer.
///
/// Shops and image hosts redirect to the same URL until a request has their cookie. A cookie is sent only to the origin
/// that has set it, also if it names a domain, and is forgotten with the transfer: no other transfer gets it, and it is
/// never on disk.
struct ReceivedCookies: Sendable {
    private struct Cookie: Sendable {
        let origin: Origin
        let name: ByteString
        let value: ByteString
        let path: ByteString
    }

    /// The maximum number of cookies; later ones are not taken.
    static let maximumCount = 20
    /// The maximum size of name and value of one cookie, in bytes.
    static let maximumBytes = 4096
    /// The maximum size of all cookies in a request, in bytes.
    static let maximumTotal = 8192

    private var cookies: [Cookie] = []
    /// Whether a request had one of them.
    private(set) var wereSent = false

    /// Takes the cookie of one Set-Cookie, or removes the one that it replaces. Invalid ones are ignored.
    ///
    /// - Parameters:
    ///   - origin: the origin that has sent it, and `path` the path of its URL.
    ///   - now: the server's time, for `Expires`.
    mutating func take(
        _ field: ArraySlice<UInt8>, from origin: Origin, path: ByteString, now: HTTPDate
    ) {
        let parts = field.split(
            separator: UInt8(ascii: ";"), omittingEmptySubsequences: false
        ).map(HTTPField.trimmed)
        guard let first = parts.first, let equals = first.firstIndex(of: UInt8(ascii: "=")),
            first.count <= Self.maximumBytes,
            let name = HTTPField.text(
                HTTPField.trimmed(first[..<equals]), limit: Self.maximumBytes),
            let value = Self.value(HTTPField.trimmed(first[(equals + 1)...]))
        else { return }
        let attributes = Attributes(parts.dropFirst())
        guard attributes.allow(origin, name: name) else { return }
        let cookie = Cookie(
            origin: origin, name: name, value: value,
            path: attributes.path ?? Self.folder(of: path))
        put(cookie, isExpired: attributes.isExpired(now: now))
    }

    private mutating func put(_ cookie: Cookie, isExpired: Bool) {
        let place = cookies.firstIndex {
            $0.origin == cookie.origin && $0.name == cookie.name && $0.path == cookie.path
        }
        if let place { cookies.remove(at: place) }
        let bytes = (cookies + [cookie]).reduce(0) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + 3
        }
        guard !isExpired, cookies.count < Self.maximumCount, bytes <= Self.maximumTotal else {
            return
        }
        cookies.insert(cookie, at: place ?? cookies.endIndex)
    }

    /// The cookies for a request, as the value of its `Cookie`; nil if there are none.
    ///
    /// - Parameter configured: the `Cookie` that the configuration has for this origin. Its names take precedence.
    mutating func field(for origin: Origin, path: ByteString, configured: String?) -> String? {
        let known = Set(
            (configured ?? "").utf8.split(separator: UInt8(ascii: ";")).map { pair in
                let name = Array(pair).prefix { $0 != UInt8(ascii: "=") }
                return ByteString(decoding: HTTPField.trimmed(Array(name)[...]))
            })
        let matching = cookies.filter {
            $0.origin == origin && Self.matches(path, $0.path) && !known.contains($0.name)
        }
        if matching.isEmpty { return configured }
        wereSent = true
        // The most specific path comes first (RFC 6265, 5.4); the sort is stable.
        let sorted = matching.enumerated().sorted {
            ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
        }
        let texts = sorted.map { "\($0.element.name)=\($0.element.value)" }
        return ([configured].compactMap(\.self) + texts).joined(separator: "; ")
    }

    /// A value may be empty.
    private static func value(_ bytes: ArraySlice<UInt8>) -> ByteString? {
        bytes.isEmpty ? "" : HTTPField.text(bytes, limit: maximumBytes)
    }

    /// The path for which a cookie without a path is (RFC 6265, 5.1.4).
    private static func folder(of path: ByteString) -> ByteString {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.utf8.startIndex
        else { return "/" }
        return ByteString(path.utf8[..<slash])
    }

    /// RFC 6265, 5.1.4.
    private static func matches(_ path: ByteString, _ folder: ByteString) -> Bool {
        guard path.hasPrefix(folder) else { return false }
        return path == folder || folder.hasSuffix("/")
            || path.utf8.dropFirst(folder.utf8.count).first == UInt8(ascii: "/")
    }
}

extension ReceivedCookies: CustomStringConvertible, CustomReflectable {
    var description: String { "\(cookies.count) cookies" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The attributes of a Set-Cookie that matter within a transfer; of several with one name the last one counts.
private struct Attributes {
    private var domain: ByteString?
    private(set) var path: ByteString?
    private var isSecure = false
    private var maxAge: Int64?
    private var expires: HTTPDate?

    init(_ parts: ArraySlice<ArraySlice<UInt8>>) {
        for part in parts {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let value = HTTPField.trimmed(part[equals...].dropFirst())
            switch ByteString(decoding: HTTPField.trimmed(part[..<equals])).asciiLowercased {
            case "domain":
                let name = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
                domain = name.isEmpty ? nil : ByteString(decoding: name)
            case "path":
                path = HTTPField.text(value, limit: 1024).flatMap { $0.hasPrefix("/") ? $0 : nil }
            case "secure": isSecure = true
            case "max-age": maxAge = Self.seconds(value) ?? maxAge
            case "expires": expires = Self.date(value)
            default: continue
            }
        }
    }

    /// Whether the origin may set the cookie: nobody sets one for a foreign domain, a secure one needs TLS, and the
    /// prefixes of names say what must be true (RFC 6265bis, 4.1.3).
    func allow(_ origin: Origin, name: ByteString) -> Bool {
        if isSecure, origin.scheme != "https" { return false }
        if let domain, !Self.domain(domain, has: origin.host) { return false }
        let prefix = name.asciiLowercased
        if prefix.hasPrefix("__secure-") { return isSecure }
        if prefix.hasPrefix("__host-") { return isSecure && domain == nil && path == "/" }
        return true
    }

    func isExpired(now: HTTPDate) -> Bool {
        if let maxAge { return maxAge <= 0 }
        return expires.map { $0 <= now } ?? false
    }

    private static func domain(_ domain: ByteString, has host: HostName) -> Bool {
        let named = HostName(domain)
        guard case .name(let name) = host else { return named == host }
        return named == host || name.hasSuffix(ByteString(".\(named)"))
    }

    /// May be negative.
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int64? {
        guard value.first == UInt8(ascii: "-") else {
            return HTTPField.seconds(value).map(Int64.init)
        }
        return HTTPField.isDigits(value.dropFirst()) ? -1 : nil
    }

    /// Cookies often have hyphens in the usual format: `Sun, 06-Nov-1994 08:49:37 GMT`.
    private static func date(_ value: ArraySlice<UInt8>) -> HTTPDate? {
        HTTPDate(value) ?? HTTPDate(value.map { $0 == UInt8(ascii: "-") ? 0x20 : $0 })
    }
}
