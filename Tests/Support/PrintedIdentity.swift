import Foundation

/// What GNU stat says of a file to whoever is about to submit it: its inode and when it was made.
package func printedIdentity(_ path: String) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/stat")
    process.arguments = ["-c", "%i-%.9W", path]
    process.environment = ["LC_ALL": "C"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output.dropLast(), as: UTF8.self)
}
