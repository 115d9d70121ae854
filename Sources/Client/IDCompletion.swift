import DarkroomAnswer
import DarkroomCore

/// The IDs that a shell offers for a word of a command line.
package enum IDCompletion {
    package enum Wanted: Sendable {
        case unfinished, finished, all
    }

    package enum Shell: String, Sendable, CaseIterable {
        case bash, zsh, fish
    }

    /// The IDs of the wanted batches. It reads `queue.json` and the names in the outbox, but no status, so it takes no
    /// longer if there are many batches. What cannot be read gives no IDs: a shell has no place for errors.
    package static func ids(_ wanted: Wanted, in spool: SpoolFolder) -> [String] {
        let queue = (try? spool.queue()).flatMap { $0 }
        let unfinished = queue?.batches.map(\.id)
        if wanted == .unfinished, let unfinished { return unfinished }
        let all = (try? spool.batchIDs()) ?? []
        guard wanted == .finished, let unfinished else { return all }
        let known = Set(unfinished.map { ByteString($0) })
        return all.filter { !known.contains(ByteString($0)) }
    }

    /// The IDs in the form in which the completion script of a shell takes them. The shell chooses those that fit.
    ///
    /// - Parameters:
    ///   - words: the words of the command line, as they are written.
    ///   - index: the place of the word that is completed.
    package static func candidates(
        _ ids: [String], words: [String], index: Int, for shell: Shell?
    ) -> [String] {
        // A script reads one line for each.
        let ids = ids.filter { id in
            !id.isEmpty
                && !id.unicodeScalars.contains {
                    $0.properties.generalCategory == .control || $0 == "\u{FFFD}"
                }
        }
        switch shell {
        case .bash:
            let head = bashHead(words, index)
            // It inserts a dollar sign without quotes and so would run the commands in a name.
            return ids.filter { $0.hasPrefix(head) && !$0.contains("$") && !$0.contains("`") }
                // It expands the words of the list.
                .map { String($0.dropFirst(head.count)).singleQuoted }
        case .zsh:
            // A colon begins the description.
            return ids.map { $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:") }
        case .fish, nil: return ids
        }
    }

    /// Bash takes a colon and an equals sign for words of their own, and completes only what follows. This is what
    /// precedes it.
    private static func bashHead(_ words: [String], _ index: Int) -> String {
        func isBreak(_ place: Int) -> Bool { words[place] == ":" || words[place] == "=" }
        guard words.indices.contains(index) else { return "" }
        var place = isBreak(index) ? index + 1 : index
        var head = ""
        while place >= 2, isBreak(place - 1) {
            head = words[place - 2] + words[place - 1] + head
            place -= 2
        }
        return head
    }

    package static func spool(in words: [String]) -> String? {
        let option = "--spool"
        if let word = words.last(where: { $0.hasPrefix("\(option)=") }) {
            return String(word.dropFirst(option.count + 1))
        }
        guard let place = words.lastIndex(of: option), place + 1 < words.count else { return nil }
        // Bash has split it at the equals sign.
        let next = words[place + 1] == "=" ? place + 2 : place + 1
        return next < words.count ? words[next] : nil
    }
}
