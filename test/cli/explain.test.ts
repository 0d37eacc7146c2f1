// gw explain as users run it: a request through a real proxy, and a saved trace.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'
import { gw } from './gw.ts'

let gateway: TestProxy
let folder: string
let local: string[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-explain-test-'))
  gateway = await testProxy({
    routes: [{ name: 'all', prefix: '/', backend: { static: { host: '127.0.0.1', port: 1 } } }],
    policies: [
      {
        key: 'traffic/ns/admins:rbac:ns/gw',
        name: { kind: 'GwPolicy', namespace: 'ns', name: 'admins' },
        target: { gateway: { namespace: 'ns', name: 'gw' } },
        policy: {
          traffic: {
            authorization: { action: 'Allow', matchExpressions: ['request.headers["x-role"] == "admin"'] },
          },
        },
      },
    ],
  })
  local = ['--local', `--admin-addr=127.0.0.1:${gateway.proxy.ports.admin}`]
})

afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

describe('gw explain', () => {
  it('sends a request to the port of its URL, and names the policy that rejected it', async () => {
    const { code, stdout } = await gw('explain', ...local, '--', `http://shop.example:${gateway.port}/cart`)
    expect([code, stdout.split('\n').slice(1)]).toEqual([
      0,
      [
        '  listener    http of ns/gw',
        '  route       ns/all',
        '  decided by  authorization',
        '              GwPolicy ns/admins (spec.traffic.authorization)',
        '              allow request.headers["x-role"] == "admin": no such key: x-role',
        '  to pass     send a request for which an allow rule is true, or change GwPolicy ns/admins',
        '',
      ],
    ])
    expect(stdout).toMatch(/^403 Forbidden: authorization failed \(\d+\.\d ms\)\n/)
  })

  it('explains a saved trace as JSON, and reports an incomplete one', { tags: ['full'] }, async () => {
    const send = ['--', 'http://shop.example/cart', '-H', 'x-role: admin']
    const { stdout: trace } = await gw('proxy', 'trace', ...local, '--raw', `--port=${gateway.port}`, ...send)
    const file = join(folder, 'trace.jsonl')
    writeFileSync(file, trace)
    const { code, stdout } = await gw('explain', '--file', file, '-o', 'json')
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({
        status: 503,
        decision: expect.objectContaining({ by: 'backend', name: '127.0.0.1:1' }),
      }),
    ])
    writeFileSync(file, trace.split('\n').slice(0, 3).join('\n'))
    const cut = await gw('explain', '--file', file)
    expect([cut.code, cut.stderr]).toEqual([1, 'the trace ends before the end of the request\n'])
  })
})
