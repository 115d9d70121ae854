import ArgumentParser
import DarkroomClient
import DarkroomPicture

struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats",
        abstract: "List the formats of pictures that this machine reads and writes.",
        discussion: """
            For each format: whether it is read and written, by which library, and otherwise which Debian package brings that \
            library.

            Examples:
              darkroom formats
              darkroom formats --json

            Exit status: 0 success, 64 the command line is wrong.
            """)

    @OptionGroup var color: ColorOptions

    @Flag(help: "Print JSON Lines: one object for each format, then a summary.")
    var json = false

    func run() throws {
        let formats = FormatSupport.all()
        guard json else { return try Console.lines(Self.lines(formats, on: color.output)) }
        try Console.lines(formats.map { JSONText.line($0.json) })
        try Console.conclude(.success, json: ["formats": formats.count])
    }

    private static func lines(_ formats: [FormatSupport], on terminal: Terminal) -> [String] {
        var table = TextTable([
            .init("FORMAT"), .init("READ"), .init("WRITTEN"), .init("NAMES", dispensability: 1),
            .init("LIBRARY", minimum: 12, wraps: true),
        ])
        for format in formats {
            table.append([
                .init(format.name), .init(format.isRead ? "yes" : "no"),
                .init(format.isWritten ? "yes" : "no"),
                .init(format.endings.joined(separator: " ")), .init(format.libraryText),
            ])
        }
        return table.lines(on: terminal)
    }
}

extension FormatSupport {
    /// The library, or what to do without it.
    fileprivate var libraryText: String {
        switch library {
        case .success(let words): words
        case .failure(let error) where error.kind == .codecMissing:
            "install the package \(debianPackage)"
        case .failure(let error): error.message
        }
    }

    fileprivate var json: JSONObject {
        var problem: PictureError?
        if case .failure(let error) = library { problem = error }
        return [
            "type": "format", "format": word, "name": name, "mediaType": mediaType,
            "endings": endings, "read": isRead, "written": isWritten, "library": try? library.get(),
            "package": debianPackage, "code": problem?.code, "message": problem?.message,
        ]
    }
}
