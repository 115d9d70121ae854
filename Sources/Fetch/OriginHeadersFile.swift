import DarkroomCore
import Foundation
import Glibc
import SystemPackage
import Yams

/// The file of `downloads.headers`: YAML, a map from origins to maps from header names to values.
///
///     https://pictures.example.org:
///       Authorization: Bearer 0123456789
///
/// A problem names its line and never contains a value, because values are secrets.
package struct OriginHeadersFile {
    package private(set) var headers = OriginHeaders()
    package private(set) var problems: [String] = []
    /// Whether the mode of the file lets every user of the machine read it.
    package private(set) var isExposed = false
    package private(set) var isMissing = false

    private let path: String
    private var table: [Origin: [OriginHeaders.Header]] = [:]

    /// Much more than the headers of some thousand hosts.
    private static let maximumBytes = 1 << 20

    /// Reads the file `path`; all problems are in `problems`.
    package init(path: String) {
        self.path = path
        do throws(TextProblem) {
            read(try readText())
        } catch {
            problems.append("\(path): \(error.message)")
        }
        headers = OriginHeaders(table)
    }

    /// Reads the text of a file; `path` is its name in messages.
    init(path: String, text: String) {
        self.path = path
        read(text)
        headers = OriginHeaders(table)
    }

    private mutating func readText() throws(TextProblem) -> String {
        let descriptor: Descriptor
        do throws(Errno) {
            // Does not wait for a writer if the file is a FIFO.
            descriptor = Descriptor(
                owning: try retryingInterrupts { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) })
        } catch {
            isMissing = error == .noSuchFileOrDirectory
            throw TextProblem("cannot be read: \(error)")
        }
        guard let status = stat(of: descriptor.number), status.isRegularFile else {
            throw TextProblem("is not a file")
        }
        guard status.length <= Self.maximumBytes else {
            throw TextProblem("has more than \(Units.bytes(Self.maximumBytes))")
        }
        isExposed = status.st_mode & S_IROTH != 0
        guard let bytes = try? descriptor.whole(upTo: Self.maximumBytes, path: path),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw TextProblem("cannot be read as UTF-8 text") }
        return text
    }

    private mutating func read(_ text: String) {
        do {
            guard let root = try Yams.compose(yaml: text, .basic), root.null == nil else { return }
            guard case .mapping(let origins) = root else {
                return complain(root, "must be a map from origins to headers")
            }
            for (key, value) in origins { readOrigin(key, value) }
        } catch {
            problems.append(
                path + Self.place(of: error) + ": this is not YAML, or a key occurs twice")
        }
    }

    /// The line at which YAML fails. The rest of the error is not used, because it quotes the file.
    private static func place(of error: any Error) -> String {
        switch error as? YamlError {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _):
            ":\(mark.line)"
        case .duplicatedKeysInMapping(_, let context): ":\(context.mark.line)"
        default: ""
        }
    }

    private mutating func readOrigin(_ key: Node, _ value: Node) {
        let origin: Origin
        do throws(TextProblem) {
            guard let text = key.scalar?.string else { return complain(key, "is not an origin") }
            origin = try Origin(configured: text)
        } catch {
            return complain(key, error.message)
        }
        guard table[origin] == nil else { return complain(key, "\(origin) occurs twice") }
        guard case .mapping(let headers) = value else {
            return complain(key, "\(origin): must be a map from header names to values")
        }
        var known: Set<ByteString> = []
        table[origin] = []
        for (nameNode, valueNode) in headers {
            do throws(TextProblem) {
                // A date or a number is text here too; a map or a list is not.
                guard let name = nameNode.scalar?.string, let text = valueNode.scalar?.string else {
                    return complain(nameNode, "\(origin): the value of a header must be text")
                }
                let header = try OriginHeaders.Header(name: name, value: text)
                guard known.insert(ByteString(name).asciiLowercased).inserted else {
                    return complain(nameNode, "\(origin): \(name) occurs twice")
                }
                table[origin, default: []].append(header)
            } catch {
                complain(nameNode, "\(origin): \(error.message)")
            }
        }
    }

    private mutating func complain(_ node: Node, _ words: String) {
        problems.append("\(path):\(node.mark?.line ?? 1): \(words)")
    }
}

extension Origin {
    /// Reads `https://HOST[:PORT]`, `http://HOST[:PORT]`, or `HOST[:PORT]` for https.
    init(configured text: String) throws(TextProblem) {
        var scheme = "https"
        var rest = text[...]
        if let separator = text.firstRange(of: "://") {
            scheme = text[..<separator.lowerBound].lowercased()
            rest = text[separator.upperBound...]
        }
        let form = "an origin is https://HOST, http://HOST or HOST, optionally followed by :PORT"
        guard ["http", "https"].contains(scheme) else { throw TextProblem(form) }
        do throws(TextProblem) {
            let authority = try URLAuthority(ByteString(rest))
            // Text before an @ would be a secret in the wrong place.
            guard authority.userInformation == nil else {
                throw TextProblem("write a user and password as a header")
            }
            guard authority.host.utf8.allSatisfy({ $0 < 0x80 }) else {
                throw TextProblem("write an international name in its ASCII form, xn--…")
            }
            self.init(scheme: scheme, host: authority.host, port: authority.port)
        } catch {
            throw TextProblem("\(form): \(error.message)")
        }
    }
}
