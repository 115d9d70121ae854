import Foundation
import TestPictures
import TestSupport

/// The folder of a measurement, in the scratch folder that an option names.
final class WorkFolder: TestFolder {
    let root: URL

    init(_ name: String, in scratch: String) throws {
        root = URL(filePath: scratch).appending(path: "\(name)-\(getpid())").standardizedFileURL
        try FileManager.default.makeFolder(at: root)
    }

    func remove() { try? FileManager.default.removeItem(at: root) }

    /// Draws a sky of 8 bits, and returns its path.
    @discardableResult
    func draw(
        _ scene: Starfield.Scene, _ width: Int, _ height: Int, seed: UInt64 = 7, to name: String
    )
        throws -> String
    {
        try write(
            Starfield(scene: scene, width: width, height: height, seed: seed).maker().encoded,
            to: name)
        return path(name)
    }

    /// Has the command make a JPEG of a PNG, and returns its path.
    func makeJPEG(of png: String) throws -> String {
        try write(
            #"{"output": {"format": "jpeg", "quality": 90}, "images": [{"name": "sky", "source": "\#(png)"}]}"#,
            to: "sky.json")
        _ = try Child.all([
            [Program.command, "run", path("sky.json"), "-o", path("made"), "--quiet"]
        ])
        return path("made/sky.jpg")
    }
}

/// A daemon with a spool of its own, `spool` in the folder of a measurement.
struct MeasuredDaemon {
    let spool: SpoolFixture
    let process: DaemonProcess

    init(in work: WorkFolder, _ settings: [String: String]) async throws {
        try work.makeFolder("spool")
        spool = SpoolFixture(root: work.url("spool"))
        process = try await DaemonProcess.run(spool: spool.path, settings: settings)
    }

    func remove() { try? FileManager.default.removeItem(at: spool.root) }
}
