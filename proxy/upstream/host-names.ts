// Host names of a configuration as protocols write them: people may use any alphabet, and a dot at the end.
import { domainToASCII } from 'node:url'

const ASCII = /^[\0-\x7f]*$/

/** For Host: A-labels in place of other letters (RFC 5890). ASCII stays as it was written. */
export function asciiOf(host: string): string {
  if (ASCII.test(host)) return host
  const ascii = domainToASCII(host)
  return ascii === '' ? host : ascii
}

/** For SNI, and for the names of certificates: without the dot of a full name (RFC 6066 section 3). */
export function serverNameOf(host: string): string {
  const name = asciiOf(host)
  return name.endsWith('.') ? name.slice(0, -1) : name
}
