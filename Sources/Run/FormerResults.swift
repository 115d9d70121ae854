import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import SystemPackage

/// The former results of images that a renewal makes again: `formers.jsonl` in `active/ID`, an object in each line. A run
/// that continues the renewal needs them: its status has these images as new ones.
struct FormerResults: Sendable {
    static let fileName: FileName = "formers.jsonl"

    struct Entry: Codable, Sendable {
        let index: Int
        let reason: String
        let former: FormerResult
    }

    private(set) var entries: [Int: Entry] = [:]

    init() {}

    init(_ result: ImageComparison.Result) {
        for (index, former) in result.formers {
            guard case .made(let reason) = result.verdicts[index] else { continue }
            entries[index] = Entry(index: index, reason: reason.rawValue, former: former)
        }
    }

    /// Reads what is in the folder. What cannot be read is left out: its image is made without a comparison.
    init(in folder: Directory) throws(FileError) {
        let bytes = try ignoringMissing(folder.read(Self.fileName))
        let decoder = JSONDecoder()
        for line in (bytes ?? []).split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? decoder.decode(Entry.self, from: Data(line)) else { continue }
            entries[entry.index] = entry
        }
    }

    func write(in folder: Directory, durably: Bool) throws(FileError) {
        if entries.isEmpty { return }
        let lines = JSONLines()
        let sorted = entries.values.sorted { $0.index < $1.index }
        try folder.writeLines(of: sorted, to: Self.fileName, durably: durably) {
            lines.append($0, to: &$1)
        }
    }

    /// By the indices of the images.
    var byImage: [Int: FormerResult] { entries.mapValues(\.former) }
}

extension FormerResults.Entry {
    /// What became of the image.
    enum Ending: Equatable {
        /// It has another result.
        case made
        /// It has the former one, which is that of now.
        case stood
        /// It has the former one, because its source could not be had.
        case stoodAlone(StandReason)
    }

    var makeReason: MakeReason? { MakeReason(rawValue: reason) }

    /// - Parameter image: after the run.
    func ending(of image: ImageStatus) -> Ending {
        let old = former.image
        guard image.state == .filtered, image.output == old.output,
            image.sourceSHA256 == old.sourceSHA256, image.inputsSHA256 == old.inputsSHA256
        else { return .made }
        let isOld =
            switch makeReason {
            case .settings: image.settingsSHA256 == old.settingsSHA256
            case .versions: image.versionsSHA256 == old.versionsSHA256
            default: image.download.map { $0.lastError != nil && $0.bytes == nil } ?? false
            }
        if isOld { return .stoodAlone(image.download == nil ? .unreadable : .unasked) }
        return former.isComparable ? .stood : .made
    }
}
