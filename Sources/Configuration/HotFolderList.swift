import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// Reads the value of `folders`: a list of maps.
enum HotFolderList {
    static let example = "[{path: /srv/scans, recipe: web}]"

    fileprivate static let keys: [ByteString] = [
        "path", "recipe", "originals", "deliver", "batch", "within",
    ]
    fileprivate static let batches = 1...10_000
    fileprivate static let times = 0.0...3600
    private static let most = 100

    static func read(yaml bytes: [UInt8]) throws(ManifestRejection) -> [HotFolder] {
        // All lines of the list are commented out.
        if bytes.isEmpty { return [] }
        let node: Document.Node
        do throws(ManifestProblem) {
            node = try YAMLReader.read(bytes, budget: NodeBudget(images: 0))
        } catch {
            throw ManifestRejection(problems: [error])
        }
        if node.isNull { return [] }
        var reader = ValueReader(notation: .yaml)
        var folders: [HotFolder] = []
        if case .list(let list) = node.value {
            if list.items.count > most {
                reader.complain("there are more than \(most) folders", node)
            }
            for (index, item) in list.items.prefix(most).enumerated() {
                if let folder = reader.hotFolder(item, number: index + 1) { folders.append(folder) }
            }
        } else {
            reader.complain("it is \(node.words)", node)
        }
        try reader.problems.throwIfAny()
        return folders
    }
}

extension ValueReader {
    fileprivate mutating func complain(_ message: String, _ node: Document.Node) {
        problems.add(.wrongType, message, at: .root, node.place)
    }

    fileprivate mutating func hotFolder(_ item: Document.Node, number: Int) -> HotFolder? {
        let place = "folder \(number)"
        guard case .map(let map) = item.value else {
            complain("\(place) is \(item.words), not a map", item)
            return nil
        }
        var seen: Set<ByteString> = []
        for entry in map.entries {
            if !seen.insert(entry.key).inserted {
                complain("\(place) has the key \(entry.key.string) twice", item)
            }
            guard !HotFolderList.keys.contains(entry.key) else { continue }
            let meant =
                Suggestion.nearest(to: entry.key, among: HotFolderList.keys)
                .map { ", did you mean \($0)?" } ?? ""
            complain("\(place) has the unknown key \(entry.key.string)\(meant)", item)
        }
        func text(_ key: ByteString, _ form: String) -> String? {
            guard let node = map[key] else {
                complain("\(place) has no \(key), such as \(key): \(form)", item)
                return nil
            }
            guard let text = node.text, !text.isEmpty else {
                complain("\(key) of \(place) must be text, such as \(form)", node)
                return nil
            }
            return text.string
        }
        func value<Value>(_ key: ByteString, _ form: String, _ read: (String) -> Value?) -> Value? {
            guard let node = map[key] else { return nil }
            let value = node.text.flatMap { read($0.string) }
            if value == nil { complain("\(key) of \(place) must be \(form)", node) }
            return value
        }
        let path = text("path", "/srv/scans")
        if let path, !path.hasPrefix("/") || path.utf8.contains(0) {
            complain("path of \(place) must be absolute", item)
        }
        var folder = HotFolder(
            path: FilePath(path ?? "/").lexicallyNormalized().string,
            recipe: text("recipe", "web") ?? "")
        if case .map? = map["originals"]?.value, let node = map["originals"] {
            folder.place = originalsPlace(node, at: .key(.root, "originals"))
            folder.originals = .place
        } else {
            let list = HotFolder.Originals.words
            let words = Words.list(list.map(\.rawValue) + ["{move: /srv/done}"], "or")
            folder.originals =
                value("originals", words) { word in list.first { $0.rawValue == word } }
                ?? folder.originals
        }
        folder.delivery = map["deliver"].flatMap { delivery($0, at: .key(.root, "deliver")) }
        let sizes = HotFolderList.batches
        folder.batch =
            value("batch", "a whole number from \(sizes.lowerBound) to \(sizes.upperBound)") {
                Int($0).flatMap { sizes.contains($0) ? $0 : nil }
            } ?? folder.batch
        folder.within =
            value("within", "a time from 0 to 1h, such as 2s") {
                Quantity.seconds($0).flatMap { HotFolderList.times.contains($0) ? $0 : nil }
            } ?? folder.within
        return folder
    }
}

