import Testing

@testable import DarkroomCore

@Suite struct FailureTests {
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
}
