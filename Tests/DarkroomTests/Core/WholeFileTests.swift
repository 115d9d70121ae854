import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures

/// Files without a length, and streams that are not ready.
final class WholeFileTests: FolderSuite {
    private var path: String { scratch.path + "/file" }

    /// The reader is never ahead of the writer, so that each read gets less than it asks for.
    private func feed(_ bytes: [UInt8], pieces: Int, into path: String) {
        Thread.detachNewThread {
            let file = open(path, O_WRONLY | O_CLOEXEC)
            for start in stride(from: 0, to: bytes.count, by: pieces) {
                let piece = Array(bytes[start..<min(start + pieces, bytes.count)])
                _ = StandardStream.write(piece, to: file)
            }
            close(file)
        }
    }

    @Test(arguments: [1, 100, 4095, 5000]) func aPipeIsReadToItsEnd(pieces: Int) throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        #expect(mkfifo(path, 0o600) == 0)
        feed(pieces == 1 ? Array(bytes.prefix(999)) : bytes, pieces: pieces, into: path)
        let read = try WholeFile.bytes(of: path, upTo: 1 << 20)
        #expect(read == (pieces == 1 ? Array(bytes.prefix(999)) : bytes))
    }

    /// A table of the kernel has no length, and comes in pages.
    @Test func aTableOfTheKernelIsReadToItsEnd() throws {
        let text = try #require(WholeFile.kernelText("/proc/self/smaps"))
        #expect(text.utf8.count > 10_000)
        #expect(text.hasSuffix("\n"))
        #expect(text.contains("VmFlags"))
        #expect(WholeFile.kernelText(path) == nil)
    }

    /// At once: nobody reads the zeros of a hole.
    @Test func aLongerFileIsAnError() throws {
        let file = try folder.create("file")
        try file.truncate(to: 1 << 40, path: path)
        let error = FileError(.read, path, .fileTooLarge, detail: "more than 4 MiB of it")
        #expect(throws: error) { try WholeFile.bytes(of: path, upTo: 4 << 20) }
        #expect(error.message == "\(path): cannot read more than 4 MiB of it: File too large")
        #expect(error.code == "file-too-large")
        #expect(throws: FileError.tooLong(path, limit: FileLimit.other)) {
            try folder.read("file")
        }
    }

    @Test func aLongerPipeIsAnError() throws {
        #expect(mkfifo(path, 0o600) == 0)
        feed([UInt8](repeating: 0, count: 5000), pieces: 1000, into: path)
        #expect(throws: FileError.tooLong(path, limit: 4999)) {
            try WholeFile.bytes(of: path, upTo: 4999)
        }
    }

    @Test func aFileOfTheLimitIsRead() throws {
        try Data(count: 5000).write(to: scratch.url.appending(path: "file"))
        #expect(try WholeFile.bytes(of: path, upTo: 5000).count == 5000)
        #expect(throws: FileError.tooLong(path, limit: 4999)) {
            try WholeFile.bytes(of: path, upTo: 4999)
        }
        #expect(throws: FileError(.open, "\(path).none", .noSuchFileOrDirectory)) {
            try WholeFile.bytes(of: "\(path).none", upTo: 1)
        }
    }

    // MARK: Streams that do not block

    /// A pipe that does not block, on either side.
    private final class Pipe: Sendable {
        let reader: CInt
        let writer: CInt

        init() throws {
            var numbers: [CInt] = [-1, -1]
            try #require(Glibc.pipe(&numbers) == 0)
            (reader, writer) = (numbers[0], numbers[1])
            for number in numbers {
                _ = fcntl(number, F_SETFL, O_NONBLOCK)
                _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            }
        }

        deinit {
            close(reader)
            close(writer)
        }
    }

    /// The pipe has room for 64 KiB, and its reader begins when it is full.
    @Test func aWriteWaitsForTheReader() throws {
        let pipe = try Pipe()
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let ended = DispatchSemaphore(value: 0)
        let read = Mutex<[UInt8]>([])
        let count = bytes.count
        Thread.detachNewThread {
            var entry = pollfd(fd: pipe.writer, events: Int16(POLLOUT), revents: 0)
            repeat { usleep(1000) } while poll(&entry, 1, 0) == 1
            var buffer = [UInt8](repeating: 0, count: 10_000)
            while read.withLock({ $0.count }) < count {
                let count = Glibc.read(pipe.reader, &buffer, buffer.count)
                if count > 0 { read.withLock { $0 += buffer[..<count] } }
            }
            ended.signal()
        }
        #expect(StandardStream.write(bytes, to: pipe.writer) == nil)
        ended.wait()
        #expect(read.withLock { $0 } == bytes)
    }

    @Test func aReadWaitsOnlyIfItIsTold() throws {
        let pipe = try Pipe()
        let reader = Descriptor(owning: dup(pipe.reader))
        let error = #expect(throws: FileError.self) {
            try reader.readAll(upTo: 100, path: "p")
        }
        #expect(error?.errno == .resourceTemporarilyUnavailable)
        Thread.detachNewThread {
            usleep(20_000)
            _ = StandardStream.write([1, 2], to: pipe.writer)
            usleep(20_000)
            _ = StandardStream.write([3], to: pipe.writer)
        }
        #expect(try reader.readAll(upTo: 2, path: "p", waits: true) == [1, 2, 3])
    }

    @Test func aWriteThatCannotSucceedEnds() throws {
        let pipe = try Pipe()
        #expect(StandardStream.write([1], to: pipe.reader) == .badFileDescriptor)
    }

    // MARK: Folders

    @Test func aListOfNamesEnds() throws {
        for number in 0..<100 { try Data().write(to: scratch.url.appending(path: "\(number)")) }
        #expect(try folder.names(atMost: 30).count == 30)
        #expect(try folder.names(atMost: 100).count == 100)
        #expect(try folder.names().count == 100)
    }
}
