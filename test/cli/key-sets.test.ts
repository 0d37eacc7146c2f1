// gw run fetches key sets itself: late keys, changed keys, and an unreachable issuer. Loopback only.
// @module-tag full
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testIssuer, type TestIssuer } from '#proxy/auth/jwt.testing.ts'
import { closeServer, freePort } from '#test/ports.ts'
import { ANY_PORTS, GwProcess, until } from './gw.ts'

const ISSUER = 'https://idp.example.com'

let folder = ''
let gw: GwProcess | undefined
let server: Server | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-keys-test-'))
})

afterEach(async () => {
  await gw?.stop()
  if (server !== undefined) closeServer(server)
  rmSync(folder, { recursive: true, force: true })
})

/** Serves the current value of `keys`. */
async function serveKeys(port: number, keys: () => string): Promise<void> {
  server = createServer((_request, response) => response.end(keys())).listen(port, '127.0.0.1')
  await once(server, 'listening')
}

function start(file: string): GwProcess {
  gw = new GwProcess(['run', '-f', file, ...ANY_PORTS])
  return gw
}

async function statusOf(port: number, issuer: TestIssuer): Promise<number> {
  const headers = { authorization: `Bearer ${await issuer.token({ aud: 'shop' })}` }
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers })
  await response.body?.cancel()
  return response.status
}

function manifests(port: number, idp: number): string {
  const sample = readFileSync(
    new URL('../../config/samples/local/jwt-authentication-remote.yaml', import.meta.url),
    'utf8',
  )
  const path = join(folder, 'gateway.yaml')
  writeFileSync(path, sample.replace('port: 8080', `port: ${port}`).replace('port: 9080', `port: ${idp}`))
  return path
}

it('manifests: denies while the issuer is unreachable, then allows, and keeps the keys when it is unreachable again', async () => {
  const [port, idp] = [await freePort(), await freePort()]
  const issuer = await testIssuer(ISSUER)
  const process = start(manifests(port, idp))
  await process.says('gw: serving')
  await process.says(`gw: cannot fetch the keys of http://127.0.0.1:${idp}/keys`)
  expect(process.stderr).toContain(`jwks keyset for "http://127.0.0.1:${idp}/keys" isn't available`)
  expect(await statusOf(port, issuer)).toBe(401)
  await serveKeys(idp, () => issuer.jwks)
  await until('the keys are in force', async () => (await statusOf(port, issuer)) === 200)
  expect(process.stderr).toContain(`gw: fetched the keys of http://127.0.0.1:${idp}/keys`)
  if (server !== undefined) closeServer(server)
  expect(await statusOf(port, issuer)).toBe(200)
})

it('manifests: an issuer that does not answer does not delay the rest', { tags: ['full'] }, async () => {
  const [port, idp] = [await freePort(), await freePort()]
  const issuer = await testIssuer(ISSUER)
  server = createServer(() => undefined).listen(idp, '127.0.0.1')
  await once(server, 'listening')
  const process = start(manifests(port, idp))
  await process.says('gw: serving')
  expect(await statusOf(port, issuer)).toBe(401)
})

it('manifests of standard input: applies late keys', { tags: ['full'] }, async () => {
  const [port, idp] = [await freePort(), await freePort()]
  const issuer = await testIssuer(ISSUER)
  gw = new GwProcess(['run', '-f', '-', ...ANY_PORTS], {}, { input: readFileSync(manifests(port, idp), 'utf8') })
  await gw.says('gw: serving')
  expect(await statusOf(port, issuer)).toBe(401)
  await serveKeys(idp, () => issuer.jwks)
  await until('the keys are in force', async () => (await statusOf(port, issuer)) === 200)
})

it('manifests: applies new keys of the issuer without a restart, and drops old ones', { tags: ['full'] }, async () => {
  const [port, idp] = [await freePort(), await freePort()]
  const [old, next] = [await testIssuer(ISSUER, 'ES256', 'old'), await testIssuer(ISSUER, 'EdDSA', 'next')]
  let current = old
  await serveKeys(idp, () => current.jwks)
  const process = start(manifests(port, idp))
  await process.says('gw: serving')
  expect(process.stderr).not.toContain('warning')
  expect(await statusOf(port, old)).toBe(200)
  current = next
  await until('the next keys are in force', async () => (await statusOf(port, next)) === 200)
  expect(await statusOf(port, old)).toBe(401)
})

it('standalone: jwks.url', async () => {
  const [port, idp] = [await freePort(), await freePort()]
  const [old, next] = [await testIssuer(ISSUER, 'ES256', 'old'), await testIssuer(ISSUER, 'ES256', 'next')]
  let current = old
  let asked = 0
  await serveKeys(idp, () => {
    asked++
    return current.jwks
  })
  const path = join(folder, 'gateway.yaml')
  const url = `http://127.0.0.1:${idp}/keys`
  const policies = `jwtAuth: { mode: strict, issuer: "${ISSUER}", jwks: { url: "${url}" } }, directResponse: { status: 200 }`
  writeFileSync(path, `gateways: { default: { port: ${port} } }\nroutes: [{ policies: { ${policies} } }]\n`)
  const process = start(path)
  await process.says('gw: serving')
  expect(process.stderr).toContain(`gw: fetched the keys of ${url}`)
  expect(await statusOf(port, old)).toBe(200)
  current = next
  await until('the next keys are in force', async () => (await statusOf(port, next)) === 200)
  expect(asked).toBe(2)
})
