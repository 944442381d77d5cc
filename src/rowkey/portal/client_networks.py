"""What stands for one client of a portal."""

import ipaddress


def find_network(address: str) -> str:
    """Return what stands for one client: an IPv4 address, or the network of an IPv6 one.

    A client has all addresses of its /64. Source: RFC 6177, section 2.

    >>> find_network("::ffff:10.0.0.5"), find_network("2001:db8::1"), find_network("")
    ('10.0.0.5', '2001:db8::/64', '')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
