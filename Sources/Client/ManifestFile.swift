import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import Foundation
import SystemPackage

/// A manifest before it is submitted: its bytes, its format, and what a daemon would say about it.
package struct ManifestFile: Sendable {
    /// For messages: the path as it was given, `-` for standard input.
    package let shown: String
    /// Its file name; nil for standard input.
    package let fileName: FileName?
    package let format: ManifestFormat
    package let bytes: [UInt8]
    /// Whether the command wrote it itself, so that nobody has seen its lines.
    private var isMade = false
    /// May be more than `bytes`, which end at the limit.
    private let size: Int

    package static let standardInput = "-"

    /// Reads the file at a path, or standard input if the path is `-`.
    package init(path: String, limits: ManifestLimits) throws(ClientError) {
        shown = FileName(path).text
        do {
            let file = try Self.open(path)
            bytes = try file.readAll(upTo: limits.bytes, path: shown, waits: true)
            size = max(bytes.count, try file.length(path: shown))
        } catch {
            throw ClientError(error)
        }
        if path == Self.standardInput {
            fileName = nil
            format = Self.format(of: bytes)
            return
        }
        let name = FileName(
            bytes: path.utf8.split(separator: UInt8(ascii: "/")).last ?? Substring("").utf8)
        fileName = name
        guard let format = ManifestFormat(fileName: name.text) else {
            throw ClientError(
                .rejected, code: "not-a-manifest",
                "\(shown): the name of a manifest ends in \(ManifestFormat.fileExtensionList("or"))"
            )
        }
        self.format = format
    }

    /// A manifest that the command wrote itself.
    package init(_ manifest: ManifestValue, shown: String) {
        self.shown = shown
        isMade = true
        fileName = nil
        format = .json
        bytes = Array(manifest.manifest(in: .json).utf8)
        size = bytes.count
    }

    init(_ bytes: [UInt8], like other: ManifestFile) {
        shown = other.shown
        fileName = other.fileName
        format = other.format
        self.bytes = bytes
        size = bytes.count
    }

    package static func open(_ path: String) throws(FileError) -> Descriptor {
        let shown = FileName(path).text
        return try path == standardInput
            ? .standardInput(shown: shown) : Descriptor(opening: path, O_RDONLY, shown: shown)
    }

    /// Of a text without a name.
    private static func format(of bytes: [UInt8]) -> ManifestFormat {
        if bytes.starts(with: "bplist".utf8) { return .plist }
        switch bytes.first(where: { !" \t\r\n".utf8.contains($0) }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
        case UInt8(ascii: "<"): return .plist
        default: return .yaml
        }
    }

    /// Reads the manifest as the daemon does.
    ///
    /// - Parameter finder: looks for the files of patterns, which otherwise only the daemon does.
    package func check(
        _ rules: ManifestRules, finder: SourceFinder = .none
    ) -> Result<Manifest, ManifestRejection> {
        guard size <= rules.limits.bytes else {
            let message = "\(Units.bytes(size)); the limit is \(Units.bytes(rules.limits.bytes))"
            return .failure(
                ManifestRejection(problems: [ManifestProblem(.tooLarge, message, place: .none)]))
        }
        do {
            return .success(
                try ManifestReader.read(
                    bytes, format: format, limits: rules.limits,
                    defaultFilters: rules.defaultFilters, recipes: rules.recipes,
                    finder: finder))
        } catch {
            guard isMade else { return .failure(error) }
            let problems = error.problems.map { problem in
                var problem = problem
                (problem.line, problem.column) = (nil, nil)
                return problem
            }
            return .failure(ManifestRejection(problems: problems))
        }
    }
}

extension ManifestProblem {
    /// In one line: `FILE:LINE:COLUMN: path: message [code]`.
    package func line(in file: String) -> String {
        var text = file
        if let line, let column { text += ":\(line):\(column)" }
        text += ": "
        if !path.isEmpty { text += path + ": " }
        text += message
        if let suggestion { text += "; did you mean ‘\(suggestion)’?" }
        return text + " [\(code)]"
    }
}

/// What a daemon demands of a manifest: the limits of its configuration, or the usual ones.
package struct ManifestRules: Sendable {
    package var limits = ManifestLimits()
    package var defaultFilters: [Filter] = []
    package var recipes = RecipeBook()

    package init(
        limits: ManifestLimits, defaultFilters: [Filter], recipes: RecipeBook = RecipeBook()
    ) {
        self.limits = limits
        self.defaultFilters = defaultFilters
        self.recipes = recipes
    }

    package init(_ report: QueueReport?) {
        recipes = RecipeList(report).book
        guard let report else { return }
        limits = ManifestLimits(
            bytes: report.limits.manifestBytes, images: report.limits.images,
            filters: report.limits.filters)
        limits.profile = report.limits.defaultProfile ?? limits.profile
        // JSON is YAML too.
        let text = Array(report.limits.defaultFilters.utf8)
        defaultFilters = (try? FilterList.read(yaml: text)) ?? []
    }
}
