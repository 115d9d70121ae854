import Foundation

/// What GNU stat says of a file to whoever is about to submit it: its inode and when it was made.
package func printedIdentity(_ path: String) throws -> String {
    let (_, output) = try SystemProgram.run(
        "/usr/bin/stat", ["-c", "%i-%.9W", path], environment: ["LC_ALL": "C"])
    return String(decoding: output.dropLast(), as: UTF8.self)
}
