// A token endpoint for samples: identity provider, authorization server of an application, and token exchange. The
// tokens that it issues show what it was asked, so that a case can read them behind the proxy.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { isRecord, parseJson } from '#api/json.ts'

const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const JWT_PARTS = 3

/** What an access token shows. */
export interface ShownRequest {
  readonly path: string
  /** Names of the client authentication are left out. Repeated fields are joined by a comma. */
  readonly form: Readonly<Record<string, string>>
  /** `basic ID`, `post ID`, `none`, or header and claims of the JWT of the client. */
  readonly client: unknown
}

/** Secrets of clients by their names; a client without an entry sends no secret. */
const CLIENTS: ReadonlyMap<string, string> = new Map([
  ['gateway', 'gateway-secret'],
  ['gateway-at-app', 'app-secret'],
])

/** Answers for the subjects `refused` with 400 and `broken` with 500; every other subject gets a token. */
export const tokenEndpoint: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => answer(request, new URLSearchParams(Buffer.concat(chunks).toString('utf8')), response))
}

/** Reads `Bearer TOKEN`. @throws {Error} for a token of another origin */
export function shownBy(authorization: string | undefined): ShownRequest {
  const shown = parseJson(Buffer.from((authorization ?? '').slice('Bearer at.'.length), 'base64url').toString('utf8'))
  if (!isRecord(shown)) throw new Error(`not a token of the endpoint: ${authorization}`)
  return shown as unknown as ShownRequest // what answer() below has written
}

function answer(request: IncomingMessage, form: URLSearchParams, response: ServerResponse): void {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const client = clientOf(request, form)
  const subject = form.get('subject_token') ?? form.get('assertion') ?? ''
  if (client === undefined) send(401, { error: 'invalid_client' })
  else if (subject === 'refused') send(400, { error: 'invalid_grant', error_description: subject })
  else if (subject === 'broken') send(500, { error: 'server_error' })
  else if (form.get('requested_token_type') === ID_JAG) {
    send(200, { access_token: `jag.${seen(request, form, client)}`, issued_token_type: ID_JAG, token_type: 'N_A' })
  } else send(200, { access_token: `at.${seen(request, form, client)}`, token_type: 'Bearer', expires_in: 300 })
}

function seen({ url: path = '' }: IncomingMessage, form: URLSearchParams, client: unknown): string {
  const fields = [...new Set(form.keys())].filter((name) => !name.startsWith('client_'))
  const shown = { path, form: Object.fromEntries(fields.map((name) => [name, form.getAll(name).join(',')])), client }
  return Buffer.from(JSON.stringify(shown)).toString('base64url')
}

/** undefined: not the secret of this client. */
function clientOf({ headers }: IncomingMessage, form: URLSearchParams): unknown {
  const { authorization } = headers
  const assertion = form.get('client_assertion')?.split('.')
  if (assertion?.length === JWT_PARTS) {
    return assertion.slice(0, 2).map((part) => parseJson(Buffer.from(part, 'base64url').toString('utf8')))
  }
  if (authorization?.startsWith('Basic ') === true) {
    const pair = Buffer.from(authorization.slice('Basic '.length), 'base64').toString('utf8')
    const [id = '', secret] = pair.split(':')
    return CLIENTS.get(id) === secret ? `basic ${id}` : undefined
  }
  const [id, secret] = [form.get('client_id'), form.get('client_secret')]
  if (id === null) return 'none'
  return secret === null || CLIENTS.get(id) === secret ? `post ${id}` : undefined
}
