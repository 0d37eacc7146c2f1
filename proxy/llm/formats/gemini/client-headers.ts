// Header fields and the beginning of the path that clients of Google send.
import type { HeaderList } from '../../../message/headers.ts'
import type { CredentialKind } from '../../credential-kind.ts'

export const BASE_PATH = '/v1beta'

const VENDOR_HEADERS = ['x-goog-api-client', 'x-goog-user-project', 'x-goog-request-params', 'x-server-timeout']

/** A key becomes a bearer token. */
export function leaveGoogle(headers: HeaderList, credential: CredentialKind): void {
  for (const name of VENDOR_HEADERS) headers.remove(name)
  const key = headers.get('x-goog-api-key')
  if (key === undefined || credential === 'Placed') return
  headers.remove('x-goog-api-key')
  if (!headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
}
