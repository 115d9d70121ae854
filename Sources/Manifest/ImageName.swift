import DarkroomCore
import DarkroomPicture

/// The rules for image names, which are file names in the outbox, and the names that are derived from sources.
package enum ImageName {
    /// In bytes of UTF-8. With `.png` or `.jpg` and the suffix of temporary files, a name still has at most the 255
    /// bytes that Linux allows.
    package static let maximumBytes = 200

    /// The problem of a name, as the end of a sentence that begins with the name; nil for a valid name.
    package static func fault(of name: ByteString) -> String? {
        if name.isEmpty { return "is empty" }
        if name.utf8.count > maximumBytes {
            return "has \(name.utf8.count) bytes; the limit is \(maximumBytes)"
        }
        if name.utf8.contains(UInt8(ascii: "/")) { return "contains a slash" }
        if name.unicodeScalars.contains(where: \.isControl) {
            return "contains a control character"
        }
        if name.utf8.first == UInt8(ascii: ".") { return "begins with a dot" }
        if mayBeReserved(name),
            isReserved(name)
                || OutputFormat.allCases.contains(where: {
                    isReserved(Manifest.Image.outputFile(named: name, $0))
                })
        {
            return "is the name of a file that Darkroom writes"
        }
        return nil
    }

    /// `status.json`, and `manifest.` with any extension, in any case: these files are beside the outputs.
    static func isReserved(_ file: ByteString) -> Bool {
        guard mayBeReserved(file) else { return false }
        let lowered = file.asciiLowercased
        return lowered == "status.json" || lowered.hasPrefix("manifest.")
    }

    /// The first letter excludes most names, without a copy in lower case.
    private static func mayBeReserved(_ file: ByteString) -> Bool {
        file.utf8.first.map { [UInt8(ascii: "s"), UInt8(ascii: "m")].contains($0 | 0x20) } ?? false
    }

    /// Whether a folder beside the outputs cannot have this name: those of the files and folders that Darkroom writes
    /// there.
    static func isReserved(folder: String) -> Bool {
        let folder = ByteString(folder)
        return isReserved(folder) || reservedFolders.contains(folder.asciiLowercased)
    }

    private static let reservedFolders: Set<ByteString> = [
        "progress.json", "sources.json", "sizes.json", "page", ByteString(KeptPictures.folderName),
    ]

    /// The name of an image without a name, derived from the last component of its source's path. Everything after a
    /// question mark and the fragment of a URL are removed, the percent signs of a URL are decoded, the extension of a
    /// picture is removed, and characters that a name cannot have become `_`. The result is always a valid name, but
    /// not always unique.
    ///
    /// - Parameter suffix: of a variant. If the name is too long for it, the end of the name is cut off.
    package static func derived(from source: ByteString, suffix: ByteString = "") -> ByteString {
        let name = named(after: lastComponent(of: source.string))
        if suffix.isEmpty { return name }
        return ByteString(
            name.string.prefix(utf8: maximumBytes - suffix.utf8.count) + suffix.string)
    }

    /// The name of an image after a file of this name: without the extension of a picture, and with `_` for the
    /// characters that a name cannot have. The result is always a valid name, but not always unique.
    package static func named(after fileName: String) -> ByteString {
        var component = fileName
        if let ending = PictureFileExtensions.droppedFromNames.first(where: component.hasEnding),
            component.utf8.count > ending.utf8.count
        {
            component = component.dropLast(utf8: ending.utf8.count)
        }
        var name = component
        if name.utf8.first == UInt8(ascii: ".") || !name.isPrintableASCII(without: "/") {
            name = name.replacingScalars(with: "_") {
                $0.isControl || $0 == "/" || $0 == "\u{FFFD}"
            }
            if name.utf8.first == UInt8(ascii: ".") {
                name = "_" + Substring(name.utf8.dropFirst())
            }
        }
        if name.isEmpty { name = "image" }
        name = name.prefix(utf8: maximumBytes)
        let derived = ByteString(name)
        return fault(of: derived) == nil
            ? derived : ByteString(("_" + name).prefix(utf8: maximumBytes))
    }

    /// The last component of a URL's or a file's path that is not empty. It is empty if the component may contain a
    /// credential: a part of a source that must not be shown is not used in a name either; see ``RedactedURL``.
    static func lastComponent(of source: String) -> String {
        // Most sources have nothing to hide.
        let mayHide = source.utf8.contains { "@?#%".utf8.contains($0) }
        let shown = mayHide ? RedactedURL.whole(source) : source
        var path = Array(shown.utf8)[...]
        path = path.prefix { $0 != UInt8(ascii: "?") }
        let isURL = RedactedURL.scheme(of: shown) != nil || path.firstRange(of: "://".utf8) != nil
        if isURL {
            path = path.prefix { $0 != UInt8(ascii: "#") }
            path = path.drop { $0 != UInt8(ascii: ":") }.dropFirst()
            if path.starts(with: "//".utf8) {
                path = path.dropFirst(2).drop { $0 != UInt8(ascii: "/") }
            }
        }
        let last = path.split(separator: UInt8(ascii: "/")).last ?? []
        if last.elementsEqual(RedactedURL.mark.utf8) { return "" }
        return String(
            decoding: isURL ? PercentEncoding.decoded(last).bytes : Array(last), as: UTF8.self)
    }
}
