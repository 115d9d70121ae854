import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture
@testable import DarkroomWork

/// Which files a filter reads at once.
struct FilterInputTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
    }

    private func open(_ bytes: [UInt8]) throws -> Descriptor {
        try Data(bytes).write(to: scratch.url.appending(path: "file"))
        return try Directory(path: scratch.path).open("file")
    }

    /// A file with this length.
    private func found(_ bytes: Int) -> FilterInput.Found {
        var information = stat()
        information.st_size = bytes
        return FilterInput.Found(information: information, identity: nil)
    }

    private func isContent(_ input: borrowing FilterInput) -> Bool {
        if case .content = input.picture { true } else { false }
    }

    @Test(arguments: [0, 1, PictureInput.mostBytes, PictureInput.mostBytes + 1])
    func smallFilesAreReadAtOnce(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 5) }
        let input = try FilterInput(try open(bytes), path: "x")
        let isRead = isContent(input)
        #expect(isRead == (count <= PictureInput.mostBytes))
        let source = try input.source(path: "x")
        #expect(source == .init(sha256: SHA256Digest.hex(of: bytes)))
        if case .content(let content) = input.picture { #expect(content == bytes) }
    }

    /// One that has another length than it had when it was opened is left to the reader, from its beginning.
    @Test(arguments: [-1, 1]) func changedFilesAreNot(difference: Int) throws {
        let bytes = [UInt8](repeating: 7, count: 100)
        let input = try FilterInput(try open(bytes), found(100 - difference), path: "x")
        let isRead = isContent(input)
        #expect(!isRead)
        guard case .file(let file) = input.picture else { return }
        #expect(lseek(file.rawValue, 0, SEEK_CUR) == 0)
    }

    @Test func aFailureNamesTheFileAndTheStep() throws {
        let number = Glibc.open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(number >= 0)
        let folder = Descriptor(owning: number)
        var failure: (any Error)?
        do {
            _ = try FilterInput(folder, found(10), path: "x")
        } catch {
            failure = error
        }
        #expect(
            failure as? PictureError
                == PictureError(
                    .readFailed, "x: reading the file: Is a directory", isTransient: true))
    }
}
