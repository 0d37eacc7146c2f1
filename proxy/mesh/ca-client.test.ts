// The request for a certificate of the mesh, against a gRPC server of another implementation.
import { X509Certificate } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { issue, SPIFFE_ID, startAuthority, type TestAuthority, TOKEN } from './authority.testing.ts'
import { CaClient, CaError } from './ca-client.ts'
import type { MeshSettings } from './settings.ts'

const HOUR_MS = 3_600_000
let authority: TestAuthority

beforeEach(async () => {
  authority = await startAuthority()
})
afterEach(() => authority.close())

function request(changes: Partial<MeshSettings> = {}, signal = new AbortController().signal) {
  return new CaClient({ settings: { ...authority.settings, ...changes } }).request(signal)
}

async function failure(changes: Partial<MeshSettings> = {}, signal?: AbortSignal): Promise<CaError> {
  const error: unknown = await request(changes, signal).catch((thrown: unknown) => thrown)
  if (!(error instanceof CaError)) throw new Error(`expected a CaError, got ${String(error)}`)
  expect(error.message).not.toContain(TOKEN)
  return error
}

describe('CaClient', () => {
  it('gets a certificate for its own key, with the token and the cluster', async () => {
    const certificate = await request({ clusterId: 'east' })
    const leaf = new X509Certificate(certificate.chain)
    expect(leaf.subjectAltName).toBe(`URI:${SPIFFE_ID}`)
    expect(certificate.privateKey).toContain('BEGIN PRIVATE KEY')
    expect(certificate).toMatchObject({
      spiffeId: SPIFFE_ID,
      roots: authority.root.certificate,
      fromMs: Date.parse(leaf.validFrom),
      untilMs: Date.parse(leaf.validTo),
    })
    const [sent] = authority.requests
    expect(sent?.metadata.get('authorization')).toBe(`Bearer ${TOKEN}`)
    expect(sent?.metadata.get('clusterid')).toBe('east')
    expect(sent?.message.metadata).toEqual({ ClusterID: 'east' })
    expect(sent?.message.validityDuration).toBe(86_400n)
  })

  it('uses another key for each request, and the token that the file has then', async () => {
    const first = await request()
    authority.write('token', 'rotated.token')
    const second = await request()
    expect(second.privateKey).not.toBe(first.privateKey)
    expect(authority.requests[1]?.metadata.get('authorization')).toBe('Bearer rotated.token')
  })

  it('sends the intermediate authorities to peers, not the root, and ends with the first of them', async () => {
    const untilMs = Math.floor(Date.now() / 1000) * 1000 + HOUR_MS / 2
    const middle = issue({ issuer: authority.root, commonName: 'middle', isAuthority: true, untilMs })
    authority.answer = ({ csr }) => [
      authority.sign(csr, { issuer: middle }),
      middle.certificate,
      authority.root.certificate,
    ]
    const { chain, untilMs: end } = await request()
    expect(chain.match(/BEGIN/g)).toHaveLength(2)
    expect(chain).toContain(middle.certificate)
    expect(chain).not.toContain(authority.root.certificate)
    expect(end).toBe(untilMs)
  })

  it('accepts an answer whose last entry has several roots', async () => {
    const other = issue({ commonName: 'other root', isAuthority: true })
    authority.answer = ({ csr }) => [authority.sign(csr), `${other.certificate}${authority.root.certificate}`]
    await expect(request()).resolves.toMatchObject({ spiffeId: SPIFFE_ID })
  })

  it.each<[string, string, (csr: string) => string[]]>([
    ['no certificate', 'returned no certificate', () => []],
    ['text that is not PEM', 'contains no certificate', () => ['nothing']],
    ['an invalid certificate', 'invalid', () => ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----']],
    ['too many entries', 'too many', (csr) => Array<string>(33).fill(authority.sign(csr))],
    ['a certificate for another key', 'another key', () => [issue({ issuer: authority.root }).certificate]],
    ['another identity', 'check the trust domain', (csr) => [named(csr, ['spiffe://other/ns/apps/sa/web'])]],
    ['no identity', 'no SPIFFE id instead of', (csr) => [named(csr, [])]],
    ['two identities', 'no SPIFFE id', (csr) => [named(csr, [SPIFFE_ID, 'spiffe://cluster.local/ns/a/sa/b'])]],
    ['an expired certificate', 'not valid', (csr) => [authority.sign(csr, { untilMs: Date.now() - 1000 })]],
    ['a certificate of the future', 'not valid', (csr) => [authority.sign(csr, { fromMs: Date.now() + HOUR_MS })]],
    ['a certificate of another root', 'not valid', (csr) => [authority.sign(csr, { issuer: otherRoot() })]],
    ['one signed by a workload', 'not valid', (csr) => [authority.sign(csr, { issuer: workload() }), workloadText]],
  ])('rejects an answer with %s', async (_, message, answer) => {
    authority.answer = ({ csr }) => answer(csr)
    const error = await failure()
    expect(error.reason).toBe('Rejected')
    expect(error.message).toContain(message)
  })

  it.each<[string, number, CaError['reason']]>([
    ['a token that the authority rejects', 16, 'Rejected'],
    ['an authority that is overloaded', 14, 'Unavailable'],
  ])('reports %s without the token', async (_, code, reason) => {
    authority.answer = () => ({ code, details: `no: ${TOKEN}` })
    const error = await failure()
    expect(error.reason).toBe(reason)
    expect(error.message).toContain('no: <redacted>')
  })

  it('sends no token to a server with a certificate of another root', async () => {
    authority.write('root', otherRoot().certificate)
    const error = await failure()
    expect(error.reason).toBe('Unavailable')
    expect(authority.requests).toEqual([])
  })

  it('sends no token to a server with a certificate for another host', async () => {
    await failure({ ca: { host: 'localhost', port: authority.settings.ca.port } })
    expect(authority.requests).toEqual([])
  })

  it.each<[string, Partial<MeshSettings>, string]>([
    ['the token', { tokenFile: '/nowhere/istio-token' }, '/nowhere/istio-token: the file does not exist'],
    ['the root', { rootFile: '/nowhere/root-cert.pem' }, '/nowhere/root-cert.pem: the file does not exist'],
    ['a valid address', { ca: undefined }, 'CA_ADDRESS must be https://'],
    ['a valid namespace', { namespace: 'a/b' }, 'the namespace is invalid'],
    ['a valid trust domain', { trustDomain: 'a/ns/b' }, 'the trust domain is invalid'],
    ['a valid service account', { serviceAccount: '' }, 'the service account is invalid'],
  ])('sends nothing without %s', async (_, changes, message) => {
    const error = await failure(changes)
    expect(error.reason).toBe('Unavailable')
    expect(error.message).toContain(message)
    expect(authority.requests).toEqual([])
  })

  it.each(['', 'two lines\nof text', 'a'.repeat(65_537)])('sends nothing with an invalid token', async (token) => {
    authority.write('token', token)
    const error = await failure()
    expect(error.reason).toBe('Unavailable')
    expect(authority.requests).toEqual([])
  })

  it('reports a server that does not listen', async () => {
    authority.server.kill()
    const error = await failure()
    expect(error.reason).toBe('Unavailable')
  })

  it('ends with its signal', async () => {
    const controller = new AbortController()
    controller.abort()
    const error = await failure({}, controller.signal)
    expect(error.reason).toBe('Unavailable')
  })
})

function named(csr: string, uris: readonly string[]): string {
  return authority.sign(csr, { uris, commonName: 'a' })
}

function otherRoot(): ReturnType<typeof issue> {
  return issue({ commonName: 'root', isAuthority: true })
}

let workloadText = ''
function workload(): ReturnType<typeof issue> {
  const made = issue({ issuer: authority.root, commonName: 'workload' })
  workloadText = made.certificate
  return made
}
