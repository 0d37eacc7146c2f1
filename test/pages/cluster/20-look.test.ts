// Commands of pages that look into a cluster, with the Gateway `web` in the namespace `shop` as on the pages.
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { certificateFor } from '#test/certificates.ts'
import { deviations } from '#test/console-steps.ts'
import { freePort } from '#test/ports.ts'
import { conditionOf, kubectl, list } from '../../e2e/suite/kubectl.ts'
import { untilFile } from '../shell.ts'
import { commandsFor, RUN_BY } from '../tested-pages.ts'
import { openTerminal, useCluster } from './terminal.ts'

const TEST = 'test/pages/cluster/20-look.test.ts'
const HOSTS = ['shop.example', 'shop.example.com']
/** With everything that the controller has created for it. */
const LOSE_GATEWAY = [
  'kubectl delete -n shop gateway/web httproute/cart gwpolicy/sign-in gwpolicy/admin-only --cascade=foreground',
  'kubectl wait -n shop --for=delete deployment/web secret/web-session-key --timeout=2m || true',
].join(' > /dev/null\n')
const SECRETS = ['openai-key', 'google-credentials']

const terminal = openTerminal()
const pair = certificateFor({ commonName: 'shop.example', names: HOSTS.map((name) => `DNS:${name}`) })
const authority = join(terminal.folder, 'shop.pem')
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
function filledIn(command: string, port: number, pod: string): string {
  const filled = command
    .replace('pod/web-7d9f', `pod/${pod}`)
    .replace('HOST/PATH', 'shop.example/cart')
    .replace(/(port-forward .*) 15000 &/, `$1 ${port}:15000 > /dev/null &`)
  if (filled.startsWith('kubectl apply') && filled.includes('session-keys')) return `${LOSE_GATEWAY}\n${filled}`
  return filled.startsWith('gw ui') ? untilFile(filled, terminal.opened) : filled
}

async function readyPod(): Promise<string> {
  await kubectl(['rollout', 'status', '-n', 'shop', 'deployment/web', '--timeout=170s'])
  const pods = await list('pods', '-n', 'shop', '-l', 'gateway.networking.k8s.io/gateway-name=web')
  return pods.find((pod) => conditionOf(pod, 'Ready')?.status === 'True')?.metadata.name ?? ''
}

/** What its Secret contains. */
async function sessionKey(): Promise<string> {
  return kubectl(['get', 'secret', '-n', 'shop', 'web-session-key', '-o', 'jsonpath={.data}'])
}

interface Run {
  /** Of MCP sessions, before the commands. */
  readonly key: string
  /** Free. */
  readonly port: number
  /** By all commands. */
  readonly printed: string
}

/** What the commands of a page must have done, besides that they succeed. */
const CHECKS: Readonly<Record<string, (run: Run) => Promise<void> | void>> = {
  'docs/backup.md': async ({ key }) => {
    await kubectl(['wait', '-n', 'shop', '--for=condition=Programmed', 'gateway/web', '--timeout=3m'])
    expect(await sessionKey()).toBe(key)
  },
  'docs/cli.md': ({ printed }) => {
    expect(printed).toContain('shop/cart')
    expect(readFileSync(join(terminal.folder, 'gateway.yaml'), 'utf8')).toContain('kind: HTTPRoute')
  },
  'docs/concepts/policies.md': ({ printed }) => expect(printed).toMatch(/admin-only[^]*403 Forbidden/),
  'docs/troubleshooting.md': async ({ port }) => {
    const forward = `kubectl port-forward -n shop deployment/web ${port}:15000 > /dev/null &`
    const token = 'kubectl exec -n shop deployment/web -- /usr/local/bin/node /app/gw.js proxy token'
    const dump = `curl -s --retry 20 --retry-delay 1 --retry-all-errors http://127.0.0.1:${port}/config_dump`
    const [result] = await terminal.run([`${forward} ${dump} -H "authorization: Bearer $(${token})"`])
    expect(result?.printed).toContain('shop/web')
  },
  'docs/ui.md': () => expect(readFileSync(terminal.opened, 'utf8')).toContain('assets/app.js'),
}

const pages = Object.keys(RUN_BY).filter((page) => commandsFor(TEST, page).length > 0)

it.each(pages)('%s', async (page) => {
  const port = await freePort()
  const [key, pod] = [await sessionKey(), await readyPod()]
  const commands = commandsFor(TEST, page)
  const variables = `cd ${terminal.folder}; export CURL_CA_BUNDLE=${authority} TOKEN=${token} OPENAI_API_KEY=sk-of-a-test`
  const results = await terminal.run([variables, ...commands.map(({ command }) => filledIn(command, port, pod))])
  const shown = commands.flatMap((command, at) => (command.output === '' ? [] : [{ command, at }]))
  const printed = shown.map(({ at }) => results[at + 1]?.printed ?? '')
  expect(
    deviations(
      shown.map(({ command }) => command),
      printed,
    ),
  ).toEqual([])
  const all = results.map((result) => result.printed).join('\n')
  await CHECKS[page]?.({ key, port, printed: all })
})
