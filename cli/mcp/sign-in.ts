// The steps of gw mcp check before the session: challenge, metadata of the resource and of its authorization server,
// PKCE, registration, token (MCP 2025-11-25, "Authorization"; RFC 9728, RFC 8414, RFC 7591, RFC 8707).
import { isRecord } from '#api/json.ts'
import { type Answer, type HttpClient, Unreachable } from './http.ts'
import type { Status, Step, StepName } from './report.ts'
import { sendInitialize } from './session.ts'

export interface SignInOptions {
  readonly http: HttpClient
  readonly url: URL
  /** Gets a step for each check. */
  readonly steps: Step[]
  readonly token: string | undefined
  readonly credentials: Credentials | undefined
  readonly isRegistering: boolean
}

interface Credentials {
  readonly id: string
  readonly secret: string
  readonly scope: string | undefined
}

type Document = Readonly<Record<string, unknown>>

const REDIRECT = 'http://127.0.0.1/callback'
const LATER: readonly StepName[] = ['authorization server metadata', 'PKCE', 'registration', 'token']
const TEXT_MAX = 200

/** undefined: no way leads to a session. `token` undefined: the server requires none. */
export async function checkSignIn(options: SignInOptions): Promise<{ token: string | undefined } | undefined> {
  return new SignIn(options).walk()
}

class SignIn {
  readonly #options: SignInOptions

  constructor(options: SignInOptions) {
    this.#options = options
  }

  async walk(): Promise<{ token: string | undefined } | undefined> {
    const { http, url, token } = this.#options
    const first = await sendInitialize(http, url, undefined)
    if (first.status !== 401) return this.#withoutChallenge(first)
    const resource = await this.#resource(first)
    const server = resource && (await this.#server(resource))
    if (server === undefined) this.#skip(resource === undefined ? LATER : LATER.slice(1))
    else {
      this.#pkce(server)
      await this.#registration(server)
    }
    if (token !== undefined) return { token }
    if (server === undefined || resource === undefined) return undefined
    return this.#token(server, resource)
  }

  #add(step: StepName, status: Status, detail: string, cure?: string): void {
    this.#options.steps.push({ step, status, detail, ...(cure !== undefined && { cure }) })
  }

