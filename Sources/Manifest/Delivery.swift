import DarkroomCore

/// A folder in which the outputs of images are placed too, under their names: `deliver`. Images share it.
package final class Delivery: Sendable, Equatable {
    /// What is done when a file of somebody else has the name.
    package enum Existing: String, Sendable, CaseIterable {
        /// The output gets a number: `beach-2.png`.
        case number
        case replace
        /// The image fails.
        case fail
    }

    /// Absolute, with neither `.` nor `..` nor empty parts.
    package let folder: String
    package let existing: Existing
    /// Whether a recipe says it, which the administrator writes, and not the manifest.
    package let isOfRecipe: Bool

    package init(to folder: String, _ existing: Existing = .number, isOfRecipe: Bool = false) {
        self.folder = folder
        self.existing = existing
        self.isOfRecipe = isOfRecipe
    }

    /// The path in this form; nil if it is not absolute, or if it goes up.
    package static func folder(_ path: String) -> String? {
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else { return nil }
        let parts = path.pathParts
        return parts.contains("..") ? nil : "/" + parts.map(\.string).joined(separator: "/")
    }

    package static func == (a: Delivery, b: Delivery) -> Bool {
        ByteString(a.folder) == ByteString(b.folder) && a.existing == b.existing
            && a.isOfRecipe == b.isOfRecipe
    }
}

/// Where a configuration allows outputs to be delivered to. Only paths are compared here; whoever opens the folder looks
/// where it is.
///
/// | who says `deliver`                         | may name                                       |
/// |--------------------------------------------|------------------------------------------------|
/// | a recipe                                   | any folder                                     |
/// | a manifest of the daemon's user, which its | a folder beneath `deliver.roots`, or one that  |
/// | hot folders make                           | a hot folder of the configuration delivers to  |
/// | any other manifest                         | a folder beneath `deliver.roots`               |
///
/// None of them may name the spool, the cache or a hot folder, or a folder in one of these.
package struct DeliveryRules: Sendable, Equatable {
    /// `deliver.roots`, in the form of `Delivery.folder`.
    package var roots: [String] = []
    /// Where the hot folders deliver to.
    package var ofHotFolders: [String] = []
    /// The folders from which Darkroom takes files, or which are its own, with words for each.
    package var taken: [(path: String, what: String)] = []
    /// The user of the daemon.
    package var user: UInt32?
    /// Whether the manifest is that of `darkroom run`, which delivers nothing.
    package var isOfRun = false

    package init() {}

    package static func == (a: DeliveryRules, b: DeliveryRules) -> Bool {
        a.roots == b.roots && a.ofHotFolders == b.ofHotFolders && a.user == b.user
            && a.isOfRun == b.isOfRun && a.taken.map(\.path) == b.taken.map(\.path)
    }

    /// Why nothing is delivered as this says, as the end of a message; nil if it is.
    ///
    /// - Parameter owner: of the manifest; nil if it is not known.
    package func problem(with delivery: Delivery, of owner: UInt32?) -> String? {
        if isOfRun {
            return "only the daemon delivers; darkroom run writes its results into the folder of -o"
        }
        for (path, what) in taken where Self.contains(path, delivery.folder) {
            return "\(delivery.folder) is in \(what), \(path): outputs would be taken again"
        }
        if delivery.isOfRecipe || root(of: delivery.folder) != nil { return nil }
        if let user, owner == user, isOfHotFolder(delivery.folder) { return nil }
        return roots.isEmpty
            ? "\(delivery.folder) is not allowed: deliver.roots of the configuration is empty"
            : "\(delivery.folder) is not beneath one of deliver.roots (\(roots.joined(separator: ", ")))"
    }

    package func root(of folder: String) -> String? {
        Delivery.folder(folder) == nil ? nil : roots.first { Self.contains($0, folder) }
    }

    package func isOfHotFolder(_ folder: String) -> Bool {
        ofHotFolders.contains { ByteString($0) == ByteString(folder) }
    }

    /// Those of `darkroom run`.
    package static var ofRun: Self {
        var rules = Self()
        rules.isOfRun = true
        return rules
    }

    /// Whether a path is the other one or in it.
    package static func contains(_ path: String, _ other: String) -> Bool {
        other.pathParts.starts(with: path.pathParts)
    }
}

extension ValueReader {
    private static let deliveryForm = ManifestSnippet.text("/srv/web/pictures")

    /// Reads `deliver`: a folder, or a map with `to` and `ifExists`.
    package mutating func delivery(_ node: Document.Node, at path: DocumentPath) -> Delivery? {
        guard case .map = node.value else {
            return deliveryFolder(node, of: "deliver", at: path).map {
                Delivery(to: $0, isOfRecipe: isOfRecipe)
            }
        }
        return place(node, of: "deliver", key: "to", at: path)
    }

    /// Reads `originals` of a hot folder: a map with `move` and `ifExists`.
    package mutating func originalsPlace(_ node: Document.Node, at path: DocumentPath) -> Delivery?
    {
        place(node, of: "originals", key: "move", at: path)
    }

    private mutating func place(
        _ node: Document.Node, of what: String, key: ByteString, at path: DocumentPath
    ) -> Delivery? {
        let form = ManifestSnippet.map(key.string, Self.deliveryForm)
        guard
            let map = map(node, keys: [key, "ifExists"], of: "‘\(what)’", at: path, write: form)
        else { return nil }
        guard let to = map[key] else {
            problems.add(.missingKey, "‘\(what)’ needs ‘\(key)’, a folder", at: path, node.place)
            return nil
        }
        let folder = deliveryFolder(to, of: what, at: .key(path, key))
        let existing: Delivery.Existing = word(in: map, "ifExists", at: path) ?? .number
        return folder.map { Delivery(to: $0, existing, isOfRecipe: isOfRecipe) }
    }

    private mutating func deliveryFolder(
        _ node: Document.Node, of what: String, at path: DocumentPath
    ) -> String? {
        guard let text = text(node, "the folder of ‘\(what)’", at: path, write: Self.deliveryForm)
        else { return nil }
        if let folder = Delivery.folder(text.string) { return folder }
        problems.add(
            .unknownValue,
            "the folder of ‘\(what)’ must be an absolute path without ‘..’, found ‘\(text.shortened)’",
            at: path, node.place)
        return nil
    }
}
