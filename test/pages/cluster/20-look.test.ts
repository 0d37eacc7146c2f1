// Commands of pages that look into a cluster, with the Gateway `web` in the namespace `shop` as on the pages.
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { deviations } from '#test/console-steps.ts'
import { freePort } from '#test/ports.ts'
import { kubectl, list } from '../../e2e/suite/kubectl.ts'
import { untilFile } from '../shell.ts'
import { commandsFor, RUN_BY } from '../tested-pages.ts'
import { openTerminal, useCluster } from './terminal.ts'

const TEST = 'test/pages/cluster/20-look.test.ts'
const HOSTS = ['shop.example', 'shop.example.com']
const SECRETS = ['openai-key', 'google-credentials']

const terminal = openTerminal()
const pair = certificateFor({ commonName: 'shop.example', names: HOSTS.map((name) => `DNS:${name}`) })
const authority = join(terminal.folder, 'shop.pem')
let pod = ''
let token = ''

beforeAll(async () => {
  await useCluster()
  await kubectl(['apply', '-f', 'docs/start/shop.yaml'])
  await kubectl(['apply', '-f', '-'], secret())
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'RS256', use: 'sig' }] }
  const shop = readFileSync(join(import.meta.dirname, 'shop.yaml'), 'utf8')
  await kubectl(['apply', '-f', '-'], shop.replace('KEYS', `'${JSON.stringify(keys)}'`))
  await kubectl(['wait', '-n', 'shop', '--for=condition=Programmed', 'gateway/web', '--timeout=3m'])
  await kubectl(['wait', '-n', 'shop', '--for=condition=Available', 'deployment/shop', '--timeout=3m'])
  const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: 'https://idp.example.com', sub: 'alice', exp: Math.floor(Date.now() / 1000) + 3600 }
  const signed = `${text({ alg: 'RS256', kid: 'a' })}.${text(claims)}`
  token = `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
  const pods = await list('pods', '-n', 'shop', '-l', 'gateway.networking.k8s.io/gateway-name=web')
  pod = pods[0]?.metadata.name ?? ''
  writeFileSync(authority, pair.certificate)
  writeFileSync(join(terminal.folder, 'key.json'), '{}')
})

afterAll(async () => {
  await kubectl(['delete', 'namespace', 'shop', '--ignore-not-found', '--timeout', '170s'])
  await kubectl(['delete', 'secret', '-n', 'default', '--ignore-not-found', ...SECRETS])
  terminal.end()
})

function secret(): string {
  const metadata = { name: 'shop', namespace: 'shop' }
  const stringData = { 'tls.crt': pair.certificate, 'tls.key': pair.privateKey }
  return JSON.stringify({ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata, stringData })
}

/** With what a reader fills in, and Ctrl-C for commands that wait. */
function filledIn(command: string, port: number): string {
  const filled = command
    .replace('pod/web-7d9f', `pod/${pod}`)
    .replace('HOST/PATH', 'shop.example/cart')
    .replace(/(port-forward .*) 15000 &/, `$1 ${port}:15000 > /dev/null &`)
  return filled.startsWith('gw ui') ? untilFile(filled, terminal.opened) : filled
}

const pages = Object.keys(RUN_BY).filter((page) => commandsFor(TEST, page).length > 0)

it.each(pages)('%s', async (page) => {
  const port = await freePort()
  const commands = commandsFor(TEST, page)
  const variables = `cd ${terminal.folder}; export CURL_CA_BUNDLE=${authority} TOKEN=${token} OPENAI_API_KEY=sk-of-a-test`
  const results = await terminal.run([variables, ...commands.map(({ command }) => filledIn(command, port))])
  const shown = commands.flatMap((command, at) => (command.output === '' ? [] : [{ command, at }]))
  const printed = shown.map(({ at }) => results[at + 1]?.printed ?? '')
  expect(
    deviations(
      shown.map(({ command }) => command),
      printed,
    ),
  ).toEqual([])
  const all = results.map((result) => result.printed).join('\n')
  if (page === 'docs/troubleshooting.md') {
    const [dump] = await terminal.run([
      `kubectl port-forward -n shop deployment/web ${port}:15000 > /dev/null & GW_ADMIN_TOKEN=$(kubectl exec -n shop deployment/web -- /usr/local/bin/node /app/gw.js proxy token); curl -s --retry 20 --retry-delay 1 --retry-all-errors -H "authorization: Bearer $GW_ADMIN_TOKEN" http://127.0.0.1:${port}/config_dump`,
    ])
    expect(dump?.printed).toContain('shop/web')
  } else if (page === 'docs/cli.md') {
    expect(all).toContain('shop/cart')
    expect(readFileSync(join(terminal.folder, 'gateway.yaml'), 'utf8')).toContain('kind: HTTPRoute')
  } else if (page === 'docs/ui.md') {
    expect(readFileSync(terminal.opened, 'utf8')).toContain('assets/app.js')
  } else if (page === 'docs/concepts/policies.md') {
    expect(all).toMatch(/admin-only[^]*403 Forbidden/)
  }
})
