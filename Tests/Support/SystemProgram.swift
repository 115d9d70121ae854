import Foundation

/// A program of the machine, run to its end.
package enum SystemProgram {
    /// - Returns: its exit status, and what it wrote to its standard output. Its standard error goes nowhere.
    package static func run(
        _ path: String, _ arguments: [String], in folder: String = "/",
        environment: [String: String]? = nil
    ) throws -> (status: Int32, output: Data) {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: folder)
        if let environment { process.environment = environment }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }
}
