import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// Headers of downloads that are given on the command line. Nothing keeps them: a run that continues needs them again.
struct HeaderOptions: ParsableArguments {
    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Send this header to the origins of the URLs, for example 'Authorization: Bearer TOKEN'; @FILE for the headers in a file, one a line. All users of the machine can see the command line, so a file is better for secrets. May be repeated.",
            valueName: "header"))
    var texts: [String] = []

    /// The headers of a configuration with these.
    ///
    /// They go to the origin of each URL of the manifest, and to no other one that a redirect names.
    ///
    /// - Parameter isOthers: whether the URLs are in a manifest, which somebody else may have written. Then they must
    ///   have one origin.
    func adding(
        to headers: OriginHeaders, for manifest: Manifest, isOthers: Bool
    ) throws(ClientError) -> OriginHeaders {
        let wanted = try self.headers()
        guard !wanted.isEmpty else { return headers }
        let origins = Self.origins(of: manifest)
        guard !origins.isEmpty else { throw .badOption("--header: no source is a URL") }
        guard !isOthers || origins.count == 1 else {
            let names = origins.prefix(3).map(\.description) + (origins.count > 3 ? ["others"] : [])
            throw .badOption(
                "--header: the URLs of the manifest have several origins (\(Words.list(names, "and"))), and the header may be a secret",
                remedy: "Name the header for its origin in a file for --set downloads.headers=FILE."
            )
        }
        return origins.reduce(headers) { $0.adding(wanted, for: $1) }
    }

    private static func origins(of manifest: Manifest) -> [Origin] {
        var origins: [Origin] = []
        var known: Set<Origin> = []
        for image in manifest.images {
            guard case .source(.remote(let url)) = image.origin,
                let origin = Origin(url: url), known.insert(origin).inserted
            else { continue }
            origins.append(origin)
        }
        return origins
    }

    private func headers() throws(ClientError) -> [OriginHeaders.Header] {
        var headers: [OriginHeaders.Header] = []
        for text in texts {
            if text.hasPrefix("@") {
                headers += try Self.read(String(text.dropFirst()))
            } else {
                headers.append(try Self.header(text, "--header"))
            }
        }
        let names = headers.map { ByteString($0.name).asciiLowercased }
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw .badOption("--header: \(headers[index].name) is given twice")
        }
        return headers
    }

    /// The headers of a file, one in each line. No message contains a value.
    private static func read(_ path: String) throws(ClientError) -> [OriginHeaders.Header] {
        let shown = FileName(path).text
        let bytes = try asClientError(
            ManifestFile.open(path).whole(upTo: 1 << 16, path: shown, waits: true))
        var headers: [OriginHeaders.Header] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty { continue }
            headers.append(
                try header(String(decoding: line, as: UTF8.self), "\(shown):\(index + 1)"))
        }
        return headers
    }

    private static func header(
        _ text: String, _ place: String
    ) throws(ClientError) -> OriginHeaders.Header {
        guard let colon = text.firstIndex(of: ":") else {
            throw .badOption("\(place): write NAME: VALUE, for example 'Accept-Language: de'")
        }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        do throws(TextProblem) {
            return try OriginHeaders.Header(name: String(text[..<colon]), value: String(value))
        } catch {
            throw .badOption("\(place): \(error.message)")
        }
    }
}
