import Foundation
import Glibc

/// A headless Chromium, driven by the DevTools protocol over pipes. Used on one thread.
package final class Browser {
    /// What the browser reported without being asked.
    package struct Event {
        package let method: String
        package let parameters: [String: Any]
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// The program; nil if it is not installed.
    package static let path: String? = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
        access($0, X_OK) == 0
    }

    private let process = Process()
    private let scratch: ScratchDirectory
    private let commands: CInt
    private let answers: CInt
    private var received: [UInt8] = []
    private var lastID = 0
    private var session: String?
    package private(set) var events: [Event] = []

    /// Runs `body` with a browser and an empty page, on a thread of its own.
    package static func use(
        _ body: @escaping @Sendable (Browser) throws -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                done.resume(
                    with: Result {
                        let browser = try Browser()
                        defer { browser.stop() }
                        try body(browser)
                    })
            }
        }
    }

    private init() throws {
        guard let path = Self.path else { throw Failure(description: "there is no Chromium") }
        let scratch = try ScratchDirectory()
        self.scratch = scratch
        let names = ["commands", "answers"].map { scratch.url.appending(path: $0).path }
        for name in names where mkfifo(name, 0o600) != 0 {
            throw Failure(description: "mkfifo \(name): \(errno)")
        }
        // Open in both directions, so that neither side waits for the other one.
        commands = Glibc.open(names[0], O_RDWR | O_CLOEXEC)
        answers = Glibc.open(names[1], O_RDWR | O_CLOEXEC)
        guard commands >= 0, answers >= 0 else { throw Failure(description: "open: \(errno)") }
        process.executableURL = URL(filePath: "/bin/bash")
        // The browser's own sandbox needs namespaces that a container or root may not have. The pages are our own.
        process.arguments = [
            "-c", "exec \"$0\" \"${@:3}\" 3<\"$1\" 4>\"$2\"", path, names[0], names[1],
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--user-data-dir=\(scratch.url.appending(path: "profile").path)",
            "--remote-debugging-pipe", "about:blank",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let target = try send("Target.createTarget", ["url": "about:blank"])
        let attached = try send(
            "Target.attachToTarget",
            ["targetId": target["targetId"] as? String ?? "", "flatten": true])
        session = attached["sessionId"] as? String
        for domain in ["Page", "Runtime", "Log", "Network"] { try send("\(domain).enable") }
    }

    private func stop() {
        process.terminate()
        process.waitUntilExit()
        close(commands)
        close(answers)
    }

    /// Sends a command and returns its result.
    @discardableResult
    package func send(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        lastID += 1
        var message: [String: Any] = ["id": lastID, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        try write(Array(try JSONSerialization.data(withJSONObject: message)) + [0])
        while true {
            let answer = try next()
            guard answer["id"] as? Int == lastID else { continue }
            if let error = answer["error"] as? [String: Any] {
                throw Failure(description: "\(method): \(error["message"] ?? "")")
            }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    /// Opens a page, and waits until it is loaded.
    package func open(_ url: String) throws {
        // Only the fragment may differ, and then nothing is loaded.
        try send("Page.navigate", ["url": "about:blank"])
        try wait("Page.loadEventFired")
        try send("Page.navigate", ["url": url])
        try wait("Page.loadEventFired")
    }

    private func wait(_ method: String) throws {
        let known = events.count { $0.method == method }
        while events.count(where: { $0.method == method }) == known { _ = try next() }
    }

    /// The value of an expression.
    package func value<Value>(_ expression: String, as type: Value.Type = Value.self) throws
        -> Value
    {
        let answer = try send(
            "Runtime.evaluate", ["expression": expression, "returnByValue": true])
        let result = answer["result"] as? [String: Any]
        guard let value = result?["value"] as? Value else {
            throw Failure(description: "\(expression): \(answer)")
        }
        return value
    }

    /// Presses and releases a key, such as `ArrowRight`.
    ///
    /// - Parameter text: what the key writes.
    package func press(_ key: String, code: Int, text: String? = nil) throws {
        for type in ["keyDown", "keyUp"] {
            var event: [String: Any] = [
                "type": type, "key": key, "code": key, "windowsVirtualKeyCode": code,
            ]
            if type == "keyDown" { event["text"] = text }
            try send("Input.dispatchKeyEvent", event)
        }
    }

    /// Sets the size of the window in pixels, and whether the user prefers dark colours.
    package func show(width: Int, height: Int, dark: Bool = false) throws {
        try send(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false])
        try send(
            "Emulation.setEmulatedMedia",
            [
                "features": [
                    ["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]
                ]
            ])
    }

    /// The window as a PNG file.
    package func screenshot() throws -> [UInt8] {
        let answer = try send("Page.captureScreenshot", ["format": "png"])
        return (answer["data"] as? String).flatMap { Data(base64Encoded: $0) }.map(Array.init) ?? []
    }

    // MARK: Messages

    private func next() throws -> [String: Any] {
        while true {
            if let end = received.firstIndex(of: 0) {
                let bytes = received[..<end]
                received.removeSubrange(...end)
                let object = try JSONSerialization.jsonObject(with: Data(bytes))
                guard let message = object as? [String: Any] else { continue }
                if let method = message["method"] as? String {
                    events.append(
                        Event(
                            method: method,
                            parameters: message["params"] as? [String: Any] ?? [:]))
                }
                return message
            }
            try receive()
        }
    }

    private func receive() throws {
        var ready = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 60_000) > 0 else {
            throw Failure(description: "the browser does not answer")
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(answers, &buffer, buffer.count)
        if count > 0 { received += buffer.prefix(count) }
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(commands, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(description: "the browser is gone") }
            rest = rest.dropFirst(count)
        }
    }
}
