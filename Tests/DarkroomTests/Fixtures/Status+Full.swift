@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

extension Status {
    /// A status in which each key has a value.
    static var full: Status {
        var counts = Status.Counts(new: 2)
        counts[.new] = 0
        counts[.filtered] = 1
        counts[.failed] = 1
        counts.warnings = 1
        let output = ImageStatus.Output(
            file: "a.png", format: .png, sha256: "00", bytes: 3, width: 4, height: 5, depth: 16,
            channels: 4, quality: 71, ssim: 0.98012)
        var status = Status(
            id: "holiday",
            manifest: .init(
                name: "holiday.json", file: "manifest.json", sha256: "ff", bytes: 9,
                uid: 1000, identity: "12-3.000000004", isFolder: true,
                redacted: .init(bytes: 5, sha256: "beef")),
            state: .completedWithErrors, priority: .high, qualityOfService: .utility,
            times: .init(received: "a", started: "b", finished: "c", workMilliseconds: 4),
            counts: counts,
            errors: [ManifestProblem(code: "syntax", message: "m", path: "p", line: 1, column: 2)],
            commands: [ControlRecord(.hold, time: "d", uid: 1000, file: "12-3.4")], retries: 1,
            images: [
                ImageStatus(
                    name: "a", source: "https://h/a", state: .filtered, output: output, attempts: 1,
                    download: .init(
                        attempts: 2, bytes: 3, cache: "stored",
                        lastError: Failure(code: "timeout", message: "m", isTransient: true),
                        retryAt: "e"), warnings: ["w"], metadata: ["iCCP": "kept"]),
                ImageStatus(
                    name: "b", from: "a", state: .failed, published: false,
                    error: Failure(code: "png-crc", message: "m", isTransient: true)),
            ])
        status.recipes = (try? Recipe(named: "web", text: "{}")).map { [.init($0)] }
        status.errors?[0].suggestion = "s"
        status.waiting = .init(code: "disk-full", message: "m", since: "s")
        status.written = "w"
        status.images[0].made = .stored
        status.images[0].sourceSHA256 = "0f"
        status.images[0].deliveredTo = "/srv/web/a.png"
        status.images[0].originalAt = "/srv/done/é.jpg"
        status.images[0].sourceIdentity = "1-2-3-4.5-6.7"
        status.images[0].variantOf = "v"
        status.images[0].settingsSHA256 = "5e"
        status.images[0].inputsSHA256 = "1e"
        status.images[1].limitsSHA256 = "2e"
        status.images[1].libraries = ["heif": "libheif 1.2, x265 3", "icc": "lcms2 2.14"]
        status.images[0].versionsSHA256 = "7e"
        status.images[0].times = .init(
            downloading: .init(milliseconds: 1), downloaded: .init(milliseconds: 20),
            filtering: .init(milliseconds: 300))
        status.versions = [
            PictureVersions(
                darkroom: "1", libpng: "2", libjpegTurbo: "3", zlib: "4", libdeflate: "5",
                codecs: ["libb": "6, c 7", "liba": "8"])
        ]
        status.shards = .init(count: 16, number: 3)
        return status
    }
}
