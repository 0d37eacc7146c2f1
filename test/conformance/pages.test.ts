// The output on the pages of docs/policies is real: every command of a page runs against its sample and must print the
// output of the page. Requires bash and curl.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consoleBlocks, type Step, stepsOf } from '../console-steps.ts'
import { deviationFrom } from '../pages/tested-pages.ts'
import { applySample, type SampleGateway } from './suite/gateway.ts'
import { startSampleProxy, type SampleProxy } from './suite/process.ts'
import { SAMPLE_PORTS, startUpstreams, type Upstreams } from './suite/upstreams.ts'

const PAGES = join(import.meta.dirname, '..', '..', 'docs', 'policies')
const LISTENER_PORT = 8080
const MARK = '\u0001'

const pages = readdirSync(PAGES)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => file.slice(0, -'.md'.length))

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'gw-pages-'))
let upstreams: Upstreams
let proxy: SampleProxy

beforeAll(async () => {
  upstreams = await startUpstreams({ socketPath: join(folder, 'echo.sock'), port: () => 0 })
  proxy = await startSampleProxy()
})

afterAll(async () => {
  await proxy.stop()
  await upstreams.stop()
  rmSync(folder, { recursive: true })
})

/** Of the first console block. */
function stepsOfPage(page: string): Step[] {
  return stepsOf(consoleBlocks(readFileSync(join(PAGES, `${page}.md`), 'utf8'))[0] ?? '')
}

/** Replaces the ports of a page by those of this run, or the reverse. */
function renumber(text: string, gateway: SampleGateway, direction: 'toRun' | 'toPage'): string {
  const ports: [number, number][] = [[LISTENER_PORT, gateway.port]]
  for (const name of ['echo', 'model', 'tools'] as const)
    ports.push([SAMPLE_PORTS[name], gateway.upstreams.ports[name]])
  const numbers = new Map(ports.map(([page, real]) => (direction === 'toRun' ? [page, real] : [real, page])))
  return text.replaceAll(/:(\d{4,5})\b/g, (_, digits: string) => `:${numbers.get(Number(digits)) ?? digits}`)
}

/** Runs all in one shell, as a reader does: later commands may use variables of earlier ones. */
async function outputsOf(steps: readonly Step[], gateway: SampleGateway): Promise<string[]> {
  const script = steps.map(({ command }) => `${renumber(command, gateway, 'toRun')}\nprintf '${MARK}'`).join('\n')
  const { stdout } = await run('bash', ['-c', script])
  const outputs = renumber(stdout.replaceAll('\r', ''), gateway, 'toPage').split(MARK)
  return outputs.slice(0, -1).map((output) => output.trim())
}

describe('pages of policies', () => {
  // `make test` runs the first page.
  for (const [at, page] of pages.entries()) {
    it(`${page} shows the output of its commands`, { tags: at === 0 ? [] : ['full'] }, async () => {
      const steps = stepsOfPage(page)
      expect(steps.length).toBeGreaterThan(0)
      const commands = steps.map(({ command }) => command)
      expect(deviationFrom('test/conformance/pages.test.ts', `docs/policies/${page}.md`, commands)).toBeUndefined()
      const gateway = await applySample({ sample: `${page}.yaml`, upstreams, on: proxy })
      expect(await outputsOf(steps, gateway)).toEqual(steps.map(({ output }) => output))
    })
  }

  it.each(pages)('%s shows the policies of its sample', (page) => {
    const sample = readFileSync(join(PAGES, '..', '..', 'config', 'samples', `${page}.yaml`), 'utf8')
    const shown = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(PAGES, `${page}.md`), 'utf8'))?.[1] ?? ''
    const documents = sample.split(/^---$/m)
    const policies = documents.filter((document) => document.includes('\nkind: GwPolicy\n'))
    // Filters are in the route itself.
    const routes = documents.filter((document) => document.includes('\nkind: HTTPRoute\n'))
    const expected = policies.length > 0 ? policies : routes
    expect(shown.trim()).toBe(expected.map((document) => document.trim()).join('\n---\n'))
  })
})
