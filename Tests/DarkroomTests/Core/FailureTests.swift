import Testing

@testable import DarkroomCore

struct FailureTests {
    private struct Odd: Error {}

    /// Somebody who meets it knows what to do.
    @Test func anUnexpectedErrorSaysWhatToDo() {
        #expect(
            Failure(erasing: Odd())
                == Failure(
                    code: "internal",
                    message:
                        "an unexpected error: Odd(). A retry may help. Please report it, with this message, the manifest and what darkroom --version prints."
                ))
    }

    /// The step and its detail are one sentence.
    @Test(arguments: [
        (FileError(.open, "a", .ioError), "a: cannot open: Input/output error"),
        (FileError(.link, "a", .fileExists, detail: "to b"), "a: cannot link to b: File exists"),
        (
            FileError(.lost, "a", .notDirectory),
            "a: cannot use it: it was removed or renamed while darkroomd runs: Not a directory"
        ),
    ])
    func aFileErrorIsASentence(error: FileError, message: String) {
        #expect(error.message == message)
    }
}
