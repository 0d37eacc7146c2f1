// The forms of `gw proxy` in a cluster as in docs/cli.md: pods of a Gateway with several, files and contexts of the
// cluster, formats, and traces of requests with arguments of curl.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { kubectl, remove } from './suite/kubectl.ts'
import { NAMESPACE, proxyCount, themeFile, useSample } from './suite/samples.ts'

const COMMAND_MS = 60_000
const GATEWAY = ['gateway/http', '-n', NAMESPACE]
const URL = 'http://www.example.com/api/x'
const folder = mkdtempSync(join(tmpdir(), 'gw-forms-'))
let pods: string[] = []

interface Output {
  readonly stdout: string
  readonly stderr: string
}

async function gw(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Output> {
  const env = { ...process.env, ...environment }
  return promisify(execFile)('bin/gw', args, { timeout: COMMAND_MS, env, maxBuffer: 64 * 1024 * 1024 })
}

beforeAll(async () => {
  await useSample('http')
  await kubectl(['scale', 'deployment', 'http', '-n', NAMESPACE, '--replicas=2'])
  pods = (await proxyCount('http', 2)).map(({ metadata }) => metadata.name).sort()
})

afterAll(async () => {
  rmSync(folder, { recursive: true })
  await remove(themeFile('http'))
})

describe('a Gateway with several pods', () => {
  it('is read from the first pod by name, which the command reports', async () => {
    const { stdout, stderr } = await gw(['proxy', 'config', 'routes', ...GATEWAY])
    expect(stdout).toContain('www.example.com')
    expect(stderr).toBe(`${pods[0]}.${NAMESPACE} is one of 2 pods; pod/NAME selects another\n`)
  })

  it.each([
    ['pod/NAME', (pod: string) => [`pod/${pod}`, '-n', NAMESPACE]],
    ['the name of a pod', (pod: string) => [pod, '-n', NAMESPACE]],
    ['NAME.NAMESPACE', (pod: string) => [`${pod}.${NAMESPACE}`]],
  ])('is read from another pod by %s', async (_form, place) => {
    const { stdout, stderr } = await gw(['proxy', 'trace', ...place(pods[1] ?? ''), '--raw', '--port', '80', '--', URL])
    expect(stdout).toContain(`"podName":"${pods[1]}"`)
    expect(stderr).not.toContain('is one of')
  })

  it('sets the log levels of all its pods', async () => {
    const { stdout } = await gw(['proxy', 'log', ...GATEWAY, '--set', 'otlp=debug'])
    for (const pod of pods) expect(stdout).toMatch(new RegExp(`^${pod}.${NAMESPACE}: .*otlp=debug`, 'm'))
  })

  it.each(['deploy/http', 'svc/http'])('is found by %s', async (resource) => {
    const { stdout } = await gw(['proxy', 'config', 'routes', resource, '-n', NAMESPACE])
    expect(stdout).toContain('www.example.com')
  })
})

describe('the cluster', () => {
  it('is that of --kubeconfig', async () => {
    const file = join(folder, 'kubeconfig')
    writeFileSync(file, await kubectl(['config', 'view', '--raw', '--minify']), { mode: 0o600 })
    const args = ['proxy', 'config', 'routes', ...GATEWAY, '--kubeconfig', file]
    const { stdout } = await gw(args, { KUBECONFIG: join(folder, 'absent') })
    expect(stdout).toContain('www.example.com')
  })

  it('is named in the message if it has no such Gateway', async () => {
    const absent = gw(['proxy', 'config', 'routes', 'gateway/absent', '-n', NAMESPACE])
    const stderr = expect.stringContaining(
      `there is no Gateway ${NAMESPACE}/absent; the cluster has gateway/`,
    ) as string
    await expect(absent).rejects.toMatchObject({ code: 1, stderr })
  })
})

describe.each(['all', 'backends', 'routes', 'policies'])('gw proxy config %s', (part) => {
  it('prints a table, and the same data as JSON and YAML', async () => {
    const shown = async (format: string) => (await gw(['proxy', 'config', part, ...GATEWAY, '-o', format])).stdout
    expect(await shown('table')).toMatch(/^(?:ADDRESS|TYPE|ROUTE|POLICY|No )/)
    const fromJson: unknown = JSON.parse(await shown('json'))
    // Figures of the proxy change between two readings.
    expect(Object.keys(parse(await shown('yaml')) as object)).toEqual(Object.keys(fromJson as object)) // maps and lists
  })
})

describe('gw proxy trace', () => {
  const REQUEST = [URL, '-X', 'POST', '-H', 'x-mark: forms', '-d', 'hello']

  it('sends the request with arguments of curl, and prints JSON lines with --raw', async () => {
    const { stdout } = await gw(['proxy', 'trace', ...GATEWAY, '--raw', '--port', '80', '--', ...REQUEST])
    const events = stdout.trim().split('\n').map((line) => JSON.parse(line) as { message: Record<string, unknown> }) // prettier-ignore
    const messages = events.map(({ message }) => message)
    expect(messages[1]).toMatchObject({
      stage: 'initial request',
      requestState: { request: { method: 'POST', host: 'www.example.com', headers: { 'x-mark': 'forms' } } },
    })
    expect(messages).toContainEqual(expect.objectContaining({ body: Buffer.from('hello').toString('base64') }))
    expect(messages.at(-1)).toMatchObject({ type: 'requestFinished', status: 200 })
  })

  it('connects to an admin server on this machine with --local', async () => {
    const inPod = ['exec', '-n', NAMESPACE, pods[0] ?? '', '--', '/usr/local/bin/node', '/app/gw.js', 'proxy']
    expect(await kubectl([...inPod, 'config', 'routes', '--local'])).toContain('www.example.com')
  })
})
