// Backend credentials: puts a key, or the client's own token, where the backend expects it. A missing secret fails the
// call, never sends an empty key.
import { SecretString } from '#api/cel/values/secret-string.ts'
import type { BackendAuth, CredentialLocation, SecretRef } from '#api/ir/types.gen.ts'
import { removeCookie, withoutQueryParameter, withQueryParameter } from '../auth/request-fields.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { HttpRequest } from '../message/message.ts'
import type { CompiledPolicy } from '../chain/filter.ts'

const DEFAULT_LOCATION: CredentialLocation = { header: { name: 'authorization', prefix: 'Bearer ' } }

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

type Writer = (request: HttpRequest, value: string) => void

export function compileBackendAuth(auth: BackendAuth, secret: (ref: SecretRef) => string | undefined): CompiledPolicy {
  const writers: ((exchange: Exchange) => void)[] = []
  const missing: string[] = []
  /** Where credentials come from, for traces. */
  const named: string[] = []
  const add = (ref: SecretRef, location: CredentialLocation): void => {
    // Secrets made from files often end with a newline.
    const value = secret(ref)?.trim()
    if (value === undefined || value === '') missing.push(ref.secret)
    else if (CONTROL.test(value)) missing.push(`${ref.secret} (contains control characters)`)
    else {
      const write = writerFor(location)
      writers.push(({ request }) => write(request, value))
      named.push(ref.secret)
    }
  }
  if (auth.passthrough === true) {
    writers.push(passthrough(writerFor(auth.location ?? DEFAULT_LOCATION)))
    named.push('the verified token')
  }
  if (auth.key !== undefined) add(auth.key, auth.location ?? DEFAULT_LOCATION)
  for (const { key, location } of auth.credentials ?? []) add(key, location)
  const places = `adds the credential of ${named.join(', ')}`
  if (missing.length > 0) {
    const detail = `secret ${missing.join(', ')} is missing or unusable`
    const told = { log: detail, client: 'the credential is missing or unusable' }
    return { request: (exchange: Exchange) => exchange.fail('backendAuthFailed', told) }
  }
  return {
    request: (exchange: Exchange) => {
      for (const write of writers) write(exchange)
      exchange.trace?.note(places)
      return undefined
    },
  }
}

/**
 * The token that a JWT policy verified and removed. Only of a JWT policy: without its claims there is nothing to send,
 * and what the client sent without being checked is not touched.
 */
function passthrough(write: Writer): (exchange: Exchange) => void {
  return ({ request, attributes }) => {
    const claims = attributes?.['jwt']
    if (typeof claims !== 'object' || claims === null || !('rawToken' in claims)) return
    if (claims.rawToken instanceof SecretString) write(request, claims.rawToken.unredacted())
  }
}

const COOKIE = ['cookie']

/** Every use of a location replaces what the client sent there. */
function writerFor(location: CredentialLocation): Writer {
  if (location.header !== undefined) {
    const name = location.header.name.toLowerCase()
    const prefix = location.header.prefix ?? ''
    const hidden = [name]
    return (request, value) => {
      request.headers.set(name, prefix + value)
      request.hideFields(hidden)
    }
  }
  if (location.queryParameter !== undefined) {
    const { name } = location.queryParameter
    return (request, value) => {
      request.loggedQuery = withoutQueryParameter(request.loggedQuery ?? request.query, name)
      request.query = withQueryParameter(request.query, name, value)
    }
  }
  const name = location.cookie?.name ?? ''
  return (request, value) => {
    const { headers } = request
    request.hideFields(COOKIE)
    removeCookie(headers, name)
    const kept = headers.get('cookie')
    headers.set('cookie', `${kept === undefined ? '' : `${kept}; `}${name}=${value}`)
  }
}