  #skip(names: readonly StepName[]): void {
    for (const name of names) this.#add(name, 'skipped', 'a previous step failed')
  }

  #withoutChallenge({ status, text }: Answer): { token: string | undefined } | undefined {
    if (status >= 200 && status < 300) {
      const cure = 'set mcpAuthentication (Kubernetes: traffic.jwtAuthentication.mcp) if only known users may use it'
      this.#add('challenge', 'warning', 'the server requires no token: everyone may use its tools', cure)
      return { token: this.#options.token }
    }
    const cure =
      status >= 300 && status < 400
        ? 'use the URL to which it redirects'
        : 'check that this URL is an MCP server over Streamable HTTP, and that a route leads to it'
    this.#add(
      'challenge',
      'fail',
      `status ${status} in place of 401 for a request without a token: ${short(text)}`,
      cure,
    )
    return undefined
  }

  async #resource({ headers }: Answer): Promise<Document | undefined> {
    const { url } = this.#options
    const challenge = headers.get('www-authenticate') ?? ''
    const named = /resource_metadata="([^"]+)"/.exec(challenge)?.[1]
    const cure = 'set mcpAuthentication (Kubernetes: traffic.jwtAuthentication.mcp): it adds the challenge'
    if (named === undefined || !/^bearer /i.test(challenge)) {
      this.#add('challenge', 'warning', '401 without resource_metadata: clients guess the place of the metadata', cure)
    } else this.#add('challenge', 'pass', `401 with resource_metadata ${named}`)
    const places = named === undefined ? guessedPlaces(url, 'oauth-protected-resource') : [named]
    const found = await this.#fetchFirst(
      'resource metadata',
      places,
      'let the route match the well-known paths as well',
    )
    if (found === undefined) return undefined
    const { resource, authorization_servers: servers } = found.document
    if (typeof resource !== 'string' || !isResourceOf(resource, url)) {
      const problem = `resource is ${shown(resource)}, but clients use ${url.href}`
      this.#add('resource metadata', 'fail', problem, 'set resourceMetadata.resource to the URL that clients use')
      return undefined
    }
    if (!Array.isArray(servers) || typeof servers[0] !== 'string') {
      this.#add('resource metadata', 'fail', 'authorization_servers is missing', 'set the issuer of the policy')
      return undefined
    }
    this.#add('resource metadata', 'pass', `${found.place}: authorization server ${servers[0]}`)
    return found.document
  }

  async #server(resource: Document): Promise<Document | undefined> {
    const name = 'authorization server metadata'
    const [issuer] = resource['authorization_servers'] as readonly string[] // checked by #resource
    const base = URL.parse(issuer ?? '')
    if (issuer === undefined || base === null) {
      this.#add(name, 'fail', `the authorization server ${shown(issuer)} is not a URL`, 'set the issuer of the policy')
      return undefined
    }
    const found = await this.#fetchFirst(name, serverPlaces(base), 'check the issuer, and that it serves metadata')
    if (found === undefined) return undefined
    const { document, place } = found
    if (document['issuer'] !== issuer) {
      const problem = `${place} names the issuer ${shown(document['issuer'])}, but clients expect ${issuer}`
      this.#add(name, 'fail', problem, 'set the issuer of the policy exactly as the provider writes it')
      return undefined
    }
    const missing = ['authorization_endpoint', 'token_endpoint'].filter((field) => !isSafeUrl(document[field]))
    if (missing.length > 0) {
      const cure = 'clients send codes and tokens only to https and loopback; check X-Forwarded-Proto behind a proxy'
      this.#add(name, 'fail', `${missing.join(' and ')} must be a URL with https`, cure)
      return undefined
    }
    this.#add(name, 'pass', `${place}: issuer ${issuer}`)
    return document
  }

  #pkce({ code_challenge_methods_supported: methods }: Document): void {
    if (Array.isArray(methods) && methods.includes('S256')) {
      this.#add('PKCE', 'pass', 'S256')
      return
    }
    const cure = 'enable PKCE with S256 at the provider; clients must not sign in without it'
    if (Array.isArray(methods)) this.#add('PKCE', 'fail', `S256 is not in ${shown(methods)}`, cure)
    else this.#add('PKCE', 'warning', 'code_challenge_methods_supported is missing; some clients do not sign in', cure)
  }

  async #registration(server: Document): Promise<void> {
    const { registration_endpoint: endpoint, client_id_metadata_document_supported: isByUrl } = server
    if (typeof endpoint !== 'string') {
      const cure = 'allow registration at the provider, or set clientId of the policy to a client that you created'
      if (isByUrl === true) this.#add('registration', 'pass', 'client ID metadata documents')
      else this.#add('registration', 'fail', 'clients cannot register: registration_endpoint is missing', cure)
      return
    }
    if (!this.#options.isRegistering) {
      this.#add('registration', 'pass', `${endpoint} (not tried; --register registers a client)`)
      return
    }
    const body = JSON.stringify({
      client_name: 'gw mcp check',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    })
    const answer = await this.#sendSafely(endpoint, { method: 'POST', headers: JSON_TYPE, body })
    if (isRecord(answer.json) && typeof answer.json['client_id'] === 'string' && answer.status < 300) {
      this.#add('registration', 'pass', `client ${answer.json['client_id']}`)
      return
    }
    const cure =
      'allow anonymous registration with loopback redirect URIs at the provider, or set clientId of the policy'
    this.#add('registration', 'fail', `${endpoint} returned ${problemOf(answer)}`, cure)
  }

  async #token(server: Document, resource: Document): Promise<{ token: string } | undefined> {
    const { credentials } = this.#options
    if (credentials === undefined) {
      this.#add('token', 'skipped', 'no credential: set --token or --client-id to check the session as well')
      return undefined
    }
    const { id, secret, scope } = credentials
    const form = new URLSearchParams({ grant_type: 'client_credentials', resource: String(resource['resource']) })
    if (scope !== undefined) form.set('scope', scope)
    const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
    const headers = { ...FORM_TYPE, authorization: `Basic ${basic}` }
    const endpoint = String(server['token_endpoint'])
    const answer = await this.#sendSafely(endpoint, { method: 'POST', headers, body: form.toString() })
    const token = isRecord(answer.json) ? answer.json['access_token'] : undefined
    if (typeof token === 'string' && answer.status < 300) {
      this.#add('token', 'pass', `client credentials of ${id}`)
      return { token }
    }
    const cure = 'check the client, its secret (GW_MCP_CLIENT_SECRET), and that it may use client credentials'
    this.#add('token', 'fail', `${endpoint} returned ${problemOf(answer)}`, cure)
    return undefined
  }

  /** The first place with a JSON object; a step that fails if no place has one. */
  async #fetchFirst(
    step: StepName,
    places: readonly string[],
    cure: string,
  ): Promise<{ place: string; document: Document } | undefined> {
    let problem = 'no place to look at'
    for (const place of places) {
      const answer = await this.#sendSafely(place, { headers: { accept: 'application/json' } })
      if (answer.status === 200 && isRecord(answer.json)) return { place, document: answer.json }
      problem = `${place} returned ${answer.status === 200 ? 'something that is not a JSON object' : problemOf(answer)}`
    }
    this.#add(step, 'fail', problem, cure)
    return undefined
  }

  /** Servers other than the MCP server that cannot be reached fail their step. */
  async #sendSafely(url: string, call: Parameters<HttpClient['send']>[1]): Promise<Answer> {
    try {
      return await this.#options.http.send(url, call)
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
      return { status: 0, headers: new Headers(), text: error.message, json: undefined }
    }
  }
}

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }

function guessedPlaces(url: URL, name: string): string[] {
  const path = url.pathname.replace(/\/$/, '')
  const places = [`${url.origin}/.well-known/${name}${path}`, `${url.origin}/.well-known/${name}`]
  return path === '' ? places.slice(1) : places
}

/** In the order of MCP 2025-11-25. */
function serverPlaces(issuer: URL): string[] {
  const path = issuer.pathname.replace(/\/$/, '')
  const inserted = ['oauth-authorization-server', 'openid-configuration'].map(
    (name) => `${issuer.origin}/.well-known/${name}${path}`,
  )
  return path === '' ? inserted : [...inserted, `${issuer.origin}${path}/.well-known/openid-configuration`]
}

/** As the official clients compare: the same origin, and the path or one above. */
function isResourceOf(resource: string, url: URL): boolean {
  const parsed = URL.parse(resource)
  if (parsed?.origin !== url.origin) return false
  return withSlash(url.pathname).startsWith(withSlash(parsed.pathname))
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

function isSafeUrl(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url?.protocol === 'https:') return true
  return url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
}

/** Error responses have no tokens; `error` and `error_description` are for developers (RFC 6749 section 5.2). */
function problemOf({ status, text, json }: Answer): string {
  if (status === 0) return `no response: ${text}`
  const { error, error_description: description } = isRecord(json) ? json : {}
  const reason = [error, description].filter((part) => typeof part === 'string').join(': ')
  return `status ${status}${reason === '' ? '' : ` (${short(reason)})`}`
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : short(JSON.stringify(value))
}

function short(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text
}
