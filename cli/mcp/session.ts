// The last steps of gw mcp check, and gw mcp pins: a session of the legacy protocol, or discovery of the protocol of
// 2026-07-28, and the list of tools.
import { isRecord, type JsonRecord, recordOf } from '#api/json.ts'
import { VERSION } from '#api/version.ts'
import { type Answer, type HttpClient, Unreachable } from './http.ts'
import type { Step } from './report.ts'

export interface SessionOptions {
  readonly http: HttpClient
  readonly url: URL
  /** Gets a step for each check. */
  readonly steps: Step[]
  /** undefined: the server requires none. */
  readonly token: string | undefined
}

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'
/** Of servers that do not have `initialize`. */
const MAY_BE_MODERN: ReadonlySet<number> = new Set([200, 400, 404])
const PAGES_MAX = 100
const NAMES_SHOWN_MAX = 10
const CLIENT = { name: 'gw-mcp-check', version: VERSION }
const META = 'io.modelcontextprotocol'

export function sendInitialize(http: HttpClient, url: URL, token: string | undefined): Promise<Answer> {
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT }
  return post(http, url, { message: { id: 1, method: 'initialize', params }, token })
}

export async function openSession({ http, url, steps, token }: SessionOptions): Promise<void> {
  try {
    const session = await anySession(http, url, token)
    if ('problem' in session) {
      steps.push(refusedStep(session))
      steps.push({ step: 'tools', status: 'skipped', detail: 'a previous step failed' })
      return
    }
    steps.push({ step: 'session', status: 'pass', detail: session.server })
    steps.push(await listTools(session))
    await session.end()
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    const cure = 'check that the server runs, or allow more time with --timeout'
    steps.push({ step: 'session', status: 'fail', detail: `the server stopped to answer: ${error.message}`, cure })
  }
}

async function anySession(http: HttpClient, url: URL, token: string | undefined): Promise<Session | Refused> {
  const legacy = await legacySession(http, url, token)
  if (!('problem' in legacy) || !MAY_BE_MODERN.has(legacy.status)) return legacy
  const modern = await modernSession(http, url, token)
  return 'problem' in modern ? legacy : modern
}

function refusedStep({ status, problem }: Refused): Step {
  const cure =
    status === 401 || status === 403
      ? 'check that the token is of the issuer of the policy, has the URL of the server in aud, and is valid'
      : 'read the log of the gateway: its line for this request reports the reason'
  return { step: 'session', status: 'fail', detail: problem, cure }
}

interface Session {
  readonly server: string
  ask(method: string, params: object): Promise<Answer>
  end(): Promise<void>
}

interface Refused {
  readonly status: number
  readonly problem: string
}

async function legacySession(http: HttpClient, url: URL, token: string | undefined): Promise<Session | Refused> {
  const answer = await sendInitialize(http, url, token)
  const result = resultOf(answer)
  if (result === undefined) return refused('initialize', answer)
  const id = answer.headers.get('mcp-session-id')
  const fields = {
    'mcp-protocol-version': String(result['protocolVersion']),
    ...(id !== null && { 'mcp-session-id': id }),
  }
  await post(http, url, { message: { method: 'notifications/initialized' }, token, fields })
  return {
    server: `${nameOf(result['serverInfo'])}, protocol ${String(result['protocolVersion'])}`,
    ask: (method, params) => post(http, url, { message: { id: 2, method, params }, token, fields }),
    async end() {
      if (id !== null) await http.send(url.href, { method: 'DELETE', headers: { ...bearer(token), ...fields } })
    },
  }
}

async function modernSession(http: HttpClient, url: URL, token: string | undefined): Promise<Session | Refused> {
  const ask = (method: string, params: object): Promise<Answer> => {
    const _meta = {
      [`${META}/protocolVersion`]: MODERN,
      [`${META}/clientInfo`]: CLIENT,
      [`${META}/clientCapabilities`]: {},
    }
    const fields = { 'mcp-protocol-version': MODERN, 'mcp-method': method }
    return post(http, url, { message: { id: 2, method, params: { ...params, _meta } }, token, fields })
  }
  const answer = await ask('server/discover', {})
  const result = resultOf(answer)
  if (result === undefined) return refused('server/discover', answer)
  return { server: `${nameOf(result['serverInfo'])}, protocol ${MODERN}`, ask, end: () => Promise.resolve() }
}

async function listTools(session: Session): Promise<Step> {
  const listed = await toolsOf(session)
  return Array.isArray(listed) ? toolsStep(listed.map(({ name }) => String(name))) : { step: 'tools', ...listed }
}

type Failure = Pick<Step, 'status' | 'detail' | 'cure'>

/** All pages. */
async function toolsOf(session: Session): Promise<JsonRecord[] | Failure> {
  const tools: JsonRecord[] = []
  let cursor: unknown = undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await session.ask('tools/list', cursor === undefined ? {} : { cursor })
    const result = resultOf(answer)
    if (!Array.isArray(result?.['tools'])) {
      const cure = 'read the log of the gateway and of the server: they report the reason'
      return { status: 'fail', detail: refused('tools/list', answer).problem, cure }
    }
    tools.push(...(result['tools'] as unknown[]).map(recordOf))
    cursor = result['nextCursor']
    if (cursor === undefined) return tools
  }
  const cure = 'return fewer, larger pages'
  return { status: 'fail', detail: `more than ${PAGES_MAX} pages of tools`, cure }
}

/** The tools of a server; or why they cannot be listed, with the cure. @throws {Unreachable} */
export async function listedTools({
  http,
  url,
  token,
}: Omit<SessionOptions, 'steps'>): Promise<JsonRecord[] | Failure> {
  const session = await anySession(http, url, token)
  if ('problem' in session) return refusedStep(session)
  const tools = await toolsOf(session)
  await session.end()
  return tools
}

function toolsStep(names: readonly string[]): Step {
  const shown = names.slice(0, NAMES_SHOWN_MAX).join(', ')
  const more = names.length > NAMES_SHOWN_MAX ? ', …' : ''
  if (names.length > 0) return { step: 'tools', status: 'pass', detail: `${names.length}: ${shown}${more}` }
  const cure = 'if the server has tools, check the authorization rules: they remove tools that this user may not use'
  return { step: 'tools', status: 'warning', detail: 'the list is empty', cure }
}

interface Message {
  readonly message: { readonly id?: number; readonly method: string; readonly params?: object }
  readonly token: string | undefined
  readonly fields?: Readonly<Record<string, string>>
}

function post(http: HttpClient, url: URL, { message, token, fields = {} }: Message): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...bearer(token),
    ...fields,
  }
  return http.send(url.href, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
}

function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

function resultOf({ status, json }: Answer): Readonly<Record<string, unknown>> | undefined {
  const result = status === 200 && isRecord(json) ? json['result'] : undefined
  return isRecord(result) ? result : undefined
}

function refused(what: string, { status, headers, json }: Answer): Refused {
  const error = isRecord(json) ? json['error'] : undefined
  const message = isRecord(error) && typeof error['message'] === 'string' ? ` (${error['message']})` : ''
  const challenge = /error="([^"]+)"/.exec(headers.get('www-authenticate') ?? '')?.[1]
  return { status, problem: `${what}: status ${status}${message}${challenge === undefined ? '' : ` (${challenge})`}` }
}

function nameOf(info: unknown): string {
  return isRecord(info) && typeof info['name'] === 'string' ? `server ${info['name']}` : 'a server without a name'
}
