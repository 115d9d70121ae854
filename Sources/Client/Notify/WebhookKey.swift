import DarkroomCore
import Foundation

/// The key with which requests are signed.
///
/// A receiver computes HMAC-SHA-256 over `ID.TIMESTAMP.BODY` with the same key, writes it as `v1,` and Base64, and
/// compares it with the field `webhook-signature`.
package struct WebhookKey: Sendable, Equatable {
    private let bytes: [UInt8]

    /// The name of the credential that systemd provides.
    package static let credential = "webhook-key"
    private static let shortest = 16
    private static let longest = 4096

    /// Reads the content of a key file: the bytes without a line end, or `whsec_` and Base64.
    ///
    /// - Parameter name: the file in messages.
    package init(_ content: [UInt8], name: String) throws(ClientError) {
        var key = content
        while let last = key.last, last == 0x0A || last == 0x0D { key.removeLast() }
        let prefix = Array("whsec_".utf8)
        if key.starts(with: prefix) {
            guard let decoded = Data(base64Encoded: Data(key.dropFirst(prefix.count))) else {
                throw ClientError(
                    .configuration, code: "bad-key", "\(name): the text after whsec_ is not Base64")
            }
            key = Array(decoded)
        }
        guard key.count >= Self.shortest else {
            throw ClientError(
                .configuration, code: "bad-key",
                "\(name): the key has \(Words.count(key.count, "byte")), at least \(Self.shortest) are necessary",
                remedy: "openssl rand -hex 32 prints a good one.")
        }
        guard key.count <= Self.longest else {
            throw ClientError(
                .configuration, code: "bad-key",
                "\(name): the key is longer than \(Self.longest) bytes")
        }
        bytes = key
    }

    package init(path: String) throws(ClientError) {
        try self.init(try Self.content(path), name: path)
    }

    /// What the unit has in place of a key.
    private static let noKey = "unsigned"

    /// The key that systemd has put into the folder of the service's credentials; nil if there is none.
    package static func ofService(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ClientError) -> WebhookKey? {
        guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
        let path = "\(folder)/\(credential)"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let content = try content(path)
        return content.elementsEqual(noKey.utf8) ? nil : try WebhookKey(content, name: path)
    }

    private static func content(_ path: String) throws(ClientError) -> [UInt8] {
        let url = URL(filePath: path)
        let folder = try asClientError(Directory(path: url.deletingLastPathComponent().path))
        return try asClientError(folder.read(FileName(url.lastPathComponent), upTo: 2 * longest))
    }

    package func signature(of body: [UInt8], id: String, time: String) -> String {
        let message = Array("\(id).\(time).".utf8) + body
        return "v1," + Data(SHA256Digest.hmac(of: message, key: bytes)).base64EncodedString()
    }
}

extension WebhookKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "a key" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
