import DarkroomCore
import Glibc
import SystemPackage

/// The folder `recipes` beside a configuration: each file `NAME.yaml` in it is a recipe.
package enum RecipeFolder {
    /// The folder of the package's configuration.
    package static let standardPath = "/etc/darkroom/recipes"
    private static let ending = ".yaml"
    /// The maximum size of a recipe. Each status of a batch that uses it contains it.
    package static let maximumBytes = 64 << 10
    package static let maximumCount = 1000

    package struct Content: Sendable {
        /// Sorted by their names.
        package var recipes: [Recipe] = []
        /// What is wrong with others: one line each, with the file and the place in it.
        package var problems: [String] = []

        package init() {}
    }

    /// The folder beside a configuration file.
    package static func path(beside configuration: String) -> String {
        let slash = configuration.utf8.lastIndex(of: UInt8(ascii: "/"))
        return (slash.map { String(Substring(configuration.utf8[...$0])) } ?? "") + "recipes"
    }

    /// Reads all recipes of a folder. A folder that does not exist has none. Files with other extensions are not
    /// recipes, for example those that editors and package managers leave.
    ///
    /// - Parameter limit: the maximum number of filters of a recipe.
    package static func read(_ path: String, limit: Int) -> Content {
        var content = Content()
        let names: [String]
        do throws(FileError) {
            names = try Directory(path: path).names().map(\.text).sorted()
        } catch {
            if error.errno != .noSuchFileOrDirectory {
                content.problems.append("\(path): cannot be read: \(error.errno)")
            }
            return content
        }
        let files = names.filter { !$0.hasPrefix(".") && isMeant($0) }
        guard files.count <= maximumCount else {
            content.problems.append("\(path): \(files.count) recipes; the limit is \(maximumCount)")
            return content
        }
        for file in files { read(file, in: path, limit, &content) }
        return content
    }

    /// Whether a file is a recipe, or was probably meant to be one.
    private static func isMeant(_ name: String) -> Bool {
        [ending, ".yml", ".json", ".plist"].contains { name.hasSuffix($0) }
    }

    private static func read(
        _ name: String, in folder: String, _ limit: Int, _ content: inout Content
    ) {
        let path = "\(folder)/\(name)"
        guard name.hasSuffix(ending) else {
            return content.problems.append("\(path): the name of a recipe ends in \(ending)")
        }
        let recipe = String(name.dropLast(ending.count))
        guard Recipe.isName(recipe) else {
            return content.problems.append(
                "\(path): the name of a recipe has 1 to 100 letters, digits, -, _ and .")
        }
        do {
            let text = try text(of: path)
            content.recipes.append(try Recipe(named: recipe, text: text, limit: limit))
        } catch let error as ManifestRejection {
            content.problems += error.problems.map { "\(path)\($0.placed)" }
        } catch let error as FileError {
            content.problems.append("\(path): cannot be read: \(error.errno)")
        } catch {
            content.problems.append("\(path): \(error)")
        }
    }

    private struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private static func text(of path: String) throws -> String {
        // A fifo does not wait for a writer.
        let file = try Descriptor(opening: path, O_RDONLY | O_NONBLOCK)
        guard try file.information(path: path).isRegularFile else {
            throw Unusable(description: "is not a regular file")
        }
        let bytes = try file.readAll(upTo: maximumBytes, path: path)
        guard bytes.count <= maximumBytes else {
            throw Unusable(description: "has more than \(Units.bytes(maximumBytes))")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Unusable(description: "is not UTF-8 text")
        }
        return text
    }
}

extension ManifestProblem {
    /// `:3:8: filters[0].sepia: message; did you mean ‘…’?`
    fileprivate var placed: String {
        var text = [line, column].compactMap { $0 }.map { ":\($0)" }.joined() + ": "
        if !path.isEmpty { text += "\(path): " }
        text += message
        if let suggestion { text += "; did you mean ‘\(suggestion)’?" }
        return text
    }
}
