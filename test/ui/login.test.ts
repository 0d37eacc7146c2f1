// The standalone file of docs/ui.md that puts the web UI behind a login: as it stands there, with other ports.
// @module-tag full
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningCommand, startCommand } from '#test/ui/command.testing.ts'

const ROOT = join(import.meta.dirname, '../..')
const PASSWORD = 'a long password'
const PATHS = ['/ui', '/', '/config_dump', '/traffic', '/memory', '/logging', '/debug/route?url=http://localhost/']
/** What pages ask for without a parameter or a body. */
const READ = [...readFileSync(join(ROOT, 'ui/api.ts'), 'utf8').matchAll(/ask\(['`]([\w/]+)/g)].map(([, path]) => path)
/** They need one, or change something. */
const OTHERS = new Set(['effective_policies', 'debug/trace', 'debug/route', 'debug/cel', 'quitquitquit'])
const SETUP_MS = 90_000

const folder = mkdtempSync(join(tmpdir(), 'gw-ui-login-'))
let gateway: RunningCommand

beforeAll(async () => {
  const text = readFileSync(join(ROOT, 'docs/ui.md'), 'utf8')
  const [, file = ''] = /```yaml\n([\s\S]*?)```/.exec(text.slice(text.indexOf('## Behind a login'))) ?? []
  const given = file.replace('port: 8443', 'port: PORT')
  const users = `admin:{SHA}${createHash('sha1').update(PASSWORD).digest('base64')}`
  gateway = await startCommand(join(ROOT, 'cli/main.ts'), folder, { given, environment: { UI_USERS: users } })
}, SETUP_MS)

afterAll(async () => {
  await gateway?.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Asked {
  readonly method?: string
  readonly site?: string
}

async function statusOf(path: string, password?: string, { method = 'GET', site }: Asked = {}): Promise<number> {
  const credentials = Buffer.from(`admin:${password ?? ''}`).toString('base64')
  const headers = {
    ...(password !== undefined && { authorization: `Basic ${credentials}` }),
    ...(site !== undefined && { 'sec-fetch-site': site }),
  }
  const response = await fetch(`${gateway.url}${path}`, { method, headers })
  await response.text()
  return response.status
}

describe('the web UI behind a login', () => {
  it.each(PATHS)('%s needs the password', async (path) => {
    expect([await statusOf(path), await statusOf(path, 'wrong'), await statusOf(path, PASSWORD)]).toEqual([
      401, 401, 200,
    ])
  })

  it('has everything that pages read', async () => {
    expect(READ.length).toBeGreaterThan(5)
    const asked = READ.filter((path) => path !== undefined && !OTHERS.has(path))
    const statuses = await Promise.all(asked.map(async (path) => [path, await statusOf(`/${path}`, PASSWORD)]))
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([])
  })

  it('evaluates for an identity which tools it may call', async () => {
    expect(await statusOf('/debug/mcp_access', PASSWORD, { method: 'POST' })).toBe(400)
  })

  it.each(['/quitquitquit', '/logging?level=trace', '/debug/send'])('POST %s leads nowhere', async (path) => {
    expect(await statusOf(path, PASSWORD, { method: 'POST' })).toBe(404)
  })

  it('is closed for pages of other sites where requests cost something', async () => {
    expect(await statusOf('/debug/route?url=http://localhost/', PASSWORD, { site: 'cross-site' })).toBe(403)
  })
})
