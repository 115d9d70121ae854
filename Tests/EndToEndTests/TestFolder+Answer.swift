import DarkroomAnswer
import Foundation
import TestSupport
import Testing

extension TestFolder {
    /// What must hold for every answer that is whole: its counts agree with its images, and its folder has what it says.
    ///
    /// - Parameter others: files and folders that may be there, too.
    func checkAnswer(
        _ status: Status, in folder: String, and others: [String], sourceLocation: SourceLocation
    ) throws {
        #expect(status.state.isFinal, sourceLocation: sourceLocation)
        let counts = status.counts
        #expect(counts.total == status.images.count, sourceLocation: sourceLocation)
        for state in ImageState.allCases {
            #expect(
                counts[state] == status.images.count { $0.state == state },
                sourceLocation: sourceLocation)
        }
        #expect(
            counts.warnings == status.images.count(where: \.isWarned),
            sourceLocation: sourceLocation)
        let outputs = status.images.compactMap(\.output)
        let kept = outputs.map(\.file) + [status.manifest.file].compactMap { $0 }
        let sizes = ResultSizes.areUseful(for: status.images) ? ["sizes.json"] : []
        let all = kept + others + sizes + ["progress.json", "status.json"]
        for (inner, names) in namesInFolders(of: all) {
            #expect(list("\(folder)/\(inner)") == names.sorted(), sourceLocation: sourceLocation)
        }
        let progress = try #require(
            BatchProgress(decoding: try bytes("\(folder)/progress.json")),
            sourceLocation: sourceLocation)
        #expect(
            progress.saysTheSame(as: BatchProgress(of: status)), sourceLocation: sourceLocation)
        let sums = try Checksums.sha256(of: kept, in: path(folder))
        #expect(
            sums == outputs.map(\.sha256) + [status.manifest.copySHA256].compactMap { $0 },
            sourceLocation: sourceLocation)
        for output in outputs {
            let bytes = try bytes("\(folder)/\(output.file)")
            #expect(bytes.count == output.bytes, sourceLocation: sourceLocation)
            let start: [UInt8] =
                switch output.format {
                case .png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
                case .jpeg: [0xff, 0xd8, 0xff]
                case .webp: Array("RIFF".utf8)
                case .avif: [0, 0, 0]
                case .tiff: Array("II*\0".utf8)
                case .jpegXL: [0xff, 0x0a]
                }
            #expect(bytes.starts(with: start), sourceLocation: sourceLocation)
        }
    }
}

/// SHA-256 by another program than the one under test.
enum Checksums {
    /// Hexadecimal, in the order of the files, which are in `folder`.
    static func sha256(of files: [String], in folder: String) throws -> [String] {
        // Without a file the program would read its standard input.
        if files.isEmpty { return [] }
        // -z: names are printed as they are, whatever they hold.
        let (_, output) = try SystemProgram.run(
            "/usr/bin/sha256sum", ["-z", "--"] + files, in: folder)
        return output.split(separator: 0).map { String(decoding: $0.prefix(64), as: UTF8.self) }
    }
}
