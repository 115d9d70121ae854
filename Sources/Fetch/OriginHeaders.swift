import DarkroomCore

/// Request headers for individual origins, usually `Authorization`: the content of `downloads.headers`.
///
/// They are secrets. No description contains a value, and they are sent only to their origin, also after a redirect.
package struct OriginHeaders: Sendable, Equatable {
    private var table: [Origin: [Header]]

    package struct Header: Sendable, Equatable {
        package let name: String
        package let value: String

        /// Throws if a request cannot have the header, or if the transfer itself sets it.
        package init(name: String, value: String) throws(TextProblem) {
            guard !name.isEmpty, name.utf8.allSatisfy(HTTPField.isToken) else {
                throw TextProblem("a header name may contain only letters, digits and hyphens")
            }
            guard !Self.reserved.contains(ByteString(name).asciiLowercased),
                !ByteString(name).asciiLowercased.hasPrefix("proxy-")
            else { throw TextProblem("\(name) is set by the daemon itself") }
            guard value.utf8.allSatisfy(HTTPField.isText) else {
                throw TextProblem(
                    "\(name): a value must not contain line breaks or control characters")
            }
            guard !value.utf8.allSatisfy(HTTPField.isBlank) else {
                throw TextProblem("\(name): the value is empty")
            }
            self.name = name
            self.value = value
        }

        /// Fields for framing and routing of messages, hop-by-hop fields (RFC 9110, 7.6.1), and conditions and codings
        /// that change the body.
        private static let reserved: Set<ByteString> = [
            "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings",
            "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
            "keep-alive", "range", "te", "trailer", "transfer-encoding", "upgrade",
        ]
    }

    package init(_ table: [Origin: [Header]] = [:]) { self.table = table }

    package var isEmpty: Bool { table.isEmpty }

    /// The same with further headers for an origin, which replace those of the same names.
    package func adding(_ headers: [Header], for origin: Origin) -> OriginHeaders {
        var result = self
        let names = Set(headers.map { ByteString($0.name).asciiLowercased })
        result.table[origin, default: []].removeAll {
            names.contains(ByteString($0.name).asciiLowercased)
        }
        result.table[origin, default: []] += headers
        return result
    }

    /// The headers for requests to `origin`, in the order of the file.
    package func headers(for origin: Origin) -> [(name: String, value: String)] {
        table[origin, default: []].map { ($0.name, $0.value) }
    }
}

extension OriginHeaders: CustomStringConvertible, CustomReflectable {
    package var description: String { "headers for \(table.count) origins" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension OriginHeaders.Header: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(name): …" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
