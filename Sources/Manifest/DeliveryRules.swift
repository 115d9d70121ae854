import DarkroomCore

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
