// Puts a credential where the backend expects it. Every use of a place replaces what the client sent there.
import type { CredentialLocation } from '#api/ir/types.gen.ts'
import { removeCookie, withoutQueryParameter, withQueryParameter } from '../../auth/request-fields.ts'
import type { HttpRequest } from '../../message/message.ts'

export const DEFAULT_LOCATION: CredentialLocation = { header: { name: 'authorization', prefix: 'Bearer ' } }

const COOKIE = ['cookie']

export type CredentialWriter = (request: HttpRequest, value: string) => void

/** Logs do not show what it writes. */
export function writerFor(location: CredentialLocation): CredentialWriter {
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
