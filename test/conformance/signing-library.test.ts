// A `gw run` whose installation lacks the library that signs certificates: listeners that need it reject each client,
// the log has the reason, and all others serve.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '#test/ports.ts'
import { ask } from './suite/ask.ts'
import { SAMPLES } from './suite/gateway.ts'
import { secured } from './suite/https.ts'
import { startSampleProxy, type SampleProxy } from './suite/process.ts'

const WITHOUT_LIBRARY = `
import { registerHooks } from 'node:module'
registerHooks({
  resolve(name, context, next) {
    if (name.startsWith('@peculiar/asn1')) throw new Error('no file ' + name)
    return next(name, context)
  },
})
`
const folder = mkdtempSync(join(tmpdir(), 'gw-signing-'))
let proxy: SampleProxy

beforeAll(async () => {
  const hooks = join(folder, 'hooks.mjs')
  writeFileSync(hooks, WITHOUT_LIBRARY)
  proxy = await startSampleProxy({ NODE_OPTIONS: `--import=${hooks}` })
})

afterAll(async () => {
  await proxy.stop()
  rmSync(folder, { recursive: true })
})

/** The sample, with a second listener that has no TLS; its routes go to the proxy's own admin pages. */
function manifests(ports: { readonly signing: number; readonly plain: number }): string {
  const sample = readFileSync(join(SAMPLES, 'gateway-certificate-authority.yaml'), 'utf8')
  const plain = `    - { name: plain, port: ${ports.plain}, protocol: HTTP }\n`
  return sample
    .replace('  listeners:\n', `  listeners:\n${plain}`)
    .replace('port: 8443', `port: ${ports.signing}`)
    .replace('port: 18081', `port: ${new URL(proxy.admin).port}`)
}

it('rejects handshakes, logs the reason, and still serves other listeners', async () => {
  const ports = { signing: await freePort(), plain: await freePort() }
  const { log } = await proxy.serve(manifests(ports), ports.signing)
  for (const name of ['edge.example.com', 'other.example.com', 'edge.example.com']) {
    await expect(secured({ port: ports.signing, servername: name })).rejects.toThrow(/alert/)
    expect((await ask(`http://127.0.0.1:${ports.plain}/memory`)).status).toBe(200)
  }
  const said = (): string[] => log().match(/error\trequest TLS handshake failed .*no file @peculiar\/asn1/g) ?? []
  // Logged once, so that clients do not fill the log.
  await expect.poll(said).toHaveLength(1)
  expect(log()).not.toContain('worker died')
})
