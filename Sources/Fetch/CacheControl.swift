import DarkroomCore

/// What a response allows a cache to do (RFC 9111, 5.2.2).
///
/// In doubt, a directive forbids. A directive with field names (`no-cache="set-cookie"`) counts as one without them. An
/// invalid time counts as 0. Of several times, the shortest counts. A value that cannot be read to its end means
/// `no-store`.
package struct CacheControl: Sendable, Equatable {
    package var noStore = false
    package var noCache = false
    package var isPrivate = false
    package var isPublic = false
    /// In seconds.
    package var maxAge: Int?
    /// `s-maxage`, for caches of several users, in seconds.
    package var sharedMaxAge: Int?
    package var mustRevalidate = false
    package var immutable = false

    package init() {}

    package init(_ bytes: some Collection<UInt8>) { take(bytes) }

    package mutating func take(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while true {
            rest = rest.drop { HTTPField.isBlank($0) || $0 == UInt8(ascii: ",") }
            if rest.isEmpty { return }
            let name = rest.prefix(while: HTTPField.isToken)
            rest = rest.dropFirst(name.count)
            var argument: ArraySlice<UInt8>?
            if rest.first == UInt8(ascii: "=") {
                argument = Self.argument(&rest)
                if argument == nil { return noStore = true }
            }
            rest = rest.drop(while: HTTPField.isBlank)
            guard let name = HTTPField.token(name), rest.isEmpty || rest.first == UInt8(ascii: ",")
            else { return noStore = true }
            set(name, argument)
        }
    }

    private mutating func set(_ name: ByteString, _ argument: ArraySlice<UInt8>?) {
        switch name {
        case "no-store": noStore = true
        case "no-cache": noCache = true
        case "private": isPrivate = true
        case "public": isPublic = true
        case "must-revalidate": mustRevalidate = true
        case "immutable": immutable = true
        case "max-age": maxAge = Self.shortest(maxAge, argument)
        case "s-maxage": sharedMaxAge = Self.shortest(sharedMaxAge, argument)
        default: break
        }
    }

    private static func shortest(_ known: Int?, _ argument: ArraySlice<UInt8>?) -> Int {
        min(known ?? .max, argument.flatMap(HTTPField.seconds) ?? 0)
    }

    /// The text after the `=` with which `rest` begins, unquoted; nil if a quoted string does not end.
    private static func argument(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        rest = rest.dropFirst()
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix(while: HTTPField.isToken)
            rest = rest.dropFirst(token.count)
            return token
        }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return text[...] }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            } else {
                text.append(byte)
            }
        }
        return nil
    }
}
