// The answer of `/mcp_sessions`: sessions of MCP clients over all workers, without their ids, which are credentials.
import type { components } from '#api/admin/types.gen.ts'
import type { OpenSession, SessionReport } from '../exchange/open-sessions.ts'
import { askAll } from '../trace/ask.ts'
import type { Inspectable } from '../trace/hub.ts'

type Schemas = components['schemas']
type Backend = Schemas['McpSessions']['backends'][number]

/** Listed one by one. */
const SESSIONS_MAX = 200

export async function askSessions(workers: readonly Inspectable[]): Promise<readonly SessionReport[]> {
  const answers = await askAll(workers, { kind: 'mcpSessions' }, 'mcpSessions')
  return answers.map(({ report }) => report)
}

export function mcpSessions(reports: readonly SessionReport[]): Schemas['McpSessions'] {
  const byId = new Map<string, OpenSession>()
  for (const session of reports.flatMap(({ sessions }) => sessions)) {
    const known = byId.get(session.id)
    byId.set(session.id, known === undefined ? session : joined(known, session))
  }
  const sessions = [...byId.values()].sort((a, b) => b.usedMs - a.usedMs)
  return {
    workers: reports.length,
    total: sessions.length,
    isComplete: reports.every((report) => report.sessions.length === report.total),
    backends: backendsOf(sessions),
    sessions: sessions.slice(0, SESSIONS_MAX).map((session) => ({
      id: session.id,
      ...placeOf(session),
      servers: session.servers.map((server) => ({ name: server.name, era: eraOf(server) })),
      client: session.client ?? null,
      opened: session.openedMs === undefined ? null : timeOf(session.openedMs),
      used: timeOf(session.usedMs),
      busy: session.busy,
    })),
  }
}

/** What two workers report of one session. */
function joined(a: OpenSession, b: OpenSession): OpenSession {
  const [one, other] = a.openedMs === undefined ? [b, a] : [a, b]
  return { ...one, usedMs: Math.max(one.usedMs, other.usedMs), busy: one.busy + other.busy }
}

function backendsOf(sessions: readonly OpenSession[]): Backend[] {
  const backends = Map.groupBy(sessions, ({ scope }) => scope)
  return [...backends.values()].map((own) => {
    const servers = new Map<string, { name: string; legacy: number; modern: number }>()
    for (const server of own.flatMap((session) => session.servers)) {
      const count = servers.get(server.name) ?? { name: server.name, legacy: 0, modern: 0 }
      servers.set(server.name, count)
      const era = eraOf(server)
      if (era !== null) count[era]++
    }
    const place = own[0] === undefined ? { gateway: '', route: '', backend: '' } : placeOf(own[0])
    return { ...place, sessions: own.length, servers: [...servers.values()] }
  })
}

/** `null`: the session is without the server. */
function eraOf({ isModern, isSkipped }: OpenSession['servers'][number]): 'legacy' | 'modern' | null {
  if (isSkipped) return null
  return isModern ? 'modern' : 'legacy'
}

function placeOf({ scope }: OpenSession): Pick<Backend, 'gateway' | 'route' | 'backend'> {
  const [gateway = '', route = '', ...backend] = scope.split(' ')
  return { gateway, route, backend: backend.join(' ') }
}

function timeOf(ms: number): string {
  return new Date(Math.round(ms)).toISOString()
}
