import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Foundation
import Glibc

/// A folder of pages, which is whole whenever it is there.
///
/// It is made under another name and then renamed:
///
/// | folder                  | state                   | next                                                   |
/// |-------------------------|-------------------------|--------------------------------------------------------|
/// | `.NAME.new-PROCESS`     | being made              | renamed to NAME; after a kill, removed by the next one |
/// | `NAME` with `page.json` | whole                   | renamed to `.NAME.old-PROCESS` when a new one is whole |
/// | `.NAME.old-PROCESS`     | replaced                | removed; after a kill, removed by the next one         |
struct PageFolder: Sendable {
    private static let marker = AnswerPage.marker

    private let target: FileName
    private let parent: Directory

    /// Its path when it is whole.
    var path: String { parent.path(of: target) }

    /// - Throws: if there is a folder of this name that somebody else has made.
    init(_ folder: String) throws(PageError) {
        var path =
            folder.hasPrefix("/")
            ? folder : "\(FileManager.default.currentDirectoryPath)/\(folder)"
        while path.hasSuffix("/") { path.removeLast() }
        let end = path.lastIndex(of: "/") ?? path.startIndex
        let name = path[end...].dropFirst()
        guard !name.isEmpty, name != ".", name != ".." else { throw .noName(folder: folder) }
        target = FileName(String(name))
        do throws(FileError) {
            parent = try Directory(path: end == path.startIndex ? "/" : String(path[..<end]))
        } catch {
            throw .file(error)
        }
        try refuseOther()
    }

    /// A folder that somebody else has made is not replaced.
    private func refuseOther() throws(PageError) {
        do throws(FileError) {
            guard try parent.exists(target) else { return }
            let there = try Directory(target, in: parent)
            if try there.exists(Self.marker) { return }
            guard try !there.names().isEmpty else { return }
        } catch {
            throw .file(error)
        }
        throw .notPages(folder: path)
    }

    /// Makes the folder with the content that `fill` gives it.
    func replace<Value>(_ fill: (Directory) throws -> Value) throws -> Value {
        try removeLeft()
        let name = FileName(".\(target.text).new-\(getpid())")
        try parent.makeDirectory(name)
        do {
            let folder = try Directory(name, in: parent)
            let value = try fill(folder)
            try folder.write(AnswerPage.markerContent, to: Self.marker, durably: false)
            try publish(name)
            return value
        } catch {
            try? parent.removeTree(name)
            throw error
        }
    }

    private func removeLeft() throws(FileError) {
        for name in try parent.names() {
            for word in ["new", "old"] {
                let beginning = ".\(target.text).\(word)-"
                guard name.text.hasPrefix(beginning),
                    let process = pid_t(name.text.dropFirst(beginning.utf8.count)),
                    process != getpid(), kill(process, 0) != 0, errno == ESRCH
                else { continue }
                try parent.removeTree(name)
            }
        }
    }

    private func publish(_ name: FileName) throws(FileError) {
        let old = FileName(".\(target.text).old-\(getpid())")
        var hasOld = false
        if try parent.exists(target) {
            try parent.rename(target, to: parent, as: old)
            hasOld = true
        }
        try parent.rename(name, to: parent, as: target)
        if hasOld { try parent.removeTree(old) }
    }
}
