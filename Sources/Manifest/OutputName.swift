import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// The path of an image's output by a template, as far as it is known before the output is made.
package struct OutputName: Sendable, Hashable {
    /// What is known when the output is made. Each is a control character in `pattern`, which a path does not have.
    private enum Late: UInt8, CaseIterable {
        case width = 1
        case height, sha8

        var placeholder: NameTemplate.Placeholder {
            switch self {
            case .width: .width
            case .height: .height
            case .sha8: .sha8
            }
        }

        /// The most bytes that it takes.
        var longest: Int { self == .sha8 ? 8 : 10 }
    }

    let pattern: ByteString

    /// Whether the whole path is known.
    package var isKnown: Bool { !pattern.utf8.contains { Late(rawValue: $0) != nil } }

    /// The path of an output with these properties.
    package func path(width: Int, height: Int, sha256: String) -> String {
        replacing { late in
            switch late {
            case .width: "\(width)"
            case .height: "\(height)"
            case .sha8: sha256.prefix(utf8: 8)
            }
        }
    }

    /// For messages: `photo-{width}.png`.
    package var shown: String { replacing { "{\($0.placeholder.rawValue)}" } }

    private func replacing(_ text: (Late) -> String) -> String {
        if isKnown { return pattern.string }
        let bytes = pattern.utf8.flatMap { byte -> [UInt8] in
            Late(rawValue: byte).map { Array(text($0).utf8) } ?? [byte]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Why it cannot be a path, as the end of a sentence; nil if it can.
    var fault: String? {
        let (bytes, folders) = (pattern.utf8.count, OutputPath.folders(of: pattern.string).count)
        if bytes > OutputPath.longest {
            return "has \(bytes) bytes; the limit is \(OutputPath.longest)"
        }
        return folders > OutputPath.mostFolders
            ? "has \(folders) folders; the limit is \(OutputPath.mostFolders)" : nil
    }

    // MARK: Its making

    /// What the placeholders of an image become.
    struct Values {
        let name: ByteString
        let stem: ByteString
        let folders: [String]
        let variant: ByteString
        let index: String
        let format: OutputFormat
    }

    /// The longest component, in bytes: what Linux allows, less the extension of a temporary name.
    static let longestComponent = 240

    init(_ template: NameTemplate, _ values: Values) {
        var components: [String] = []
        for (number, parts) in template.components.enumerated() {
            let isFile = number == template.components.count - 1
            if !isFile, parts == [.placeholder(.folder)] {
                components += values.folders
                continue
            }
            let ending = isFile ? Self.missingEnding(of: parts, values.format) : ""
            components.append(Self.component(parts, values, ending: ending))
        }
        if let first = components.first, components.count > 1, ImageName.isReserved(folder: first) {
            components[0] = "_\(first)"
        } else if components.count == 1, ImageName.isReserved(ByteString(components[0])) {
            components[0] = "_\(components[0])"
        }
        pattern = ByteString(components.joined(separator: "/"))
    }

    /// The extension that a file gets although its template does not have it.
    private static func missingEnding(
        of parts: [NameTemplate.Part], _ format: OutputFormat
    ) -> String {
        var end = parts.suffix(2).map { part in
            switch part {
            case .text(let text): text
            case .placeholder(.ext): String(format.endings[0].dropFirst())
            case .placeholder: "x"
            }
        }.joined()
        // A name begins before it.
        if parts.count <= 2 { end = "x" + end.drop { $0 == "." } }
        return format.endings.contains(where: end.hasEnding) ? "" : format.endings[0]
    }

    /// One name. The values are cut at their ends if they are too long together.
    private static func component(
        _ parts: [NameTemplate.Part], _ values: Values, ending: String
    ) -> String {
        var room = longestComponent - ending.utf8.count
        for part in parts {
            switch part {
            case .text(let text): room -= text.utf8.count
            case .placeholder(.ext): room -= values.format.endings[0].utf8.count
            case .placeholder(let placeholder):
                room -= Late.allCases.first { $0.placeholder == placeholder }?.longest ?? 0
            }
        }
        var result = ""
        for part in parts {
            var value: String
            switch part {
            case .text(let text):
                result += text
                continue
            case .placeholder(.ext):
                result += values.format.endings[0].dropFirst()
                continue
            case .placeholder(.width), .placeholder(.height), .placeholder(.sha8):
                for late in Late.allCases where part == .placeholder(late.placeholder) {
                    result.unicodeScalars.append(Unicode.Scalar(late.rawValue))
                }
                continue
            case .placeholder(.name):
                let ending = values.format.endings.first(where: values.name.string.hasEnding)
                value = values.name.string.dropLast(utf8: ending?.utf8.count ?? 0)
            case .placeholder(.stem): value = values.stem.string
            case .placeholder(.variant): value = values.variant.string
            case .placeholder(.index): value = values.index
            case .placeholder(.folder): value = values.folders.joined(separator: "-")
            }
            value = harmless(value).prefix(utf8: max(0, room))
            room -= value.utf8.count
            result += value
        }
        result += ending
        // A value may be empty, or begin with a dot.
        return result.utf8.first == UInt8(ascii: ".") || result.isEmpty ? "_\(result)" : result
    }

    /// A value without the characters that a name cannot have.
    private static func harmless(_ value: String) -> String {
        value.replacingScalars(with: "_") { $0.isControl || $0 == "/" }
    }

    /// The names of folders in the path of a local source, as names of folders of outputs. There are none for a URL, and
    /// for what may have a credential in it.
    static func folders(of source: ByteString) -> [String] {
        guard SourceReference.isPath(source.string),
            ByteString(RedactedURL.whole(source.string)) == source
        else { return [] }
        return folders(onWay: source.utf8.split(separator: UInt8(ascii: "/")).dropLast())
    }

    /// The same for the path of a file from a folder.
    package static func folders(ofFile path: ByteString) -> [String] {
        folders(onWay: path.utf8.split(separator: UInt8(ascii: "/")).dropLast())
    }

    private static func folders(onWay names: some Sequence<Substring.UTF8View>) -> [String] {
        names.map { harmless(String(Substring($0))) }.filter { $0 != "." }.map { name in
            let name = name.prefix(utf8: longestComponent)
            return name.utf8.first == UInt8(ascii: ".")
                ? "_" + Substring(name.utf8.dropFirst()) : name
        }
    }
}
