// Backend credentials: puts a key where the backend expects it. A missing secret fails the call, never sends an empty key.
import type { BackendAuth, CredentialLocation, SecretRef } from '#api/ir/types.gen.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpRequest } from '../http/message.ts'
import type { CompiledPolicy } from '../policy/filter.ts'

const DEFAULT_LOCATION: CredentialLocation = { header: { name: 'authorization', prefix: 'Bearer ' } }

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/

type Writer = (request: HttpRequest) => void

export function compileBackendAuth(auth: BackendAuth, secret: (ref: SecretRef) => string | undefined): CompiledPolicy {
  const writers: Writer[] = []
  const missing: string[] = []
  const add = (ref: SecretRef, location: CredentialLocation): void => {
    // Secrets made from files often end with a newline.
    const value = secret(ref)?.trim()
    if (value === undefined || value === '') missing.push(ref.secret)
    else if (CONTROL.test(value)) missing.push(`${ref.secret} (holds control characters)`)
    else writers.push(writerFor(location, value))
  }
  if (auth.key !== undefined) add(auth.key, auth.location ?? DEFAULT_LOCATION)
  for (const { key, location } of auth.credentials ?? []) add(key, location)
  if (missing.length > 0) {
    const detail = `secret ${missing.join(', ')} is missing or unusable`
    return { request: (exchange: Exchange) => exchange.fail('backendAuthFailed', detail) }
  }
  return {
    request: (exchange: Exchange) => {
      for (const write of writers) write(exchange.request)
      return undefined
    },
  }
}

/** Every use of a location replaces what the client sent there. */
function writerFor(location: CredentialLocation, value: string): Writer {
  if (location.header !== undefined) {
    const name = location.header.name.toLowerCase()
    const field = (location.header.prefix ?? '') + value
    return (request) => request.headers.set(name, field)
  }
  if (location.queryParameter !== undefined) {
    const name = encodeURIComponent(location.queryParameter.name)
    const pair = `${name}=${encodeURIComponent(value)}`
    return (request) => {
      const kept = request.query === '' ? [] : request.query.split('&').filter((part) => part.split('=', 1)[0] !== name)
      kept.push(pair)
      request.query = kept.join('&')
    }
  }
  const name = location.cookie?.name ?? ''
  const pair = `${name}=${value}`
  return (request) => {
    const cookies = request.headers
      .getAll('cookie')
      .flatMap((line) => line.split(/; */))
      .filter((part) => part !== '' && part.split('=', 1)[0]?.trim() !== name)
    cookies.push(pair)
    request.headers.set('cookie', cookies.join('; '))
  }
}
