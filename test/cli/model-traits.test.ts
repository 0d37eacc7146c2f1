// MODEL_TRAITS_PATHS in a running gateway: the traits of a file decide how a request is translated. Loopback only.
// @module-tag full
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { GwProcess } from './gw.ts'

it('translates a request as a file of model traits says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-traits-test-'))
  const sent: unknown[] = []
  const provider = createServer((request, response) => {
    void text(request).then((body) => {
      sent.push(JSON.parse(body))
      response.end('{}')
    })
  })
  const port = await freePort()
  const target = await listening(provider)
  const file = join(folder, 'gateway.json')
  const traits = join(folder, 'traits.yaml')
  const anthropic = { name: 'claude', provider: { anthropic: {} }, hostOverride: `localhost:${target}` }
  const backends = [{ ai: { ...anthropic, policies: { backendAuth: { key: 'k' } } } }]
  writeFileSync(file, JSON.stringify({ gateways: { default: { port } }, routes: [{ name: 'r', backends }] }))
  writeFileSync(traits, 'models: [{ match: prod-*, like: claude-opus-5 }]')
  const ports = ['--admin-addr=127.0.0.1:0', '--stats-addr=127.0.0.1:0', '--readiness-addr=127.0.0.1:0']
  const gw = new GwProcess(['run', '-f', file, ...ports, '--workers=1'], { MODEL_TRAITS_PATHS: traits, HOME: folder })
  try {
    await gw.says('gw: serving')
    for (const model of ['prod-large', 'other']) {
      const body = { model, reasoning_effort: 'high', max_tokens: 9000, messages: [{ role: 'user', content: 'hi' }] }
      const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
      await response.text()
    }
    expect(sent).toMatchObject([
      { model: 'prod-large', thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      { model: 'other', thinking: { type: 'enabled', budget_tokens: 4096 } },
    ])
  } finally {
    await gw.stop()
    closeServer(provider)
    rmSync(folder, { recursive: true, force: true })
  }
})