extension Configuration {
    /// How many images a picture of a hot folder becomes: the number of variants of its recipe.
    package func imagesPerPicture(of folder: HotFolder) -> Int {
        max(1, recipes[ByteString(folder.recipe)]?.variants?.count ?? 1)
    }

    /// What is wrong with `inbox.recipe`: nothing, or that there is no such recipe.
    var recipeProblems: [String] { recipes.ofFolders.flatMap(absence).map { [$0] } ?? [] }

    private func absence(of recipe: String) -> String? {
        guard recipes[ByteString(recipe)] == nil else { return nil }
        let meant =
            Suggestion.nearest(to: recipe, among: recipes.all.map(\.name))
            .map { "; did you mean \($0)?" } ?? ""
        return "there is no recipe \(recipe)\(meant)"
    }

    /// What is wrong with the hot folders in this configuration, as ends of sentences.
    var folderProblems: [String] {
        var problems: [String] = []
        let places = folders.map { ($0.path, Self.real($0.path)) }
        for (index, folder) in folders.enumerated() {
            if let words = absence(of: folder.recipe) {
                problems.append("\(folder.path): \(words)")
            }
            let count = imagesPerPicture(of: folder)
            if count > manifestLimits.images {
                problems.append(
                    "\(folder.path): its recipe \(folder.recipe) makes \(count) images of a picture, more than "
                        + "manifests.maxImages (\(manifestLimits.images))")
            }
            let (path, place) = places[index]
            let own = [
                ("spool", spool), ("cache.folder", cacheFolder ?? ""),
                ("results.folder", resultsFolder ?? ""),
            ]
            for (key, other) in own where !other.isEmpty {
                if let words = Self.overlap(place, Self.real(other)) {
                    problems.append(
                        "\(path) \(words) \(other) (\(key)): outputs would be taken as pictures again"
                    )
                }
            }
            for (former, place) in places[..<index] {
                if let words = Self.overlap(places[index].1, place) {
                    problems.append("\(path) \(words) \(former): pictures would be taken twice")
                }
            }
        }
        // Originals keep the folders in a hot folder, so a place of theirs must not contain one either.
        return problems
            + overlaps(of: deliveries, "outputs would be taken again", mayContain: true)
            + overlaps(of: self.places, "originals would be taken again", mayContain: false)
    }

    /// Where originals move, with the words for who says it.
    var places: [(folder: String, who: String)] {
        folders.compactMap { folder in
            folder.place.map { ($0.folder, "originals of \(folder.path)") }
        }
    }

    /// Where outputs are delivered to, beside `deliver.roots`, with the words for who says it.
    var deliveries: [(folder: String, who: String)] {
        folders.compactMap { folder in
            folder.delivery.map { ($0.folder, "deliver of \(folder.path)") }
        }
            + recipes.all.compactMap { recipe in
                recipe.delivery.map {
                    ($0.folder, "deliver of the recipe \(recipe.name)")
                }
            }
    }

    /// Folders in which files are placed, and that are part of one from which Darkroom takes files, or of one of its own.
    ///
    /// - Parameter mayContain: whether they may contain one.
    private func overlaps(
        of folders: [(folder: String, who: String)], _ consequence: String, mayContain: Bool
    ) -> [String] {
        folders.flatMap { folder, who in
            let place = Self.real(folder)
            return deliveryRules.taken.compactMap { path, what -> String? in
                guard let overlap = Self.overlap(place, Self.real(path)),
                    !mayContain || overlap != "contains"
                else { return nil }
                return "\(who): \(folder) \(overlap) \(what), \(path): \(consequence)"
            }
        }
    }

    /// The path without symbolic links, as far as it exists.
    private static func real(_ path: String) -> FilePath {
        var existing = FilePath(path).lexicallyNormalized()
        var rest: [FilePath.Component] = []
        while true {
            if let pointer = realpath(existing.string, nil) {
                defer { free(pointer) }
                return rest.reversed().reduce(FilePath(String(cString: pointer))) {
                    $0.appending($1)
                }
            }
            guard let last = existing.lastComponent else {
                return FilePath(path).lexicallyNormalized()
            }
            rest.append(last)
            existing.removeLastComponent()
        }
    }

    /// How one path lies to the other; nil if neither contains the other.
    private static func overlap(_ a: FilePath, _ b: FilePath) -> String? {
        if a == b { return "is" }
        if b.starts(with: a) { return "contains" }
        return a.starts(with: b) ? "is part of" : nil
    }
}
