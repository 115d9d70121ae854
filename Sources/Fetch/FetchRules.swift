import DarkroomCore

/// The rules of what may be fetched from which hosts, and which headers are sent to them.
package struct FetchRules: Sendable, Equatable {
    package var addresses: AddressRules
    package var hosts: HostRules
    package var headers: OriginHeaders
    /// What allows further addresses, as the user knows it.
    package var allowance: String

    package init(
        addresses: AddressRules = AddressRules(), hosts: HostRules = HostRules(),
        headers: OriginHeaders = OriginHeaders(), allowance: String = "downloads.allowNetworks"
    ) {
        self.allowance = allowance
        self.addresses = addresses
        self.hosts = hosts
        self.headers = headers
    }

    package struct Refusal: Sendable, Equatable {
        package var code: FetchError.Code
        /// The text that follows the URL in a message. It contains only the host of the URL.
        package var words: String
    }

    /// Why a host may not be requested, before its name is resolved; nil if it may.
    ///
    /// - Parameter host: in the form of libcurl's URL parser. If it is an address, it is checked as an address.
    package func refusal(host: ByteString) -> Refusal? {
        let name = HostName(host)
        if let rule = hosts.refusal(of: name) {
            return Refusal(code: .hostForbidden, words: "the host \(name) is not allowed: \(rule)")
        }
        if case .address(let address) = name { return refusal(address: address, host: host) }
        guard name.isLocalhost else { return nil }
        // This also applies if a proxy would resolve the name: manifests must not reach services of the proxy's
        // machine.
        let refusals = Self.loopback.map { refusal(address: $0, host: host) }
        return refusals.contains(nil) ? nil : refusals[0]
    }

    /// The addresses of `localhost` (RFC 6761, 6.3): one of them must be allowed.
    private static let loopback = [IPAddress(v4: 0x7F00_0001), IPAddress(v6: 1)]

    /// Why a host may not be connected to at this address, which it has or its name resolves to.
    package func refusal(address: IPAddress, host: ByteString) -> Refusal? {
        guard let kind = addresses.refusal(of: address) else { return nil }
        let name = HostName(host)
        let subject =
            name == .address(address)
            ? "the address \(address)" : "the host \(name) has the address \(address), which"
        let network = "\(address)/\(address.family.bits)"
        return Refusal(
            code: .addressForbidden,
            words:
                "\(subject) is not global unicast (\(kind)); \(allowance) with \(network) can allow it"
        )
    }
}
