// gw proxy trace as users run it: against a real proxy, with curl, and from a file.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { gw, GwProcess } from './gw.ts'

let upstream: Server
let gateway: TestProxy
let folder: string
let local: string[]
const hosts: (string | undefined)[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-trace-test-'))
  upstream = createServer((request, response) => {
    hosts.push(request.headers.host)
    response.end('ok')
  })
  const backend = { static: { host: '127.0.0.1', port: await listening(upstream) } }
  gateway = await testProxy({ routes: [{ name: 'all', prefix: '/', backend }] })
  local = ['proxy', 'trace', '--local', `--admin-addr=127.0.0.1:${gateway.proxy.ports.admin}`]
})

afterAll(async () => {
  await gateway.stop()
  closeServer(upstream)
  rmSync(folder, { recursive: true })
})

const send = [`http://shop.example/cart?x=1`, '-X', 'POST', '-d', 'hello']

const CURE = 'check that a proxy runs there, or set --admin-addr'

describe('gw proxy trace', () => {
  it('sends a request and prints its trace as a table', async () => {
    const { code, stdout, stderr } = await gw(...local, `--port=${gateway.port}`, '--', ...send)
    expect([code, stderr]).toEqual([0, 'sending the request\n'])
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toBe('#   ms       Type            Summary')
    expect(lines[1]).toMatch(/^1 {3}\d+\.\d {2,}Request Start {3}request started$/)
    expect(lines[3]).toMatch(/gateway effective policies: none; listener http of ns\/gw$/)
    expect(lines[5]).toMatch(/^5 {3}\d+\.\d {2,}Route {11}selected ns\/all\.00\.http \(1 evaluated\)/)
    expect(lines.at(-1)).toMatch(/^\d+ +\d+\.\d +Request Done {4}request finished status=200$/)
    expect(hosts).toContain('shop.example')
  })

  it('prints lines of JSON that it can show again', { tags: ['full'] }, async () => {
    const raw = await gw(...local, '--raw', `--port=${gateway.port}`, '--', ...send)
    expect(raw.code).toBe(0)
    const events = raw.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.at(-1)).toMatchObject({ message: { type: 'requestFinished', status: 200 } })
    const file = join(folder, 'kept.jsonl')
    writeFileSync(file, raw.stdout)
    const table = await gw('proxy', 'trace', '--file', file)
    expect(table.code).toBe(0)
    expect(table.stdout.trimEnd().split('\n')).toHaveLength(events.length + 1)
    const again = await gw('proxy', 'trace', '--raw', '--file', file)
    expect(again.stdout).toBe(raw.stdout)
  })

  it('waits for a request of another client', { tags: ['full'] }, async () => {
    const command = new GwProcess([...local, '--expression', 'request.path == "/wanted"'])
    await command.says('waiting for a request; press Ctrl-C to stop')
    await (await fetch(`${gateway.url}/other`)).text()
    await (await fetch(`${gateway.url}/wanted`)).text()
    const { code, stdout } = await command.ended
    expect(code).toBe(0)
    expect(stdout).toContain('request finished status=200')
  })

  it('reports mistakes', { tags: ['full'] }, async () => {
    const unusedPort = await freePort()
    const unreachable = await gw('proxy', 'trace', '--local', `--admin-addr=127.0.0.1:${unusedPort}`)
    expect([unreachable.code, unreachable.stderr]).toEqual([
      1,
      `cannot reach the admin server 127.0.0.1:${unusedPort}: connect ECONNREFUSED 127.0.0.1:${unusedPort}; ${CURE}\n`,
    ])
    const bad = await gw(...local, '--expression', '1 +')
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('the admin server returned 400: expression: ')])
    const refused = await gw(...local, `--port=${unusedPort}`, '--', 'http://shop.example/')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('curl failed: exit code 7')
    const missing = await gw('proxy', 'trace', '--file', join(folder, 'missing'))
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/missing: no such file or folder\n$/)])
    const other = await gw('proxy', 'trace', '--file', 'package.json')
    const reason = 'package.json: line 1 is not JSON; pass the output of gw proxy trace --raw\n'
    expect([other.code, other.stderr]).toEqual([1, reason])
    expect((await gw('proxy', 'trace')).code).toBe(1)
  })
})
