import Foundation
import Glibc
import TestSupport
import Testing

/// A hot folder whose file system is unmounted and comes back: each picture has exactly one answer, and nothing is
/// concluded from the time in between.
@Suite(.fewAtATime) struct HotFolderMountTests {
    private static let lost = "; no picture in it is taken for gone"

    /// A part of a file system that stays: watches live on, and the folder has another content.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"))
    func aBoundFolderGoesAndReturns() async throws {
        let disk = try SmallDisk(kilobytes: 4096)
        try await check { fixture in
            guard mount(disk.root.path, fixture.folder, nil, UInt(MS_BIND), nil) == 0 else {
                throw POSIXError(.init(rawValue: errno) ?? .EPERM)
            }
        } fill: { body in
            try body(disk.root.path)
        }
    }

    /// A whole file system, whose end inotify reports.
    @Test(.enabled(if: DiskImage.isAvailable, "only root can mount, and needs loop devices"))
    func aDiskGoesAndReturns() async throws {
        let image = try DiskImage()
        try await check { fixture in
            try image.mount(at: fixture.folder)
        } fill: { body in
            let other = try ScratchDirectory()
            try image.mount(at: other.path)
            defer { umount2(other.path, 0) }
            try body(other.path)
        }
    }

    /// - Parameters:
    ///   - mount: mounts the file system at the hot folder.
    ///   - fill: calls its parameter with a path at which the file system is mounted meanwhile.
    private func check(
        mount: (HotFolderFixture) throws -> Void, fill: ((String) throws -> Void) throws -> Void
    ) async throws {
        let fixture = try HotFolderFixture()
        let settings = [
            "inbox.rescan": "300ms", "metrics.textfile": "\(fixture.scratch.path)/d.prom",
            "metrics.interval": "1s",
        ]
        try fill { path in
            for index in 0..<3 { try Self.put("\(index).png", index, in: path) }
        }
        try mount(fixture)
        defer { umount2(fixture.folder, CInt(MNT_DETACH)) }
        var daemon = try await fixture.run(settings)
        var all = (0..<3).map { "\($0).png" }
        try await fixture.expectAnswers(all, daemon)
        try await waitForMetrics(fixture, daemon, isUp: 1, taken: 3)

        for round in 0..<3 {
            let isRestarted = round == 1
            try await unmount(fixture, daemon)
            let report = try await fixture.waitForReport(daemon, "another folder") {
                $0.message?.hasPrefix("it is another folder than before") == true
            }
            #expect(report.state == .watching && report.remembered == all.count)
            try await waitForMetrics(fixture, daemon, isUp: 0, taken: nil)
            // Several listings later, all are still remembered, and it was said once.
            try await Task.sleep(for: .seconds(1))
            #expect(try fixture.report()?.folders.first?.remembered == all.count)
            let said = daemon.outputText.components(separatedBy: Self.lost).count - 1
            // By this daemon: the second one finds it unmounted.
            #expect(said == (round == 0 ? 1 : 2), "\(daemon.describe())")
            if isRestarted {
                #expect(try await daemon.stop() == .exited(0))
                daemon = try await fixture.run(settings)
                // Its report may still be that of the daemon before.
                try await daemon.says(Self.lost)
                try await fixture.waitForReport(daemon, "another folder") {
                    $0.message != nil && $0.remembered == all.count
                }
            }
            let new = "new-\(round).png"
            try fill { path in
                try Self.put(new, 10 + round, in: path)
                // One that was taken gets another name.
                if round == 2 { #expect(rename("\(path)/0.png", "\(path)/zero.png") == 0) }
            }
            try mount(fixture)
            all.append(new)
            try await fixture.expectAnswers(all, daemon)
            try await fixture.waitForReport(daemon, "its return") {
                $0.state == .watching && $0.message == nil && $0.remembered == all.count
            }
            try await waitForMetrics(fixture, daemon, isUp: 1, taken: nil)
        }
        // Whoever would come late is here.
        try Self.put("last.png", 99, in: fixture.folder)
        try await fixture.expectAnswers(all + ["last.png"], daemon)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Between two looks the folder is not open.
    private func unmount(_ fixture: HotFolderFixture, _ daemon: DaemonProcess) async throws {
        try await eventually("the end of the mount", context: { daemon.describe() }) {
            umount2(fixture.folder, 0) == 0 ? true : nil
        }
    }

    private func waitForMetrics(
        _ fixture: HotFolderFixture, _ daemon: DaemonProcess, isUp: Double, taken: Double?
    ) async throws {
        let path = "\(fixture.scratch.path)/d.prom"
        let label = ["folder": fixture.folder]
        try await daemon.waitUntil("metrics of the folder") { _ in
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                return false
            }
            let found = try Exposition(text)
            let count = try found.value("darkroom_hot_folder_taken_total", label)
            return try found.value("darkroom_hot_folder_up", label) == isUp
                && (taken == nil || count == taken)
        }
    }

    private static func put(_ name: String, _ seed: Int, in folder: String) throws {
        let part = "\(folder)/\(name).part"
        try HotFolderFixture.picture(seed).write(to: URL(filePath: part))
        #expect(rename(part, "\(folder)/\(name)") == 0)
    }
}

/// A small file system in a file. Only root may mount it.
private final class DiskImage: Sendable {
    private let scratch: ScratchDirectory
    private var path: String { "\(scratch.path)/disk" }

    static let isAvailable: Bool = {
        guard geteuid() == 0, let image = try? DiskImage(), let place = try? ScratchDirectory(),
            (try? image.mount(at: place.path)) != nil
        else { return false }
        umount2(place.path, 0)
        return true
    }()

    init() throws {
        scratch = try ScratchDirectory()
        try Self.run("truncate", "-s", "8M", path)
        try Self.run("mkfs.ext4", "-q", "-F", path)
    }

    func mount(at folder: String) throws { try Self.run("mount", "-o", "loop", path, folder) }

    private static func run(_ words: String...) throws {
        let (status, _) = try SystemProgram.run(
            "/usr/bin/env", ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + words)
        guard status == 0 else { throw POSIXError(.EIO) }
    }
}
