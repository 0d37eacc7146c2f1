// Certificates in golden files: inputs name them (`{{certificate web}}`, `{{key web}}`), tests create them, outputs
// name them again. So no key is in the repository, and outputs do not change with every run.
import { certificateFor, type KeyPair } from './certificates.ts'

const PLACEHOLDER = /\{\{(certificate|key) ([a-z0-9-]+)\}\}/g

/** One pair for each name, an authority unless the name begins with `leaf`; the key belongs to the certificate. */
const pairs = new Map<string, KeyPair>()

function textOf(kind: string, name: string): string {
  let pair = pairs.get(name)
  if (pair === undefined) {
    pair = certificateFor({
      commonName: name,
      names: [`DNS:${name}.example.com`],
      isAuthority: !name.startsWith('leaf'),
    })
    pairs.set(name, pair)
  }
  return (kind === 'key' ? pair.privateKey : pair.certificate).trimEnd()
}

/** A copy with PEM instead of the names. */
export function fillPem<T>(value: T): T {
  return mapStrings(value, (text) =>
    text.replaceAll(PLACEHOLDER, (_, kind: string, name: string) => textOf(kind, name)),
  )
}

/** A copy with names instead of the PEM that `fillPem` wrote. */
export function maskPem<T>(value: T): T {
  return mapStrings(value, (text) => {
    let masked = text
    for (const name of text.includes('-----BEGIN') ? pairs.keys() : []) {
      for (const kind of ['certificate', 'key']) masked = masked.replaceAll(textOf(kind, name), `{{${kind} ${name}}}`)
    }
    return masked
  })
}

function mapStrings<T>(value: T, change: (text: string) => string): T {
  // Each branch returns the kind of value that it got, which the type system cannot express.
  if (typeof value === 'string') return change(value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => mapStrings(item, change)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapStrings(part, change)])) as T
}
