import Foundation
import TestSupport
import Testing

/// Text from outside is a `ByteString`. Where a `String` may still be the key of a collection, or be taken apart into
/// characters, is listed here with what makes it harmless: new code has to use the type, or to say why not.
struct TextRuleTests {
    private static let keyed = [
        #"Set<(String|Substring|Character)>"#, #"\[(String|Substring|Character): "#,
        #"Dictionary<(String|Substring|Character)\b"#,
    ]
    /// What is compared after all, and what is taken for characters.
    private static let compared = [
        #"\.string *[!=]="#, #"[!=]= *[a-zA-Z.]+\.string\b"#,
        #"\.string\.(contains|firstIndex|split|hash)"#,
        #"\bCharacter\b"#,
    ]

    /// Files with collections that are keyed by texts of our own.
    static let ownKeys = [
        "Work/Log/EventLog+Batches.swift": "error codes",
        "Client/Notify/CursorLocation.swift": "the environment",
        "Client/Notify/ServiceManager.swift": "the environment",
        "Client/Notify/WebhookKey.swift": "the environment",
        "Client/SpoolLocation.swift": "the environment",
        "Client/Terminal/ColorChoice.swift": "the environment",
        "Client/Terminal/Terminal.swift": "the environment",
        "Picture/Model/OutputFormat.swift": "words for formats",
        "Core/Log/RecordThrottle.swift": "codes and states",
        "Core/ControlGroup.swift": "paths of control groups, from the kernel",
        "Core/JSONScanner.swift": "names of chunks and segments",
        "Core/JSONWriter.swift": "names of chunks and segments",
        "Core/Metrics.swift": "error codes",
        "Core/Words.swift": "codes and states",
        "Configuration/CacheStore+Opening.swift": "the environment",
        "Manifest/ValueReader.swift": "names of recipes, in ASCII",
        "Configuration/ConfigurationFile.swift": "keys of the administrator's file",
        "Configuration/ConfigurationLoader.swift": "the environment",
        "Configuration/ServiceUnit.swift": "properties of a unit, from systemctl",
        "Daemon/Folders/HotFolderStation+Report.swift": "reasons",
        "Fetch/CacheStore.swift": "error codes",
        "Manifest/FilterCorrection+Parameters.swift": "parameters of the catalogue",
        "Manifest/ValueReader+Filters.swift": "parameters of the catalogue",
        "Picture/Model/FilterSpecification.swift": "parameters of the catalogue",
        "Picture/Read/CodecFacts.swift": "kinds of metadata",
        "Picture/MetadataLedger.swift": "kinds of metadata",
        "Work/BatchSettings+Limits.swift": "error codes",
        "Work/Results/ResultRecord.swift": "kinds of metadata",
        "Picture/CodecLibraries.swift": "names of programs",
        "Picture/Colour/ICCProfile.swift": "signatures of tags",
        "Picture/Metadata/ResultMetadata.swift": "kinds of metadata",
        "Picture/Metadata/XMPRules.swift": "names of properties, in ASCII",
        "Picture/Read/SourceMetadata.swift": "kinds of metadata",
        "Picture/Model/PictureFilter.swift": "parameters of the catalogue",
        "Picture/PictureReport.swift": "kinds of metadata",
        "Run/PresentVersions.swift": "names of programs",
        "Run/RunChanges.swift": "reasons",
        "SelfTest/ChildDaemon.swift": "the environment",
        "SelfTest/HotFolderRun.swift": "keys of settings",
        "SelfTest/SpoolAudit.swift": "manifests of our own",
        "SelfTest/SpoolAudit+Reference.swift": "manifests of our own",
        "SelfTest/TestSpool.swift": "manifests of our own",
        "Spool/Crashes/CrashRecord.swift": "paths of control groups, from the kernel",
        "Spool/Crashes/CrashRecords.swift": "paths of control groups, from the kernel",
        "Answer/FoldersReport.swift": "reasons",
        "Answer/InboxReport.swift": "reasons",
        "Answer/PictureVersions.swift": "names of libraries",
        "Answer/ImageStatus.swift": "kinds of metadata",
        "darkroom/ListCommand.swift": "other words for states",
        "darkroom/PictureOptions.swift": "other words for an option's values",
    ]
    /// Files that compare the string of a `ByteString`, or name characters.
    static let ownCharacters = [
        "Manifest/TextCursor.swift": "shows one scalar"
    ]

    private static let sources = Repository.root.appending(path: "Sources")

    /// The Swift files whose code, without its comments, has one of these patterns.
    private static func files(with patterns: [String]) throws -> Set<String> {
        let expressions = try patterns.map { try NSRegularExpression(pattern: $0) }
        let root = sources.path + "/"
        var found: Set<String> = []
        let paths = FileManager.default.enumerator(atPath: root)
        while let path = paths?.nextObject() as? String {
            guard path.hasSuffix(".swift") else { continue }
            let text = try String(contentsOfFile: root + path, encoding: .utf8)
            let code = text.split(separator: "\n")
                .filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
                .joined(separator: "\n")
            let whole = NSRange(code.startIndex..., in: code)
            if expressions.contains(where: { $0.firstMatch(in: code, range: whole) != nil }) {
                found.insert(path)
            }
        }
        return found
    }

    @Test(arguments: [(keyed, ownKeys), (compared, ownCharacters)])
    func onlyTheseUseStrings(patterns: [String], files: [String: String]) throws {
        #expect(try Self.files(with: patterns) == Set(files.keys))
    }

    /// No message of a picture, a download or the spool names a library that its reader has never heard of. What is named
    /// here is for programs, or tells which versions wrote a file.
    @Test func messagesNameNoLibraries() throws {
        let libraries = #""[^"\n]*(libcurl|libpng|libjpeg|libdeflate|libyaml|zlib)[^"\n]*""#
        let named = try Self.files(with: [libraries]).filter { path in
            ["Fetch/", "Picture/", "Answer/", "Spool/", "Manifest/"].contains { path.hasPrefix($0) }
        }
        #expect(
            named == [
                "Fetch/TransferSettings.swift", "Answer/PictureVersions.swift",
                "Picture/FormatSupport.swift",
                "Answer/Status+Text.swift",
            ])
    }

    /// Else the other two hold whatever is written.
    @Test func findsWhatIsForbidden() throws {
        for (text, patterns) in [
            ("var names: Set<String> = []", Self.keyed), ("var a: [String: Int] = [:]", Self.keyed),
            ("if name.string == other", Self.compared), ("if a != b.name.string {", Self.compared),
            ("let quotes: [Character]", Self.compared),
        ] {
            let range = NSRange(text.startIndex..., in: text)
            #expect(
                try patterns.contains {
                    try NSRegularExpression(pattern: $0).firstMatch(in: text, range: range) != nil
                }, "\(text)")
        }
    }
}
