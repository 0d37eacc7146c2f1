// spec.baseURL: the address of a provider and the beginning of its path. Rejects addresses that could reach the proxy.
import { isIP } from 'node:net'

export interface BaseUrl {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** undefined: the provider's own. */
  readonly pathPrefix: string | undefined
}

/** The message says what to write instead. */
export function parseBaseUrl(text: string): BaseUrl | { readonly message: string } {
  const written = /^(https?):\/\/(\[[^\]]*\]|[^/:?#@[\]\s]+)(?::(\d{1,5}))?(\/[^?#\s]*)?$/i.exec(text)
  if (written === null) {
    return { message: 'baseURL must be an http or https URL with a host, without user info, query and fragment' }
  }
  const [, scheme = '', rawHost = '', digits, path = ''] = written
  const isTls = scheme.toLowerCase() === 'https'
  const port = digits === undefined ? (isTls ? 443 : 80) : Number(digits)
  if (port < 1 || port > 65_535) return { message: `baseURL contains port ${port}; a port is 1 to 65535` }
  const host = rawHost.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const fault = hostFault(host, rawHost.startsWith('['))
  if (fault !== undefined) return { message: `${fault}: use an address of the provider that other hosts can reach` }
  const pathPrefix = path.replace(/\/+$/, '')
  return { host, port, isTls, pathPrefix: pathPrefix === '' ? undefined : pathPrefix }
}

function hostFault(host: string, isBracketed: boolean): string | undefined {
  if (isBracketed) return isIP(host) === 6 ? ipv6Fault(host) : `baseURL contains ${host}, which is not an IPv6 address`
  const name = host.replace(/\.$/, '')
  if (name === 'localhost' || name.endsWith('.localhost')) return 'the host of baseURL must not be localhost'
  if (isIP(name) === 4) return ipv4Fault(name)
  // Resolvers treat 2130706433 and 0x7f.1 as addresses, though they look like names.
  const last = name.split('.').at(-1) ?? ''
  if (/^(\d+|0x[0-9a-f]*)$/.test(last)) return `baseURL contains ${host}, an unusual spelling of an address`
  return undefined
}

function ipv4Fault(address: string): string | undefined {
  const [first, second] = address.split('.').map(Number)
  if (first === 0) return 'the host of baseURL must not be an unspecified address'
  if (first === 127) return 'the host of baseURL must not be a loopback address'
  if (first === 169 && second === 254) return 'the host of baseURL must not be a link-local address'
  return undefined
}

function ipv6Fault(address: string): string | undefined {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  if (canonical === '::') return 'the host of baseURL must not be an unspecified address'
  if (canonical === '::1') return 'the host of baseURL must not be a loopback address'
  if (/^fe[89ab]/.test(canonical)) return 'the host of baseURL must not be a link-local address'
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical)
  if (mapped === null) return undefined
  const high = Number.parseInt(mapped[1] ?? '', 16)
  const low = Number.parseInt(mapped[2] ?? '', 16)
  return ipv4Fault([high >> 8, high & 255, low >> 8, low & 255].join('.'))
}
