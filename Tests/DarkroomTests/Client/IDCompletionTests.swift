import DarkroomClient
import Testing

/// What a completion script is given; `CompletionTests` press Tab in real shells.
struct IDCompletionTests {
    private static let ids = [
        "my trip", #"it's \ new"#, "run $(rm)", "`rm`", "a:b=c", "a:d", "new\nline", "\u{FFFD}",
    ]

    @Test(arguments: [
        (IDCompletion.Shell.bash, ["'my trip'", #"'it'\''s \ new'"#, "'a:b=c'", "'a:d'"]),
        (.zsh, ["my trip", #"it's \\ new"#, "run $(rm)", "`rm`", #"a\:b=c"#, #"a\:d"#]),
        (.fish, ["my trip", #"it's \ new"#, "run $(rm)", "`rm`", "a:b=c", "a:d"]),
    ]) func quotesForEachShell(shell: IDCompletion.Shell, expected: [String]) {
        let words = ["darkroom", "show", ""]
        #expect(
            IDCompletion.candidates(Self.ids, words: words, index: 2, for: shell) == expected)
    }

    /// Bash inserts only what comes behind a colon.
    @Test(arguments: [
        (["darkroom", "show", "a", ":"], 3, ["'b=c'", "'d'"]),
        (["darkroom", "show", "a", ":", "b"], 4, ["'b=c'", "'d'"]),
        (["darkroom", "show", "a", ":", "b", "=", ""], 6, ["'c'"]),
        (["darkroom", "show", "x", ":", ""], 4, []),
        (["darkroom", "show"], 2, ["'my trip'", #"'it'\''s \ new'"#, "'a:b=c'", "'a:d'"]),
    ]) func continuesBehindAColon(words: [String], index: Int, expected: [String]) {
        #expect(
            IDCompletion.candidates(Self.ids, words: words, index: index, for: .bash) == expected)
    }

    @Test(arguments: [
        (["darkroom", "show", "--spool", "/s", "x"], "/s"),
        (["darkroom", "show", "--spool=/s", "x"], "/s"),
        (["darkroom", "show", "--spool", "=", "/s", "x"], "/s"),
        (["darkroom", "show", "--spool"], nil), (["darkroom", "show", "x"], nil),
    ]) func findsTheSpool(words: [String], expected: String?) {
        #expect(IDCompletion.spool(in: words) == expected)
    }
}
