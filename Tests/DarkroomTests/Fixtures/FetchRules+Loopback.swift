@testable import DarkroomFetch

extension FetchRules {
    /// The default, and this machine itself, where the tests' origins are.
    static let loopback = FetchRules(
        addresses: AddressRules(allowNetworks: [
            IPNetwork(base: IPAddress(v4: 0x7F00_0000), prefix: 8)
        ]))
}
