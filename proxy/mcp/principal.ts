// The owner of a session: the identities that the policies of the request have verified. Does not depend on sessions.
import { hash } from 'node:crypto'
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { Exchange } from '../exchange/exchange.ts'

type Claims = Readonly<Record<string, unknown>>

/**
 * A digest of the identity of the client: issuer and subject of its token, its API key, user name and certificate, each
 * where it has one. Clients without any have the same.
 */
export function principalOf({ attributes, connection }: Exchange): string {
  if (attributes === undefined && connection.peer === undefined) return ANONYMOUS
  const parts: unknown[] = []
  const jwt = recordIn(attributes?.['jwt'])
  if (jwt !== undefined) parts.push(['jwt', jwt['iss'], subjectOf(jwt)])
  const apiKey = recordIn(attributes?.['apiKey'])
  if (apiKey !== undefined) parts.push(['apiKey', secretIn(apiKey['key'])])
  const basic = recordIn(attributes?.['basicAuth'])
  if (basic !== undefined) parts.push(['basicAuth', basic['username']])
  const { peer } = connection
  // A renewed certificate is the same client.
  if (peer !== undefined)
    parts.push(['certificate', peer.spiffeId ?? [peer.issuer, peer.subject, peer.subjectAltNames]])
  // Claims may contain integers beyond those of JSON.
  const text = JSON.stringify(parts, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return digestOf(text)
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

const ANONYMOUS = digestOf('[]')

/** Tokens of programs may have no subject; a token without one is its own subject. */
function subjectOf(claims: Claims): unknown {
  return claims['sub'] ?? claims['client_id'] ?? claims['azp'] ?? secretIn(claims['rawToken'])
}

function secretIn(value: unknown): unknown {
  return value instanceof SecretString ? value.unredacted() : value
}

function recordIn(value: unknown): Claims | undefined {
  // Attributes are objects with string keys; see Exchange.attributes.
  return typeof value === 'object' && value !== null ? (value as Claims) : undefined
}
